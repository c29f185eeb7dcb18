# What keeps a build from scratch short. The standard and library headers that most files of a target include are parsed once a target, and
# the files of a folder are compiled a few at a time, so that they share the project's headers too. Headers of the project are not precompiled:
# a change of one rebuilds what includes it and no more. Every file includes what it uses and stands alone all the same: a build with both
# options off shows what is missing.

option(TFL_PCH "precompile the library headers that most files include" ON)
option(TFL_UNITY "compile the files of a folder together, a few at a time" ON)

set(TFL_STANDARD_HEADERS <algorithm> <array> <atomic> <bit> <charconv> <cmath> <cstdint> <cstdio> <cstdlib> <cstring> <functional> <limits> <memory>
  <mutex> <optional> <span> <string> <string_view> <type_traits> <unordered_map> <unordered_set> <utility> <vector> <fmt/core.h>)

# tfl_precompile(TARGET [HEADER...]): the standard headers, and those named, for the C++ files of the target.
function(tfl_precompile target)
  if(TFL_PCH)
    target_precompile_headers(${target} PRIVATE ${TFL_STANDARD_HEADERS} ${ARGN})
    # A precompiled header is not known to be a system's, and g++ 12 shows the wrong warnings that it hides elsewhere about std::string, clang
    # what the standard library's own functions call.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
      $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overread;-Wno-stringop-overflow;-Wno-restrict>)
  endif()
endfunction()

# The folders where that is done. Elsewhere files have tables of the same names, or are compiled in a way of their own.
set(TFL_UNITED "(codegen/(gpu|jit|library|llvm|plan)|frontend/(autograph|builtins|compile|gradient|modules|numpy|parse|profile|scope|tensor|text|trace|vm)|ir|ir/gradient|optimizer|runtime/(gpu|memory|ops|support|tensor|text))")

# tfl_unite(TARGET SOURCES...): the sources of the target that lie in one of these folders are compiled six at a time.
function(tfl_unite target)
  if(NOT TFL_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # Types with members of types that only their own file knows are what a file is free to have; g++ takes the united file for a header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set(last "")
  foreach(source IN LISTS ARGN)
    get_filename_component(folder ${source} DIRECTORY)
    if(NOT folder STREQUAL last)
      set(count 0)
      set(group 0)
      set(last ${folder})
    endif()
    if(count EQUAL 6)
      set(count 0)
      math(EXPR group "${group} + 1")
    endif()
    math(EXPR count "${count} + 1")
    if(folder MATCHES "^${PROJECT_SOURCE_DIR}/${TFL_UNITED}$")
      string(REPLACE "${PROJECT_SOURCE_DIR}/" "" name "${folder}_${group}")
      string(MAKE_C_IDENTIFIER "${name}" name)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name})
    endif()
  endforeach()
endfunction()

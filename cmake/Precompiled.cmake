# What keeps a build from scratch short. The standard and library headers that most files of a target include are parsed once a target, and
# the files of a folder are compiled a few at a time, so that they share the project's headers too. Headers of the project are not precompiled:
# a change of one rebuilds what includes it and no more. Every file includes what it uses and stands alone all the same: a build with both
# options off shows what is missing.

option(TFL_PCH "precompile the library headers that most files include" ON)
option(TFL_UNITY "compile the files of a folder together, a few at a time" ON)

set(TFL_STANDARD_HEADERS <algorithm> <array> <atomic> <bit> <charconv> <cmath> <cstdint> <cstdio> <cstdlib> <cstring> <functional> <limits> <memory>
  <mutex> <optional> <span> <string> <string_view> <type_traits> <unordered_map> <unordered_set> <utility> <vector> <fmt/core.h>)

# tfl_precompile(TARGET [HEADER...]): the standard headers, which are compiled once for all that need no others, and those named, for the C++
# files of the target.
function(tfl_precompile target)
  if(TFL_PCH)
    if(ARGN)
      target_precompile_headers(${target} PRIVATE ${TFL_STANDARD_HEADERS} ${ARGN})
    else()
      # g++ takes a precompiled header only where every option is the one it was made with, and -O1 sets others than -O2.
      get_target_property(cold ${target} TFL_COLD)
      if(cold)
        set(headers tfl_headers_cold)
      else()
        set(headers tfl_headers)
      endif()
      if(NOT TARGET ${headers})
        file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${headers}.cpp CONTENT "")
        add_library(${headers} OBJECT ${CMAKE_BINARY_DIR}/${headers}.cpp)
        target_link_libraries(${headers} PRIVATE tfl_fmt Threads::Threads)
        target_precompile_headers(${headers} PRIVATE ${TFL_STANDARD_HEADERS})
        if(cold)
          tfl_cold(${headers})
        endif()
      endif()
      target_precompile_headers(${target} REUSE_FROM ${headers})
    endif()
    # A precompiled header is not known to be a system's, and g++ 12 shows the wrong warnings that it hides elsewhere about std::string, clang
    # what the standard library's own functions call.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
      $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overread;-Wno-stringop-overflow;-Wno-restrict>)
  endif()
endfunction()

# The folders where that is done, and files there that name things as others do. Elsewhere files are compiled in ways of their own.
set(TFL_UNITED "(cli|codegen/(gpu|jit|load|library|plan|llvm/[a-z]+)|frontend/(text|syntax/(parse|scope)|interpreter/(builtins|compile|modules|object|object/[a-z]+|profile|vm)|tensors/[a-z]+|staging/[a-z]+)|ir|ir/gradient|optimizer|runtime/(core|dispatch|gpu|kernels/[a-z]+|ops|shapes|support|tensor|text))")
set(TFL_APART "(frontend/tensors/(numpy/python_random|tensor/(random_streams|variable_assign))|frontend/interpreter/object/([a-z]+/)?([a-z]+_methods|alias|attributes_set|bytearray|bytes|dict|dict_table|dict_views|exception|file|float|function|iterators|list|memory_view|object_type|range|set|slice|str|tuple|wrappers)|runtime/kernels/[a-z]+/(cast|elementwise_levels|matmul_levels|random_levels|reduce|reduce_arg|softmax|window_levels|matrix)|runtime/kernels/isa/(elementwise_half|matmul|random|window))[.]cpp")

# tfl_unite(TARGET COUNT SOURCES...): the sources of the target that lie in one of these folders are compiled COUNT at a time.
function(tfl_unite target count)
  if(NOT TFL_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # Types with members of types that only their own file knows are what a file is free to have; g++ takes the united file for a header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set(last "")
  foreach(source IN LISTS ARGN)
    get_filename_component(folder ${source} DIRECTORY)
    if(source MATCHES "/${TFL_APART}$" OR NOT folder MATCHES "^${PROJECT_SOURCE_DIR}/${TFL_UNITED}$")
      continue()
    endif()
    if(NOT folder STREQUAL last)
      set(members 0)
      set(group 0)
      set(last ${folder})
    endif()
    if(members EQUAL count)
      set(members 0)
      math(EXPR group "${group} + 1")
    endif()
    math(EXPR members "${members} + 1")
    string(REPLACE "${PROJECT_SOURCE_DIR}/" "" name "${folder}_${group}")
    string(MAKE_C_IDENTIFIER "${name}" name)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name})
  endforeach()
endfunction()

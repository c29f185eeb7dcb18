# find_package(tfl) in the build of a program that uses TFL. Gives the program as the target tfl::tfl, the library of tfl.h and tfl.hpp as
# tfl::libtfl, to embed the interpreter, and
#
#   tfl_add_library(NAME SCRIPT [EXPORT FUNCTION...] [OPTIONS ARGUMENT...])
#
# a library of the traced functions of SCRIPT (or of a saved model), made when SCRIPT is newer: NAME is linked as any other target, and its
# header is <NAME.h>. EXPORT and OPTIONS are those of `tfl build`: EXPORT "f(f32[n,784])", OPTIONS --target x86-64-v3.

get_filename_component(_tfl_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(TFL_PROGRAM tfl PATHS "${_tfl_prefix}/bin" NO_DEFAULT_PATH)
if(NOT TFL_PROGRAM)
  set(tfl_FOUND FALSE)
  set(tfl_NOT_FOUND_MESSAGE "there is no program tfl in ${_tfl_prefix}/bin")
  return()
endif()

if(NOT TARGET tfl::tfl)
  add_executable(tfl::tfl IMPORTED GLOBAL)
  set_target_properties(tfl::tfl PROPERTIES IMPORTED_LOCATION "${TFL_PROGRAM}")
endif()

if(NOT TARGET tfl::libtfl AND EXISTS "${_tfl_prefix}/include/tfl.h")
  find_library(TFL_LIBRARY tfl PATHS "${_tfl_prefix}/lib" NO_DEFAULT_PATH)
  if(TFL_LIBRARY)
    add_library(tfl::libtfl SHARED IMPORTED GLOBAL)
    set_target_properties(tfl::libtfl PROPERTIES IMPORTED_LOCATION "${TFL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${_tfl_prefix}/include")
  endif()
endif()

function(tfl_add_library name script)
  cmake_parse_arguments(arg "" "" "EXPORT;OPTIONS" ${ARGN})
  get_filename_component(script "${script}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.tfl-library")
  set(exports "")
  foreach(function IN LISTS arg_EXPORT)
    list(APPEND exports --export "${function}")
  endforeach()
  set(library "${folder}/lib${name}.so")
  add_custom_command(OUTPUT "${library}" "${folder}/${name}.h"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
    COMMAND tfl::tfl build "${script}" --output "${folder}" --name "${name}" ${exports} ${arg_OPTIONS}
    DEPENDS "${script}" tfl::tfl VERBATIM COMMENT "tfl build ${name}")
  add_custom_target(${name}_build DEPENDS "${library}" "${folder}/${name}.h")
  file(MAKE_DIRECTORY "${folder}")
  add_library(${name} SHARED IMPORTED GLOBAL)
  add_dependencies(${name} ${name}_build)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${library}" IMPORTED_NO_SONAME OFF INTERFACE_INCLUDE_DIRECTORIES "${folder}")
endfunction()

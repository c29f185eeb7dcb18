# libtfl.so: TFL for other programs, over the C interface of cli/embed/tfl.h. It is made of the same objects as the program: they are compiled
# for a position-independent program with everything hidden, which a shared library may be made of as well.
function(tfl_embed_library name)
  cmake_parse_arguments(arg "" "ABI" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/embed/*.cpp)
  add_library(${name} SHARED ${sources})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE TFL_VERSION="${PROJECT_VERSION}")
  target_compile_options(${name} PRIVATE -fPIC)
  target_link_libraries(${name} PRIVATE tfl_warnings ${arg_LINK})
  tfl_cold(${name})
  # tfl_* are the functions of tfl.h, and those that the program's own libraries take their memory from.
  tfl_shows(${name} "tfl_*")
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,-O1 -Wl,--gc-sections)
  foreach(variable stdout stderr __libc_single_threaded)  # cli/embed/standard_streams.cpp
    target_link_options(${name} PRIVATE -Wl,--wrap=${variable})
  endforeach()
  if(NOT TFL_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${name} PROPERTIES PREFIX lib OUTPUT_NAME tfl VERSION ${PROJECT_VERSION} SOVERSION ${arg_ABI} SKIP_BUILD_RPATH ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  install(TARGETS ${name} LIBRARY DESTINATION lib)
  install(FILES ${PROJECT_SOURCE_DIR}/cli/embed/tfl.h ${PROJECT_SOURCE_DIR}/cli/embed/tfl.hpp DESTINATION include)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/tfl.pc @ONLY CONTENT [[prefix=${pcfiledir}/../..
Name: tfl
Description: TFL, a tensor language, in another program
Version: @PROJECT_VERSION@
Cflags: -I${prefix}/include
Libs: -L${prefix}/lib -ltfl
]])
  install(FILES ${CMAKE_BINARY_DIR}/tfl.pc DESTINATION lib/pkgconfig)
endfunction()

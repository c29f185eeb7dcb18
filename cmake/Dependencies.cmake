# Libraries of the system. What can be linked statically is: a dynamic library costs a part of a millisecond at every start.

find_package(Threads REQUIRED)

set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)

# Regular expressions, for tf.strings and the module re; PNG and JPEG, for tf.io; digests.
function(tfl_static_library name header library)
  find_path(TFL_${name}_INCLUDE ${header} REQUIRED)
  find_library(TFL_${name}_LIBRARY NAMES lib${library}.a ${library} REQUIRED)
  add_library(tfl_${name} INTERFACE)
  target_include_directories(tfl_${name} SYSTEM INTERFACE ${TFL_${name}_INCLUDE})
  target_link_libraries(tfl_${name} INTERFACE ${TFL_${name}_LIBRARY})
endfunction()
tfl_static_library(pcre2 pcre2.h pcre2-8)
tfl_static_library(png png.h png16)
tfl_static_library(jpeg jpeglib.h jpeg)
tfl_static_library(nettle nettle/nettle-meta.h nettle)
# Integers of any size.
tfl_static_library(tommath tommath.h tommath)

# Debian has {fmt} as a shared library only; it is small, so one file of ours compiles it in.
find_path(TFL_FMT_INCLUDE fmt/format-inl.h REQUIRED)
add_library(tfl_fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/fmt_library.cpp)
target_include_directories(tfl_fmt SYSTEM PUBLIC ${TFL_FMT_INCLUDE})

# The line editor, for the REPL alone.
find_path(TFL_EDIT_INCLUDE histedit.h REQUIRED)
add_library(tfl_edit INTERFACE)
target_include_directories(tfl_edit SYSTEM INTERFACE ${TFL_EDIT_INCLUDE})
foreach(library edit tinfo bsd md)
  find_library(TFL_LIB_${library}_A NAMES lib${library}.a)
  if(NOT TFL_LIB_${library}_A)
    set(TFL_EDIT_DYNAMIC ON)
  endif()
endforeach()
if(TFL_EDIT_DYNAMIC)
  find_library(TFL_LIB_edit edit REQUIRED)
  target_link_libraries(tfl_edit INTERFACE ${TFL_LIB_edit})
else()
  target_link_libraries(tfl_edit INTERFACE ${TFL_LIB_edit_A} ${TFL_LIB_tinfo_A} ${TFL_LIB_bsd_A} ${TFL_LIB_md_A})
endif()

# The unit tests' framework (tests/catch.h): version 2 is a header, version 3 has a library.
find_path(TFL_CATCH_INCLUDE NAMES catch2/catch_all.hpp catch2/catch.hpp REQUIRED)
add_library(tfl_catch INTERFACE)
target_include_directories(tfl_catch SYSTEM INTERFACE ${TFL_CATCH_INCLUDE})
if(EXISTS ${TFL_CATCH_INCLUDE}/catch2/catch_all.hpp)
  find_library(TFL_CATCH_LIBRARY Catch2 REQUIRED)
  target_link_libraries(tfl_catch INTERFACE ${TFL_CATCH_LIBRARY})
endif()

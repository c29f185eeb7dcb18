# libtfl_standalone.a: the runtime of the libraries that `tfl build` makes. Position-independent, free of the C++ library, everything hidden. The
# program carries it, and the header of the libraries' common types, as bytes (codegen/library/embedded.h).

function(tfl_standalone codegen)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/standalone/*.c ${PROJECT_SOURCE_DIR}/runtime/standalone/*.cpp)
  file(GLOB dense CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/kernels/linalg/dense_*.cpp)
  add_library(tfl_standalone STATIC ${sources} ${PROJECT_SOURCE_DIR}/runtime/kernels/linalg/matrix.cpp
    ${PROJECT_SOURCE_DIR}/runtime/kernels/product/product.cpp ${PROJECT_SOURCE_DIR}/runtime/kernels/fourier/fourier_plan.cpp ${dense}
    ${PROJECT_SOURCE_DIR}/runtime/tensor/element.cpp)
  # The tiles of matrix products and the loops of random numbers, for the levels that machine code is made for.
  set(libraries tfl_standalone)
  foreach(entry "v3:3:-march=x86-64-v3" "v4:4:-march=x86-64-v4")
    string(REPLACE ":" ";" parts "${entry}")
    list(GET parts 0 isa)
    list(GET parts 1 level)
    list(GET parts 2 march)
    add_library(tfl_standalone_${isa} OBJECT ${TFL_STANDALONE_KERNELS})
    target_compile_definitions(tfl_standalone_${isa} PRIVATE TFL_ISA=${isa} TFL_ISA_LEVEL=${level})
    target_compile_options(tfl_standalone_${isa} PRIVATE ${march})
    target_sources(tfl_standalone PRIVATE $<TARGET_OBJECTS:tfl_standalone_${isa}>)
    list(APPEND libraries tfl_standalone_${isa})
  endforeach()
  foreach(library IN LISTS libraries)
    target_include_directories(${library} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(${library} PRIVATE _GNU_SOURCE)
    target_compile_options(${library} PRIVATE -fPIC -O2 -g0 -fvisibility=hidden -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fno-sanitize=all
      -U_GLIBCXX_ASSERTIONS $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics> -Wall -Wextra -Wno-psabi -Wno-ignored-attributes -Werror)
  endforeach()

  set(assembly ${CMAKE_BINARY_DIR}/standalone.S)
  set(types ${PROJECT_SOURCE_DIR}/runtime/standalone/library_types.inc)
  file(CONFIGURE OUTPUT ${assembly} @ONLY CONTENT [[
  .section .rodata
  .balign 16
  .globl tfl_standalone_archive, tfl_standalone_archive_end, tfl_library_types, tfl_library_types_end
  .hidden tfl_standalone_archive, tfl_standalone_archive_end, tfl_library_types, tfl_library_types_end
tfl_standalone_archive: .incbin "$<TARGET_FILE>"
tfl_standalone_archive_end: .byte 0
tfl_library_types: .incbin "@types@"
tfl_library_types_end: .byte 0
  .section .note.GNU-stack, "", %progbits
]])
  file(READ ${assembly} text)
  string(REPLACE "$<TARGET_FILE>" "${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/libtfl_standalone.a" text "${text}")
  file(WRITE ${assembly}.new "${text}")
  file(COPY_FILE ${assembly}.new ${assembly} ONLY_IF_DIFFERENT)
  add_library(tfl_standalone_bytes OBJECT ${assembly})
  set_source_files_properties(${assembly} PROPERTIES OBJECT_DEPENDS "${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/libtfl_standalone.a;${types}")
  add_dependencies(tfl_standalone_bytes tfl_standalone)
  target_sources(${codegen} PRIVATE $<TARGET_OBJECTS:tfl_standalone_bytes>)
endfunction()

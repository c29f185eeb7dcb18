# runtime/kernels/isa/*.cpp are compiled once per instruction-set level, with TFL_ISA (base, v3, v4) and TFL_ISA_LEVEL (0, 3, 4)
# defined; the runtime picks a level when it starts. They are optimised in every build type: vector code at -O0 or -O1 is too
# slow to test with. Everything such a file defines must live in a namespace named by TFL_ISA, so that the linker never takes
# one level's code for another's. Beside them the
# portable level is there to be right on old processors, not to be fast: it is compiled in less time.

# Those that native libraries carry (cmake/Standalone.cmake); the program takes their code from there, unless sanitizers want it of their own.
set(TFL_STANDALONE_KERNELS ${PROJECT_SOURCE_DIR}/runtime/kernels/isa/fourier.cpp ${PROJECT_SOURCE_DIR}/runtime/kernels/isa/matmul.cpp
  ${PROJECT_SOURCE_DIR}/runtime/kernels/isa/matrix.cpp
  ${PROJECT_SOURCE_DIR}/runtime/kernels/isa/random.cpp ${PROJECT_SOURCE_DIR}/runtime/kernels/isa/scan.cpp
  ${PROJECT_SOURCE_DIR}/runtime/kernels/isa/scatter.cpp ${PROJECT_SOURCE_DIR}/runtime/kernels/isa/segment.cpp
  ${PROJECT_SOURCE_DIR}/runtime/kernels/isa/sort.cpp ${PROJECT_SOURCE_DIR}/runtime/kernels/isa/window.cpp)

function(tfl_isa_kernels runtime)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/kernels/isa/*.cpp)
  get_target_property(type ${runtime} TYPE)
  if(NOT sources OR type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  set(levels "base:0:-O2")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    set(levels "base:0:-O1 -g0 -Wno-maybe-uninitialized" "v3:3:-O2 -g0 -march=x86-64-v3" "v4:4:-O2 -g0 -march=x86-64-v4")
    target_compile_definitions(${runtime} PUBLIC TFL_HAVE_ISA_V3=1 TFL_HAVE_ISA_V4=1)
  endif()
  foreach(entry IN LISTS levels)
    string(REPLACE ":" ";" parts "${entry}")
    list(GET parts 0 isa)
    list(GET parts 1 level)
    list(GET parts 2 options)
    separate_arguments(options)
    set(name tfl_kernels_${isa})
    set(own ${sources})
    if(level GREATER 0 AND NOT TFL_SANITIZE)
      list(REMOVE_ITEM own ${TFL_STANDALONE_KERNELS})
      target_sources(${runtime} PRIVATE $<TARGET_OBJECTS:tfl_standalone_${isa}>)
    endif()
    add_library(${name} OBJECT ${own})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(${name} PRIVATE TFL_ISA=${isa} TFL_ISA_LEVEL=${level})
    target_compile_options(${name} PRIVATE ${options})
    target_link_libraries(${name} PRIVATE tfl_warnings tfl_fmt)
    tfl_unite(${name} 2 ${own})
    target_sources(${runtime} PRIVATE $<TARGET_OBJECTS:${name}>)
  endforeach()
endfunction()

# libtfl_llvm.so: everything of the project that uses LLVM, and LLVM itself, linked statically. The program loads it when it compiles its
# first function (codegen/jit/load_compiler.cpp), so that a script which compiles nothing pays nothing. It lies beside the program.

set(TFL_LLVM_VERSION 19)
find_program(TFL_LLVM_CONFIG NAMES llvm-config-${TFL_LLVM_VERSION})
if(NOT TFL_LLVM_CONFIG)
  message(FATAL_ERROR "TFL needs LLVM ${TFL_LLVM_VERSION} with its static libraries and headers: llvm-config-${TFL_LLVM_VERSION} was not found. "
    "On Debian they are in the package llvm-${TFL_LLVM_VERSION}-dev, which ./dev installs.")
endif()

# What `llvm-config --ARGUMENTS` says, as a list.
function(tfl_llvm_config variable)
  execute_process(COMMAND ${TFL_LLVM_CONFIG} ${ARGN} OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(output UNIX_COMMAND "${output}")
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()

# `name` from every .cpp file of codegen/llvm, the layer of formulas and the files SHARED, which other layers are made of as well.
function(tfl_llvm_library name)
  cmake_parse_arguments(arg "" "" "SHARED" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/codegen/llvm/*.cpp)
  list(TRANSFORM arg_SHARED PREPEND ${PROJECT_SOURCE_DIR}/)
  add_library(${name} MODULE ${sources} ${arg_SHARED})
  tfl_unite(${name} ${sources})
  tfl_llvm_config(include --includedir)
  tfl_llvm_config(libraries --link-static --libs core analysis scalaropts instcombine ipo target object x86codegen aarch64codegen nvptxcodegen)
  tfl_llvm_config(folder --libdir)
  find_library(TFL_ZSTD NAMES libzstd.a zstd REQUIRED)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(${name} SYSTEM PRIVATE ${include})
  # Everything else is compiled without position independence; the last option holds. g++ does not see that LLVM's own operators new and
  # delete belong together.
  target_compile_options(${name} PRIVATE -fPIC -ffunction-sections -fdata-sections $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>)
  target_link_directories(${name} PRIVATE ${folder})
  target_link_libraries(${name} PRIVATE tfl_warnings tfl_formula ${libraries} ZLIB::ZLIB ${TFL_ZSTD} Threads::Threads ${CMAKE_DL_LIBS} m)
  # One exported function; the pages of what is not used are left out, and relative relocations packed: both are what loading costs.
  target_link_options(${name} PRIVATE -Wl,--gc-sections -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,-z,pack-relative-relocs -Wl,-O1)
  if(NOT TFL_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  tfl_precompile(${name} <llvm/IR/IRBuilder.h> <llvm/IR/Module.h> <llvm/IR/Constants.h> <llvm/Target/TargetMachine.h>)
  set_target_properties(${name} PROPERTIES PREFIX lib OUTPUT_NAME tfl_llvm SKIP_BUILD_RPATH ON LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endfunction()

# Compiler and linker settings that hold for everything built here.

option(TFL_WERROR "treat warnings as errors" ON)
set(TFL_SANITIZE "" CACHE STRING "sanitizers, as in -fsanitize=; empty for none")
option(TFL_FUZZ "build the fuzz targets (clang, libFuzzer)" OFF)
option(TFL_MUTANTS "laws and gradient rules that go wrong when TFL_MUTANT names them (ir/mutants.h)" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# Dev checks itself (TFL_DEBUG_CHECK, the verifier after every pass, the C++ library's assertions): the preset debug, and the sanitizers' ones;
# Release is what ./dev builds and what is measured; RelWithDebInfo is the same with line numbers for a debugger, which take a tenth of the
# time of a build.
set(CMAKE_CXX_FLAGS_DEV "-O1 -g1 -D_GLIBCXX_ASSERTIONS -DTFL_CHECKED" CACHE STRING "flags of build type Dev" FORCE)
set(CMAKE_C_FLAGS_DEV "-O1 -g1" CACHE STRING "flags of build type Dev" FORCE)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g0 -DNDEBUG" CACHE STRING "" FORCE)
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG" CACHE STRING "" FORCE)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Dev or RelWithDebInfo" FORCE)
endif()

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(TFL_CCACHE ccache)
  if(TFL_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${TFL_CCACHE})
  endif()
endif()

# The results of floating-point code are part of the language: no contraction anywhere, and never a fast-math flag.
add_compile_options(-ffp-contract=off -fno-semantic-interposition)
add_link_options(-Wl,--as-needed)

# What makes a mistake harder to use: programs are loaded anywhere and bound before they start, what was bound is read-only, frames with arrays are
# checked when a function returns, and the C library checks the sizes it can know. Marks for the processor's own checks of jumps (CET) would change
# nothing: a file has them only if all that is linked has, and Debian's start files and static libraries have not.
add_compile_options(-fPIE -fstack-protector-strong)
add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie> -Wl,-z,relro,-z,now,-z,noexecstack,-z,pack-relative-relocs)
if(NOT TFL_SANITIZE)
  add_compile_options($<$<CONFIG:Release,RelWithDebInfo,Dev>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release,RelWithDebInfo,Dev>:-D_FORTIFY_SOURCE=3>)
endif()
# g++ collects its garbage often while it knows little; a tenth of the time goes without.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-expand=200> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=262144>)

if(TFL_SANITIZE)
  add_compile_options(-fsanitize=${TFL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=${TFL_SANITIZE})
  add_compile_definitions(TFL_SANITIZED=1)
else()
  add_link_options(-static-libgcc -static-libstdc++)  # a start of a few milliseconds has no time to load them
endif()
if(TFL_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# tfl_calls_made_code(TARGET): the target calls machine code that is made at run time, before which there is no mark of its type. Clang's check of
# calls through pointers would read one.
function(tfl_calls_made_code target)
  if(TFL_SANITIZE MATCHES undefined)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  endif()
endfunction()

# Warnings, for our own code only. GNU statement expressions, labels as values and vector extensions are in use on purpose;
# g++ can only leave them out by leaving out -Wpedantic. Tables name the fields they set and leave the others zero.
add_library(tfl_warnings INTERFACE)
target_compile_options(tfl_warnings INTERFACE -Wall -Wextra -Wswitch -Wnon-virtual-dtor -Woverloaded-virtual -Wno-psabi -Wno-missing-field-initializers
  $<$<CXX_COMPILER_ID:GNU>:-Wno-ignored-attributes>
  $<$<CXX_COMPILER_ID:Clang>:-Wpedantic -Wno-gnu-statement-expression -Wno-gnu-label-as-value -Wno-gnu-zero-variadic-macro-arguments
    -Wno-gnu-case-range -Wno-gnu-anonymous-struct -Wno-nested-anon-types -Wno-vla-extension -Wno-unknown-warning-option>
  $<$<BOOL:${TFL_WERROR}>:-Werror>)

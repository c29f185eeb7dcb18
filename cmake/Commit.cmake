# The commit that is being built, for `tfl --version`: a source file of one constant, looked at by every build and written when it changed.
#
#   cmake -DROOT=folder -DVERSION=0.1.0 -DOUT=file -P Commit.cmake      writes the file
#   tfl_commit(NAME)                                                    a library of it

if(CMAKE_SCRIPT_MODE_FILE)
  set(commit "")
  # A source archive says it in a file of its own.
  if(EXISTS ${ROOT}/.commit)
    file(STRINGS ${ROOT}/.commit commit LIMIT_COUNT 1)
  else()
    execute_process(COMMAND git -C ${ROOT} rev-parse --short=8 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND git -C ${ROOT} status --porcelain --untracked-files=no OUTPUT_VARIABLE changed ERROR_QUIET)
    if(commit AND changed)
      string(APPEND commit "+")
    endif()
  endif()
  if(commit)
    set(commit " (${commit})")
  endif()
  set(text "namespace tfl::cli {\nextern const char* const kBuild;\nconst char* const kBuild = \"${VERSION}${commit}\";\n}  // namespace tfl::cli\n")
  set(old "")
  if(EXISTS ${OUT})
    file(READ ${OUT} old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE ${OUT} "${text}")
  endif()
  return()
endif()

function(tfl_commit name)
  set(out ${CMAKE_BINARY_DIR}/commit.cpp)
  add_custom_target(${name}_text COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION} -DOUT=${out}
    -P ${PROJECT_SOURCE_DIR}/cmake/Commit.cmake BYPRODUCTS ${out} VERBATIM)
  add_library(${name} STATIC ${out})
  add_dependencies(${name} ${name}_text)
endfunction()

# grammar/*.g4 -> C++ in the build folder, by Debian's ANTLR tool (4.7.2) for Debian's runtime (4.9).

function(tfl_grammar frontend lexer parser)
  file(GLOB present CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/grammar/*.g4)
  get_target_property(type ${frontend} TYPE)
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${lexer} OR NOT EXISTS ${PROJECT_SOURCE_DIR}/${parser})
    return()
  endif()
  find_program(TFL_ANTLR antlr4 REQUIRED)
  find_path(TFL_ANTLR_INCLUDE antlr4-runtime.h PATH_SUFFIXES antlr4-runtime REQUIRED)
  find_library(TFL_ANTLR_LIBRARY NAMES libantlr4-runtime.a antlr4-runtime REQUIRED)

  set(raw ${CMAKE_BINARY_DIR}/grammar/raw)
  set(out ${CMAKE_BINARY_DIR}/grammar)
  get_filename_component(lexer_class ${lexer} NAME_WE)
  get_filename_component(parser_class ${parser} NAME_WE)
  set(generated)
  foreach(class ${lexer_class} ${parser_class})
    list(APPEND generated ${out}/${class}.h ${out}/${class}.cpp)
  endforeach()
  set(patch ${PROJECT_SOURCE_DIR}/cmake/PatchAntlr.cmake)
  add_custom_command(OUTPUT ${generated}
    COMMAND ${TFL_ANTLR} -Dlanguage=Cpp -no-listener -no-visitor -Xexact-output-dir -o ${raw}
      ${PROJECT_SOURCE_DIR}/${lexer} ${PROJECT_SOURCE_DIR}/${parser}
    COMMAND ${CMAKE_COMMAND} -DRAW=${raw} -DOUT=${out} -DCLASSES=${lexer_class},${parser_class} -P ${patch}
    DEPENDS ${PROJECT_SOURCE_DIR}/${lexer} ${PROJECT_SOURCE_DIR}/${parser} ${patch}
    COMMENT "Generating the lexer and the parser" VERBATIM)

  add_library(tfl_grammar STATIC ${generated})
  target_compile_options(tfl_grammar PRIVATE -fno-char8_t -w)
  tfl_cold(tfl_grammar)
  target_include_directories(tfl_grammar SYSTEM PUBLIC ${TFL_ANTLR_INCLUDE} ${out})
  target_link_libraries(tfl_grammar PUBLIC ${TFL_ANTLR_LIBRARY} Threads::Threads)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    target_link_libraries(${frontend} PRIVATE tfl_grammar)
    target_link_libraries(${frontend}_cold PRIVATE tfl_grammar)
  endif()
endfunction()

# Puts every file of stdlib/ into the programs, as text and as bytecode (declared in frontend/stdlib/embedded.h). The assembler reads
# the files, so that none is too large for the compiler, and a change of one costs the assembly of a small file.
#
# tfl_stdlib_text holds the texts alone. With it, the program tfl_stdlib_compiler (frontend/stdlib/compiler/*.cpp, which belongs to no
# library) is linked; it is called as `tfl_stdlib_compiler NAME SOURCE OUTPUT` for each file and writes its bytecode. tfl_stdlib holds
# both. A program that links tfl_frontend links one of the two. Without the compiler's sources tfl_stdlib is tfl_stdlib_text.
#
# Some folders only keep the files of stdlib/ apart; they are no part of the names of modules: stdlib/python/json.tfl is `json`.
set(TFL_STDLIB_SHELVES python packages tools)

# Sets `result` to the list of NAME|FILE of all files, sorted by name: where the module is looked up, and the file itself.
function(tfl_stdlib_names result)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/stdlib/*.tfl)
  list(JOIN TFL_STDLIB_SHELVES "|" shelves)
  set(found "")
  foreach(file IN LISTS files)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/stdlib ${file})
    string(REGEX REPLACE "^(${shelves})/" "" name ${name})
    list(APPEND found "${name}|${file}")
  endforeach()
  list(SORT found)
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# Writes the table of files (tfl_stdlib_names) to `assembly`. CODE names each file's bytecode, in their order, or nothing; EXPORTS the
# table of public names.
function(tfl_write_embedded assembly)
  cmake_parse_arguments(arg "" "EXPORTS" "FILES;CODE" ${ARGN})
  set(blobs "")
  set(table "")
  set(count 0)
  set(exports "")
  if(arg_EXPORTS)
    set(exports ".incbin \"${arg_EXPORTS}\"")
  endif()
  set(inputs "")
  foreach(entry IN LISTS arg_FILES)
    string(REPLACE "|" ";" entry "${entry}")
    list(GET entry 0 name)
    list(GET entry 1 file)
    list(APPEND inputs ${file})
    string(APPEND blobs "name_${count}: .asciz \"${name}\"\ntext_${count}: .incbin \"${file}\"\ntext_end_${count}: .byte 0\n")
    set(code "0, 0")
    if(arg_CODE)
      list(GET arg_CODE ${count} code_file)
      string(APPEND blobs "  .balign 16\ncode_${count}: .incbin \"${code_file}\"\ncode_end_${count}: .byte 0\n")
      set(code "code_${count}, code_end_${count} - code_${count}")
    endif()
    string(APPEND table "  .quad name_${count}, text_${count}, text_end_${count} - text_${count}, ${code}\n")
    math(EXPR count "${count} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${assembly} @ONLY CONTENT [[
  .section .rodata
@blobs@
  .globl tfl_stdlib_exports
  .globl tfl_stdlib_exports_end
  .hidden tfl_stdlib_exports
  .hidden tfl_stdlib_exports_end
tfl_stdlib_exports: @exports@
tfl_stdlib_exports_end: .byte 0
  .section .data.rel.ro, "aw"
  .balign 8
  .globl tfl_stdlib_files
  .globl tfl_stdlib_file_count
  .hidden tfl_stdlib_files
  .hidden tfl_stdlib_file_count
tfl_stdlib_file_count: .quad @count@
tfl_stdlib_files:
@table@
  .quad 0, 0, 0, 0, 0
  .section .note.GNU-stack, "", %progbits
]])
  set_source_files_properties(${assembly} PROPERTIES OBJECT_DEPENDS "${inputs};${arg_CODE};${arg_EXPORTS}")
endfunction()

function(tfl_embed_stdlib frontend)
  tfl_stdlib_names(files)
  set(text ${CMAKE_BINARY_DIR}/stdlib/text.S)
  tfl_write_embedded(${text} FILES ${files})
  add_library(tfl_stdlib_text STATIC ${text})
  set_target_properties(tfl_stdlib_text PROPERTIES LINKER_LANGUAGE CXX)

  tfl_program(tfl_stdlib_compiler frontend/stdlib/compiler LINK ${frontend} tfl_stdlib_text)
  if(NOT TARGET tfl_stdlib_compiler)
    add_library(tfl_stdlib ALIAS tfl_stdlib_text)
    return()
  endif()
  set(codes)
  foreach(entry IN LISTS files)
    string(REPLACE "|" ";" entry "${entry}")
    list(GET entry 0 name)
    list(GET entry 1 file)
    set(code ${CMAKE_BINARY_DIR}/stdlib/${name}c)
    get_filename_component(folder ${code} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${code} COMMAND tfl_stdlib_compiler ${name} ${file} ${code}
      DEPENDS tfl_stdlib_compiler ${file} COMMENT "Compiling stdlib/${name}" VERBATIM)
    list(APPEND codes ${code})
  endforeach()
  set(list ${CMAKE_BINARY_DIR}/stdlib/files.txt)
  list(JOIN files "\n" lines)
  file(CONFIGURE OUTPUT ${list} @ONLY CONTENT "${lines}\n")
  set(exports ${CMAKE_BINARY_DIR}/stdlib/exports.txt)
  set(sources ${files})
  list(TRANSFORM sources REPLACE "^.*\\|" "")
  add_custom_command(OUTPUT ${exports} COMMAND tfl_stdlib_compiler --exports ${list} ${exports}
    DEPENDS tfl_stdlib_compiler ${list} ${sources} COMMENT "Listing the public names of stdlib" VERBATIM)
  set(both ${CMAKE_BINARY_DIR}/stdlib/both.S)
  tfl_write_embedded(${both} FILES ${files} CODE ${codes} EXPORTS ${exports})
  add_library(tfl_stdlib STATIC ${both})
  set_target_properties(tfl_stdlib PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

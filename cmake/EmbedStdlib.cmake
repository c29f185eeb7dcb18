# Puts every file of stdlib/ into the program (declared in frontend/stdlib/embedded.h). The assembler reads the files, so a change
# of one costs an assembly of a small file, and no file is too large for the compiler.

function(tfl_embed_stdlib frontend)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/stdlib/*.tfl)
  list(SORT files)
  set(blobs "")
  set(table "")
  set(count 0)
  foreach(file IN LISTS files)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/stdlib ${file})
    string(APPEND blobs "name_${count}: .asciz \"${name}\"\ndata_${count}: .incbin \"${file}\"\nend_${count}: .byte 0\n")
    string(APPEND table "  .quad name_${count}, data_${count}, end_${count} - data_${count}\n")
    math(EXPR count "${count} + 1")
  endforeach()
  set(assembly ${CMAKE_BINARY_DIR}/stdlib.S)
  file(CONFIGURE OUTPUT ${assembly} @ONLY CONTENT [[
  .section .rodata
@blobs@
  .section .data.rel.ro, "aw"
  .balign 8
  .globl tfl_stdlib_files
  .globl tfl_stdlib_file_count
  .hidden tfl_stdlib_files
  .hidden tfl_stdlib_file_count
tfl_stdlib_file_count: .quad @count@
tfl_stdlib_files:
@table@
  .quad 0, 0, 0
  .section .note.GNU-stack, "", %progbits
]])
  set_source_files_properties(${assembly} PROPERTIES OBJECT_DEPENDS "${files}")
  add_library(tfl_stdlib STATIC ${assembly})
  set_target_properties(tfl_stdlib PROPERTIES LINKER_LANGUAGE CXX)
  tfl_link(${frontend} tfl_stdlib)
endfunction()

# tfl.spdx.json in the build folder: the packages of the system that are linked into the program and its libraries, or whose headers are compiled
# into them, as a list in SPDX 2.3 (tests/tools/hardening.py compares it with what the linker was given). Where there is no dpkg the names of
# the files stand for the packages and versions are unknown.

# tfl_sbom(NAME): to be called when all dependencies have been found.
function(tfl_sbom name)
  execute_process(COMMAND ${TFL_LLVM_CONFIG} --libdir OUTPUT_VARIABLE llvm OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(files ${TFL_ANTLR_LIBRARY} ${TFL_pcre2_LIBRARY} ${TFL_png_LIBRARY} ${TFL_jpeg_LIBRARY} ${TFL_nettle_LIBRARY} ${TFL_tommath_LIBRARY} ${ZLIB_LIBRARY_RELEASE} ${TFL_ZSTD}
    ${llvm}/libLLVMCore.a ${TFL_LLD_ELF})
  foreach(library edit tinfo bsd md)
    if(TFL_EDIT_DYNAMIC)
      list(APPEND files ${TFL_LIB_edit})
    else()
      list(APPEND files ${TFL_LIB_${library}_A})
    endif()
  endforeach()
  foreach(library libstdc++.a libgcc.a libc_nonshared.a libc.so.6)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${library} OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE)
    list(APPEND files ${file})
  endforeach()
  find_path(TFL_CLI11_INCLUDE CLI/CLI.hpp)
  list(APPEND files ${TFL_FMT_INCLUDE}/fmt/format-inl.h ${TFL_CLI11_INCLUDE}/CLI/CLI.hpp)
  list(REMOVE_DUPLICATES files)

  set(packages "")
  find_program(TFL_DPKG_QUERY dpkg-query)
  foreach(file IN LISTS files)
    if(NOT EXISTS ${file})
      continue()
    endif()
    # Packages know files by the names they were installed under, which a link of a merged /usr may hide.
    set(owner "")
    if(TFL_DPKG_QUERY)
      file(REAL_PATH ${file} real)
      string(REGEX REPLACE "^/usr" "" short ${real})
      execute_process(COMMAND ${TFL_DPKG_QUERY} -S ${file} ${real} ${short} OUTPUT_VARIABLE found ERROR_QUIET)
      if(found MATCHES "^([^ ,\n]+)[:,] ")
        set(owner ${CMAKE_MATCH_1})
      endif()
    endif()
    if(owner)
      execute_process(COMMAND ${TFL_DPKG_QUERY} -W -f "\${Package}|\${Version}|\${source:Package}|\${Architecture}|\${Homepage}" ${owner} OUTPUT_VARIABLE row)
    else()
      get_filename_component(row ${file} NAME_WE)
      set(row "${row}||${row}||")
    endif()
    list(APPEND packages "${row}")
  endforeach()
  list(REMOVE_DUPLICATES packages)
  list(SORT packages)

  set(described "    {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": \"SPDXRef-tfl\"}")
  set(rows "    {\"SPDXID\": \"SPDXRef-tfl\", \"name\": \"tfl\", \"versionInfo\": \"${PROJECT_VERSION}\", \"downloadLocation\": \"NOASSERTION\"}")
  foreach(package IN LISTS packages)
    string(REPLACE "|" ";" fields "${package}|")
    list(GET fields 0 1 2 3 4 fields)
    list(POP_FRONT fields own version source architecture homepage)
    string(REGEX REPLACE "[^A-Za-z0-9.-]" "-" id "SPDXRef-${own}")
    set(row "    {\"SPDXID\": \"${id}\", \"name\": \"${own}\", \"downloadLocation\": \"NOASSERTION\"")
    if(version)
      string(REPLACE "+" "%2B" escaped "${version}")
      string(REPLACE ":" "%3A" escaped "${escaped}")
      string(APPEND row ", \"versionInfo\": \"${version}\", \"sourceInfo\": \"built from the source package ${source}\"")
      string(APPEND row ",\n     \"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\", \"referenceLocator\": \"pkg:deb/debian/${own}@${escaped}?arch=${architecture}\"}]")
    endif()
    if(homepage)
      string(APPEND row ", \"homepage\": \"${homepage}\"")
    endif()
    string(APPEND rows ",\n${row}}")
    string(APPEND described ",\n    {\"spdxElementId\": \"SPDXRef-tfl\", \"relationshipType\": \"DEPENDS_ON\", \"relatedSpdxElement\": \"${id}\"}")
  endforeach()
  string(MD5 contents "${rows}")
  # As old as the commit, so that what is built twice is the same.
  if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
    execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} log -1 --format=%ct OUTPUT_VARIABLE when OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(when)
      set(ENV{SOURCE_DATE_EPOCH} ${when})
    endif()
  endif()
  string(TIMESTAMP now "%Y-%m-%dT%H:%M:%SZ" UTC)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name} @ONLY CONTENT [[{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "tfl-@PROJECT_VERSION@",
  "documentNamespace": "https://spdx.org/spdxdocs/tfl-@PROJECT_VERSION@-@contents@",
  "creationInfo": {"created": "@now@", "creators": ["Tool: tfl-build"]},
  "packages": [
@rows@
  ],
  "relationships": [
@described@
  ]
}
]])
endfunction()

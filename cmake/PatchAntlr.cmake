# Rewrites what ANTLR generates so that nothing happens before main(): the generated classes keep their tables in static members
# and fill them from a static object. Each such member becomes a function that makes the table when it is first asked for, and
# the first lexer or parser constructed runs the initialiser. The tables are never freed: they live as long as the process.
#
#   cmake -DRAW=folder -DOUT=folder -DCLASSES=A,B -P PatchAntlr.cmake

set(members _decisionToDFA _sharedContextCache _atn _serializedATN _ruleNames _channelNames _modeNames _literalNames _symbolicNames
  _vocabulary _tokenNames)

# Puts `()` after every use of a member that is not a definition (those are marked with @ before the name).
function(call_members variable)
  set(text "${${variable}}")
  foreach(member IN LISTS members)
    string(REGEX REPLACE "([^A-Za-z0-9_@])${member}([^A-Za-z0-9_(])" "\\1${member}()\\2" text "${text}")
  endforeach()
  string(REPLACE "@_" "_" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# file(READ) and a plain file(WRITE) would touch an unchanged file; this one keeps its time, so nothing is compiled for nothing.
function(write_if_different path text)
  if(EXISTS "${path}")
    file(READ "${path}" old)
    if(old STREQUAL text)
      file(TOUCH_NOCREATE "${path}")
      return()
    endif()
  endif()
  file(WRITE "${path}" "${text}")
endfunction()

string(REPLACE "," ";" CLASSES "${CLASSES}")
foreach(class IN LISTS CLASSES)
  file(READ ${RAW}/${class}.h header)
  string(REGEX REPLACE "static ([A-Za-z0-9_:<>]+) (_[A-Za-z]+);" "static \\1& @\\2();" header "${header}")
  string(REPLACE "static Initializer& @_init();" "" header "${header}")
  call_members(header)

  file(READ ${RAW}/${class}.cpp body)
  string(REPLACE "${class}::Initializer ${class}::_init;" "" body "${body}")
  string(FIND "${body}" "// Static vars and initialization." marker)
  if(marker EQUAL -1)
    message(FATAL_ERROR "${class}.cpp has no section of static variables: is this ANTLR 4.7.2?")
  endif()
  string(SUBSTRING "${body}" 0 ${marker} code)
  string(SUBSTRING "${body}" ${marker} -1 statics)
  string(REPLACE "_interpreter = new" "static const Initializer initialized;\n  _interpreter = new" code "${code}")

  # T C::name;   T C::name = {...};   T C::name(arguments);
  string(REGEX REPLACE "\n([A-Za-z0-9_:<>]+) ${class}::(_[A-Za-z]+);" "\n\\1& ${class}::@\\2() {\n  static \\1& value = *new \\1();\n  return value;\n}" statics "${statics}")
  string(REPLACE "\n};\n" "\n};\n  return value;\n}\n" statics "${statics}")
  string(REGEX REPLACE "\n([A-Za-z0-9_:<>]+) ${class}::(_[A-Za-z]+) = {" "\n\\1& ${class}::@\\2() {\n  static \\1& value = *new \\1{" statics "${statics}")
  string(REGEX REPLACE "\n([A-Za-z0-9_:<>]+) ${class}::(_[A-Za-z]+)(\\([^)]+\\));" "\n\\1& ${class}::@\\2() {\n  static \\1& value = *new \\1\\3;\n  return value;\n}" statics "${statics}")

  call_members(code)
  call_members(statics)
  write_if_different(${OUT}/${class}.h "${header}")
  write_if_different(${OUT}/${class}.cpp "${code}${statics}")
endforeach()

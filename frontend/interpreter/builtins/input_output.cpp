// print and input.
#include "frontend/interpreter/builtins/functions.h"
#include "frontend/interpreter/object/file.h"

namespace tfl::builtin {

namespace {

/// What sys.stdout (or stderr, stdin) is now, when a script has replaced it; Empty else.
Value replaced_stream(Interp& interp, const char* name, int number) {
  Value sys = dict_get_str(interp.modules.as<Dict>(), interp.intern("sys"));
  if (!sys.is(Kind::Module)) return Value();
  Value stream = dict_get_str(sys.as<Module>()->dict.as<Dict>(), interp.intern(name));
  if (stream.is_empty() || stream.identical(interp.standard_streams[number])) return Value();
  return stream;
}

/// sep and end: None stands for the usual text.
Result<std::string_view> text_or(Interp& interp, const Value& v, const char* name, std::string_view usual) {
  if (v.is_none() || v.is_empty()) return usual;
  if (v.is_str()) return std::string_view(text_of(v));
  return fail(ErrorKind::TypeError, "{} must be None or a string, not {}", name, interp.type_name(v));
}

Result<void> write_to(Interp& interp, const Value& file, std::string_view text) {
  if (file.is_empty()) {
    interp.streams.out(text);
    return check_output(interp);
  }
  TFL_TRY(interp.call_method(file, interp.intern("write"), {interp.str(std::string(text))}));
  return {};
}

}  // namespace

Result<Value> print_(Interp& interp, CallArgs& args) {
  Value separator_value, end_value, file, flush;
  for (size_t k = 0; k < args.keywords.size(); ++k) {
    const std::string& keyword = args.keywords[k]->text;
    Value& v = args.values[args.count + k];
    if (keyword == "sep")
      separator_value = v;
    else if (keyword == "end")
      end_value = v;
    else if (keyword == "file")
      file = v;
    else if (keyword == "flush")
      flush = v;
    else
      return fail(ErrorKind::TypeError, "'{}' is an invalid keyword argument for print()", keyword);
  }
  std::string_view separator = TFL_TRY(text_or(interp, separator_value, "sep", " "));
  std::string_view end = TFL_TRY(text_or(interp, end_value, "end", "\n"));
  if (file.is_none() || file.is_empty()) file = replaced_stream(interp, "stdout", 1);
  if (file.is_none()) return Value::none();
  for (uint32_t i = 0; i < args.count; ++i) {
    if (i > 0 && !separator.empty()) TFL_TRY(write_to(interp, file, separator));
    const Value& v = args.values[i];
    if (v.is_str() && v.object()->type == interp.types.str) {
      TFL_TRY(write_to(interp, file, text_of(v)));
    } else {
      Value text = TFL_TRY(to_str(interp, v));
      TFL_TRY(write_to(interp, file, text_of(text)));
    }
  }
  if (!end.empty()) TFL_TRY(write_to(interp, file, end));
  bool flushing = false;
  if (!flush.is_empty()) flushing = TFL_TRY(truth(interp, flush));
  if (flushing) {
    if (file.is_empty()) {
      interp.streams.flush();
      TFL_TRY(check_output(interp));
    } else
      TFL_TRY(interp.call_method(file, interp.intern("flush"), {}));
  }
  return Value::none();
}

Result<Value> input_(Interp& interp, Value* a) {
  if (!a[0].is_none()) {
    Value prompt = TFL_TRY(to_str(interp, a[0]));
    interp.streams.out(text_of(prompt));
  }
  interp.streams.flush();
  std::string line;
  Value replaced = replaced_stream(interp, "stdin", 0);
  if (!replaced.is_empty()) {
    Value text = TFL_TRY(interp.call_method(replaced, interp.intern("readline"), {}));
    if (!text.is_str()) return fail(ErrorKind::TypeError, "object.readline() returned non-string");
    line = text_of(text);
  } else {
    line = TFL_TRY(file_read_line(interp, standard_stream(interp, 0).as<File>()));
  }
  if (line.empty()) return fail(ErrorKind::EOFError, "EOF when reading a line");
  if (line.back() == '\n') line.pop_back();
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return interp.str(std::move(line));
}

}  // namespace tfl::builtin

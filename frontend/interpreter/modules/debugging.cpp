// Debugging a script from stdlib/tools/_debugger.tfl: statements that ask before they run whether to stop, the frames of the script, their names.
// Code that is debugged is compiled with a call of `mark` before each statement; all other code knows nothing of it.
#include "frontend/interpreter/modules/debugging.h"

#include <algorithm>

#include "frontend/core/frame.h"
#include "frontend/core/native_module.h"
#include "frontend/interpreter/compile/compile.h"

namespace tfl {

namespace {

// Places of the list that marks look at. Scripts of the library write it, too.
enum Known : size_t {
  kActive,   // whether all sources are compiled with marks from now on
  kFiles,    // {name of a source: {line: condition or None}}
  kMark,     // the native `mark`
  kMode,     // a Mode
  kDepth,    // of Mode::AtMost
  kOnStop,   // called with "step" or "breakpoint"
  kOnPoll,   // None, or called now and then while the script runs
  kCounter,  // marks that have been passed
};
enum Mode : int64_t { Run, Any, AtMost };

constexpr int64_t kMarksBetweenPolls = 512;

bool is_shown_frame(const Frame* f) { return f->code->source && !f->code->source->internal; }

int64_t frame_count(const Interp& interp) {
  int64_t n = 0;
  for (const Frame* f = interp.frame; f; f = f->back) n += is_shown_frame(f);
  return n;
}

uint32_t line_of(const Frame* f) {
  return f->code->span_at(static_cast<uint32_t>(f->ip - f->code->instructions.data())).span.line;
}

/// mark((state, lines)): whoever debugs may stop here.
Result<Value> mark(Interp& interp, Value* args) {
  if (!args[0].is(Kind::Tuple) || args[0].as<Tuple>()->size != 2)
    return fail(ErrorKind::TypeError, "mark() is called by debugged code");
  const Value& known = args[0].as<Tuple>()->items[0];
  const Value& lines = args[0].as<Tuple>()->items[1];
  if (!known.is(Kind::List) || known.as<List>()->items.size() <= kCounter || !lines.is(Kind::Dict))
    return fail(ErrorKind::TypeError, "mark() is called by debugged code");
  std::vector<Value>& s = known.as<List>()->items;
  if (s[kOnStop].is_none() || !interp.frame) return Value::none();
  if (!s[kOnPoll].is_none()) {
    int64_t passed = s[kCounter].is_int() ? s[kCounter].as_int() : 0;
    s[kCounter] = Value::integer((passed + 1) % kMarksBetweenPolls);
    if (passed == 0) TFL_TRY(interp.call(Value(s[kOnPoll]), {}));
  }
  const int64_t mode = s[kMode].is_int() ? s[kMode].as_int() : Mode::Run;
  const char* why = nullptr;
  if (lines.as<Dict>()->live > 0) {
    Value condition = TFL_TRY(dict_get(interp, lines.as<Dict>(), Value::integer(line_of(interp.frame))));
    if (!condition.is_empty()) why = "breakpoint";
  }
  if (!why && (mode == Mode::Any || (mode == Mode::AtMost && s[kDepth].is_int() && frame_count(interp) <= s[kDepth].as_int())))
    why = "step";
  if (!why) return Value::none();
  TFL_TRY(interp.call(Value(s[kOnStop]), {interp.str(why)}));
  return Value::none();
}

/// The level-th of the script's frames, the innermost is 0.
Frame* shown_frame(const Interp& interp, int64_t level) {
  for (Frame* f = interp.frame; f; f = f->back) {
    if (is_shown_frame(f) && level-- == 0) return f;
  }
  return nullptr;
}

Result<Frame*> frame_argument(Interp& interp, const Value& level) {
  Frame* f = shown_frame(interp, TFL_TRY(to_index(interp, level)));
  if (!f) return fail(ErrorKind::IndexError, "there is no such frame");
  return f;
}

/// stack(): rows (file, line, function, module, code begins at line) of the script's frames, the innermost first.
Result<Value> stack(Interp& interp, Value*) {
  std::vector<Value> rows;
  for (Frame* f = interp.frame; f; f = f->back) {
    if (!is_shown_frame(f)) continue;
    rows.push_back(interp.tuple({interp.str(f->code->source->name), Value::integer(line_of(f)), interp.str(f->code->name),
                                 interp.str(f->module->name), Value::integer(f->code->span.line)}));
  }
  return interp.list(std::move(rows));
}

/// names(level): (local names, names of the module) of a frame; those of a module's or a class's own code are the dictionaries themselves.
Result<Value> names(Interp& interp, Value* args) {
  Frame* f = TFL_TRY(frame_argument(interp, args[0]));
  Value globals = Value::share(f->globals);
  if (f->code->module_body) return interp.tuple({globals, globals});
  if (f->code->class_body) return interp.tuple({f->held.is(Kind::Dict) ? f->held : interp.dict(), globals});
  Value out = interp.dict();
  for (size_t i = 0; i < f->code->register_names.size(); ++i) {
    Str* name = f->code->register_names[i];
    if (!name || name->text.empty() || name->text[0] == '.') continue;
    Value v = f->registers[i];
    if (v.is(Kind::Cell)) v = v.as<Cell>()->value;
    if (!v.is_empty()) dict_set_str(out.as<Dict>(), name, v);
  }
  for (size_t i = 0; i < f->code->free_names.size() && i < f->code->free_registers.size(); ++i) {
    const Value& cell = f->registers[f->code->free_registers[i]];
    if (cell.is(Kind::Cell) && !cell.as<Cell>()->value.is_empty())
      dict_set_str(out.as<Dict>(), f->code->free_names[i], cell.as<Cell>()->value);
  }
  return interp.tuple({out, globals});
}

/// assign(level, name, value): gives a name of a frame a value; False where the frame has no such name.
Result<Value> assign(Interp& interp, Value* args) {
  Frame* f = TFL_TRY(frame_argument(interp, args[0]));
  const std::string& wanted = text_of(args[1]);
  if (f->code->module_body || f->code->class_body) {
    Value names = f->code->module_body ? Value::share(f->globals) : f->held;
    if (!names.is(Kind::Dict)) return Value::boolean(false);
    dict_set_str(names.as<Dict>(), interp.intern(wanted), args[2]);
    return Value::boolean(true);
  }
  auto put = [&](uint32_t r) {
    Value& held = f->registers[r];
    if (held.is(Kind::Cell))
      held.as<Cell>()->value = args[2];
    else
      held = args[2];
    return Value::boolean(true);
  };
  for (size_t i = 0; i < f->code->register_names.size(); ++i) {
    if (f->code->register_names[i] && f->code->register_names[i]->text == wanted) return put(static_cast<uint32_t>(i));
  }
  for (size_t i = 0; i < f->code->free_names.size() && i < f->code->free_registers.size(); ++i) {
    if (f->code->free_names[i]->text == wanted) return put(f->code->free_registers[i]);
  }
  return Value::boolean(false);
}

/// statement_lines(path, text): the lines on which a statement begins, in order: where a breakpoint can be.
Result<Value> statement_lines(Interp& interp, Value* args) {
  CompileOptions options;
  options.lines = interp.dict();
  compile_module(interp, std::make_shared<const Source>(text_of(args[0]), text_of(args[1])), options);
  std::vector<int64_t> found;
  for (const Value& key : TFL_TRY(to_vector(interp, options.lines))) {
    if (key.is_int()) found.push_back(key.as_int());
  }
  std::sort(found.begin(), found.end());
  std::vector<Value> lines;
  for (int64_t n : found) lines.push_back(Value::integer(n));
  return interp.list(std::move(lines));
}

constexpr NativeDef kMarkDef = function("mark", "place: tuple, /", mark);
constexpr NativeDef kDebugging[] = {
    function("stack", "", stack),
    function("names", "level, /", names),
    function("assign", "level, name: str, value, /", assign),
    function("statement_lines", "path: str, text: str, /", statement_lines),
};

}  // namespace

std::span<const NativeDef> debugging_natives() { return kDebugging; }

Value debugging_state(Interp& interp) {
  return interp.list({Value::boolean(false), interp.dict(), interp.native(kMarkDef), Value::integer(Mode::Run), Value::integer(0),
                      Value::none(), Value::none(), Value::integer(0)});
}

}  // namespace tfl

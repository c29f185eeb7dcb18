// The module _autograph: what the operators of converted code cannot say in TFL. A function is converted, shown as source; the state of
// a statement is read and written through the cells that its helpers share with the function around them.
//
//   converted(f)                    what to call in the place of f
//   called(f)                       the same for a call: a function known to be recursive becomes a graph function
//   mark_recursive(helper)          makes it known of the function that the helper is a part of
//   source(f)                       its text
//   overload(f, g)                  g stands for the built-in f in converted code
//   disabled(flag) -> bool          no conversion until it is called with the value it gave; what do_not_convert means
//   cells(names, functions)         the variables of these names, of the functions' closure or their module
//   read(cells, default) -> list    their values, `default` for one that is unbound
//   write(cells, values, default)   `default` unbinds
//   line_of(function, name)         the line of a helper that assigns the variable, or None
#include "frontend/core/code.h"
#include "frontend/core/frame.h"
#include "frontend/core/native_module.h"
#include "frontend/staging/autograph/autograph.h"

namespace tfl {

namespace {

Result<Value> converted(Interp& interp, CallArgs& args) {
  TFL_TRY(no_keywords("converted", args));
  if (args.count != 1) return fail(ErrorKind::TypeError, "converted() takes exactly one argument ({} given)", args.count);
  return autograph_converted(interp, args.values[0]);
}

Result<Value> called(Interp& interp, CallArgs& args) {
  TFL_TRY(no_keywords("called", args));
  if (args.count != 1) return fail(ErrorKind::TypeError, "called() takes exactly one argument ({} given)", args.count);
  return autograph_converted(interp, args.values[0], true);
}

/// The function in whose frame the helper's statement stands has come back to that statement through calls of itself.
Result<Value> mark_recursive(Interp& interp, Value* args) {
  if (!args[0].is(Kind::Function)) return Value::boolean(false);
  const Code* helper = args[0].as<Function>()->code.as<Code>();
  for (const Frame* f = interp.frame; f; f = f->back) {
    if (!f->code->converted || f->code->helper || f->code->source != helper->source || f->code->name != helper->name) continue;
    bool fresh = !f->code->autograph.is_bool();
    f->code->autograph = Value::boolean(true);
    return Value::boolean(fresh);
  }
  return Value::boolean(false);
}

Result<Value> source(Interp& interp, Value* args) {
  std::string text = TFL_TRY(autograph_source(interp, args[0]));
  return interp.str(std::move(text));
}

Dict* own_names(Interp& interp) { return interp.find_module("_autograph").as<Module>()->dict.as<Dict>(); }

Result<Value> overload(Interp& interp, Value* args) {
  Value table = dict_get_str(own_names(interp), interp.intern("_overloads"));
  TFL_TRY(dict_set(interp, table.as<Dict>(), args[0], args[1]));
  return Value::none();
}

Result<Value> disabled(Interp& interp, Value* args) {
  Str* key = interp.intern("_off");
  Value before = dict_get_str(own_names(interp), key);
  dict_set_str(own_names(interp), key, args[0]);
  return before;
}

/// The variable `name` of one of the functions: its cell, or (names of the module, name).
Result<Value> find_cell(Interp& interp, Str* name, std::span<Value> functions) {
  const Function* any = nullptr;
  for (const Value& v : functions) {
    if (!v.is(Kind::Function)) continue;
    any = v.as<Function>();
    Code* code = any->code.as<Code>();
    TFL_TRY(complete(interp, *code));
    for (size_t i = 0; i < code->free_names.size(); ++i) {
      if (code->free_names[i] == name) return any->closure.as<Tuple>()->items[i];
    }
  }
  if (!any) return fail(ErrorKind::TypeError, "cells() needs a function");
  return interp.tuple({any->module.as<Module>()->dict, interp.str(name)});
}

/// (names of a module, name)
bool is_place(const Value& v) {
  if (!v.is(Kind::Tuple) || v.as<Tuple>()->size != 2) return false;
  return v.as<Tuple>()->items[0].is(Kind::Dict) && v.as<Tuple>()->items[1].is_str();
}

Result<Value> cells(Interp& interp, Value* args) {
  std::vector<Value> out;
  for (const Value& name : args[0].as<Tuple>()->span()) {
    if (!name.is_str()) return fail(ErrorKind::TypeError, "cells() needs names");
    out.push_back(TFL_TRY(find_cell(interp, interp.intern(text_of(name)), args[1].as<Tuple>()->span())));
  }
  return interp.tuple(out);
}

Result<Value> read(Interp& interp, Value* args) {
  std::vector<Value> out;
  for (const Value& cell : args[0].as<Tuple>()->span()) {
    Value v;
    if (cell.is(Kind::Cell)) {
      v = cell.as<Cell>()->value;
    } else if (is_place(cell)) {
      auto* place = cell.as<Tuple>();
      v = TFL_TRY(dict_get(interp, place->items[0].as<Dict>(), place->items[1]));
    }
    out.push_back(v.is_empty() ? args[1] : std::move(v));
  }
  return interp.list(std::move(out));
}

Result<Value> write(Interp& interp, Value* args) {
  std::vector<Value> values = TFL_TRY(to_vector(interp, args[1]));
  if (static_cast<size_t>(args[0].as<Tuple>()->size) != values.size()) {
    return fail(ErrorKind::TypeError, "write() needs as many cells as values");
  }
  size_t i = 0;
  for (const Value& cell : args[0].as<Tuple>()->span()) {
    Value v = std::move(values[i++]);
    bool unbind = v.identical(args[2]);
    if (cell.is(Kind::Cell)) {
      cell.as<Cell>()->value = unbind ? Value() : std::move(v);
    } else if (is_place(cell)) {
      auto* place = cell.as<Tuple>();
      if (unbind)
        dict_remove_str(place->items[0].as<Dict>(), place->items[1].as<Str>());
      else
        dict_set_str(place->items[0].as<Dict>(), place->items[1].as<Str>(), std::move(v));
    }
  }
  return Value::none();
}

/// The first line of `code`, or of helpers in it, that assigns the variable. AutoGraph's code is complete.
uint32_t line_of_store(const Code* code, Str* name) {
  uint32_t found = 0;
  auto take = [&](uint32_t line) {
    if (line && (!found || line < found)) found = line;
  };
  for (size_t k = 0; k < code->free_names.size(); ++k) {
    if (code->free_names[k] != name) continue;
    for (uint32_t i = 0; i < code->instructions.size(); ++i) {
      const Instruction& in = code->instructions[i];
      if ((in.op == Opcode::StoreCell || in.op == Opcode::DeleteCell) && in.b == code->free_registers[k])
        take(code->span_at(i).span.line);
    }
  }
  for (const Value& v : code->constants) {
    if (v.is(Kind::Code) && v.as<Code>()->helper) take(line_of_store(v.as<Code>(), name));
  }
  return found;
}

Result<Value> line_of(Interp& interp, Value* args) {
  if (!args[0].is(Kind::Function) || !args[1].is_str()) return Value::none();
  Code* code = args[0].as<Function>()->code.as<Code>();
  TFL_TRY(complete(interp, *code));
  uint32_t line = line_of_store(code, interp.intern(text_of(args[1])));
  return line ? Value::integer(line) : Value::none();
}

constexpr NativeDef kDefs[] = {
    raw_function("converted", converted),
    raw_function("called", called),
    function("mark_recursive", "helper, /", mark_recursive),
    function("source", "function, /", source),
    function("overload", "builtin, other, /", overload),
    function("disabled", "flag: bool, /", disabled),
    function("cells", "names: tuple, functions: tuple, /", cells),
    function("read", "cells: tuple, default, /", read),
    function("write", "cells: tuple, values, default, /", write),
    function("line_of", "function, name, /", line_of),
};

}  // namespace

Result<void> init_autograph(Interp& interp, Module& module) {
  define_all(interp, module, kDefs);
  define(interp, module, "_overloads", interp.dict());
  define(interp, module, "_off", Value::boolean(false));
  return {};
}

}  // namespace tfl

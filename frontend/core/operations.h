// What single instructions do beyond the VM's fast paths. Knows registers' contents, not frames' order.
#pragma once

#include "frontend/core/frame.h"
#include "frontend/core/protocol.h"

namespace tfl {

// Names
Result<Value> load_global(Interp&, Frame*, Str* name, GlobalCache& cache);
void store_global(Frame*, Str* name, GlobalCache& cache, Value value);
Result<void> delete_global(Interp&, Frame*, Str* name);
Result<Value> load_class_name(Interp&, Frame*, Str* name, const Value* cell);  // cell: what a free variable of that name holds
Result<void> delete_class_name(Interp&, Frame*, Str* name);
Failure unbound_local(Interp&, Frame*, uint32_t reg);
Failure unbound_cell(Interp&, Frame*, uint32_t reg);

// Calls
/// A tf.function object: taken from an instance and called, it is called with the instance in front.
bool is_dispatcher(const Value& v);
/// function and self of v.name for a call, or the attribute's value and Empty.
Result<void> load_method(Interp&, const Value& v, Str* name, Value& function, Value& self);
Result<Value> call_spread(Interp&, const Value& callee, const Value& args, const Value& keywords);
/// "f()" or "module.f()", as messages about a call's arguments begin.
std::string function_text(Interp&, const Value& callee);
Result<void> extend_list(Interp&, List*, const Value& iterable, const Value* callee);
Result<void> merge_keywords(Interp&, Dict*, const Value& mapping, const Value& callee);
Value make_function(Interp&, Frame*, Code*, Value* parts);
Result<Value> build_class(Interp&, const Value& name, Value* parts);

// Displays, unpacking, text
Result<Value> build_set(Interp&, Value* items, uint32_t count);
Result<Value> build_dict(Interp&, Value* items, uint32_t count);
/// {**mapping}.
Result<void> update_display(Interp&, Dict*, const Value& mapping);
Value build_string(Interp&, Value* items, uint32_t count);
Result<void> unpack(Interp&, const Value& v, Value* out, uint32_t count);
Result<void> unpack_rest(Interp&, const Value& v, Value* out, uint32_t before, uint32_t after);
Result<Value> format_field(Interp&, const Value& v, int conversion, const Value* spec);

/// One step of `yield from` a native or script iterator: its next value, or with `ended` what it returned.
Result<Value> step_iterator(Interp&, const Value& iterator, const Value& sent, bool& ended);

// Exceptions, with
Failure raise_value(Interp&, const Value& v, const Value* cause);
Result<bool> match_exception(Interp&, const Value& exception, const Value& classes);
/// `async`: __aenter__() and __aexit__, what they give is still to be awaited.
Result<void> with_enter(Interp&, const Value& manager, bool async, Value& exit, Value& entered);
Result<Value> with_exit(Interp&, const Value& exit, const Value& exception);
/// `except* classes`: the part of `exception` that it handles, or Empty; `exception` becomes the rest, or None.
Result<Value> split_group(Interp&, Value& exception, const Value& classes);
/// What is raised behind the clauses of `except*`, or Empty: `caught` came, `raised` are their errors and the rest.
Result<Value> join_group(Interp&, const Value& caught, const Value& raised);
Failure assertion_failed(Interp&, Tuple* description, Value* values, uint32_t count, bool has_message);

// Imports, REPL
/// The error of importing a module that there is not, with what was perhaps meant.
Failure module_not_found(Interp&, std::string_view name);
/// Does the code belong to the library, which may import and see its own modules?
bool of_library(const Code* code);
Result<Value> import_name(Interp&, Str* name, bool last, bool for_library);
Result<Value> import_from(Interp&, const Value& module, Str* name, bool for_library);
Result<void> import_star(Interp&, Frame*, const Value& module);
Result<void> show_result(Interp&, const Value& v);

}  // namespace tfl

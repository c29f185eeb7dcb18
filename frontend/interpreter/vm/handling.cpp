// raise, except, with, and the assert that shows its values.
#include "frontend/core/advice.h"
#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/operations.h"
#include "frontend/interpreter/object/class.h"

namespace tfl {

namespace {

bool is_exception_class(Interp& interp, const Value& v) {
  return v.is(Kind::Type) && v.as<Type>()->is_subtype_of(interp.exception_type(ErrorKind::BaseException));
}

/// The attribute of a context manager, looked up on its type as Python does. Empty: there is none.
Result<Value> manager_method(Interp& interp, const Value& manager, Str* name) {
  Type* type = interp.type_of(manager);
  const Value* entry = lookup(interp, type, name);
  if (entry) return bind_attribute(interp, Value(*entry), manager, type);
  if (type->slots->get_attr && !type->script) return type->slots->get_attr(interp, manager, name);
  return Value();
}

std::string short_repr(Interp& interp, const Value& v) {
  auto text = repr_text(interp, v);
  if (!text) return "<unprintable " + std::string(interp.type_name(v)) + " object>";
  constexpr size_t kMost = 2000;
  if (text->size() > kMost) return text->substr(0, kMost) + "...";
  return std::move(*text);
}

/// The library words an error of what it called anew (`raise ... from None` in an `except`): the script's frames in there, the values
/// on their line and what was looked for belong to the new error, too.
void take_over(Exception* e, const Value& handled) {
  if (!handled.is(Kind::Exception) || handled.as<Exception>() == e || !e->trace.empty()) return;
  const Exception* from = handled.as<Exception>();
  if (from->trace.empty() || !of_library(from->trace.back().code)) return;  // the script handles it
  for (const TraceEntry& entry : from->trace) {
    e->trace.push_back(entry);
    ++entry.code->refs;
  }
  hand_on_values(*from, e);
}

}  // namespace

Failure raise_value(Interp& interp, const Value& v, const Value* cause) {
  Value e = v;
  if (is_exception_class(interp, e)) {
    CallArgs none;
    auto made = call_type(interp, e.as<Type>(), none);
    if (!made) return made.failure();
    e = made.take();
    if (!e.is(Kind::Exception)) {
      return fail(ErrorKind::TypeError, "calling {} should have returned an instance of BaseException, not {}",
                  v.as<Type>()->name->text, interp.type_name(e));
    }
  }
  if (!e.is(Kind::Exception)) return fail(ErrorKind::TypeError, "exceptions must derive from BaseException");
  Exception* exception = e.as<Exception>();
  if (cause) {
    Value from = *cause;
    if (is_exception_class(interp, from)) {
      CallArgs none;
      auto made = call_type(interp, from.as<Type>(), none);
      if (!made) return made.failure();
      from = made.take();
    }
    if (!from.is(Kind::Exception) && !from.is_none())
      return fail(ErrorKind::TypeError, "exception causes must derive from BaseException");
    exception->cause = from.is_none() ? Value() : from;
    exception->suppress_context = true;
  }
  Value handled = current_handling(interp);
  if (cause && cause->is_none() && of_library(interp.frame->code)) take_over(exception, handled);
  set_context(exception, handled);
  return interp.raise(std::move(e));
}

Result<bool> match_exception(Interp& interp, const Value& exception, const Value& classes) {
  Type* type = exception.object()->type;
  auto one = [&](const Value& c) -> Result<bool> {
    if (!is_exception_class(interp, c)) {
      return fail(ErrorKind::TypeError, "catching classes that do not inherit from BaseException is not allowed");
    }
    return type->is_subtype_of(c.as<Type>());
  };
  if (!classes.is(Kind::Tuple)) return one(classes);
  for (Value& c : classes.as<Tuple>()->span()) {
    if (!is_exception_class(interp, c)) return one(c);
  }
  for (Value& c : classes.as<Tuple>()->span()) {
    bool yes = TFL_TRY(one(c));
    if (yes) return true;
  }
  return false;
}

Result<void> with_enter(Interp& interp, const Value& manager, bool async, Value& exit, Value& entered) {
  Value self = manager;
  const char* protocol = async ? "asynchronous context manager" : "context manager";
  Value enter = TFL_TRY(manager_method(interp, self, async ? interp.sym.__aenter__ : interp.sym.__enter__));
  if (enter.is_empty()) {
    return fail(ErrorKind::TypeError, "'{}' object does not support the {} protocol", interp.type_name(self), protocol);
  }
  Value leave = TFL_TRY(manager_method(interp, self, async ? interp.sym.__aexit__ : interp.sym.__exit__));
  if (leave.is_empty()) {
    return fail(ErrorKind::TypeError, "'{}' object does not support the {} protocol (missed {} method)", interp.type_name(self),
                protocol, async ? "__aexit__" : "__exit__");
  }
  exit = std::move(leave);
  Value result = TFL_TRY(interp.call(enter, {}));
  entered = std::move(result);
  return {};
}

Result<Value> with_exit(Interp& interp, const Value& exit, const Value& exception) {
  if (exception.is_empty()) return interp.call(exit, {Value::none(), Value::none(), Value::none()});
  Value trace = TFL_TRY(get_attr(interp, exception, interp.sym.__traceback__));
  return interp.call(exit, {Value::share(exception.object()->type), exception, trace});
}

namespace {

/// A function of the library's module on groups of exceptions.
Result<Value> of_groups(Interp& interp, std::string_view name, std::initializer_list<Value> args) {
  Value module = TFL_TRY(interp.import_module("_exception_groups"));
  Value function = TFL_TRY(get_attr(interp, module, interp.intern(name)));
  return interp.call(function, args);
}

}  // namespace

Result<Value> split_group(Interp& interp, Value& exception, const Value& classes) {
  if (exception.is_none()) return Value();
  Value parts = TFL_TRY(of_groups(interp, "split_handled", {exception, classes}));
  exception = parts.as<Tuple>()->items[1];
  Value handled = parts.as<Tuple>()->items[0];
  return handled.is_none() ? Value() : handled;
}

Result<Value> join_group(Interp& interp, const Value& caught, const Value& raised) {
  Value joined = TFL_TRY(of_groups(interp, "join_raised", {caught, raised}));
  return joined.is_none() ? Value() : joined;
}

namespace {

/// How two values differ, as lines of their own: what stdlib/tools/_test_details.tfl says. Nothing where it fails.
std::string difference_text(Interp& interp, const std::string& op, const Value& left, const Value& right) {
  auto module = interp.import_module("_test_details");
  if (!module) return {};
  auto text = interp.call_method(*module, interp.intern("difference"), {interp.str(op), left, right});
  return text && text->is_str() ? text->as<Str>()->text : std::string();
}

}  // namespace

Failure assertion_failed(Interp& interp, Tuple* description, Value* values, uint32_t count, bool has_message) {
  std::string text;
  if (has_message) {
    auto message = str_text(interp, values[0]);
    if (!message) return message.failure();
    text = *message + "\n";
    ++values;
  }
  const std::string& condition = description->items[0].as<Str>()->text;
  const std::string& op = description->items[1].as<Str>()->text;
  std::string where;
  std::vector<std::string> shown;
  // Two values more, and how they were compared: what a call that gave the value of the condition looked at.
  const bool pair = description->size > 2 + count;
  for (uint32_t i = 0; i < (pair ? 1 : count); ++i) {
    std::string value = short_repr(interp, values[i]);
    const std::string& source = description->items[2 + i].as<Str>()->text;
    // What is written out in the condition explains itself.
    bool literal = !source.empty() && std::string_view("\"'[{(0123456789-").find(source[0]) != std::string_view::npos;
    if (value != source && !literal) where += "\n +  where " + value + " = " + source;
    shown.push_back(std::move(value));
  }
  text += "assert ";
  if (shown.empty())
    text += condition;
  else if (op == "not")
    text += "not " + shown[0];
  else if (op.empty() || shown.size() < 2)
    text += shown[0];
  else
    text += shown[0] + " " + op + " " + shown[1];
  text += where;
  if (pair)
    text += difference_text(interp, description->items[2 + count].as<Str>()->text, values[1], values[2]);
  else if (count == 2)
    text += difference_text(interp, op, values[0], values[1]);
  return fail(ErrorKind::AssertionError, std::move(text));
}

}  // namespace tfl

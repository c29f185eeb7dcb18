// Errors of tfl.h: copies of what is to be told, which need no interpreter.
#include <vector>

#include "cli/embed/interp.h"
#include "frontend/core/advice.h"
#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/native.h"
#include "frontend/syntax/diagnostics/source.h"

struct tfl_error {
  std::string kind, message, traceback, hint;
  int32_t exit_code = 1;
  struct Place {
    std::string file;
    int32_t line;
    std::string function;
  };
  std::vector<Place> places;
};

namespace tfl::embed {

namespace {

int32_t exit_code(Interp& interp, const Value& exception) {
  auto code = get_attr(interp, exception, interp.sym.code);
  if (!code || code->is_none()) return 0;
  if (code->is_int() || code->is_bool()) return static_cast<int32_t>(code->as_int() & 0xFF);
  return 1;
}

}  // namespace

tfl_error* new_error(std::string kind, std::string message, std::string traceback) {
  auto* e = new tfl_error;
  e->traceback = traceback.empty() ? kind + ": " + message + "\n" : std::move(traceback);
  e->kind = std::move(kind);
  e->message = std::move(message);
  return e;
}

void add_place(tfl_error* error, std::string file, int32_t line, std::string function) {
  error->places.push_back({std::move(file), line, std::move(function)});
}

tfl_error* new_error(Core& core, Error& error) {
  Interp& interp = core.interp;
  Value exception = interp.exception_of(error);
  auto* x = exception.as<Exception>();
  const bool late = interp.stopped;
  interp.stopped = false;
  core.context.interrupt.store(0);
  core.context.interrupt_request.store(0);
  auto text = exception_text(interp, x);
  tfl_error* e = new_error(x->type->qualname->text, text ? std::move(*text) : std::string(), interp.format_traceback(exception));
  e->hint = late_hint(interp, x);
  for (const TraceEntry* entry : shown_entries(x)) {
    const Source* source = entry->code->source.get();
    add_place(e, source ? source->name : "?", static_cast<int32_t>(entry->span.line), entry->code->name->text);
  }
  if (late) {
    e->kind = "TimeLimitError";
    e->message = fmt::format("the time limit of {:g} s was reached", core.time_limit);
    e->hint.clear();
    e->traceback = "TimeLimitError: " + e->message + "\n";
  } else if (interp.is_instance(exception, interp.exception_type(ErrorKind::SystemExit))) {
    e->exit_code = exit_code(interp, exception);
  }
  return e;
}

}  // namespace tfl::embed

extern "C" {

const char* tfl_error_kind(const tfl_error* e) { return e->kind.c_str(); }
const char* tfl_error_message(const tfl_error* e) { return e->message.c_str(); }
const char* tfl_error_traceback(const tfl_error* e) { return e->traceback.c_str(); }
const char* tfl_error_hint(const tfl_error* e) { return e->hint.c_str(); }
size_t tfl_error_depth(const tfl_error* e) { return e->places.size(); }
void tfl_error_place(const tfl_error* e, size_t i, const char** file, int32_t* line, const char** function) {
  const bool there = i < e->places.size();
  if (file) *file = there ? e->places[i].file.c_str() : "";
  if (line) *line = there ? e->places[i].line : 0;
  if (function) *function = there ? e->places[i].function.c_str() : "";
}
int32_t tfl_error_exit_code(const tfl_error* e) { return e->exit_code; }
void tfl_error_free(tfl_error* e) { delete e; }

}  // extern "C"

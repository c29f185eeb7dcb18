// What the language adds below an uncaught error: the values of the variables on the failing line, and what to write instead.
// Values are noted while frames unwind; words are found when the error is shown. Must not change the error itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/core/frame.h"

namespace tfl {

/// Keeps the values of the variables that `span` names in `frame`, for show_values(). The innermost frame of the script counts.
void note_values(Interp& interp, Frame* frame, Exception* e, const Span& span);

/// The line that fails is not a frame's: no frame around it has values to tell.
void no_values(Interp& interp, Exception* e);

/// `to` says what `from` did in other words: the values on the failing line stay those.
void hand_on_values(const Exception& from, Exception* to);

/// "x is float32[2, 3], n is 4" of what was noted; empty: nothing worth telling.
std::string show_values(Interp& interp, Exception* e);

/// What to write instead, from the error's class and text; empty: nothing is known.
std::string advice(Interp& interp, Exception* e);

/// Of a message that lists what may come and says what came: the one that was perhaps meant.
std::string choice_hint(std::string_view text);

/// What the attribute `name`, which v does not have, was perhaps meant to be, or where it lives; empty: nothing is known.
std::string attribute_hint(Interp& interp, const Value& v, Str* name);

/// What stands below an error: the hint that it was made with, advice(), or what is near a name; empty: nothing is known.
std::string late_hint(Interp& interp, Exception* e, int depth = 0);

/// Whether a traceback shows this frame: whatever is the script's, nothing that is the library's.
bool is_shown(const TraceEntry& entry);
/// The entries that a traceback shows, outermost first. AutoGraph's helpers stand in the place of the function they belong to.
std::vector<const TraceEntry*> shown_entries(const Exception* e);
/// The lines of a traceback for one of its entries; empty for what belongs to the library.
std::string traceback_entry_text(const TraceEntry& entry);
struct TracebackText {
  bool plain = false;            // CPython's text alone, for scripts that print it or look into it
  bool chain = true;             // with the errors that led to this one
  std::optional<int64_t> limit;  // so many frames, the outermost; of a negative one the innermost
};
std::string traceback_text(Interp& interp, const Value& exception, const TracebackText& how);

/// Whether `import name` would find a module of the language.
bool is_module(std::string_view name);

/// `Did you mean: 'near'?`, or empty.
std::string did_you_mean(std::string_view near);

}  // namespace tfl

// Tracebacks as CPython 3.11 prints them, then what the language adds: a hint.
#include <cstdlib>

#include "frontend/core/advice.h"
#include "frontend/core/exception.h"
#include "frontend/core/frame.h"
#include "frontend/core/protocol.h"
#include "frontend/syntax/diagnostics/render.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

constexpr int kShownRepeats = 3;  // of one and the same line of a recursion
constexpr int kMaxChain = 100;    // exceptions in a chain

/// `mark` as often as the characters [from, to) of `text` are wide on a terminal.
void underline(std::string& out, std::string_view text, size_t from, size_t to, char mark) {
  size_t at = 0;
  for (size_t i = 0; i < to && at < text.size(); ++i) {
    char32_t c = decode_utf8(text, at);
    if (i >= from) out.append(static_cast<size_t>(display_width(c)), mark);
  }
}

void append_source_line(std::string& out, const TraceEntry& entry) {
  const Source* source = entry.code->source.get();
  if (!source) return;
  std::string_view line = source->line(entry.span.line);
  size_t indent = 0;
  while (indent < line.size() && (line[indent] == ' ' || line[indent] == '\t' || line[indent] == '\f')) ++indent;
  std::string_view shown = line.substr(indent);
  if (shown.empty()) return;
  out += "    ";
  out += shown;
  out += '\n';

  const Span& span = entry.span;
  const auto length = static_cast<size_t>(utf8::count(shown));
  if (span.line == 0 || span.column < indent) return;
  size_t first = span.column - indent;
  size_t last = span.end_line == span.line ? span.end_column - indent : length;
  if (last > length) last = length;
  if (first >= last) return;
  const Span& anchor = entry.anchor;
  bool anchored = anchor.line == span.line && anchor.end_line == span.line && span.end_line == span.line &&
                  anchor.column >= span.column && anchor.end_column <= span.end_column && anchor.end_column > anchor.column;
  // A line that is underlined as a whole needs no underline.
  if (last - first >= length && !anchored) return;
  out += "    ";
  underline(out, shown, 0, first, ' ');
  if (anchored) {
    underline(out, shown, first, anchor.column - indent, '~');
    underline(out, shown, anchor.column - indent, anchor.end_column - indent, '^');
    underline(out, shown, anchor.end_column - indent, last, '~');
  } else {
    underline(out, shown, first, last, '^');
  }
  out += '\n';
}

void append_entry(std::string& out, const TraceEntry& entry) {
  const Source* source = entry.code->source.get();
  out += "  File \"" + (source ? source->name : std::string("?")) + "\", line " + std::to_string(entry.span.line) + ", in " +
         entry.code->name->text + "\n";
  append_source_line(out, entry);
}

void append_repeats(std::string& out, int repeats) {
  if (repeats <= kShownRepeats) return;
  int more = repeats - kShownRepeats;
  out += "  [Previous line repeated " + std::to_string(more) + " more time" + (more == 1 ? "" : "s") + "]\n";
}

void append_frames(std::string& out, const std::vector<const TraceEntry*>& entries) {
  const TraceEntry* before = nullptr;
  int repeats = 0;
  for (const TraceEntry* shown : entries) {
    const TraceEntry& entry = *shown;
    const Source* source = entry.code->source.get();
    bool same = before && before->code->source.get() == source && before->span.line == entry.span.line &&
                before->code->name == entry.code->name;
    if (!same) {
      append_repeats(out, repeats);
      repeats = 0;
    }
    before = &entry;
    if (++repeats > kShownRepeats) continue;
    append_entry(out, entry);
  }
  append_repeats(out, repeats);
}

/// `plain`: as CPython's module traceback has it, without what the language adds.
std::string headline(Interp& interp, const Value& exception, bool plain) {
  Exception* e = exception.as<Exception>();
  Type* type = e->type;
  std::string name = type->qualname->text;
  const std::string& module = type->module->text;
  // TensorFlow's classes go by their public names.
  bool bare = module == "builtins" || module == "__main__" || module.starts_with("tensorflow") || module.starts_with("numpy");
  if (!bare) name = module + "." + name;
  // A class of the script may tell it in its own way.
  auto text = type->script ? str_text(interp, exception) : exception_text(interp, e);
  std::string message = text ? std::move(*text) : "<exception str() failed>";
  std::string line = message.empty() ? name : name + ": " + message;
  std::string hint = plain ? std::string() : late_hint(interp, e);
  // CPython's place for it is behind the message, which is one line there.
  bool behind = hint.starts_with("Did you mean") && line.find('\n') == line.npos;
  if (behind) line += ". " + hint;
  if (e->dict.is(Kind::Dict)) {
    Value notes = dict_get_str(e->dict.as<Dict>(), interp.sym.__notes__);
    if (notes.is(Kind::List)) {
      for (const Value& note : notes.as<List>()->items) {
        auto note_text = str_text(interp, note);
        line += "\n" + (note_text ? *note_text : std::string("<note str() failed>"));
      }
    }
  }
  if (plain) return line;
  if (std::string values = show_values(interp, e); !values.empty()) line += "\n  where: " + values;
  constexpr std::string_view kQuestion = "Did you mean: ";
  if (!behind && hint.starts_with(kQuestion)) hint = "did you mean " + hint.substr(kQuestion.size());
  if (!hint.empty() && !behind) line += "\n  hint: " + hint;
  return line;
}

void append_exception(Interp& interp, std::string& out, const Value& exception, const TracebackText& how) {
  std::vector<const TraceEntry*> entries = shown_entries(exception.as<Exception>());
  if (how.limit && static_cast<size_t>(std::abs(*how.limit)) < entries.size()) {
    // The outermost ones; of a negative limit the innermost.
    if (*how.limit >= 0)
      entries.resize(static_cast<size_t>(*how.limit));
    else
      entries.erase(entries.begin(), entries.end() + *how.limit);
  }
  if (!entries.empty()) {
    out += "Traceback (most recent call last):\n";
    append_frames(out, entries);
  }
  out += headline(interp, exception, how.plain);
  out += '\n';
}

}  // namespace

std::vector<const TraceEntry*> shown_entries(const Exception* e) {
  std::vector<const TraceEntry*> shown;
  for (size_t i = e->trace.size(); i-- > 0;) {
    const TraceEntry& entry = e->trace[i];
    if (!is_shown(entry)) continue;
    if (entry.code->helper && !shown.empty()) {
      const Code* around = shown.back()->code;
      if (around->converted && around->source == entry.code->source && around->name == entry.code->name) shown.pop_back();
    }
    shown.push_back(&entry);
  }
  return shown;
}

bool is_shown(const TraceEntry& entry) {
  const Source* source = entry.code->source.get();
  return !source || !source->internal;
}

std::string traceback_entry_text(const TraceEntry& entry) {
  std::string out;
  if (is_shown(entry)) append_entry(out, entry);
  return out;
}

std::string exception_headline(Interp& interp, const Value& exception) { return headline(interp, exception, false); }

std::string traceback_text(Interp& interp, const Value& exception, const TracebackText& how) {
  // Innermost cause first.
  struct Link {
    Value exception;
    bool cause;  // how the next one relates to it
  };
  std::vector<Link> chain;
  Value current = exception;
  bool by_cause = false;
  while (current.is(Kind::Exception) && static_cast<int>(chain.size()) < (how.chain ? kMaxChain : 1)) {
    bool seen = false;
    for (const Link& l : chain) seen |= l.exception.identical(current);
    if (seen) break;
    chain.push_back({current, by_cause});
    Exception* e = current.as<Exception>();
    Value next;
    if (e->cause.is(Kind::Exception)) {
      next = e->cause;
      by_cause = true;
    } else if (e->context.is(Kind::Exception) && !e->suppress_context) {
      next = e->context;
      by_cause = false;
    }
    current = next;
  }
  std::string out;
  for (size_t i = chain.size(); i-- > 0;) {
    append_exception(interp, out, chain[i].exception, how);
    if (i == 0) break;
    out += chain[i].cause ? "\nThe above exception was the direct cause of the following exception:\n\n"
                          : "\nDuring handling of the above exception, another exception occurred:\n\n";
  }
  return out;
}

std::string Interp::format_traceback(const Value& exception) { return traceback_text(*this, exception, {}); }

}  // namespace tfl

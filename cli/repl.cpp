// tfl repl: statements typed at a prompt. A terminal's lines are edited and remembered; a pipe is read as it comes.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "cli/commands.h"
#include "cli/embed/version.h"
#include "cli/line_editor.h"
#include "cli/session.h"
#include "frontend/core/attributes.h"
#include "frontend/core/protocol.h"
#include "frontend/syntax/diagnostics/render.h"
#include "frontend/syntax/parse/parse.h"
#include "runtime/files/file.h"

namespace tfl::cli {

namespace {

std::string history_file() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state && state[0] == '/') return std::string(state) + "/tfl/history";
  const char* home = std::getenv("HOME");
  return home && home[0] == '/' ? std::string(home) + "/.local/state/tfl/history" : std::string();
}

/// NAME of a line `NAME?`, with dots; else empty.
std::string asked_name(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  if (line.size() < 2 || line.back() != '?') return {};
  line.remove_suffix(1);
  auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c >= 0x80; };
  bool name = std::all_of(line.begin(), line.end(), fits);
  return name && !std::isdigit(static_cast<unsigned char>(line[0])) ? std::string(line) : std::string();
}

class Prompt {
 public:
  explicit Prompt(const Arguments& arguments) : session_(arguments, ""), terminal_(isatty(0) && isatty(1)) {}

  int run() {
    Interp& interp = session_.interp;
    main_ = session_.main_module("__main__", "");
    if (terminal_) {
      start_editing();
      std::printf("TFL %s. NAME? or help(NAME) tells about a name, Ctrl-D leaves.\n", kVersion);
    }
    int code = 0;
    uint32_t line_number = 1;
    for (;;) {
      std::string text;
      bool end = false;
      if (!read_line(">>> ", text)) break;
      if (std::string name = asked_name(text); !name.empty()) text = "help(" + name + ")";
      text += "\n";
      bool block = add_pasted(text);
      auto source = std::make_shared<Source>("<stdin>", text);
      source->first_line = line_number;
      while (!interrupted_ && !end &&
             parse_interactive(block ? Source("<stdin>", text + "\n") : *source).state == InteractiveState::Incomplete) {
        std::string line;
        end = !read_line("... ", line);
        text += line + "\n";
        add_pasted(text);
        source = std::make_shared<Source>("<stdin>", text);
        source->first_line = line_number;
      }
      line_number += static_cast<uint32_t>(std::count(text.begin(), text.end(), '\n')) - (end ? 1 : 0);
      if (terminal_ && text.find_first_not_of(" \n\t") != std::string::npos) remember(text);
      if (interrupted_) {
        interrupted_ = false;
        continue;
      }
      code = execute(source);
      if (leaving_) break;
      if (end) break;
    }
    if (terminal_) {
      if (!leaving_) std::printf("\n");
      editor_->save_history();
    }
    interp.streams.flush();
    return leaving_ ? code : 0;
  }

  /// Names that continue `prefix`; libedit takes them one by one.
  std::vector<std::string> completions(const std::string& prefix) {
    Interp& interp = session_.interp;
    std::vector<std::string> found;
    size_t dot = prefix.rfind('.');
    auto add_keys = [&](const Value& dict, const std::string& before, const std::string& start) {
      for (const Dict::Entry& e : dict.as<Dict>()->entries) {
        if (e.key.is_str() && e.key.as<Str>()->text.starts_with(start) && (!start.empty() || e.key.as<Str>()->text[0] != '_')) {
          found.push_back(before + e.key.as<Str>()->text);
        }
      }
    };
    if (dot == std::string::npos) {
      add_keys(main_.as<Module>()->dict, "", prefix);
      add_keys(interp.builtins.as<Module>()->dict, "", prefix);
      for (const char* word :
           {"and",      "as",      "assert", "break", "class",  "continue", "def",    "del",   "elif", "else",
            "except",   "finally", "for",    "from",  "global", "if",       "import", "in",    "is",   "lambda",
            "nonlocal", "not",     "or",     "pass",  "raise",  "return",   "try",    "while", "with", "yield"}) {
        if (std::string_view(word).starts_with(prefix)) found.push_back(word);
      }
      return found;
    }
    // Walks the attributes up to the last dot; only names, so that completion runs nothing but look-ups.
    std::string path = prefix.substr(0, dot);
    Value v;
    size_t at = 0;
    for (;;) {
      size_t next = path.find('.', at);
      Str* name = interp.intern(path.substr(at, next == std::string::npos ? std::string::npos : next - at));
      if (at == 0) {
        v = dict_get_str(main_.as<Module>()->dict.as<Dict>(), name);
        if (v.is_empty()) v = dict_get_str(interp.builtins.as<Module>()->dict.as<Dict>(), name);
      } else {
        auto found_value = find_attr(interp, v, name);
        v = found_value ? found_value.take() : Value();
      }
      if (v.is_empty()) return found;
      if (next == std::string::npos) break;
      at = next + 1;
    }
    Value dir = dict_get_str(interp.builtins.as<Module>()->dict.as<Dict>(), interp.intern("dir"));
    auto names = interp.call(dir, {v});
    if (!names || !names->is(Kind::List)) return found;
    std::string start = prefix.substr(dot + 1);
    for (const Value& n : names->as<List>()->items) {
      if (n.is_str() && n.as<Str>()->text.starts_with(start) && (!start.empty() || n.as<Str>()->text[0] != '_'))
        found.push_back(path + "." + n.as<Str>()->text);
    }
    return found;
  }

 private:
  /// Whether Ctrl-C was pressed; it is forgotten.
  bool take_interrupt() {
    session_.context.interrupt.fetch_and(~kInterruptKeyboard);
    return session_.context.interrupt_request.fetch_and(~kInterruptKeyboard) & kInterruptKeyboard;
  }

  bool read_line(const char* prompt, std::string& line) {
    line.clear();
    if (terminal_) {
      session_.interp.streams.flush();
      LineEditor::Got got = editor_->read(prompt, line);
      if (got != LineEditor::Got::Interrupted) return got == LineEditor::Got::Line;
      std::printf("\nKeyboardInterrupt\n");
      interrupted_ = true;
      return true;
    }
    int c;
    while ((c = std::getc(stdin)) != EOF && c != '\n') line += static_cast<char>(c);
    return c != EOF || !line.empty();
  }

  /// Adds what was pasted behind the line just read, and the unfinished line at its end once that is typed. True: there was such.
  bool add_pasted(std::string& text) {
    if (!terminal_ || interrupted_) return false;
    std::string lines = editor_->take_pasted();
    if (lines.empty() && !editor_->has_typed()) return false;
    for (size_t at = 0; at < lines.size();) {
      size_t next = lines.find('\n', at) + 1;
      std::printf("... %s", lines.substr(at, next - at).c_str());
      at = next;
    }
    text += lines;
    std::string last;
    while (editor_->has_typed() && read_line("... ", last) && !interrupted_) text += last + "\n" + editor_->take_pasted();
    return true;
  }

  int execute(const std::shared_ptr<Source>& source) {
    Interp& interp = session_.interp;
    CompileOptions options;
    options.show_results = true;
    CompileResult compiled = compile_module(interp, source, options);
    if (!compiled.diagnostics.empty())
      interp.streams.err(render_diagnostics(*source, compiled.diagnostics, interp.options.color));
    if (compiled.code.is_empty()) return kExitFoundBefore;
    auto done = interp.run_module(compiled.code, main_);
    interp.streams.flush();
    take_interrupt();
    if (done) return 0;
    Value e = interp.exception_of(done.error());
    leaving_ = interp.stopped || interp.is_instance(e, interp.exception_type(ErrorKind::SystemExit));
    if (!leaving_ && interp.is_instance(e, interp.exception_type(ErrorKind::KeyboardInterrupt))) {
      interp.streams.err("KeyboardInterrupt\n");
      return kExitInterrupted;
    }
    return session_.report(done.error());
  }

  void start_editing() {
    std::string history = history_file();
    if (!history.empty()) make_folders(history.substr(0, history.rfind('/')));
    auto interrupted = [this] { return take_interrupt(); };
    editor_ = std::make_unique<LineEditor>(
        std::move(history), LineEditor::Hooks{interrupted, [this](const std::string& prefix) { return completions(prefix); }});
  }

  void remember(const std::string& text) {
    size_t from = 0;
    while (from < text.size()) {
      size_t to = text.find('\n', from);
      if (to > from) editor_->remember(text.substr(from, to - from));
      if (to == std::string::npos) break;
      from = to + 1;
    }
  }

  Session session_;
  bool terminal_;
  bool leaving_ = false;
  bool interrupted_ = false;
  Value main_;
  std::unique_ptr<LineEditor> editor_;
};

}  // namespace

int run_repl(const Arguments& arguments) { return Prompt(arguments).run(); }

}  // namespace tfl::cli

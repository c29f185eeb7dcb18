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

/// `%time f(x)`, `x?`: what stdlib/tools/_prompt.tfl does, and no statement.
bool is_magic(std::string_view line) {
  size_t end = line.find_last_not_of(" \t\n");
  return end != line.npos &&
         (line.front() == '%' || (line[end] == '?' && line.front() != '#' && line.find_first_of("'\"") == line.npos));
}

/// The spaces that the next line of a block begins with.
std::string next_indentation(const std::string& text) {
  size_t end = text.find_last_not_of(" \t\n");
  if (end == text.npos) return {};
  size_t begin = text.rfind('\n', end);
  std::string line = text.substr(begin == text.npos ? 0 : begin + 1, end - (begin == text.npos ? 0 : begin + 1) + 1);
  size_t first = std::min(line.find_first_not_of(' '), line.size());
  if (line.back() == ':') return std::string(first + 4, ' ');
  for (std::string_view leaves : {"return", "pass", "break", "continue", "raise"}) {
    std::string_view rest = std::string_view(line).substr(first);
    if (first >= 4 && rest.starts_with(leaves) && (rest.size() == leaves.size() || rest[leaves.size()] == ' '))
      return std::string(first - 4, ' ');
  }
  return std::string(first, ' ');
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
      const bool several = text.find('\n') != text.npos;  // an earlier block, edited
      text += "\n";
      if (!interrupted_ && is_magic(text)) {
        std::string line;
        if (text.starts_with("%%") && !several && !add_pasted(text)) {
          while (read_line("... ", line, next_indentation(text)) && !line.empty()) text += line + "\n";
        }
        if (terminal_) remember(text);
        line_number += static_cast<uint32_t>(std::count(text.begin(), text.end(), '\n'));
        auto done = ask("magic", text);
        interp.streams.flush();
        take_interrupt();
        if (!done) code = leave_by(done.error());
        if (leaving_) break;
        continue;
      }
      bool block = add_pasted(text) || several;
      auto source = std::make_shared<Source>("<stdin>", text);
      source->first_line = line_number;
      while (!interrupted_ && !end &&
             parse_interactive(block ? Source("<stdin>", text + "\n") : *source).state == InteractiveState::Incomplete) {
        std::string line;
        end = !read_line("... ", line, next_indentation(text));
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

  LineEditor::Completions completions(const std::string& before) {
    auto found = ask("complete", before);
    if (!found || !found->is(Kind::Tuple)) return {};
    std::span<const Value> pair = found->as<Tuple>()->span();
    LineEditor::Completions out;
    out.typed = static_cast<size_t>(pair[0].as_int());
    for (const Value& word : pair[1].as<List>()->items) out.words.push_back(word.as<Str>()->text);
    return out;
  }

 private:
  /// Whether Ctrl-C was pressed; it is forgotten.
  bool take_interrupt() {
    session_.context.interrupt.fetch_and(~kInterruptKeyboard);
    return session_.context.interrupt_request.fetch_and(~kInterruptKeyboard) & kInterruptKeyboard;
  }

  /// A function of _prompt.tfl, given a text and the module whose names the statements see.
  Result<Value> ask(const char* function, const std::string& text) {
    Interp& interp = session_.interp;
    Value module = TFL_TRY(interp.import_module("_prompt"));
    return interp.call_method(module, interp.intern(function), {interp.str(text), main_});
  }

  bool read_line(const char* prompt, std::string& line, const std::string& indentation = {}) {
    line.clear();
    if (terminal_) {
      session_.interp.streams.flush();
      LineEditor::Got got = editor_->read(prompt, line, indentation);
      if (line.find_first_not_of(' ') == line.npos) line.clear();
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
    return done ? 0 : leave_by(done.error());
  }

  /// Tells of an error, or leaves; the exit code.
  int leave_by(Error& error) {
    Interp& interp = session_.interp;
    Value e = interp.exception_of(error);
    leaving_ = interp.stopped || interp.is_instance(e, interp.exception_type(ErrorKind::SystemExit));
    if (!leaving_ && interp.is_instance(e, interp.exception_type(ErrorKind::KeyboardInterrupt))) {
      interp.streams.err("KeyboardInterrupt\n");
      return kExitInterrupted;
    }
    return session_.report(error);
  }

  void start_editing() {
    std::string history = history_file();
    if (!history.empty()) make_folders(history.substr(0, history.rfind('/')));
    auto interrupted = [this] { return take_interrupt(); };
    editor_ = std::make_unique<LineEditor>(
        std::move(history), LineEditor::Hooks{interrupted, [this](const std::string& before) { return completions(before); }});
  }

  void remember(const std::string& text) {
    std::string whole = text.substr(0, text.find_last_not_of('\n') + 1);
    if (!whole.empty()) editor_->remember(whole);
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

// One line of input at a terminal: editing, history, completion (libedit), Ctrl-C at any moment, and pasted text as a block.
#pragma once

#include <functional>
#include <string>
#include <vector>

struct editline;
struct history;

namespace tfl::cli {

class LineEditor {
 public:
  /// What the last `typed` bytes before the cursor may become.
  struct Completions {
    size_t typed = 0;
    std::vector<std::string> words;
  };
  struct Hooks {
    std::function<bool()> interrupted;  // Ctrl-C since the last call: asked while keys are waited for
    std::function<Completions(const std::string& before)> complete;  // is given what stands before the cursor
  };
  enum class Got : uint8_t { Line, End, Interrupted };

  LineEditor(std::string history_file, Hooks hooks);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  /// `indentation` counts as typed already.
  Got read(const char* prompt, std::string& line, const std::string& indentation = {});
  /// What was pasted behind the line that read() gave, up to its last line break; what follows that is typed already at the next
  /// prompt. Empty: nothing was.
  std::string take_pasted();
  /// Is the next line begun already?
  bool has_typed() const { return !waiting_.empty(); }
  /// A statement with all its lines: it comes back as a whole.
  void remember(const std::string& text);
  void save_history();

 private:
  static int next_character(editline* el, wchar_t* c);
  static unsigned char complete_word(editline* el, int c);
  /// The next byte of the terminal; -1: none within the time (milliseconds, -1: however long it takes), -2: Ctrl-C, -3: no more.
  int byte(int timeout);
  bool begins_paste();
  int take_paste();

  editline* editor_ = nullptr;
  history* history_ = nullptr;
  std::string history_file_;
  Hooks hooks_;
  const char* prompt_ = "";
  std::string waiting_;  // bytes that count as typed
  std::string pasted_;
  bool pastes_ = false;  // the terminal marks what is pasted
  bool interrupted_ = false;
};

}  // namespace tfl::cli

#include "cli/line_editor.h"

#include <fcntl.h>
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "frontend/text/utf8.h"

namespace tfl::cli {

namespace {

constexpr std::string_view kPasteEnd = "\033[201~";

LineEditor* editor_of(EditLine* el) {
  void* owner = nullptr;
  el_get(el, EL_CLIENTDATA, &owner);
  return static_cast<LineEditor*>(owner);
}

/// Line breaks as a text file has them.
std::string with_line_feeds(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r')
      out += text[i];
    else if (i + 1 == text.size() || text[i + 1] != '\n')
      out += '\n';
  }
  return out;
}

}  // namespace

LineEditor::LineEditor(std::string history_file, Hooks hooks) : history_file_(std::move(history_file)), hooks_(std::move(hooks)) {
  // libedit counts characters as the locale does. Sources are UTF-8 whatever the locale says.
  if (!std::setlocale(LC_CTYPE, "C.UTF-8")) std::setlocale(LC_CTYPE, "");
  const char* term = std::getenv("TERM");
  pastes_ = term && *term && std::strcmp(term, "dumb") != 0;
  editor_ = el_init("tfl", stdin, stdout, stderr);
  history_ = history_init();
  HistEvent event;
  history(history_, &event, H_SETSIZE, 2000);
  history(history_, &event, H_SETUNIQUE, 1);
  if (!history_file_.empty()) history(history_, &event, H_LOAD, history_file_.c_str());
  el_set(editor_, EL_CLIENTDATA, this);
  el_set(editor_, EL_PROMPT, +[](EditLine* el) { return const_cast<char*>(editor_of(el)->prompt_); });
  el_set(editor_, EL_EDITOR, "emacs");
  el_set(editor_, EL_SIGNAL, 0);
  el_set(editor_, EL_HIST, history, history_);
  el_set(editor_, EL_GETCFN, &LineEditor::next_character);
  el_set(editor_, EL_ADDFN, "tfl-complete", "Completes the name before the cursor", &LineEditor::complete_word);
  constexpr const char* kKeys[][2] = {{"\t", "tfl-complete"},        {"^R", "em-inc-search-prev"},
                                      {"^W", "ed-delete-prev-word"}, {"\\e[1~", "ed-move-to-beg"},
                                      {"\\e[H", "ed-move-to-beg"},   {"\\e[4~", "ed-move-to-end"},
                                      {"\\e[F", "ed-move-to-end"},   {"\\e[3~", "ed-delete-next-char"},
                                      {"\\e[1;5C", "em-next-word"},  {"\\e[1;5D", "ed-prev-word"}};
  for (const auto& key : kKeys) el_set(editor_, EL_BIND, key[0], key[1], nullptr);
  el_source(editor_, nullptr);
}

LineEditor::~LineEditor() {
  el_end(editor_);
  history_end(history_);
  // Ctrl-C cuts what the editor is writing; it draws the line anew, but the stream would say that a write failed.
  std::fflush(stdout);
  std::clearerr(stdout);
}

LineEditor::Got LineEditor::read(const char* prompt, std::string& line, const std::string& indentation) {
  line.clear();
  if (waiting_.empty()) waiting_ = indentation;
  prompt_ = prompt;
  interrupted_ = false;
  if (pastes_) std::fputs("\033[?2004h", stdout);
  std::fflush(stdout);
  int count = 0;
  const char* text = el_gets(editor_, &count);
  if (text) line.assign(text, static_cast<size_t>(count));
  if (pastes_) std::fputs("\033[?2004l\r", stdout);
  std::fflush(stdout);
  if (interrupted_) {
    pasted_.clear();
    waiting_.clear();
    return Got::Interrupted;
  }
  if (!text) return Got::End;
  if (line.ends_with('\n')) line.pop_back();
  return Got::Line;
}

std::string LineEditor::take_pasted() {
  size_t end = pasted_.rfind('\n');
  std::string lines = pasted_.substr(0, end == std::string::npos ? 0 : end + 1);
  waiting_ += pasted_.substr(lines.size());
  pasted_.clear();
  return lines;
}

void LineEditor::remember(const std::string& text) {
  HistEvent event;
  history(history_, &event, H_ENTER, text.c_str());
}

void LineEditor::save_history() {
  if (history_file_.empty()) return;
  // Written beside the file and renamed: whole or not at all.
  std::string fresh = history_file_ + "." + std::to_string(getpid());
  HistEvent event;
  if (history(history_, &event, H_SAVE, fresh.c_str()) >= 0)
    std::rename(fresh.c_str(), history_file_.c_str());
  else
    unlink(fresh.c_str());
}

int LineEditor::byte(int timeout) {
  if (!waiting_.empty()) {
    int c = static_cast<unsigned char>(waiting_.front());
    waiting_.erase(0, 1);
    return c;
  }
  // Ctrl-C is let through while this waits and at no other moment, so that none comes between the question and the wait.
  sigset_t held, before;
  sigemptyset(&held);
  sigaddset(&held, SIGINT);
  pthread_sigmask(SIG_BLOCK, &held, &before);
  int result = -1;
  for (;;) {
    if (hooks_.interrupted()) {
      result = -2;
      break;
    }
    pollfd one{STDIN_FILENO, POLLIN, 0};
    timespec wait{timeout / 1000, (timeout % 1000) * 1000000L};
    int ready = ppoll(&one, 1, timeout < 0 ? nullptr : &wait, &before);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) break;
    unsigned char c = 0;
    ssize_t n = ready < 0 ? -1 : ::read(STDIN_FILENO, &c, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    result = n == 1 ? c : -3;
    break;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

/// After an escape: does the mark of pasted text follow? What else follows counts as typed.
bool LineEditor::begins_paste() {
  constexpr int kSoon = 30;  // a terminal sends the mark at once, a hand does not
  std::string seen;
  for (char wanted : std::string_view("[200~")) {
    int c = byte(kSoon);
    if (c < 0) break;
    seen += static_cast<char>(c);
    if (c != wanted) break;
  }
  if (seen == "[200~") return true;
  waiting_.insert(0, seen);
  return false;
}

int LineEditor::take_paste() {
  std::string text;
  while (!text.ends_with(kPasteEnd)) {
    int c = byte(-1);
    if (c < 0) return c;
    text += static_cast<char>(c);
  }
  text = with_line_feeds(text.substr(0, text.size() - kPasteEnd.size()));
  // The first line goes through the editor, which shows it behind what was typed.
  size_t end = text.find('\n');
  std::string first = text.substr(0, end == std::string::npos ? end : end + 1);
  pasted_ = text.substr(first.size());
  for (size_t i = 0; (i = first.find('\t', i)) != std::string::npos;) first.replace(i, 1, "    ");  // a tab would complete
  // What is pasted brings its own indentation.
  const LineInfo* info = el_line(editor_);
  std::string_view before(info->buffer, static_cast<size_t>(info->cursor - info->buffer));
  if (before.find_first_not_of(' ') == before.npos) first.erase(0, std::min(before.size(), first.find_first_not_of(' ')));
  waiting_.insert(0, first);
  return 0;
}

int LineEditor::next_character(EditLine* el, wchar_t* c) {
  LineEditor* self = editor_of(el);
  int first;
  for (;;) {
    bool typed = self->waiting_.empty();
    first = self->byte(-1);
    if (first != 033 || !typed || !self->begins_paste()) break;
    first = self->take_paste();
    if (first < 0) break;
  }
  std::string bytes;
  if (first >= 0) bytes += static_cast<char>(first);
  size_t size = first >= 0xC0 ? utf8::size_of(static_cast<unsigned char>(first)) : 1;
  while (first >= 0 && bytes.size() < size) {
    int more = self->byte(-1);
    if (more < 0)
      first = more;
    else
      bytes += static_cast<char>(more);
  }
  if (first == -2) {
    self->interrupted_ = true;
    errno = EINTR;
    return -1;
  }
  if (first < 0) return 0;
  size_t at = 0;
  *c = size == 1 && first >= 0x80 ? 0xFFFD : static_cast<wchar_t>(utf8::next(bytes, at));
  return 1;
}

unsigned char LineEditor::complete_word(EditLine* el, int) {
  LineEditor* self = editor_of(el);
  const LineInfo* info = el_line(el);
  std::string before(info->buffer, static_cast<size_t>(info->cursor - info->buffer));
  if (before.find_first_not_of(' ') == std::string::npos) {  // nothing to complete: an indentation
    el_insertstr(el, "    ");
    return CC_REFRESH;
  }
  auto [typed, found] = self->hooks_.complete(before);
  std::string word = before.substr(before.size() - std::min(typed, before.size()));
  if (found.empty()) return CC_REFRESH_BEEP;
  std::string common = found[0];
  for (const std::string& f : found) {
    size_t same = 0;
    while (same < common.size() && same < f.size() && common[same] == f[same]) ++same;
    common.resize(same);
  }
  if (common.size() > word.size()) {
    el_insertstr(el, common.c_str() + word.size());
    return CC_REFRESH;
  }
  if (found.size() == 1) return CC_REFRESH;
  std::fputc('\n', stdout);
  for (const std::string& f : found) std::printf("%s  ", f.c_str());
  std::fputc('\n', stdout);
  return CC_REDISPLAY;
}

}  // namespace tfl::cli

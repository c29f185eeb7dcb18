#include "frontend/syntax/diagnostics/render.h"

#include <algorithm>
#include <iterator>

namespace tfl {
namespace {

constexpr std::string_view kBold = "\x1b[1m", kRed = "\x1b[1;31m", kYellow = "\x1b[1;33m", kBlue = "\x1b[34m", kReset = "\x1b[0m";
constexpr uint32_t kTabWidth = 8;
constexpr uint32_t kMaxLineWidth = 160;  // longer source lines are shown in part

struct Range {
  char32_t first, last;
};
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2329, 0x232A},  {0x2E80, 0x303E}, {0x3041, 0x33FF},   {0x3400, 0x4DBF},
                           {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},  {0xA960, 0xA97F}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
                           {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},  {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
                           {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
constexpr Range kZero[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},
                           {0x064B, 0x065F}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064},
                           {0x20D0, 0x20F0}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}};

bool in(const Range* begin, const Range* end, char32_t c) {
  return std::any_of(begin, end, [&](Range r) { return c >= r.first && c <= r.last; });
}

/// A source line made fit to print: tabs expanded, control and malformed bytes replaced, cut around the interesting columns.
struct ShownLine {
  std::string text;
  uint32_t caret = 0;  // in terminal cells
  uint32_t width = 1;
};

ShownLine show(std::string_view line, uint32_t column, uint32_t end_column) {
  uint32_t begin = column > kMaxLineWidth * 3 / 4 ? column - kMaxLineWidth / 2 : 0;
  ShownLine shown;
  if (begin > 0) shown.text = "…";
  uint32_t cells = begin > 0 ? 1 : 0, index = 0, caret_end = 0;
  bool caret_set = false;
  for (size_t at = 0; at < line.size(); ++index) {
    size_t start = at;
    bool valid = find_invalid_utf8(line.substr(at, 4)) != 0;
    char32_t c = valid ? decode_utf8(line, at) : (++at, U'\uFFFD');
    if (index < begin) continue;
    if (index - begin >= kMaxLineWidth) {
      shown.text += "…";
      break;
    }
    if (index == column) {
      shown.caret = cells;
      caret_set = true;
    }
    if (c == '\t') {
      uint32_t spaces = kTabWidth - cells % kTabWidth;
      shown.text.append(spaces, ' ');
      cells += spaces;
    } else if (c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0)) {
      shown.text += "\uFFFD";
      cells += 1;
    } else {
      if (valid) {
        shown.text += line.substr(start, at - start);
      } else {
        shown.text += "\uFFFD";
      }
      cells += static_cast<uint32_t>(display_width(c));
    }
    if (index + 1 == end_column) caret_end = cells;
  }
  if (!caret_set) shown.caret = cells;
  if (caret_end == 0) caret_end = end_column > column ? cells : shown.caret + 1;
  shown.width = caret_end > shown.caret ? caret_end - shown.caret : 1;
  return shown;
}

class Renderer {
 public:
  Renderer(const Source& source, bool color) : source_(source), color_(color) {}

  void head(Span span, std::string_view label, std::string_view color, std::string_view message) {
    if (span.line != 0) {
      paint(kBold, source_.name + ":" + std::to_string(span.line) + ":" + std::to_string(span.column + 1) + ":");
    } else {
      paint(kBold, source_.name + ":");
    }
    out += ' ';
    paint(color, std::string(label) + ":");
    out += ' ';
    out += message;
    out += '\n';
  }

  void snippet(Span span, std::string_view color, std::string_view hint) {
    if (span.line == 0) {
      if (!hint.empty()) out += "  hint: " + std::string(hint) + "\n";
      return;
    }
    std::string_view line = source_.line(span.line);
    uint32_t end = span.end_line == span.line ? span.end_column : UINT32_MAX;
    ShownLine shown = show(line, span.column, end);
    std::string number = std::to_string(span.line);
    std::string gutter = "  " + number + " | ";
    paint(kBlue, gutter);
    out += shown.text;
    while (out.back() == ' ') out.pop_back();
    out += '\n';
    paint(kBlue, std::string(number.size() + 3, ' ') + "| ");
    out.append(shown.caret, ' ');
    paint(color, std::string(std::max(shown.width, uint32_t{1}), '^'));
    if (!hint.empty()) {
      out += ' ';
      paint(color, hint);
    }
    out += '\n';
  }

  std::string out;

 private:
  void paint(std::string_view color, std::string_view text) {
    if (color_) out += color;
    out += text;
    if (color_) out += kReset;
  }
  const Source& source_;
  bool color_;
};

}  // namespace

int display_width(char32_t c) {
  if (c < 0x300) return 1;
  if (in(std::begin(kZero), std::end(kZero), c)) return 0;
  return in(std::begin(kWide), std::end(kWide), c) ? 2 : 1;
}

std::string render_diagnostic(const Source& source, const Diagnostic& diagnostic, bool color) {
  Renderer renderer(source, color);
  bool error = diagnostic.severity == Severity::Error;
  std::string_view paint = error ? kRed : kYellow;
  std::string label = error ? "error" : "warning";
  if (color) label += "[" + std::string(diagnostic_name(diagnostic.id)) + "]";  // somebody looks at it: what `tfl explain` takes
  renderer.head(diagnostic.span, label, paint, diagnostic.message);
  renderer.snippet(diagnostic.span, paint, diagnostic.hint);
  for (const Note& note : diagnostic.notes) {
    renderer.head(note.span, "note", kBlue, note.message);
    if (note.span.line != 0) renderer.snippet(note.span, kBlue, {});
  }
  return std::move(renderer.out);
}

std::string render_diagnostics(const Source& source, const std::vector<Diagnostic>& diagnostics, bool color) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!out.empty()) out += '\n';
    out += render_diagnostic(source, diagnostic, color);
  }
  return out;
}

}  // namespace tfl

// How strings, numbers and comments are written.
#include <algorithm>
#include <cctype>

#include "frontend/syntax/format/statement.h"

namespace tfl::format {

namespace {

struct Parts {
  std::string prefix, quote, body;
};

Parts parts_of(const std::string& text) {
  Parts p;
  size_t at = text.find_first_of("'\"");
  if (at == std::string::npos) return p;
  p.prefix = text.substr(0, at);
  bool three = text.size() >= at + 6 && text[at + 1] == text[at] && text[at + 2] == text[at];
  p.quote = text.substr(at, three ? 3 : 1);
  p.body = text.substr(at + p.quote.size(), text.size() - at - 2 * p.quote.size());
  return p;
}

std::string normal_prefix(const std::string& prefix) {
  std::string out;
  for (char c : prefix) {
    if (c == 'F' || c == 'B') c = static_cast<char>(std::tolower(c));
    if (c != 'u' && c != 'U') out += c;
  }
  if (out.size() == 2 && out[0] != 'r' && out[0] != 'R') std::swap(out[0], out[1]);
  return out;
}

bool has(const std::string& prefix, char letter) {
  return std::any_of(prefix.begin(), prefix.end(), [&](char c) { return std::tolower(c) == letter; });
}

size_t backslashes_before(std::string_view s, size_t at) {
  size_t n = 0;
  while (n < at && s[at - n - 1] == '\\') ++n;
  return n;
}

/// Escapes of quotes that the new quotes do not need go, and those they need come.
std::string change_quotes(const std::string& body, const std::string& from, const std::string& to) {
  std::string out;
  for (size_t i = 0; i < body.size();) {
    if (body[i] == '\\' && i + 1 < body.size()) {
      if (!from.empty() && std::string_view(body).substr(i + 1).starts_with(from)) {
        out += from;
        i += 1 + from.size();
      } else {
        out += body.substr(i, 2);
        i += 2;
      }
    } else if (std::string_view(body).substr(i).starts_with(to)) {
      out += "\\" + to;
      i += to.size();
    } else {
      out += body[i++];
    }
  }
  return out;
}

/// Backslashes before a quote that is not the string's own say nothing.
std::string without_idle_escapes(const std::string& body, const std::string& other) {
  std::string out;
  for (size_t i = 0; i < body.size();) {
    if (body[i] == '\\' && i + 1 < body.size()) {
      if (std::string_view(body).substr(i + 1).starts_with(other)) {
        out += other;
        i += 1 + other.size();
      } else {
        out += body.substr(i, 2);
        i += 2;
      }
    } else {
      out += body[i++];
    }
  }
  return out;
}

bool has_unescaped(const std::string& body, const std::string& quote) {
  for (size_t i = body.find(quote); i != std::string::npos; i = body.find(quote, i + 1)) {
    if (backslashes_before(body, i) % 2 == 0) return true;
  }
  return false;
}

/// Would an expression of an f-string hold a backslash, or one of these quotes?
bool field_has_backslash(const std::string& body) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '{') continue;
    if (i + 1 < body.size() && body[i + 1] == '{') {
      ++i;
      continue;
    }
    size_t end = body.find('}', i);
    if (end == std::string::npos) end = body.size();
    if (body.substr(i, end - i).find('\\') != std::string::npos) return true;
    i = end;
  }
  return false;
}

std::string preferred_quotes(const std::string& text) {
  Parts p = parts_of(text);
  if (p.quote.empty() || p.quote == "\"\"\"") return text;
  std::string fresh = p.quote == "'''" ? "\"\"\"" : p.quote == "\"" ? "'" : "\"";
  std::string body = p.body, changed;
  if (has(p.prefix, 'r')) {
    if (has_unescaped(body, fresh)) return text;
    changed = body;
  } else {
    body = without_idle_escapes(body, fresh);
    changed = change_quotes(body, p.quote, fresh);
  }
  std::string same = p.prefix + p.quote + body + p.quote;
  if (has(p.prefix, 'f') && field_has_backslash(changed)) return same;
  if (fresh == "\"\"\"" && changed.ends_with('"') && backslashes_before(changed, changed.size() - 1) % 2 == 0) {
    changed.insert(changed.size() - 1, "\\");
  }
  auto before = std::count(body.begin(), body.end(), '\\'), after = std::count(changed.begin(), changed.end(), '\\');
  if (after > before || (after == before && p.quote == "\"")) return same;
  return p.prefix + fresh + changed + fresh;
}

/// Hexadecimal digits of escapes in small letters, names of characters in capitals.
std::string normal_escapes(const std::string& text) {
  Parts p = parts_of(text);
  if (has(p.prefix, 'r')) return text;
  const bool bytes = has(p.prefix, 'b');
  std::string out = text;
  for (size_t i = p.prefix.size(); i + 1 < out.size(); ++i) {
    if (out[i] != '\\') continue;
    char kind = out[i + 1];
    size_t digits = kind == 'x' ? 2 : kind == 'u' && !bytes ? 4 : kind == 'U' && !bytes ? 8 : 0;
    size_t at = i + 2;
    if (digits && at + digits <= out.size() &&
        std::all_of(out.begin() + static_cast<ptrdiff_t>(at), out.begin() + static_cast<ptrdiff_t>(at + digits),
                    [](unsigned char c) { return std::isxdigit(c); })) {
      for (size_t k = 0; k < digits; ++k) out[at + k] = static_cast<char>(std::tolower(static_cast<unsigned char>(out[at + k])));
    } else if (kind == 'N' && !bytes && at < out.size() && out[at] == '{') {
      for (size_t k = at; k < out.size() && out[k] != '}'; ++k)
        out[k] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[k])));
    }
    ++i;
  }
  return out;
}

std::string_view strip(std::string_view s) {
  size_t b = s.find_first_not_of(" \t\n\r\f\v");
  if (b == s.npos) return {};
  return s.substr(b, s.find_last_not_of(" \t\n\r\f\v") - b + 1);
}

std::string_view strip_right(std::string_view s) {
  size_t e = s.find_last_not_of(" \t\n\r\f\v");
  return s.substr(0, e == s.npos ? 0 : e + 1);
}

/// Tabs that indent a line, to multiples of 4 as levels are.
std::string expand_tabs(std::string_view line) {
  std::string out;
  size_t i = 0;
  for (; i < line.size() && (line[i] == ' ' || line[i] == '\t'); ++i) {
    if (line[i] == ' ')
      out += ' ';
    else
      out.append(4 - out.size() % 4, ' ');
  }
  return i == 0 || i == line.size() ? std::string(line) : out + std::string(line.substr(i));
}

/// The lines of a docstring, indented as the block is.
std::string indented_docstring(const std::string& body, const std::string& indent) {
  std::vector<std::string> lines;
  for (size_t at = 0;;) {
    size_t next = body.find('\n', at);
    lines.push_back(expand_tabs(std::string_view(body).substr(at, next == body.npos ? body.npos : next - at)));
    if (next == body.npos) break;
    at = next + 1;
  }
  size_t least = std::string::npos;
  for (size_t i = 1; i < lines.size(); ++i) {
    size_t in = lines[i].find_first_not_of(" \t\f\v");
    if (in != std::string::npos) least = std::min(least, in);
  }
  std::string out(strip(lines[0]));
  if (least == std::string::npos) return out;
  for (size_t i = 1; i < lines.size(); ++i) {
    std::string_view line = strip_right(std::string_view(lines[i]).substr(std::min(least, lines[i].size())));
    out += '\n';
    if (!line.empty() || i + 1 == lines.size()) out += indent + std::string(line);
  }
  return out;
}

std::string float_or_int(const std::string& text) {
  size_t dot = text.find('.');
  if (dot == std::string::npos) return text;
  std::string before = text.substr(0, dot), after = text.substr(dot + 1);
  return (before.empty() ? "0" : before) + "." + (after.empty() ? "0" : after);
}

}  // namespace

std::string normal_string(const std::string& text, bool quotes) {
  std::string out = normal_escapes(text);
  if (!quotes) return out;
  Parts p = parts_of(out);
  // An expression with a backslash may hold quotes of its own.
  if (has(p.prefix, 'f') && field_has_backslash(p.body)) return out;
  return preferred_quotes(normal_prefix(p.prefix) + p.quote + p.body + p.quote);
}

std::string normal_docstring(const std::string& text, size_t indent, uint32_t line_length, bool quotes) {
  std::string whole = normal_escapes(text);
  // Where a backslash joins lines, indentation is part of the value.
  for (size_t i = whole.find('\\'); i != std::string::npos; i = whole.find('\\', i + 1)) {
    size_t next = whole.find_first_not_of(" \t", i + 1);
    if (next != std::string::npos && whole[next] == '\n') return normal_string(text, quotes);
  }
  if (quotes) whole = preferred_quotes(normal_prefix(parts_of(whole).prefix) + whole.substr(parts_of(whole).prefix.size()));
  Parts p = parts_of(whole);
  const std::string margin(indent, ' ');
  const bool began_empty = p.body.empty();
  const bool several = p.quote.size() == 3 && p.body.find('\n') != std::string::npos;
  std::string body = several ? indented_docstring(p.body, margin) : std::string(strip(p.body));
  bool trailing_backslash = false;
  if (!body.empty()) {
    if (body.front() == p.quote[0]) body.insert(0, " ");
    if (body.back() == p.quote[0]) body += ' ';
    if (body.back() == '\\' && (backslashes_before(body, body.size() - 1) + 1) % 2) {
      body += ' ';
      trailing_backslash = true;
    }
  } else if (!began_empty) {
    body = " ";
  }
  if (p.quote.size() == 3 && body.find('\n') != std::string::npos) {
    size_t last = text_width(std::string_view(body).substr(body.rfind('\n') + 1));
    if (last + 3 > line_length && indent + 3 <= line_length && !trailing_backslash) body += "\n" + margin;
  }
  return p.prefix + p.quote + body + p.quote;
}

std::string normal_number(const std::string& given) {
  std::string text = given;
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (text.starts_with("0o") || text.starts_with("0b")) return text;
  if (text.starts_with("0x")) {
    for (size_t i = 2; i < text.size(); ++i) text[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[i])));
    return text;
  }
  std::string imaginary;
  if (text.ends_with('j') && text.find('e') == std::string::npos) {
    imaginary = "j";
    text.pop_back();
  }
  size_t e = text.find('e');
  if (e == std::string::npos) return float_or_int(text) + imaginary;
  std::string exponent = text.substr(e + 1);
  if (exponent.starts_with('+')) exponent.erase(0, 1);
  return float_or_int(text.substr(0, e)) + "e" + exponent;
}

bool is_directive(std::string_view comment, std::string_view word) {
  for (std::string_view begin : {"# fmt: ", "# fmt:"}) {
    size_t at = comment.find(begin);
    while (at != comment.npos) {
      std::string_view rest = comment.substr(at + begin.size());
      if (rest.starts_with(word)) {
        rest.remove_prefix(word.size());
        if (strip(rest).empty() || rest.front() == ';' || strip(rest).front() == '#') return true;
      }
      at = comment.find(begin, at + 1);
    }
  }
  return false;
}

std::string normal_comment(std::string_view text) {
  text = strip_right(text);
  if (is_directive(text, "off") || is_directive(text, "on") || is_directive(text, "skip")) return std::string(text);
  std::string content(text.substr(1));
  constexpr std::string_view kFixedSpace = "\xC2\xA0";
  if (content.starts_with(kFixedSpace)) content = " " + content.substr(kFixedSpace.size());
  if (!content.empty() && std::string_view(" !:#'").find(content[0]) == std::string_view::npos) content = " " + content;
  return "#" + content;
}

}  // namespace tfl::format

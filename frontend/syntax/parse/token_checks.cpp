// What can be wrong with one token by itself: characters that begin nothing, letters that no name may hold, numbers run into
// names, strings without an end, words that TFL leaves out.
#include <cstdio>

#include "frontend/syntax/parse/layout.h"
#include "frontend/text/unicode.h"

namespace tfl::parse {
namespace {

std::string code_point(char32_t c) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "U+%04X", static_cast<unsigned>(c));
  return buffer;
}

/// What an invalid character was probably meant to be.
std::string_view meant(char32_t c) {
  switch (c) {
    case U'“':
    case U'”':
    case U'„':
    case U'«':
    case U'»': return "write '\"', the plain quotation mark";
    case U'‘':
    case U'’':
    case U'`': return "write \"'\", the plain quotation mark";
    case U'−':
    case U'–':
    case U'—': return "write '-', the plain minus sign";
    case U'×': return "write '*' to multiply";
    case U'÷': return "write '/' to divide";
    case U'≤': return "write '<='";
    case U'≥': return "write '>='";
    case U'≠': return "write '!='";
    case U'，': return "write ',', the plain comma";
    case U'：': return "write ':', the plain colon";
    case U'（':
    case U'）': return "write plain parentheses";
    case U'²': return "write '**2' to square";
    case U'…': return "write '...', three full stops";
    case '?': return "write 'a if condition else b' to choose a value";
    case '$': return "names hold letters, digits and '_'";
    case '!': return "write 'not'";
    default: return {};
  }
}

bool bad_character(const Source& source, const Token& t, size_t offset, std::vector<Diagnostic>& out) {
  size_t next = offset;
  char32_t c = decode_utf8(source.text(), next);
  Span place = source.span(static_cast<uint32_t>(offset), static_cast<uint32_t>(next), t.line);
  bool blank = c == 0xA0 || (c >= 0x2000 && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x2060 ||
               c == 0x3000 || c == 0xFEFF || c < 0x20 || (c >= 0x7F && c < 0xA0);
  if (blank) {
    out.push_back(make_diagnostic(DiagnosticId::InvisibleCharacter, place, {code_point(c)}));
    return false;
  }
  std::string shown;
  append_utf8(shown, c);
  out.push_back(make_diagnostic(DiagnosticId::InvalidCharacter, place, {shown, code_point(c), meant(c)}));
  return false;
}

bool check_name(const Source& source, const Token& t, std::vector<Diagnostic>& out) {
  for (size_t at = t.begin; at < t.end;) {
    size_t start = at;
    char32_t c = decode_utf8(source.text(), at);
    if (c >= 0x80 && !(start == t.begin ? unicode::is_id_start(c) : unicode::is_id_continue(c)))
      return bad_character(source, t, start, out);
  }
  return true;
}

/// Python lets a keyword follow a number without a space.
bool may_follow_number(TokenKind kind) {
  return kind == TokenKind::And || kind == TokenKind::Or || kind == TokenKind::If || kind == TokenKind::In ||
         kind == TokenKind::Is || kind == TokenKind::Else || kind == TokenKind::For || kind == TokenKind::Not;
}

bool check_number(const Source& source, const Token& t, const Token& next, std::vector<Diagnostic>& out) {
  bool joined = next.begin == t.end && (next.kind == TokenKind::Name || next.kind == TokenKind::Number || is_keyword(next.kind));
  if (!joined || may_follow_number(next.kind)) return true;
  std::string_view text = text_of(source, t);
  std::string_view rest = text_of(source, next);
  Span place = span_of(source, t);
  place.end_column = span_of(source, next).end_column;
  char base = text.size() > 1 && text[0] == '0' ? text[1] : text == "0" ? rest[0] : '\0';
  std::string_view what = "decimal";
  if (base == 'x' || base == 'X') what = "hexadecimal";
  if (base == 'o' || base == 'O') what = "octal";
  if (base == 'b' || base == 'B') what = "binary";
  std::string whole = std::string(text) + std::string(rest);
  if (what == "decimal" && rest[0] != '_' && next.kind != TokenKind::Number) {
    out.push_back(make_diagnostic(DiagnosticId::NumberRunsIntoName, place, {whole, text, rest}));
  } else {
    std::string_view hint = "its digits are 0 to 9";
    if (whole.ends_with('_') || whole.find("__") != std::string::npos)
      hint = "'_' may stand between two digits only";
    else if (what == "hexadecimal")
      hint = "its digits are 0 to 9 and a to f";
    else if (what == "octal")
      hint = "its digits are 0 to 7";
    else if (what == "binary")
      hint = "its digits are 0 and 1";
    out.push_back(make_diagnostic(DiagnosticId::InvalidNumber, place, {what, whole, hint}));
  }
  return false;
}

/// `if'x'` is a keyword and a string, but `bf'x'` can only be meant as a prefix.
bool check_string(const Source& source, const Token& t, std::vector<Diagnostic>& out) {
  std::string_view text = text_of(source, t);
  size_t quote = text.find_first_of("'\"");
  if (quote != 2) return true;
  auto lower = [](char c) { return static_cast<char>(c | 0x20); };
  char a = lower(text[0]), b = lower(text[1]);
  if ((a == 'r' && (b == 'b' || b == 'f')) || (b == 'r' && (a == 'b' || a == 'f'))) return true;
  Span place = span_of(source, t);
  place.end_line = place.line;
  place.end_column = place.column + 2;
  out.push_back(make_diagnostic(DiagnosticId::InvalidStringPrefix, place, {text.substr(0, 2)}));
  return false;
}

}  // namespace

bool check_token(const Source& source, const std::vector<Token>& tokens, size_t index, std::vector<Diagnostic>& out) {
  const Token& t = tokens[index];
  switch (t.kind) {
    case TokenKind::Name: return check_name(source, t, out);
    case TokenKind::Number: return check_number(source, t, tokens[index + 1], out);
    case TokenKind::String: return check_string(source, t, out);
    case TokenKind::UnterminatedString: {
      std::string_view text = text_of(source, t);
      std::string_view quote = text.substr(text.find_first_of("'\""), 1);
      Span place = source.span(t.begin, t.end, t.line);
      out.push_back(make_diagnostic(DiagnosticId::UnterminatedString, place, {quote}));
      return false;
    }
    case TokenKind::UnterminatedLongString: {
      std::string_view text = text_of(source, t);
      std::string_view quotes = text.substr(text.find_first_of("'\""), 3);
      Span place{t.line, t.column, t.line, t.column + static_cast<uint32_t>(text.find_first_of("'\"")) + 3};
      out.push_back(make_diagnostic(DiagnosticId::UnterminatedLongString, place, {quotes}));
      return false;
    }
    case TokenKind::BadChar:
      if (source.text()[t.begin] == '\\') {
        bool last = tokens[index + 1].kind == TokenKind::EndOfFile;
        Span place = span_of(source, t);
        out.push_back(make_diagnostic(last ? DiagnosticId::EndAfterLineJoin : DiagnosticId::TextAfterLineJoin, place));
        return false;
      }
      return bad_character(source, t, t.begin, out);
    case TokenKind::DoubleAmpersand:
    case TokenKind::DoubleBar: {
      bool conjunction = t.kind == TokenKind::DoubleAmpersand;
      out.push_back(make_diagnostic(DiagnosticId::ForeignOperator, span_of(source, t),
                                    {conjunction ? "&&" : "||", conjunction ? "and" : "or"}));
      return false;
    }
    case TokenKind::Bang:
      out.push_back(make_diagnostic(DiagnosticId::ForeignOperator, span_of(source, t), {"!", "not"}));
      return false;
    default: return true;
  }
}

}  // namespace tfl::parse

// tf.strings.regex_*: RE2's syntax and replacements over the regular expressions of runtime/text.
#include <algorithm>
#include <vector>

#include "runtime/kernels/parallel.h"
#include "runtime/shapes/rules.h"
#include "runtime/text/regex.h"

namespace tfl {

namespace {

using shape_rules::invalid;

// What RE2 does not have and the library behind does: a pattern that needs it is refused with RE2's words. Empty: nothing found.
std::string foreign_syntax(std::string_view p) {
  bool in_class = false;
  bool after_repeat = false;
  for (size_t i = 0; i < p.size(); ++i) {
    char c = p[i], next = i + 1 < p.size() ? p[i + 1] : '\0';
    bool repeat = false;
    if (c == '\\') {
      constexpr std::string_view kUnknown = "123456789FGHIJKLMNORTUVXYZceghijklmoquy";
      if (next == 'Q') {
        size_t end = p.find("\\E", i + 2);
        i = end == std::string_view::npos ? p.size() : end + 1;
        after_repeat = false;
        continue;
      }
      if (next != '\0' && kUnknown.find(next) != std::string_view::npos)
        return "invalid escape sequence: \\" + std::string(1, next);
      ++i;
    } else if (in_class) {
      if (c == '[' && next == ':') {
        size_t end = p.find(":]", i + 2);
        if (end != std::string_view::npos) i = end + 1;
      } else if (c == ']') {
        in_class = false;
      }
    } else if (c == '[') {
      in_class = true;
      if (i + 1 < p.size() && p[i + 1] == '^') ++i;
      if (i + 1 < p.size() && p[i + 1] == ']') ++i;
    } else if (c == '(' && next == '?') {
      std::string_view rest = p.substr(i + 2);
      char kind = rest.empty() ? '\0' : rest[0];
      bool named = rest.starts_with("P<") || (rest.starts_with("<") && !rest.starts_with("<=") && !rest.starts_with("<!"));
      if (!named && kind != ':' && std::string_view("imsU-").find(kind) == std::string_view::npos)
        return "invalid perl operator: (?" + std::string(rest.substr(0, rest.starts_with("<") ? 2 : 1));
    } else if (c == '*' || c == '+' || c == '?' ||
               (c == '{' && next >= '0' && next <= '9' && p.find('}', i) != std::string_view::npos)) {
      if (after_repeat && c != '?') return std::string("bad repetition operator: ") + p[i - 1] + c;
      if (c == '{') i = p.find('}', i);
      repeat = !(after_repeat && c == '?');
    }
    after_repeat = repeat;
  }
  return "";
}

std::string words_of(const RegexProblem& problem, std::string_view pattern) {
  if (problem.text.starts_with("missing closing parenthesis")) return "missing ): " + std::string(pattern);
  if (problem.text.starts_with("unmatched closing parenthesis")) return "unexpected ): " + std::string(pattern);
  if (problem.text.starts_with("missing terminating ]"))
    return "missing ]: " + std::string(pattern.substr(std::min(pattern.size(), pattern.rfind('['))));
  if (problem.text.starts_with("quantifier does not follow")) {
    size_t at = std::min(problem.offset == 0 ? 0 : problem.offset - 1, pattern.size() - 1);
    return "no argument for repetition operator: " + std::string(1, pattern[at]);
  }
  return problem.text;
}

Result<Regex> compile(RunCall& call) {
  std::string_view pattern = call.attrs.get_text(Attr::pattern);
  auto refuse = [&](const std::string& words) { return invalid(call.op, "Invalid pattern: {}, error: {}", pattern, words); };
  std::string foreign = foreign_syntax(pattern);
  if (!foreign.empty()) return refuse(foreign);
  RegexProblem problem;
  Result<Regex> regex = Regex::compile(pattern, kRegexUtf8 | kRegexDollarEndOnly, &problem);
  if (!regex) return refuse(words_of(problem, pattern));
  return regex;
}

// The highest group that a replacement names.
size_t highest_group(std::string_view rewrite) {
  size_t most = 0;
  for (size_t i = 0; i + 1 < rewrite.size(); ++i) {
    if (rewrite[i] != '\\') continue;
    char c = rewrite[++i];
    if (c >= '0' && c <= '9') most = std::max(most, static_cast<size_t>(c - '0'));
  }
  return most;
}

void rewrite_into(std::string& out, std::string_view rewrite, const std::string& subject, const std::vector<Regex::Span>& spans) {
  for (size_t i = 0; i < rewrite.size(); ++i) {
    if (rewrite[i] != '\\' || i + 1 == rewrite.size()) {
      out += rewrite[i];
      continue;
    }
    char c = rewrite[++i];
    if (c >= '0' && c <= '9') {
      const Regex::Span& group = spans[static_cast<size_t>(c - '0')];
      if (group.matched()) out.append(subject, group.begin, group.end - group.begin);
    } else {
      out += c;
    }
  }
}

size_t character_length(const std::string& s, size_t at) {
  unsigned char c = static_cast<unsigned char>(s[at]);
  size_t n = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
  return std::min(n, s.size() - at);
}

}  // namespace

Result<void> run_regex_replace(RunCall& call) {
  Regex regex = TFL_TRY(compile(call));
  std::string_view rewrite = call.attrs.get_text(Attr::rewrite);
  bool global = call.attrs.get_bool(Attr::replace_global, true);
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  bool named = highest_group(rewrite) <= regex.groups();  // else RE2 leaves the text as it is
  std::vector<Regex::Span> spans;
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i); ++i) {
    const std::string& subject = x.data<std::string>()[i];
    std::string& to = out.data<std::string>()[i];
    if (!named) {
      to = subject;
      continue;
    }
    size_t at = 0, last_end = Regex::Span::kNone;
    while (at <= subject.size() && !call.context.interrupt.load(std::memory_order_relaxed)) {
      if (!TFL_TRY(regex.search(subject, at, 0, spans))) break;
      to.append(subject, at, spans[0].begin - at);
      at = spans[0].end;
      if (spans[0].begin == last_end && at == last_end) {
        // Nothing empty right after a match: on by one character.
        if (at == subject.size()) break;
        size_t n = character_length(subject, at);
        to.append(subject, at, n);
        at += n;
        continue;
      }
      rewrite_into(to, rewrite, subject, spans);
      last_end = at;
      if (!global) break;
    }
    if (at < subject.size()) to.append(subject, at);
  }
  return call.give(std::move(out));
}

Result<void> run_regex_full_match(RunCall& call) {
  Regex regex = TFL_TRY(compile(call));
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  std::vector<Regex::Span> spans;
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i); ++i)
    out.data<bool>()[i] = TFL_TRY(regex.search(x.data<std::string>()[i], 0, kMatchAtStart | kMatchToEnd, spans));
  return call.give(std::move(out));
}

}  // namespace tfl

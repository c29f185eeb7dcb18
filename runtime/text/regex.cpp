// The one file that knows PCRE2.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "runtime/text/regex.h"

#include <pcre2.h>

#include "runtime/core/growth.h"

namespace tfl {

namespace {

constexpr uint32_t kMatchSteps = 20'000'000;  // about a second
constexpr uint32_t kHeapKilobytes = 64 * 1024;
constexpr size_t kMaxPattern = 1 << 20;
constexpr size_t kWorthCompiling =
    2048;  // bytes of subjects, and for each search as many as its beginning takes, from which machine code pays
constexpr size_t kSearch = 64;

struct CodeDeleter {
  void operator()(pcre2_code* p) const { pcre2_code_free(p); }
};
struct DataDeleter {
  void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
};
struct ContextDeleter {
  void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
};

std::string problem_text(int code) {
  PCRE2_UCHAR text[256];
  int n = pcre2_get_error_message(code, text, sizeof text);
  return n < 0 ? std::string("unknown error") : std::string(reinterpret_cast<const char*>(text), static_cast<size_t>(n));
}

}  // namespace

struct Regex::State {
  std::unique_ptr<pcre2_code, CodeDeleter> code;
  std::unique_ptr<pcre2_match_data, DataDeleter> data;
  std::unique_ptr<pcre2_match_context, ContextDeleter> context;
  uint32_t groups = 0;
  bool valid = false;  // kRegexValidText
  std::string pattern;
  uint32_t options = 0;
  /// The pattern as machine code, for searches that are bound in one way: it is made once there have been enough of them.
  struct Fast {
    size_t looked_at = 0;  // bytes of subjects so far
    bool tried = false;
    std::unique_ptr<pcre2_code, CodeDeleter> code;  // null: there can be none, and searches go on as before
  };
  Fast fast[4];  // by kMatchAtStart and kMatchToEnd

  const pcre2_code* fast_code(uint32_t how, size_t bytes) {
    Fast& f = fast[how & (kMatchAtStart | kMatchToEnd)];
    if (f.tried || (f.looked_at += kSearch + bytes) < kWorthCompiling) return f.code.get();
    f.tried = true;
    uint32_t bound = (how & kMatchAtStart ? PCRE2_ANCHORED : 0) | (how & kMatchToEnd ? PCRE2_ENDANCHORED : 0);
    int problem = 0;
    PCRE2_SIZE offset = 0;
    f.code.reset(
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options | bound, &problem, &offset, nullptr));
    if (f.code && pcre2_jit_compile(f.code.get(), PCRE2_JIT_COMPLETE) != 0) f.code.reset();
    return f.code.get();
  }
};

Regex::Regex(std::unique_ptr<State> state) : state_(std::move(state)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view pattern, uint32_t flags, RegexProblem* problem) {
  auto refuse = [&](std::string text, size_t offset) {
    if (problem) *problem = {text, offset};
    return fail(ErrorKind::ValueError, "{} at position {}", text, offset);
  };
  if (pattern.size() > kMaxPattern) return refuse("the pattern is too long", 0);
  uint32_t options = PCRE2_NEVER_BACKSLASH_C;
  if (flags & kRegexIgnoreCase) options |= PCRE2_CASELESS;
  if (flags & kRegexMultiLine) options |= PCRE2_MULTILINE;
  if (flags & kRegexDotAll) options |= PCRE2_DOTALL;
  if (flags & kRegexExtended) options |= PCRE2_EXTENDED;
  if (flags & kRegexUtf8) options |= PCRE2_UTF | (flags & kRegexValidText ? PCRE2_NO_UTF_CHECK : PCRE2_MATCH_INVALID_UTF);
  if (flags & kRegexUnicodeClasses) options |= PCRE2_UCP;
  if (flags & kRegexDollarEndOnly) options |= PCRE2_DOLLAR_ENDONLY;
  if (flags & kRegexUngreedy) options |= PCRE2_UNGREEDY;
  int code = 0;
  PCRE2_SIZE offset = 0;
  auto state = std::make_unique<State>();
  state->valid = flags & kRegexValidText;
  state->pattern = pattern;
  state->options = options;
  state->code.reset(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options, &code, &offset, nullptr));
  if (!state->code && code == PCRE2_ERROR_HEAP_FAILED)
    return fail(ErrorKind::ResourceExhaustedError, "no memory for a regular expression");
  if (!state->code) return refuse(problem_text(code), offset);
  state->data.reset(pcre2_match_data_create_from_pattern(state->code.get(), nullptr));
  state->context.reset(pcre2_match_context_create(nullptr));
  if (!state->data || !state->context) return fail(ErrorKind::ResourceExhaustedError, "no memory for a regular expression");
  pcre2_set_match_limit(state->context.get(), kMatchSteps);
  pcre2_set_heap_limit(state->context.get(), kHeapKilobytes);
  pcre2_pattern_info(state->code.get(), PCRE2_INFO_CAPTURECOUNT, &state->groups);
  size_t bytes = 0;
  pcre2_pattern_info(state->code.get(), PCRE2_INFO_SIZE, &bytes);
  growth::count(bytes);
  return Regex(std::move(state));
}

size_t Regex::groups() const { return state_->groups; }

std::vector<std::pair<std::string, size_t>> Regex::names() const {
  std::vector<std::pair<std::string, size_t>> found;
  uint32_t count = 0, size = 0;
  PCRE2_SPTR table = nullptr;
  pcre2_pattern_info(state_->code.get(), PCRE2_INFO_NAMECOUNT, &count);
  pcre2_pattern_info(state_->code.get(), PCRE2_INFO_NAMEENTRYSIZE, &size);
  pcre2_pattern_info(state_->code.get(), PCRE2_INFO_NAMETABLE, &table);
  for (uint32_t i = 0; i < count; ++i, table += size) {
    size_t number = static_cast<size_t>(table[0]) << 8 | table[1];
    found.emplace_back(reinterpret_cast<const char*>(table + 2), number);
  }
  return found;
}

Result<bool> Regex::search(std::string_view subject, size_t start, uint32_t how, std::vector<Span>& spans) const {
  spans.clear();
  if (start > subject.size()) return false;
  uint32_t options = 0;
  if (how & kMatchAdvance) options |= PCRE2_NOTEMPTY_ATSTART;
  if (state_->valid) options |= PCRE2_NO_UTF_CHECK;
  auto match = [&](const pcre2_code* code, uint32_t all) {
    return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), start, all, state_->data.get(),
                       state_->context.get());
  };
  int found = PCRE2_ERROR_JIT_STACKLIMIT;
  if (const pcre2_code* code = state_->fast_code(how, subject.size() - start)) found = match(code, options);
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
    if (how & kMatchAtStart) options |= PCRE2_ANCHORED;
    if (how & kMatchToEnd) options |= PCRE2_ENDANCHORED;
    found = match(state_->code.get(), options);
  }
  if (found == PCRE2_ERROR_NOMATCH || found == PCRE2_ERROR_PARTIAL) return false;
  if (found == PCRE2_ERROR_MATCHLIMIT || found == PCRE2_ERROR_DEPTHLIMIT || found == PCRE2_ERROR_HEAPLIMIT ||
      found == PCRE2_ERROR_NOMEMORY)
    return fail(ErrorKind::ResourceExhaustedError, "the regular expression takes too many steps on this text")
        .with_hint("nested repeats such as (a+)+ try every way to share the text between them");
  if (found < 0) return fail(ErrorKind::ValueError, "regular expression: {}", problem_text(found));
  const PCRE2_SIZE* places = pcre2_get_ovector_pointer(state_->data.get());
  spans.resize(state_->groups + 1);
  for (size_t i = 0; i < spans.size(); ++i) {
    if (places[2 * i] != PCRE2_UNSET) spans[i] = {places[2 * i], places[2 * i + 1]};
  }
  // \K may put the beginning behind the end.
  if (spans[0].begin > spans[0].end) spans[0].begin = spans[0].end;
  return true;
}

}  // namespace tfl

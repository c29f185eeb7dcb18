#include "frontend/syntax/format/empty_lines.h"

#include <algorithm>

namespace tfl::format {

namespace {

class EmptyLines {
 public:
  explicit EmptyLines(std::vector<Block>& blocks) : blocks_(blocks) {}

  void run() {
    for (at_ = 0; at_ < blocks_.size(); ++at_) {
      Block& b = blocks_[at_];
      auto [before, after] = around(b);
      uint32_t already = at_ > 0 ? blocks_[at_ - 1].after : 0;
      b.before = before > already ? before - already : 0;
      b.after = after;
      if (follows_module_docstring(b)) b.before = 1;
      if (b.kept && at_ > 0) b.before = b.blank;
      if (b.comment) {
        bool fresh =
            at_ == 0 || (!previous()->decorator && (!previous()->comment || b.before > 0) && (leading_ == kNone || b.before > 0));
        if (fresh) leading_ = at_;
      } else if (!b.decorator || b.before > 0) {
        leading_ = kNone;
      }
    }
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  struct Around {
    uint32_t before, after;
  };
  const Block* previous() const { return at_ > 0 ? &blocks_[at_ - 1] : nullptr; }

  bool follows_module_docstring(const Block& b) const {
    const Block* p = previous();
    if (!p || !p->docstring || p->depth != 0 || b.klass || b.def) return false;
    for (size_t i = 0; i + 1 < at_; ++i) {
      if (!blocks_[i].comment) return false;
    }
    return true;
  }

  Around around(const Block& b) {
    uint32_t before = std::min<uint32_t>(b.blank, b.depth == 0 ? 2 : 1);
    const bool had = before > 0;
    const Block* ended = nullptr;  // the outermost definition that this line ends
    while (!definitions_.empty() && blocks_[definitions_.back()].depth >= b.depth) {
      ended = &blocks_[definitions_.back()];
      definitions_.pop_back();
    }
    if (b.def || b.klass) definitions_.push_back(at_);
    const Block* p = previous();
    if (!p) return {0, 0};
    if (b.docstring) {
      if (p->klass) return {0, 1};
      if (p->opens_block && p->def) return {0, 0};
    }
    if (ended) {
      bool clause =
          b.opens_block && b.word != "with" && b.word != "try" && b.word != "for" && b.word != "while" && b.word != "if";
      before = b.depth ? 1 : ended->depth && clause ? 1 : 2;
    }
    if (b.decorator || b.def || b.klass) return definition(b, before, had);
    if (p->import && p->depth == 0 && b.depth == 0 && !b.import) return {1, 0};
    if (p->import && !b.import && b.depth == p->depth) return {before ? before : 1, 0};
    return {before, 0};
  }

  Around definition(const Block& b, uint32_t before, bool had) {
    const Block* p = previous();
    if (p->decorator) return {0, 0};
    if (p->depth < b.depth && (p->klass || p->def)) return {had ? 1u : 0u, 0};
    Block* comment = nullptr;  // a comment that belongs to the definition: the empty lines go before it
    if (p->comment && p->depth == b.depth && before == 0) {
      bool fits = leading_ != kNone && leading_ > 0 && !blocks_[leading_ - 1].klass && !blocks_[leading_ - 1].opens_block &&
                  blocks_[leading_].before <= 1;
      if (!fits) return {0, 0};
      comment = &blocks_[leading_];
    }
    uint32_t lines = b.depth ? 1 : 2;
    if (p->stub_def && !had) lines = 0;
    if (comment) {
      uint32_t already = blocks_[leading_ - 1].after;
      uint32_t wanted = std::max(comment->before, lines);
      comment->before = wanted > already ? wanted - already : 0;
      lines = 0;
    }
    return {lines, 0};
  }

  std::vector<Block>& blocks_;
  size_t at_ = 0;
  std::vector<size_t> definitions_;
  size_t leading_ = kNone;  // the first of the comments before what comes
};

}  // namespace

void set_empty_lines(std::vector<Block>& blocks) { EmptyLines(blocks).run(); }

}  // namespace tfl::format

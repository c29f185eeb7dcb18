#include <cstddef>
#include <cstdlib>

#include "frontend/core/interp.h"
#include "runtime/core/growth.h"

namespace tfl {

namespace {
constexpr size_t kChunk = 256 * 1024;
}

FrameStack::~FrameStack() {
  for (Chunk& c : chunks_) std::free(c.begin);
}

void* FrameStack::push_slow(size_t bytes) {
  if (current_ > 0) chunks_[current_ - 1].top = top_;
  // A later chunk may be there from before; one that is too small for this frame makes room for a larger one.
  if (current_ < chunks_.size() && static_cast<size_t>(chunks_[current_].end - chunks_[current_].begin) < bytes) {
    std::free(chunks_[current_].begin);
    chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(current_));
  }
  if (current_ >= chunks_.size() || static_cast<size_t>(chunks_[current_].end - chunks_[current_].begin) < bytes) {
    size_t size = bytes > kChunk ? bytes : kChunk;
    char* p = static_cast<char*>(growth::aligned(alignof(std::max_align_t), size));
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(current_), Chunk{p, p + size, p});
  }
  Chunk& c = chunks_[current_++];
  begin_ = c.begin;
  end_ = c.end;
  top_ = c.begin + bytes;
  return c.begin;
}

void FrameStack::pop_slow() {
  if (current_ <= 1) return;  // the first chunk is empty: stay there
  Chunk& c = chunks_[--current_ - 1];
  begin_ = c.begin;
  end_ = c.end;
  top_ = c.top;
}

}  // namespace tfl

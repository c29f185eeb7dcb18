#include "runtime/core/heap.h"

#include <cstdlib>

#include "runtime/core/growth.h"

namespace tfl {

Heap::~Heap() {
  for (Page* page : pages_) std::free(page);
}

Heap::Page* Heap::new_page(size_t bytes, uint32_t slot) {
  size_t rounded = (bytes + kPageSize - 1) & ~(kPageSize - 1);
  void* p = growth::aligned(kPageSize, rounded);
  Page* page = new (p) Page{this, slot, kPageHeader, pages_.size()};
  pages_.push_back(page);
  return page;
}

void* Heap::allocate_slow(size_t size) {
  size_t index = (size + 15) >> 4;
  if (index >= kClasses) {
    Page* page = new_page(kPageHeader + size, static_cast<uint32_t>(size > 0xFFFF0000 ? 0xFFFF0000 : size));
    page->used = kPageHeader + page->slot;
    return reinterpret_cast<char*>(page) + kPageHeader;
  }
  uint32_t slot = static_cast<uint32_t>(index ? index * 16 : 16);
  Page* page = current_[index];
  if (!page || page->used + slot > kPageSize) page = current_[index] = new_page(kPageSize, slot);
  void* p = reinterpret_cast<char*>(page) + page->used;
  page->used += slot;
  return p;
}

void Heap::release_large(void* p) {
  Page* page = page_of(p);
  page->heap->pages_[page->index] = nullptr;
  if (page->heap->pages_.back() != nullptr || page->index + 1 != page->heap->pages_.size()) {
    // Keep the table dense: the last page takes the freed place.
    auto& pages = page->heap->pages_;
    while (!pages.empty() && !pages.back()) pages.pop_back();
    if (page->index < pages.size()) {
      pages[page->index] = pages.back();
      pages[page->index]->index = page->index;
      pages.pop_back();
    }
  } else {
    page->heap->pages_.pop_back();
  }
  std::free(page);
}

}  // namespace tfl

// The heap of small reference-counted objects of one Context: size classes in 64 KiB pages, freed lists, no locks (one
// thread owns a Context). It can walk what is alive, so that a Context goes away without leaks although reference counts
// alone do not free cycles. Tensor element storage does not live here (memory_pool.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tfl {

/// The first word of every object on a Heap. `kind` 0 marks a free slot; 1 is a tensor, others belong to the front end.
struct Counted {
  uint32_t refs;
  uint8_t kind;
  uint8_t flags;
  uint16_t extra;
};

inline constexpr uint8_t kTensorKind = 1;

class Heap {
 public:
  Heap() = default;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap();  // frees the pages; live objects must have been destroyed by their owner (for_each_live)

  /// Uninitialised storage of at least `size` bytes, 16-byte aligned; the caller writes a Counted header at its start.
  /// Never null: the process ends with a message when the system has no memory (sizes are bounded before this is called).
  void* allocate(size_t size) {
    size_t index = (size + 15) >> 4;
    if (index < kClasses) [[likely]] {
      if (Free* f = free_[index]) [[likely]] {
        free_[index] = f->next;
        return f;
      }
    }
    return allocate_slow(size);
  }
  /// Gives `p`, allocated with this `size`, back to the heap it came from.
  static void release(void* p, size_t size) {
    size_t index = (size + 15) >> 4;
    Page* page = page_of(p);
    if (page->heap->tearing_down) [[unlikely]] {
      // Others that go later may still count down the references they had here: the words stay as they are.
      static_cast<Counted*>(p)->kind = 0;
      return;
    }
    if (index < kClasses) [[likely]] {
      Free* f = static_cast<Free*>(p);
      f->header = Counted{};
      f->next = page->heap->free_[index];
      page->heap->free_[index] = f;
    } else {
      release_large(p);
    }
  }
  /// The heap that `p` (start of an allocation) came from.
  static Heap& of(void* p) { return *page_of(p)->heap; }

  /// Calls visit(Counted*) for every live object. The visitor may destroy the object it is given.
  template <class F>
  void for_each_live(F&& visit) {
    for (size_t i = 0; i < pages_.size(); ++i) {
      Page* page = pages_[i];
      if (!page) continue;
      char* base = reinterpret_cast<char*>(page);
      for (uint32_t at = kPageHeader; at + page->slot <= page->used; at += page->slot) {
        auto* header = reinterpret_cast<Counted*>(base + at);
        if (header->kind != 0) visit(header);
      }
    }
  }

  /// What the owner wants to find from an object: the Context.
  void* owner = nullptr;
  /// What the front end wants to find from an object: the interpreter.
  void* host = nullptr;
  bool tearing_down = false;  // objects are destroyed in any order; their storage stays until the heap goes
  /// Destruction in progress, and objects without references whose turn has not come: long chains must not use up the stack.
  int destroying = 0;
  std::vector<Counted*> deferred;

 private:
  static constexpr size_t kPageSize = 64 * 1024;
  static constexpr size_t kClasses = 129;  // slots of 16 .. 2,048 bytes
  static constexpr uint32_t kPageHeader = 64;
  struct Free {
    Counted header;
    Free* next;
  };
  struct Page {
    Heap* heap;
    uint32_t slot;  // bytes of one slot; the whole object for a large one
    uint32_t used;  // bytes handed out so far, with the header
    size_t index;   // in pages_
  };
  static Page* page_of(void* p) { return reinterpret_cast<Page*>(reinterpret_cast<uintptr_t>(p) & ~(uintptr_t{kPageSize} - 1)); }
  void* allocate_slow(size_t size);
  static void release_large(void* p);
  Page* new_page(size_t bytes, uint32_t slot);

  Free* free_[kClasses] = {};
  Page* current_[kClasses] = {};
  std::vector<Page*> pages_;
};

}  // namespace tfl

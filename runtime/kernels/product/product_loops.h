// How a matrix product is computed around the tiles of matmul.h: which tiles, what is copied, who does what. Large
// products copy b, which they read many times, into dense panels as wide as a tile, and rows of a where they fall on
// the same cache sets. Blocks of rows are such that a or b, or a panel of it, stays in the second-level cache, and what
// comes next is fetched meanwhile. Small ones are computed where they lie. This header must not know tensors or
// contexts, and needs no more of the C++ library than its headers.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "runtime/kernels/product/product_batch.h"

namespace tfl {
inline namespace product_loops {

inline constexpr int64_t kBlockRows = 168;                 // of a, taken together: they stay in the second-level cache
inline constexpr int64_t kBlockBytes = 448 << 10;          // of them, where b stays there too
inline constexpr int64_t kResidentBytes = 768 << 10;       // of b, which then does
inline constexpr int64_t kRowStride = kProductBlock + 16;  // of the copies: rows do not fall on the same cache sets
inline constexpr int64_t kBlockColumns = 4096;             // of b, copied together
inline constexpr int64_t kPackedRows = 128;                // of b, copied by a thread at a time: divides kProductBlock
inline constexpr int64_t kPackedPanels = 8;                // by so many panels
inline constexpr size_t kPackedBytes = 8 << 20;            // of b, copied together, where more than a block of k fits
inline constexpr int64_t kThreadedFinish = 1 << 17;        // elements whose end is worth several threads
inline constexpr size_t kSmallBytes = 192 * 1024;          // of b: up to here it is read in place
inline constexpr size_t kMediumBytes = 1 << 20;            // and up to here where its rows do not fall on the same cache sets
inline constexpr int64_t kThreadedRow =
    1 << 17;                                     // multiply-adds of one row, each with an element of its own, for several threads
inline constexpr int64_t kStreamColumns = 1024;  // of rows that are fetched from far away, together
inline constexpr int64_t kFewRows = 64;          // of a: b is not read often enough to be copied

// `total` cut into as few parts of at most `most` as possible, of nearly equal size.
struct Parts {
  int64_t total, count, each, longer;
  Parts(int64_t whole, int64_t most) : total(whole), count(whole > 0), each(whole), longer(0) {
    if (whole <= most) return;  // small products should not wait for divisions
    count = (whole + most - 1) / most;
    each = total / count;
    longer = total % count;
  }
  int64_t start(int64_t i) const { return i * each + std::min(i, longer); }
  int64_t size(int64_t i) const { return each + (i < longer); }
};

// The columns [0, n) cut into panels as wide as tiles are, and what is left of a vector that may not be read beyond.
template <class T>
struct Panels {
  Parts vectors;
  int lanes;
  int64_t n, count;
  Panels(const ProductTiles<T>& tiles, int64_t rows, int64_t columns, bool in_place)
      : vectors(
            (columns + (in_place && tiles.masked ? 0 : tiles.lanes - 1)) >> std::countr_zero(static_cast<unsigned>(tiles.lanes)),
            width_of(tiles, rows)),
        lanes(tiles.lanes),
        n(columns),
        count(vectors.count + (vectors.total * lanes < columns)) {}
  bool edge(int64_t j) const { return j == vectors.count; }
  int64_t first(int64_t j) const { return edge(j) ? vectors.total * lanes : vectors.start(j) * lanes; }
  int64_t width(int64_t j) const { return edge(j) ? n - vectors.total * lanes : vectors.size(j) * lanes; }
  int64_t columns(int64_t j) const { return std::min(width(j), n - first(j)); }
  // Few rows make low tiles, which may be wider.
  static int width_of(const ProductTiles<T>& tiles, int64_t rows) {
    int v = tiles.max_vectors;
    while (v > tiles.vectors && rows > tiles.max_rows[v - 1]) --v;
    return v;
  }
};

// Memory that will be read soon, fetched a part with each tile: what is `near` first.
struct Ahead {
  struct Part {
    const char* at = nullptr;
    const char* end = nullptr;
    Part() = default;
    template <class T>
    Part(const T* first, int64_t elements)
        : at(reinterpret_cast<const char*>(first)), end(reinterpret_cast<const char*>(first + elements)) {}
  };
  Part near, later;
  const void* take(int64_t k, const void* otherwise) {
    Part& part = near.at < near.end ? near : later;
    if (part.at >= part.end) return otherwise;
    const void* from = part.at;
    part.at += k * kAheadBytes;
    return from;
  }
};

// Rows by one panel of columns, over one block of k.
template <class T>
void panel_rows(const ProductTiles<T>& tiles, const Panels<T>& panels, int64_t j, int64_t rows, int64_t k, const T* a,
                int64_t a_row, int64_t a_k, const T* b, int64_t b_k, T* c, int64_t c_row, bool add, Ahead& ahead) {
  int64_t vectors = panels.edge(j) ? 1 : panels.vectors.size(j);
  const ProductTile<T>* tile = panels.edge(j) ? tiles.edge : tiles.tile[vectors - 1];
  int tail = static_cast<int>(panels.columns(j) - (vectors - 1) * tiles.lanes);
  Parts parts(rows, tiles.max_rows[vectors - 1]);
  for (int64_t i = 0; i < parts.count; ++i) {
    int64_t row = parts.start(i);
    tile[parts.size(i)](k, a + row * a_row, a_row, a_k, b, b_k, c + row * c_row, c_row, tail, add, ahead.take(k, b));
  }
}

// Copies a row of a panel, zeros after the last column. Whole panels of floats have a size that the compiler knows.
template <class T>
void copy_row(T* to, const T* from, int64_t columns, int64_t width) {
  constexpr size_t kUsual = 128;
  size_t bytes = static_cast<size_t>(columns) * sizeof(T);
  if (bytes == kUsual && columns == width) {
    std::memcpy(to, from, kUsual);
  } else {
    std::memcpy(to, from, bytes);
    std::fill(to + columns, to + width, T(0));
  }
}

// Panels [first, last) of b, each k long, as dense panels that follow each other in `to`: of k the values [begin, end).
// Rows of b are read in long pieces.
template <class T>
void pack_panels(const ProductTiles<T>& tiles, const Panels<T>& panels, int64_t first, int64_t last, int64_t k, int64_t begin,
                 int64_t end, const T* b, int64_t b_k, int64_t b_col, T* to) {
  if (b_col == 1) {
    for (int64_t p = begin; p < end; ++p) {
      for (int64_t j = first; j < last; ++j) {
        int64_t at = panels.first(j), width = panels.width(j);
        const T* from = b + p * b_k + at;
        __builtin_prefetch(from + 4 * b_k), __builtin_prefetch(from + 4 * b_k + width / 2);
        copy_row(to + at * k + p * width, from, panels.columns(j), width);
      }
    }
    return;
  }
  for (int64_t j = first; j < last; ++j) {
    int64_t at = panels.first(j), width = panels.width(j), columns = panels.columns(j);
    T* row = to + at * k + begin * width;
    if (b_k == 1) {
      tiles.pack_columns(end - begin, columns, width, b + begin + at * b_col, b_col, row);
      continue;
    }
    for (int64_t p = begin; p < end; ++p, row += width) {
      for (int64_t i = 0; i < columns; ++i) row[i] = b[p * b_k + (at + i) * b_col];
      std::fill(row + columns, row + width, T(0));
    }
  }
}

template <class T>
void pack_rows(int64_t rows, int64_t k, const T* a, int64_t a_row, int64_t a_k, T* to) {
  if (a_k == 1) {
    for (int64_t i = 0; i < rows; ++i) std::memcpy(to + i * kRowStride, a + i * a_row, static_cast<size_t>(k) * sizeof(T));
    return;
  }
  constexpr int64_t kStep = 16;
  for (int64_t p0 = 0; p0 < k; p0 += kStep) {
    int64_t p1 = std::min(k, p0 + kStep);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t p = p0; p < p1; ++p) to[i * kRowStride + p] = a[i * a_row + p * a_k];
    }
  }
}

// A product with one column is one with one row of the transposed operands: tiles are wide, not tall.
template <class T>
Product<T> turned(const Product<T>& p) {
  if (p.n != 1 || p.m == 1 || p.c_row != 1) return p;
  return {1, p.m, p.k, p.b, p.b_col, p.b_k, p.a, p.a_k, p.a_row, p.c, p.m, p.onto};
}

// One row by a matrix whose columns are dense: every element is a dot product.
template <class T>
bool is_dots(const Product<T>& p) {
  return p.m == 1 && p.b_k == 1 && p.b_col != 1;
}

template <class T>
bool reads_b_in_place(const Product<T>& p, const ProductTiles<T>& tiles) {
  if (is_dots(p)) return true;
  if (p.b_col != 1 || !(tiles.masked || p.n % tiles.lanes == 0)) return false;
  if (p.m <= tiles.max_rows[tiles.vectors - 1]) return true;  // every element is used once
  size_t bytes = static_cast<size_t>(p.k) * static_cast<size_t>(p.n) * sizeof(T);
  bool spread = p.b_k * static_cast<int64_t>(sizeof(T)) % 4096 != 0;
  return bytes <= kSmallBytes || (spread && (bytes <= kMediumBytes || p.m <= kFewRows));
}
template <class T>
bool reads_a_in_place(const Product<T>& p, const ProductTiles<T>& tiles) {
  return p.n <= 64 || p.m <= tiles.max_rows[tiles.vectors - 1] || (p.a_k == 1 && p.a_row % 1024 != 0) || p.m * p.k <= 16384;
}

// One row by a matrix that no near cache holds: what counts is how its rows are fetched.
template <class T>
bool is_stream(const Product<T>& p) {
  return p.m == 1 && p.b_col == 1 && p.n >= kStreamColumns / 2 && p.k * p.n * static_cast<int64_t>(sizeof(T)) > kResidentBytes;
}

// Some of its columns.
template <class T>
void stream_columns(const Workers& workers, const Product<T>& p, const ProductTiles<T>& tiles) {
  T chains[kStreamColumns];
  for (int64_t j = 0; j < p.n; j += kStreamColumns) {
    const int64_t columns = std::min(kStreamColumns, p.n - j);
    for (int64_t p0 = 0; p0 < p.k && !workers.interrupted(); p0 += kProductBlock) {
      std::fill(chains, chains + columns, T(0));
      tiles.stream(std::min(kProductBlock, p.k - p0), p.a + p0 * p.a_k, p.a_k, p.b + p0 * p.b_k + j, p.b_k, columns, chains);
      for (int64_t i = 0; i < columns; ++i) p.c[j + i] = p.onto || p0 != 0 ? p.c[j + i] + chains[i] : chains[i];
    }
  }
}

// Small enough for one tile.
template <class T>
bool is_one_tile(const Product<T>& p, const ProductTiles<T>& tiles) {
  return p.n <= tiles.lanes && p.m <= tiles.max_rows[0] && p.m > 1 && p.k <= kProductBlock && p.k > 0 && p.n > 0 &&
         p.b_col == 1 && tiles.masked;
}

// Some columns of the product, all operands read where they are.
template <class T>
void run_columns(const Workers& workers, const Product<T>& p, const ProductTiles<T>& tiles) {
  Ahead ahead;
  for (int64_t p0 = 0; p0 < p.k && !workers.interrupted(); p0 += kProductBlock) {
    int64_t k = std::min(kProductBlock, p.k - p0), done = 0;
    const T* a = p.a + p0 * p.a_k;
    const T* b = p.b + p0 * p.b_k;
    if (is_dots(p)) {
      tiles.dots(p.n, k, b, p.b_col, a, p.a_k, p.c, p.onto || p0 != 0);
      continue;
    }
    if (p.m == 1) {
      for (int64_t width = tiles.row_vectors * tiles.lanes; done + width <= p.n; done += width) {
        tiles.row(k, a, p.a_row, p.a_k, b + done, p.b_k, p.c + done, p.c_row, tiles.lanes, p.onto || p0 != 0, b);
      }
    }
    Panels<T> panels(tiles, p.m, p.n - done, true);
    for (int64_t j = 0; j < panels.count; ++j) {
      int64_t first = done + panels.first(j);
      panel_rows(tiles, panels, j, p.m, k, a, p.a_row, p.a_k, b + first, p.b_k, p.c + first, p.c_row, p.onto || p0 != 0, ahead);
    }
  }
}

// One row: threads take columns.
template <class T>
void run_row(const Workers& workers, const Product<T>& p, const ProductTiles<T>& tiles) {
  // For a thread at a time.
  constexpr int64_t kMost = 512, kLeast = 64, kWork = 1 << 16;
  const bool stream = is_stream(p);
  const int64_t share = (p.n / (2 * workers.threads) + kLeast - 1) / kLeast * kLeast;
  const int64_t columns = stream ? std::clamp(share, 2 * kLeast, kStreamColumns)
                                 : std::clamp(kWork / std::max<int64_t>(p.k, 1) / kLeast * kLeast, kLeast, kMost);
  workers.parallel_for(p.n, columns, [&](int64_t first, int64_t last) {
    Product<T> part = p;
    part.n = last - first;
    part.b += first * p.b_col;
    part.c += first;
    stream ? stream_columns(workers, part, tiles) : run_columns(workers, part, tiles);
  });
}

// Scratch places for copies of rows: a task takes one that no other task has.
struct Places {
  std::atomic<uint64_t> taken{0};
  int take() {
    for (;;) {
      uint64_t mask = taken.load(std::memory_order_relaxed);
      int place = __builtin_ctzll(~mask);
      if (taken.compare_exchange_weak(mask, mask | uint64_t{1} << place, std::memory_order_acquire)) return place;
    }
  }
  void give(int place) { taken.fetch_and(~(uint64_t{1} << place), std::memory_order_release); }
};

inline int usable_threads(int threads) { return std::clamp(threads, 1, 63); }

// What is told at the end of a product that was too small, or has the wrong form, to be finished row by row.
template <class T>
void finish_rows(const Workers& workers, const Product<T>& p, int threads) {
  if (!p.finish || workers.interrupted()) return;
  int64_t elements;
  if (threads == 1 || (!__builtin_mul_overflow(p.m, p.n, &elements) && elements < kThreadedFinish))
    return p.finish(p.finisher, 0, p.m);
  workers.parallel_for(p.m, std::max<int64_t>(1, kThreadedFinish / 4 / p.n),
                       [&](int64_t first, int64_t last) { p.finish(p.finisher, first, last); });
}

// Counts down what is left to do of each block of rows.
struct Countdown {
  static constexpr size_t kBlocks = 256;  // tasks share a block only where there are fewer blocks than that
  std::atomic<int64_t> left[kBlocks];
  void start(int64_t blocks, int64_t tasks) {
    for (int64_t i = 0; i < blocks && tasks > 1; ++i) left[i].store(tasks, std::memory_order_relaxed);
  }
  bool last(int64_t block, int64_t tasks) { return tasks == 1 || left[block].fetch_sub(1, std::memory_order_acq_rel) == 1; }
};

template <class T>
int64_t packed_columns(const Product<T>& p, const ProductTiles<T>& tiles) {
  int64_t columns = std::min(p.n, kBlockColumns);
  return (columns + tiles.lanes - 1) / tiles.lanes * tiles.lanes;
}
// How much of k is packed together: whole blocks.
template <class T>
int64_t packed_k(const Product<T>& p, const ProductTiles<T>& tiles) {
  int64_t block = packed_columns(p, tiles) * kProductBlock * static_cast<int64_t>(sizeof(T));
  return std::min(p.k, std::max<int64_t>(1, static_cast<int64_t>(kPackedBytes) / block) * kProductBlock);
}
template <class T>
int64_t packed_b_elements(const Product<T>& p, const ProductTiles<T>& tiles) {
  return (packed_columns(p, tiles) * packed_k(p, tiles) + 63) / 64 * 64;
}

/// Elements of scratch memory that `run_product` needs, 0 for many small products.
template <class T>
size_t product_scratch(const Product<T>& product, const ProductTiles<T>& tiles, int threads) {
  Product<T> p = turned(product);
  bool b_in_place = reads_b_in_place(p, tiles), a_in_place = reads_a_in_place(p, tiles);
  if (b_in_place && a_in_place) return 0;
  size_t b = b_in_place ? 0 : static_cast<size_t>(packed_b_elements(p, tiles));
  size_t a =
      a_in_place ? 0 : static_cast<size_t>(std::min(p.m, kBlockRows) * kRowStride) * static_cast<size_t>(usable_threads(threads));
  return (b + a + 63) / 64 * 64;
}

/// `threads` > 1 uses the workers where the product is large enough; results do not depend on it.
template <class T>
void run_product(const Workers& workers, const Product<T>& product, const ProductTiles<T>& tiles, int threads, T* scratch) {
  if (is_one_tile(product, tiles)) {
    const Product<T>& p = product;
    tiles.edge[p.m](p.k, p.a, p.a_row, p.a_k, p.b, p.b_k, p.c, p.c_row, static_cast<int>(p.n), p.onto, p.b);
    return finish_rows(workers, p, 1);
  }
  Product<T> p = turned(product);
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0) {
    for (int64_t i = 0; i < p.m && !p.onto; ++i) std::fill(p.c + i * p.c_row, p.c + i * p.c_row + p.n, T(0));
    return finish_rows(workers, product, threads);
  }
  threads = usable_threads(threads);
  int64_t work;
  bool large = __builtin_mul_overflow(p.m * p.n, p.k, &work) || work >= (p.m == 1 ? kThreadedRow : kThreadedProduct);
  if (!large) threads = 1;
  bool near = p.m * p.k * static_cast<int64_t>(sizeof(T)) <= kBlockBytes;
  if (!scratch && (p.m == 1 || (threads == 1 && near))) {
    threads > 1 ? run_row(workers, p, tiles) : is_stream(p) ? stream_columns(workers, p, tiles) : run_columns(workers, p, tiles);
    return finish_rows(workers, product, threads);
  }
  auto each = [&](int64_t n, auto&& body) {
    if (threads == 1 || n <= 1) {
      for (int64_t i = 0; i < n; ++i) body(i);
    } else {
      workers.parallel_for(n, 1, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) body(i);
      });
    }
  };

  bool b_in_place = reads_b_in_place(p, tiles), a_in_place = reads_a_in_place(p, tiles);
  int64_t k_step = b_in_place ? p.k : packed_k(p, tiles), padded = packed_columns(p, tiles);
  T* packed_b = scratch;
  T* packed_a = scratch + (b_in_place ? 0 : packed_b_elements(p, tiles));
  Places places;
  Countdown countdown;

  // Where b stays in a cache it is a that comes from far away.
  int64_t height = tiles.max_rows[tiles.vectors - 1];
  int64_t most = kBlockRows;
  bool resident =
      b_in_place || (k_step == p.k && padded == p.n && padded * p.k * static_cast<int64_t>(sizeof(T)) <= kResidentBytes);
  bool fetch_a = a_in_place && p.a_k == 1 && p.a_row == p.k;
  if (resident)
    most = std::clamp(kBlockBytes / (p.k * static_cast<int64_t>(sizeof(T))) / height * height, 4 * height, kBlockRows);
  int64_t blocks = (p.m + most - 1) / most;
  if (threads > 1 && p.m > 4 * threads * height) blocks = (blocks + threads - 1) / threads * threads;
  Parts rows(p.m, (p.m + blocks - 1) / blocks);

  for (int64_t n0 = 0; n0 < p.n; n0 += kBlockColumns) {
    int64_t n = std::min(kBlockColumns, p.n - n0);
    Panels<T> panels(tiles, p.m, n, b_in_place);
    // With few blocks of rows a task takes only some of the panels.
    int64_t wanted = threads > 1 && rows.count < 4 * threads ? (4 * threads + rows.count - 1) / rows.count : 1;
    Parts groups(panels.count, (panels.count + wanted - 1) / wanted), sides(panels.count, kPackedPanels);
    for (int64_t k0 = 0; k0 < p.k; k0 += k_step) {
      int64_t k_end = std::min(p.k, k0 + k_step), chunks = (k_end - k0 + kPackedRows - 1) / kPackedRows;
      bool last = p.finish && n0 + n == p.n && k_end == p.k;
      if (last) countdown.start(rows.count, groups.count);
      if (workers.interrupted()) return;
      each(b_in_place ? 0 : chunks * sides.count, [&](int64_t part) {
        int64_t side = part % sides.count, from = k0 + part / sides.count * kPackedRows;
        int64_t p0 = from - (from - k0) % kProductBlock, k = std::min(kProductBlock, k_end - p0);
        pack_panels(tiles, panels, sides.start(side), sides.start(side) + sides.size(side), k, from - p0,
                    std::min(from - p0 + kPackedRows, k), p.b + p0 * p.b_k + n0 * p.b_col, p.b_k, p.b_col,
                    packed_b + (p0 - k0) * padded);
      });
      each(rows.count * groups.count, [&](int64_t task) {
        if (workers.interrupted()) return;
        int64_t block = task / groups.count, group = task % groups.count;
        int64_t row = rows.start(block), count = rows.size(block);
        int place = a_in_place ? -1 : places.take();
        Ahead ahead;
        // Which rows this thread will have next is a guess where others may be faster.
        if (int64_t next = (task + threads) / groups.count; fetch_a && next < rows.count)
          ahead.later = {p.a + rows.start(next) * p.a_row, rows.size(next) * p.k};
        for (int64_t p0 = k0; p0 < k_end; p0 += kProductBlock) {
          int64_t k = std::min(kProductBlock, k_end - p0);
          const T* a = p.a + row * p.a_row + p0 * p.a_k;
          int64_t a_row = p.a_row, a_k = p.a_k;
          if (!a_in_place) {
            T* copy = packed_a + place * (std::min(p.m, kBlockRows) * kRowStride);
            pack_rows(count, k, a, a_row, a_k, copy);
            a = copy;
            a_row = kRowStride;
            a_k = 1;
          }
          for (int64_t j = groups.start(group); j < groups.start(group) + groups.size(group); ++j) {
            int64_t first = panels.first(j), width = panels.width(j);
            const T* b = b_in_place ? p.b + p0 * p.b_k + n0 + first : packed_b + (p0 - k0) * padded + first * k;
            if (!resident && j + 1 < panels.count) ahead.near = {b + width * k, panels.width(j + 1) * k};
            panel_rows(tiles, panels, j, count, k, a, a_row, a_k, b, b_in_place ? p.b_k : width, p.c + row * p.c_row + n0 + first,
                       p.c_row, p.onto || p0 != 0, ahead);
          }
        }
        if (place >= 0) places.give(place);
        if (last && countdown.last(block, groups.count)) p.finish(p.finisher, row, row + count);
      });
    }
  }
  if (!p.finish) finish_rows(workers, product, threads);  // a turned product has none of its own
}

// How many products are run side by side, each by one thread: 1 when they are run one after the other on all threads.
template <class T>
int64_t lots_of(const ProductBatch<T>& b, int threads) {
  int64_t work = 0, all = 0;
  bool huge = __builtin_mul_overflow(b.one.m * b.one.n, b.one.k, &work) || __builtin_mul_overflow(work, b.count, &all);
  bool spread = threads > 1 && b.count > 1 && !huge && work < 20 * kThreadedProduct && all >= kThreadedProduct;
  return spread ? std::min<int64_t>(threads, b.count) : 1;
}

/// Elements of scratch memory that `run_products` needs, in lots for the threads: SIZE_MAX when they cannot be counted.
template <class T>
size_t products_scratch(const ProductBatch<T>& b, const ProductTiles<T>& tiles, int threads) {
  if (is_one_tile(b.one, tiles)) return 0;
  int64_t lots = lots_of(b, threads);
  size_t each = product_scratch(b.one, tiles, lots > 1 ? 1 : threads), all;
  return __builtin_mul_overflow(each, static_cast<size_t>(lots), &all) ? SIZE_MAX : all;
}

template <class T>
void run_products(const Workers& workers, const ProductBatch<T>& b, const ProductTiles<T>& tiles, int threads, T* scratch) {
  if (b.count == 1) return run_product(workers, b.one, tiles, threads, scratch);
  auto run = [&](int64_t i, int with_threads, T* memory) {
    Product<T> p = b.one;
    int64_t a_offset = i * b.a_step, b_offset = i * b.b_step;
    if (b.place) b.place(b.places, i, a_offset, b_offset);
    p.a += a_offset;
    p.b += b_offset;
    p.c += i * p.m * p.n;
    run_product(workers, p, tiles, with_threads, memory);
  };
  int64_t lots = lots_of(b, threads);
  if (lots == 1) {
    for (int64_t i = 0; i < b.count && !workers.interrupted(); ++i) run(i, threads, scratch);
    return;
  }
  // Each lot of products has its own scratch memory.
  size_t each = scratch ? product_scratch(b.one, tiles, 1) : 0;
  workers.parallel_for(lots, 1, [&](int64_t first, int64_t last) {
    for (int64_t lot = first; lot < last; ++lot) {
      for (int64_t i = lot * b.count / lots; i < (lot + 1) * b.count / lots && !workers.interrupted(); ++i)
        run(i, 1, scratch ? scratch + static_cast<size_t>(lot) * each : nullptr);
    }
  });
}

}  // namespace product_loops
}  // namespace tfl

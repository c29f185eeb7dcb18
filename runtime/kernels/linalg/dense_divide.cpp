// Divide and conquer: halves are solved by themselves, and what joins them is a secular equation between their values. Values that the
// join does not move are put aside (deflated); the bases of the others are products. As Cuppen, and Gu and Eisenstat, describe.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/linalg/dense_spectral.h"

namespace tfl::dense {

namespace {

constexpr double kNegligible = 16 * kEpsilon;

// A row of a basis by where it may have elements.
enum Part : uint8_t { kLeft, kBoth, kRight };

// What a join works on. Numbers are of rows of the node.
struct Join {
  int64_t n, kept = 0, gone = 0;
  int32_t *rows, *aside, *place;  // kept ones by rising value; those put aside; where a kept one lies among its kind
  Part* part;
  double *z, *poles, *weights, *values, *squared;
  Join(Tools<double>& tools, int64_t size) : n(size) {
    rows = reinterpret_cast<int32_t*>(tools.take(n + 1));
    aside = reinterpret_cast<int32_t*>(tools.take(n + 1));
    place = reinterpret_cast<int32_t*>(tools.take(n + 1));
    part = reinterpret_cast<Part*>(tools.take(n + 1));
    for (double** p : {&z, &poles, &weights, &values, &squared}) *p = tools.take(n + 1);
  }
};

// `order` of two halves, each in order itself, as one.
void merge(int64_t half, int64_t n, const double* d, int32_t* order, int32_t* memory) {
  int64_t i = 0, j = half, k = 0;
  while (i < half || j < n) memory[k++] = j >= n || (i < half && d[order[i]] <= d[order[j]]) ? order[i++] : order[j++];
  std::copy(memory, memory + n, order);
}

// Numbers the kept rows by kind: those left of `from` stay where they are. How many are on the left, and on both sides.
void group(Join& join, int64_t from, int64_t& left, int64_t& both) {
  int64_t count[3] = {};
  for (int64_t i = from; i < join.kept; ++i) ++count[join.part[join.rows[i]]];
  left = count[kLeft], both = count[kBoth];
  int64_t at[3] = {from, from + left, from + left + both};
  for (int64_t i = from; i < join.kept; ++i) join.place[i] = static_cast<int32_t>(at[join.part[join.rows[i]]]++);
  for (int64_t i = 0; i < from; ++i) join.place[i] = static_cast<int32_t>(i);
}

void copy_part(const double* from, int64_t n, double* to) { std::copy(from, from + n, to); }

// The kept rows of a basis, in the order of their kinds: their columns [0, cut) to `left`, those from `behind` on to `right`.
void pack(const Join& join, int64_t from, const double* basis, int64_t stride, int64_t cut, int64_t behind, int64_t columns,
          int64_t both_from, double* left, int64_t left_stride, double* right, int64_t right_stride) {
  for (int64_t i = from; i < join.kept; ++i) {
    const double* row = basis + join.rows[i] * stride;
    const Part part = join.part[join.rows[i]];
    if (part != kRight) copy_part(row, cut, left + join.place[i] * left_stride);
    if (part != kLeft) copy_part(row + behind, columns - behind, right + (join.place[i] - both_from) * right_stride);
  }
}

// Rows that were put aside come behind the new ones; `memory` holds them meanwhile.
void save_aside(const Join& join, const double* basis, int64_t stride, int64_t columns, double* memory) {
  for (int64_t i = 0; i < join.gone; ++i) copy_part(basis + join.aside[i] * stride, columns, memory + i * stride);
}
void give_aside(const Join& join, double* basis, int64_t stride, int64_t columns, const double* memory) {
  for (int64_t i = 0; i < join.gone; ++i) copy_part(memory + i * stride, columns, basis + (join.kept + i) * stride);
}

// New values are those of the equation, then those put aside.
void put_in_order(Join& join, double* d, const double* old, int32_t* order, int32_t* memory) {
  std::copy(join.values, join.values + join.kept, d);
  for (int64_t i = 0; i < join.gone; ++i) d[join.kept + i] = old[join.aside[i]];
  for (int64_t i = 0; i < join.n; ++i) order[i] = static_cast<int32_t>(i);
  std::sort(order + join.kept, order + join.n, [&](int32_t a, int32_t b) { return d[a] != d[b] ? d[a] < d[b] : a < b; });
  merge(join.kept, join.n, d, order, memory);
}

// Two neighbours of equal values become one with the whole weight and one with none. True where they were equal.
bool equal_values(double gap, double tolerance, double& first, double& second, double& c, double& s) {
  c = second, s = first;
  const double both = length_of(c, s);
  c /= both, s = -s / both;
  if (std::fabs(gap * c * s) > tolerance) return false;
  first = 0, second = both;
  return true;
}

Part joined(Part a, Part b) { return a == b ? a : kBoth; }

struct Tridiagonal {
  double *d, *e, *z;
  int64_t stride;
  int32_t* order;

  void leaf(const Tools<double>& tools, int64_t n, double* values, double* beside, double* rows, int32_t* by) const {
    for (int64_t i = 0; i < n; ++i) rows[i * stride + i] = 1, by[i] = static_cast<int32_t>(i);
    tridiagonal_rotations(tools.kernels, n, values, beside, rows, stride, n);
    std::sort(by, by + n, [&](int32_t a, int32_t b) { return values[a] != values[b] ? values[a] < values[b] : a < b; });
  }

  void node(Tools<double> tools, int64_t lo, int64_t n) const {
    double *values = d + lo, *rows = z + lo * stride + lo;
    int32_t* by = order + lo;
    if (tools.interrupted()) return;
    if (n <= kSpectralLeaf) return leaf(tools, n, values, e + lo, rows, by);
    const int64_t half = n / 2;
    const double between = e[lo + half - 1], rho = 2 * std::fabs(between);
    values[half - 1] -= std::fabs(between);
    values[half] -= std::fabs(between);
    node(tools, lo, half);
    node(tools, lo + half, n - half);
    if (tools.interrupted()) return;
    for (int64_t i = half; i < n; ++i) by[i] += static_cast<int32_t>(half);

    Join join(tools, n);
    auto* memory = reinterpret_cast<int32_t*>(join.squared);
    merge(half, n, values, by, memory);
    double most = 0, largest = 0;
    const double unit = std::sqrt(0.5);
    double* weight = join.weights;  // by row, until rows are known
    for (int64_t i = 0; i < n; ++i) {
      weight[i] = (i < half ? rows[i * stride + half - 1] : std::copysign(1.0, between) * rows[i * stride + half]) * unit;
      most = std::max(most, std::fabs(values[i])), largest = std::max(largest, std::fabs(weight[i]));
      join.part[i] = i < half ? kLeft : kRight;
    }
    const double tolerance = kNegligible * std::max(most, largest);
    if (rho * largest <= tolerance) return;
    int64_t before = -1;
    for (int64_t k = 0; k < n; ++k) {
      const int32_t i = by[k];
      double c, s;
      if (rho * std::fabs(weight[i]) <= tolerance) {
        join.aside[join.gone++] = i;
      } else if (before < 0) {
        before = i;
      } else if (equal_values(values[i] - values[before], tolerance, weight[before], weight[i], c, s)) {
        tools.kernels.rotate(n, c, s, rows + before * stride, rows + i * stride);
        const double low = values[before], high = values[i];
        values[before] = low * c * c + high * s * s;
        values[i] = low * s * s + high * c * c;
        join.part[i] = join.part[before] = joined(join.part[i], join.part[before]);
        join.aside[join.gone++] = static_cast<int32_t>(before);
        before = i;
      } else {
        join.rows[join.kept++] = static_cast<int32_t>(before);
        before = i;
      }
    }
    join.rows[join.kept++] = static_cast<int32_t>(before);
    const int64_t kept = join.kept;
    const double scale = std::sqrt(rho);
    for (int64_t i = 0; i < kept; ++i) join.poles[i] = values[join.rows[i]], join.z[i] = weight[join.rows[i]] * scale;

    const int64_t wide = stride_of(kept), left_wide = stride_of(half), right_wide = stride_of(n - half);
    double* away = tools.take(kept * wide);
    secular_roots(tools, {kept, join.poles, join.z, false, join.squared}, away, wide, join.values, join.weights);
    int64_t left, both;
    group(join, 0, left, both);
    tools.parts(kept, 16, 4 * kept, stride_of(kept), [&](const Tools<double>& own, int64_t first, int64_t last) {
      for (int64_t j = first; j < last; ++j) {
        double *row = away + j * wide, *line = own.next;
        const double length = 1 / std::sqrt(own.kernels.quotients(kept, join.weights, row));
        for (int64_t i = 0; i < kept; ++i) line[join.place[i]] = row[i] * length;
        copy_part(line, kept, row);
      }
    });
    double *on_left = tools.take((left + both) * left_wide), *on_right = tools.take((kept - left) * right_wide),
           *others = tools.take(join.gone * stride);
    pack(join, 0, rows, stride, half, half, n, left, on_left, left_wide, on_right, right_wide);
    save_aside(join, rows, stride, n, others);
    tools.multiply(kept, half, left + both, away, wide, on_left, left_wide, rows, stride, false);
    tools.multiply(kept, n - half, kept - left, away + left, wide, on_right, right_wide, rows + half, stride, false);
    give_aside(join, rows, stride, n, others);
    copy_part(values, n, join.z);
    put_in_order(join, values, join.z, by, memory);
  }
};

struct Bidiagonal {
  double *d, *e, *u, *v;
  int64_t stride;
  int32_t* order;

  // The order of a node is of its n rows; `more` columns make a row of v without value behind them.
  void node(Tools<double> tools, int64_t lo, int64_t n, bool more) const {
    double *values = d + lo, *left_rows = u + lo * stride + lo, *right_rows = v + lo * stride + lo;
    int32_t* by = order + lo;
    const int64_t columns = n + more;
    if (tools.interrupted()) return;
    if (n <= kSpectralLeaf) {
      for (int64_t i = 0; i < columns; ++i) right_rows[i * stride + i] = 1;
      for (int64_t i = 0; i < n; ++i) left_rows[i * stride + i] = 1, by[i] = static_cast<int32_t>(i);
      bidiagonal_rotations(tools.kernels, n, more, values, e + lo, left_rows, right_rows, stride, n, columns);
      return std::sort(by, by + n, [&](int32_t a, int32_t b) { return values[a] != values[b] ? values[a] < values[b] : a < b; });
    }
    const int64_t half = n / 2, behind = half + 1;  // row `half` joins the parts
    const double alpha = values[half], beta = e[lo + half];
    node(tools, lo, half, true);
    node(tools, lo + behind, n - behind, more);
    if (tools.interrupted()) return;
    left_rows[half * stride + half] = 1;
    values[half] = 0;

    Join join(tools, n);
    auto* memory = reinterpret_cast<int32_t*>(join.squared);
    // The row that joins has the smallest value, 0, and is none of the two orders.
    for (int64_t i = n - 1; i > half; --i) by[i] += static_cast<int32_t>(behind);
    for (int64_t i = half; i > 0; --i) by[i] = by[i - 1];
    by[0] = static_cast<int32_t>(half);
    merge(half, n - 1, values, by + 1, memory);

    double* weight = join.weights;
    double most = std::max(std::fabs(alpha), std::fabs(beta));
    for (int64_t i = 0; i < n; ++i) {
      weight[i] = i <= half ? alpha * right_rows[i * stride + half] : beta * right_rows[i * stride + behind];
      most = std::max(most, values[i]);
      join.part[i] = i <= half ? kLeft : kRight;
    }
    const double tolerance = kNegligible * most;
    if (more) {
      const double other = beta * right_rows[n * stride + behind], whole = length_of(weight[half], other);
      const bool none = whole <= tolerance;
      const double c = none ? 1 : weight[half] / whole, s = none ? 0 : other / whole;
      tools.kernels.rotate(columns, c, s, right_rows + half * stride, right_rows + n * stride);
      weight[half] = none ? tolerance : whole;
    } else if (std::fabs(weight[half]) <= tolerance) {
      weight[half] = tolerance;
    }
    join.rows[join.kept++] = static_cast<int32_t>(half);
    int64_t before = -1;
    for (int64_t k = 1; k < n; ++k) {
      const int32_t i = by[k];
      double c, s;
      if (std::fabs(weight[i]) <= tolerance) {
        join.aside[join.gone++] = i;
      } else if (before < 0) {
        before = i;
      } else if (values[i] - values[before] <= tolerance) {
        equal_values(0, tolerance, weight[before], weight[i], c, s);
        tools.kernels.rotate(n, c, s, left_rows + before * stride, left_rows + i * stride);
        tools.kernels.rotate(columns, c, s, right_rows + before * stride, right_rows + i * stride);
        join.part[i] = join.part[before] = joined(join.part[i], join.part[before]);
        join.aside[join.gone++] = static_cast<int32_t>(before);
        before = i;
      } else {
        join.rows[join.kept++] = static_cast<int32_t>(before);
        before = i;
      }
    }
    if (before >= 0) join.rows[join.kept++] = static_cast<int32_t>(before);
    const int64_t kept = join.kept;
    for (int64_t i = 0; i < kept; ++i) join.poles[i] = values[join.rows[i]], join.z[i] = weight[join.rows[i]];
    // Different from 0, which is the first.
    if (kept > 1) join.poles[1] = std::max(join.poles[1], tolerance / 2);
    if (most == 0) return;  // every value is 0

    const int64_t wide = stride_of(kept + 1), left_wide = stride_of(half + 1), right_wide = stride_of(n - half);
    double *of_right = tools.take(kept * wide), *of_left = tools.take(kept * wide);
    secular_roots(tools, {kept, join.poles, join.z, true, join.squared}, of_right, wide, join.values, join.weights);
    int64_t left, both;
    group(join, 1, left, both);
    tools.parts(kept, 16, 8 * kept, 2 * wide, [&](const Tools<double>& own, int64_t first, int64_t last) {
      for (int64_t j = first; j < last; ++j) {
        double *row = of_right + j * wide, *other = of_left + j * wide, *line = own.next;
        const double right_length = 1 / std::sqrt(own.kernels.quotients(kept, join.weights, row));
        other[0] = -1;
        for (int64_t i = 1; i < kept; ++i) other[i] = join.poles[i] * row[i];
        const double left_length = 1 / std::sqrt(own.kernels.dot(kept, other, other));
        for (int64_t i = 0; i < kept; ++i)
          line[join.place[i]] = row[i] * right_length, line[wide + join.place[i]] = other[i] * left_length;
        line[kept] = line[0];  // the row that joins, where the right part finds it
        copy_part(line, kept + 1, row);
        copy_part(line + wide, kept, other);
      }
    });
    // Left vectors: the row that joins is a unit vector.
    double *on_left = tools.take((kept + 1) * left_wide), *on_right = tools.take((kept + 1) * right_wide),
           *others = tools.take(join.gone * stride);
    const int64_t on_both = 1 + left;
    pack(join, 1, left_rows, stride, half, behind, n, on_both, on_left, left_wide, on_right, right_wide);
    save_aside(join, left_rows, stride, n, others);
    tools.multiply(kept, half, left + both, of_left + 1, wide, on_left + left_wide, left_wide, left_rows, stride, false);
    tools.multiply(kept, n - behind, kept - on_both, of_left + on_both, wide, on_right, right_wide, left_rows + behind, stride,
                   false);
    for (int64_t j = 0; j < kept; ++j) left_rows[j * stride + half] = of_left[j * wide];
    give_aside(join, left_rows, stride, n, others);
    // Right ones: it is on the left, and on both sides where there is a column more.
    pack(join, 1, right_rows, stride, behind, behind, columns, on_both, on_left, left_wide, on_right, right_wide);
    copy_part(right_rows + half * stride, behind, on_left);
    copy_part(right_rows + half * stride + behind, columns - behind, on_right + (kept - on_both) * right_wide);
    save_aside(join, right_rows, stride, columns, others);
    tools.multiply(kept, behind, 1 + left + both, of_right, wide, on_left, left_wide, right_rows, stride, false);
    tools.multiply(kept, columns - behind, kept - on_both + more, of_right + on_both, wide, on_right, right_wide,
                   right_rows + behind, stride, false);
    give_aside(join, right_rows, stride, columns, others);
    copy_part(values, n, join.z);
    put_in_order(join, values, join.z, by, memory);
  }
};

}  // namespace

void tridiagonal_divide(Tools<double> tools, int64_t n, double* d, double* e, double* z, int64_t stride, int32_t* order) {
  for (int64_t i = 0; i < n; ++i) std::fill(z + i * stride, z + i * stride + n, 0.0);
  Tridiagonal{d, e, z, stride, order}.node(tools, 0, n);
}

void bidiagonal_divide(Tools<double> tools, int64_t n, double* d, double* e, double* u, double* v, int64_t stride,
                       int32_t* order) {
  for (int64_t i = 0; i < n; ++i) {
    std::fill(u + i * stride, u + i * stride + n, 0.0);
    std::fill(v + i * stride, v + i * stride + n, 0.0);
  }
  Bidiagonal{d, e, u, v, stride, order}.node(tools, 0, n, false);
}

}  // namespace tfl::dense

#include "runtime/kernels/linalg/matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tfl {

int lu_in_place(const Matrix& a, std::span<int32_t> order) {
  int64_t n = a.rows;
  for (int64_t i = 0; i < n; ++i) order[static_cast<size_t>(i)] = static_cast<int32_t>(i);
  int sign = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::fabs(a(i, k)) > std::fabs(a(pivot, k))) pivot = i;
    }
    if (a(pivot, k) == 0) {
      sign = 0;
      continue;
    }
    if (pivot != k) {
      for (int64_t j = 0; j < n; ++j) std::swap(a(k, j), a(pivot, j));
      std::swap(order[static_cast<size_t>(k)], order[static_cast<size_t>(pivot)]);
      sign = -sign;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      double factor = a(i, k) /= a(k, k);
      if (factor == 0) continue;
      for (int64_t j = k + 1; j < n; ++j) a(i, j) -= factor * a(k, j);
    }
  }
  return sign;
}

void lu_solve(const Matrix& lu, const Matrix& b) {
  int64_t n = lu.rows, m = b.cols;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < i; ++k) {
      for (int64_t j = 0; j < m; ++j) b(i, j) -= lu(i, k) * b(k, j);
    }
  }
  for (int64_t i = n; i-- > 0;) {
    for (int64_t k = i + 1; k < n; ++k) {
      for (int64_t j = 0; j < m; ++j) b(i, j) -= lu(i, k) * b(k, j);
    }
    for (int64_t j = 0; j < m; ++j) b(i, j) /= lu(i, i);
  }
}

bool cholesky_in_place(const Matrix& a) {
  int64_t n = a.rows;
  for (int64_t j = 0; j < n; ++j) {
    double d = a(j, j);
    for (int64_t k = 0; k < j; ++k) d -= a(j, k) * a(j, k);
    if (!(d > 0)) return false;
    a(j, j) = std::sqrt(d);
    for (int64_t i = j + 1; i < n; ++i) {
      double v = a(i, j);
      for (int64_t k = 0; k < j; ++k) v -= a(i, k) * a(j, k);
      a(i, j) = v / a(j, j);
    }
    for (int64_t i = 0; i < j; ++i) a(i, j) = 0;
  }
  return true;
}

void triangular_solve(const Matrix& a, const Matrix& b, bool lower, bool transposed) {
  int64_t n = a.rows, m = b.cols;
  auto at = [&](int64_t i, int64_t k) { return transposed ? a(k, i) : a(i, k); };
  bool forward = lower != transposed;
  for (int64_t step = 0; step < n; ++step) {
    int64_t i = forward ? step : n - 1 - step;
    for (int64_t k = forward ? 0 : i + 1; k < (forward ? i : n); ++k) {
      double f = at(i, k);
      for (int64_t j = 0; j < m; ++j) b(i, j) -= f * b(k, j);
    }
    for (int64_t j = 0; j < m; ++j) b(i, j) /= at(i, i);
  }
}

void qr_in_place(const Matrix& a, const Matrix& q) {
  int64_t m = a.rows, n = a.cols;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < m; ++j) q(i, j) = i == j;
  }
  for (int64_t k = 0; k < std::min(m - 1, n); ++k) {
    double norm = 0;
    for (int64_t i = k; i < m; ++i) norm = std::hypot(norm, a(i, k));
    // A column that is zero below the diagonal is left as it is, its sign too, as LAPACK and Eigen do.
    bool clear = true;
    for (int64_t i = k + 1; i < m; ++i) clear = clear && a(i, k) == 0;
    if (clear) continue;
    // The reflection's vector stays in the column below the diagonal until it has been used.
    double alpha = a(k, k) >= 0 ? -norm : norm;
    double head = a(k, k) - alpha;
    double beta = -1 / (alpha * head);  // 2 / |v|^2
    auto reflect = [&](auto column) {
      double dot = head * column(k);
      for (int64_t i = k + 1; i < m; ++i) dot += a(i, k) * column(i);
      dot *= beta;
      column(k) -= dot * head;
      for (int64_t i = k + 1; i < m; ++i) column(i) -= dot * a(i, k);
    };
    for (int64_t j = k + 1; j < n; ++j) reflect([&](int64_t i) -> double& { return a(i, j); });
    for (int64_t r = 0; r < m; ++r) reflect([&](int64_t i) -> double& { return q(r, i); });
    a(k, k) = alpha;
    for (int64_t i = k + 1; i < m; ++i) a(i, k) = 0;
  }
}

namespace {
constexpr int kSweeps = 60;

/// The rotation that diagonalises [[p, q], [q, r]].
void rotation(double p, double q, double r, double& c, double& s) {
  double theta = (r - p) / (2 * q);
  double t = (theta >= 0 ? 1 : -1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
  c = 1 / std::sqrt(t * t + 1);
  s = t * c;
}
}  // namespace

void symmetric_eigen(const Matrix& a, std::span<double> values, const Matrix& vectors) {
  int64_t n = a.rows;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      vectors(i, j) = i == j;
      if (j > i) a(i, j) = a(j, i);
    }
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        if (std::fabs(a(p, q)) <= 1e-300 || std::fabs(a(p, q)) <= 1e-17 * std::sqrt(std::fabs(a(p, p)) * std::fabs(a(q, q))))
          continue;
        rotated = true;
        double c, s;
        rotation(a(p, p), a(p, q), a(q, q), c, s);
        for (int64_t k = 0; k < n; ++k) {
          double x = a(k, p), y = a(k, q);
          a(k, p) = c * x - s * y;
          a(k, q) = s * x + c * y;
        }
        for (int64_t k = 0; k < n; ++k) {
          double x = a(p, k), y = a(q, k);
          a(p, k) = c * x - s * y;
          a(q, k) = s * x + c * y;
          x = vectors(k, p);
          y = vectors(k, q);
          vectors(k, p) = c * x - s * y;
          vectors(k, q) = s * x + c * y;
        }
      }
    }
    if (!rotated) break;
  }
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = a(i, i);
  for (int64_t i = 0; i < n; ++i) {
    int64_t least = i;
    for (int64_t j = i + 1; j < n; ++j) {
      if (values[static_cast<size_t>(j)] < values[static_cast<size_t>(least)]) least = j;
    }
    if (least == i) continue;
    std::swap(values[static_cast<size_t>(i)], values[static_cast<size_t>(least)]);
    for (int64_t k = 0; k < n; ++k) std::swap(vectors(k, i), vectors(k, least));
  }
}

void singular_values(const Matrix& a, std::span<double> values, const Matrix& v) {
  int64_t m = a.rows, n = a.cols;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) v(i, j) = i == j;
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        double pp = 0, pq = 0, qq = 0;
        for (int64_t i = 0; i < m; ++i) {
          pp += a(i, p) * a(i, p);
          pq += a(i, p) * a(i, q);
          qq += a(i, q) * a(i, q);
        }
        if (pq == 0 || std::fabs(pq) <= 1e-16 * std::sqrt(pp * qq)) continue;
        rotated = true;
        double c, s;
        rotation(pp, pq, qq, c, s);
        for (int64_t i = 0; i < m; ++i) {
          double x = a(i, p), y = a(i, q);
          a(i, p) = c * x - s * y;
          a(i, q) = s * x + c * y;
        }
        for (int64_t i = 0; i < n; ++i) {
          double x = v(i, p), y = v(i, q);
          v(i, p) = c * x - s * y;
          v(i, q) = s * x + c * y;
        }
      }
    }
    if (!rotated) break;
  }
  double most = 0;
  for (int64_t j = 0; j < n; ++j) {
    double norm = 0;
    for (int64_t i = 0; i < m; ++i) norm = std::hypot(norm, a(i, j));
    values[static_cast<size_t>(j)] = norm;
    most = std::max(most, norm);
  }
  for (int64_t j = 0; j < n; ++j) {
    int64_t largest = j;
    for (int64_t k = j + 1; k < n; ++k) {
      if (values[static_cast<size_t>(k)] > values[static_cast<size_t>(largest)]) largest = k;
    }
    if (largest != j) {
      std::swap(values[static_cast<size_t>(j)], values[static_cast<size_t>(largest)]);
      for (int64_t i = 0; i < m; ++i) std::swap(a(i, j), a(i, largest));
      for (int64_t i = 0; i < n; ++i) std::swap(v(i, j), v(i, largest));
    }
    // Columns of nothing but rounding errors have no direction; complete_basis gives them one.
    bool zero = values[static_cast<size_t>(j)] <= most * std::numeric_limits<double>::epsilon() * static_cast<double>(m);
    for (int64_t i = 0; i < m; ++i) a(i, j) = zero ? 0 : a(i, j) / values[static_cast<size_t>(j)];
    if (zero) values[static_cast<size_t>(j)] = 0;
  }
}

void complete_basis(const Matrix& q, int64_t known) {
  int64_t m = q.rows;
  for (int64_t j = known, unit = 0; j < q.cols && unit < m; ++unit) {
    for (int64_t i = 0; i < m; ++i) q(i, j) = i == unit;
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t k = 0; k < j; ++k) {
        double dot = 0;
        for (int64_t i = 0; i < m; ++i) dot += q(i, k) * q(i, j);
        for (int64_t i = 0; i < m; ++i) q(i, j) -= dot * q(i, k);
      }
    }
    double norm = 0;
    for (int64_t i = 0; i < m; ++i) norm = std::hypot(norm, q(i, j));
    if (norm < 1e-6) continue;
    for (int64_t i = 0; i < m; ++i) q(i, j) /= norm;
    ++j;
  }
}

}  // namespace tfl

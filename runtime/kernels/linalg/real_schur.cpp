#include "runtime/kernels/linalg/real_schur.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tfl::schur {

namespace {

constexpr double kAtOne = std::numeric_limits<double>::epsilon();  // the distance of neighbours at 1
constexpr double kSmallestNormal = std::numeric_limits<double>::min();

struct RealSchur {
  int64_t n;
  std::vector<double> h, z;           // H, and the product of all that was done to it
  std::vector<double> re, im, scale;  // eigenvalues; what balancing did to a row
  bool balanced = true;
  int64_t low = 0, high = 0;  // the rows that balancing left to be worked on: [low, high]

  double& at(int64_t i, int64_t j) { return h[static_cast<size_t>(i * n + j)]; }
  double& vector_at(int64_t i, int64_t j) { return z[static_cast<size_t>(i * n + j)]; }
  double& scale_of(int64_t i) { return scale[static_cast<size_t>(i)]; }

  void exchange(int64_t i, int64_t m) {
    scale_of(m) = static_cast<double>(i);
    if (i == m) return;
    for (int64_t r = 0; r <= high; ++r) std::swap(at(r, i), at(r, m));
    for (int64_t c = low; c < n; ++c) std::swap(at(i, c), at(m, c));
  }

  bool alone_in_row(int64_t i) {
    for (int64_t j = 0; j <= high; ++j) {
      if (j != i && at(i, j) != 0) return false;
    }
    return true;
  }
  bool alone_in_column(int64_t j) {
    for (int64_t i = low; i <= high; ++i) {
      if (i != j && at(i, j) != 0) return false;
    }
    return true;
  }

  // Eigenvalues that stand alone go to the ends; then rows and columns are brought to like lengths by powers of 2.
  void balance() {
    for (bool again = true; again && high > 0;) {
      again = false;
      for (int64_t i = high; i >= 0; --i) {
        if (!alone_in_row(i)) continue;
        exchange(i, high);
        if (high == 0) return;
        --high;
        again = true;
        break;
      }
    }
    for (bool again = true; again;) {
      again = false;
      for (int64_t j = low; j <= high; ++j) {
        if (!alone_in_column(j)) continue;
        exchange(j, low);
        ++low;
        again = true;
        break;
      }
    }
    for (bool again = true; again;) {
      again = false;
      for (int64_t i = low; i <= high; ++i) {
        double c = 0, r = 0, ca = 0, ra = 0;
        for (int64_t k = low; k <= high; ++k) {
          c = std::hypot(c, at(k, i));
          r = std::hypot(r, at(i, k));
        }
        for (int64_t k = 0; k <= high; ++k) ca = std::max(ca, std::fabs(at(k, i)));
        for (int64_t k = low; k < n; ++k) ra = std::max(ra, std::fabs(at(i, k)));
        if (c == 0 || r == 0) continue;
        constexpr double kLargest = 1 / kSmallestNormal * kAtOne / 2, kLeast = 2 / kLargest;
        double g = r / 2, f = 1, s = c + r;
        while (c < g && std::max({f, c, ca}) < kLargest && std::min({r, g, ra}) > kLeast) {
          f *= 2, c *= 2, ca *= 2;
          r /= 2, g /= 2, ra /= 2;
        }
        g = c / 2;
        while (g >= r && std::max(r, ra) < kLargest && std::min({f, c, g, ca}) > kLeast) {
          f /= 2, c /= 2, g /= 2, ca /= 2;
          r *= 2, ra *= 2;
        }
        if (c + r >= 0.95 * s) continue;
        scale_of(i) *= f;
        again = true;
        for (int64_t k = low; k < n; ++k) at(i, k) /= f;
        for (int64_t k = 0; k <= high; ++k) at(k, i) *= f;
      }
    }
  }

  // The reflection 1 - t v v' that turns v into (beta, 0, ...); v[0] is beta afterwards, and the rest of v stands for a vector that begins with 1.
  static double reflect(double* v, int64_t count) {
    double rest = 0;
    for (int64_t i = 1; i < count; ++i) rest = std::hypot(rest, v[i]);
    if (rest == 0) return 0;
    double alpha = v[0], beta = -std::copysign(std::hypot(alpha, rest), alpha);
    for (int64_t i = 1; i < count; ++i) v[i] /= alpha - beta;
    v[0] = beta;
    return (beta - alpha) / beta;
  }

  void to_hessenberg() {
    z.assign(static_cast<size_t>(n * n), 0.0);
    for (int64_t i = 0; i < n; ++i) vector_at(i, i) = 1;
    std::vector<double> v(static_cast<size_t>(n));
    for (int64_t k = low; k + 1 < high; ++k) {
      int64_t count = high - k;
      for (int64_t i = 0; i < count; ++i) v[static_cast<size_t>(i)] = at(k + 1 + i, k);
      double t = reflect(v.data(), count);
      at(k + 1, k) = v[0];
      for (int64_t i = 1; i < count; ++i) at(k + 1 + i, k) = 0;
      v[0] = 1;
      auto from_the_right = [&](std::vector<double>& m, int64_t rows) {
        for (int64_t i = 0; i < rows; ++i) {
          double* row = m.data() + i * n + k + 1;
          double sum = 0;
          for (int64_t j = 0; j < count; ++j) sum += row[j] * v[static_cast<size_t>(j)];
          for (int64_t j = 0; j < count; ++j) row[j] -= t * sum * v[static_cast<size_t>(j)];
        }
      };
      from_the_right(h, high + 1);
      for (int64_t j = k + 1; j < n; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < count; ++i) sum += at(k + 1 + i, j) * v[static_cast<size_t>(i)];
        for (int64_t i = 0; i < count; ++i) at(k + 1 + i, j) -= t * sum * v[static_cast<size_t>(i)];
      }
      from_the_right(z, n);
    }
  }

  // Whether the element below the diagonal in column k - 1 may be taken for 0.
  bool is_small(int64_t k) {
    double below = std::fabs(at(k, k - 1));
    if (below <= kSmallestNormal * (static_cast<double>(n) / kAtOne)) return true;
    double size = std::fabs(at(k - 1, k - 1)) + std::fabs(at(k, k));
    if (size == 0) {
      if (k - 2 >= low) size += std::fabs(at(k - 1, k - 2));
      if (k + 1 <= high) size += std::fabs(at(k + 1, k));
    }
    if (below > kAtOne * size) return false;
    double above = std::fabs(at(k - 1, k)), difference = std::fabs(at(k - 1, k - 1) - at(k, k)), last = std::fabs(at(k, k));
    double ab = std::max(below, above), ba = std::min(below, above);
    double aa = std::max(last, difference), bb = std::min(last, difference), s = aa + ab;
    return ba * (ab / s) <= std::max(kSmallestNormal * (static_cast<double>(n) / kAtOne), kAtOne * (bb * (aa / s)));
  }

  void rotate_rows(int64_t i, int64_t first, double c, double s) {
    for (int64_t j = first; j < n; ++j) {
      double x = at(i, j), y = at(i + 1, j);
      at(i, j) = c * x + s * y;
      at(i + 1, j) = c * y - s * x;
    }
  }
  void rotate_columns(std::vector<double>& m, int64_t j, int64_t rows, double c, double s) const {
    for (int64_t i = 0; i < rows; ++i) {
      double &x = m[static_cast<size_t>(i * n + j)], &y = m[static_cast<size_t>(i * n + j + 1)], a = x, b = y;
      x = c * a + s * b;
      y = c * b - s * a;
    }
  }

  // The 2 x 2 block at row i in its standard form: a triangle, or two equal elements with others of different signs beside them.
  void standardise(int64_t i) {
    double a = at(i, i), b = at(i, i + 1), c = at(i + 1, i), d = at(i + 1, i + 1), cs = 1, sn = 0;
    auto sign = [](double v) { return std::signbit(v) ? -1.0 : 1.0; };
    if (c == 0) {
    } else if (b == 0) {
      cs = 0, sn = 1;
      std::swap(a, d);
      b = -c, c = 0;
    } else if (a - d == 0 && sign(b) != sign(c)) {
    } else {
      double temp = a - d, p = 0.5 * temp;
      double most = std::max(std::fabs(b), std::fabs(c));
      double least = std::min(std::fabs(b), std::fabs(c)) * sign(b) * sign(c);
      double size = std::max(std::fabs(p), most);
      double w = p / size * p + most / size * least;
      if (w >= 4 * kAtOne) {
        w = p + std::copysign(std::sqrt(size) * std::sqrt(w), p);
        a = d + w;
        d = d - most / w * least;
        double tau = std::hypot(c, w);
        cs = w / tau, sn = c / tau;
        b = b - c;
        c = 0;
      } else {
        double sigma = b + c, tau = std::hypot(sigma, temp);
        p = 0.5 * temp;
        cs = std::sqrt(0.5 * (1 + std::fabs(sigma) / tau));
        sn = -(p / (tau * cs)) * sign(sigma);
        double aa = a * cs + b * sn, bb = -a * sn + b * cs, cc = c * cs + d * sn, dd = -c * sn + d * cs;
        a = aa * cs + cc * sn, b = bb * cs + dd * sn, c = -aa * sn + cc * cs, d = -bb * sn + dd * cs;
        a = d = 0.5 * (a + d);
        if (c != 0) {
          if (b == 0) {
            b = -c, c = 0;
            std::swap(cs, sn);
            cs = -cs;
          } else if (sign(b) == sign(c)) {
            double sab = std::sqrt(std::fabs(b)), sac = std::sqrt(std::fabs(c));
            p = std::copysign(sab * sac, c);
            tau = 1 / std::sqrt(std::fabs(b + c));
            a = a + p, d = d - p;
            b = b - c, c = 0;
            double cs1 = sab * tau, sn1 = sac * tau, kept = cs * cs1 - sn * sn1;
            sn = cs * sn1 + sn * cs1;
            cs = kept;
          }
        }
      }
    }
    rotate_rows(i, i + 2, cs, sn);
    rotate_columns(h, i, i, cs, sn);
    rotate_columns(z, i, n, cs, sn);
    at(i, i) = a, at(i, i + 1) = b, at(i + 1, i) = c, at(i + 1, i + 1) = d;
    auto u = static_cast<size_t>(i);
    re[u] = a, re[u + 1] = d;
    im[u] = c == 0 ? 0 : std::sqrt(std::fabs(b)) * std::sqrt(std::fabs(c));
    im[u + 1] = c == 0 ? 0 : -im[u];
  }

  struct Shifts {
    double re1, im1, re2, im2;
  };
  Shifts shifts(int64_t first, int64_t last, int round) {
    double a, b, c, d;
    if (round % 20 == 0) {
      double s = std::fabs(at(last, last - 1)) + (last >= 2 ? std::fabs(at(last - 1, last - 2)) : 0);
      a = 0.75 * s + at(last, last), b = -0.4375 * s, c = s, d = a;
    } else if (round % 10 == 0) {
      double s = std::fabs(at(first + 1, first)) + std::fabs(at(first + 2, first + 1));
      a = 0.75 * s + at(first, first), b = -0.4375 * s, c = s, d = a;
    } else {
      a = at(last - 1, last - 1), c = at(last, last - 1), b = at(last - 1, last), d = at(last, last);
    }
    double s = std::fabs(a) + std::fabs(b) + std::fabs(c) + std::fabs(d);
    if (s == 0) return {0, 0, 0, 0};
    a /= s, b /= s, c /= s, d /= s;
    double middle = (a + d) / 2, determinant = (a - middle) * (d - middle) - b * c, root = std::sqrt(std::fabs(determinant));
    if (determinant >= 0) return {middle * s, root * s, middle * s, -root * s};
    double one = middle + root, two = middle - root;
    double near = (std::fabs(one - d) <= std::fabs(two - d) ? one : two) * s;
    return {near, 0, near, 0};
  }

  // One step with two shifts over rows [first, last].
  void step(int64_t first, int64_t last, const Shifts& w) {
    double v[3];
    int64_t m = last - 2;
    for (;; --m) {
      double below = std::fabs(at(m + 1, m)), s = std::fabs(at(m, m) - w.re2) + std::fabs(w.im2) + below;
      below = at(m + 1, m) / s;
      v[0] = below * at(m, m + 1) + (at(m, m) - w.re1) * ((at(m, m) - w.re2) / s) - w.im1 * (w.im2 / s);
      v[1] = below * (at(m, m) + at(m + 1, m + 1) - w.re1 - w.re2);
      v[2] = below * at(m + 2, m + 1);
      s = std::fabs(v[0]) + std::fabs(v[1]) + std::fabs(v[2]);
      for (double& x : v) x /= s;
      if (m == first) break;
      double around = std::fabs(at(m - 1, m - 1)) + std::fabs(at(m, m)) + std::fabs(at(m + 1, m + 1));
      if (std::fabs(at(m, m - 1)) * (std::fabs(v[1]) + std::fabs(v[2])) <= kAtOne * std::fabs(v[0]) * around) break;
    }
    for (int64_t k = m; k < last; ++k) {
      int64_t count = std::min<int64_t>(3, last - k + 1);
      if (k > m) {
        for (int64_t i = 0; i < count; ++i) v[i] = at(k + i, k - 1);
      }
      double t = reflect(v, count);
      if (k > m) {
        at(k, k - 1) = v[0];
        for (int64_t i = 1; i < count; ++i) at(k + i, k - 1) = 0;
      } else if (m > first) {
        at(k, k - 1) *= 1 - t;
      }
      v[0] = 1;
      for (int64_t j = k; j < n; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < count; ++i) sum += v[i] * at(k + i, j);
        for (int64_t i = 0; i < count; ++i) at(k + i, j) -= sum * (t * v[i]);
      }
      auto columns = [&](std::vector<double>& a, int64_t rows) {
        for (int64_t r = 0; r < rows; ++r) {
          double* row = a.data() + r * n + k;
          double sum = 0;
          for (int64_t i = 0; i < count; ++i) sum += v[i] * row[i];
          for (int64_t i = 0; i < count; ++i) row[i] -= sum * (t * v[i]);
        }
      };
      columns(h, std::min(k + 3, last) + 1);
      columns(z, n);
    }
  }

  bool iterate() {
    re.assign(static_cast<size_t>(n), 0.0);
    im.assign(static_cast<size_t>(n), 0.0);
    for (int64_t i = 0; i < n; ++i) {
      if (i < low || i > high) re[static_cast<size_t>(i)] = at(i, i);
    }
    for (int64_t last = high; last >= low;) {
      int64_t first = low;
      bool done = false;
      for (int64_t round = 0; round <= 30 * std::max<int64_t>(10, high - low + 1); ++round) {
        int64_t k = last;
        while (k > first && !is_small(k)) --k;
        first = k;
        if (first > low) at(first, first - 1) = 0;
        done = first >= last - 1;
        if (done) break;
        step(first, last, shifts(first, last, static_cast<int>(round % 1000000) + 1));
      }
      if (!done) return false;
      if (first == last)
        re[static_cast<size_t>(last)] = at(last, last);
      else
        standardise(last - 1);
      last = first - 1;
    }
    return true;
  }

  using Z = std::complex<double>;

  // The vector of eigenvalue k (with k + 1 its conjugate, where it is complex) in the basis of H, then in that of the matrix.
  std::vector<Z> vector_of(int64_t k) {
    bool pair = im[static_cast<size_t>(k)] != 0;
    int64_t last = pair ? k + 1 : k;
    Z w(re[static_cast<size_t>(k)], im[static_cast<size_t>(k)]);
    std::vector<Z> x(static_cast<size_t>(last + 1));
    auto element = [&](int64_t i) -> Z& { return x[static_cast<size_t>(i)]; };
    if (!pair) {
      element(k) = 1;
    } else if (std::fabs(at(k, k + 1)) >= std::fabs(at(k + 1, k))) {
      element(k) = 1;
      element(k + 1) = Z(0, w.imag() / at(k, k + 1));
    } else {
      element(k) = -w.imag() / at(k + 1, k);
      element(k + 1) = Z(0, 1);
    }
    double least =
        std::max(kAtOne * (std::fabs(w.real()) + std::fabs(w.imag())), kSmallestNormal * (static_cast<double>(n) / kAtOne));
    for (int64_t j = k - 1; j >= 0; --j) {
      auto right = [&](int64_t row) {
        Z sum = 0;
        for (int64_t i = j + 1; i <= last; ++i) sum -= at(row, i) * element(i);
        return sum;
      };
      if (j > 0 && at(j, j - 1) != 0) {  // two rows at once
        Z r1 = right(j - 1), r2 = right(j);
        Z a = at(j - 1, j - 1) - w, d = at(j, j) - w;
        double b = at(j - 1, j), c = at(j, j - 1);
        Z determinant = a * d - b * c;
        element(j - 1) = (r1 * d - b * r2) / determinant;
        element(j) = (a * r2 - c * r1) / determinant;
        --j;
      } else {
        Z below = at(j, j) - w;
        if (std::abs(below) < least) below = least;
        element(j) = right(j) / below;
      }
    }
    std::vector<Z> out(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      Z sum = 0;
      for (int64_t j = 0; j <= last; ++j) sum += vector_at(i, j) * element(j);
      out[static_cast<size_t>(i)] = sum;
    }
    // Balancing undone.
    for (int64_t i = low; i <= high; ++i) out[static_cast<size_t>(i)] *= scale_of(i);
    for (int64_t i = low - 1; i >= 0; --i) std::swap(out[static_cast<size_t>(i)], out[static_cast<size_t>(scale_of(i))]);
    for (int64_t i = high + 1; i < n; ++i) std::swap(out[static_cast<size_t>(i)], out[static_cast<size_t>(scale_of(i))]);
    double length = 0;
    for (Z v : out) length = std::hypot(length, std::abs(v));
    for (Z& v : out) v /= length;
    if (!pair) return out;
    if (!balanced) {
      Z turn = Z(0, std::abs(element(last))) / element(last);
      for (Z& v : out) v *= turn;
      return out;
    }
    Z most = *std::max_element(out.begin(), out.end(), [](Z p, Z q) { return std::norm(p) < std::norm(q); });
    Z turn = std::conj(most) / std::abs(most);
    if (most.real() < 0) turn = -turn;
    for (Z& v : out) {
      bool largest = v == most;
      v *= turn;
      if (largest) v = v.real();
    }
    return out;
  }
};

}  // namespace

bool real_eigen(int64_t n, std::vector<double> a, bool balanced, std::vector<std::complex<double>>& values,
                std::vector<std::complex<double>>& vectors) {
  for (double v : a) {
    if (!std::isfinite(v)) return false;
  }
  RealSchur s{n, std::move(a), {}, {}, {}, {}};
  s.balanced = balanced;
  s.scale.assign(static_cast<size_t>(n), 1.0);
  s.high = n - 1;
  if (balanced) s.balance();
  s.to_hessenberg();
  if (!s.iterate()) return false;
  values.resize(static_cast<size_t>(n));
  vectors.resize(static_cast<size_t>(n * n));
  auto put = [&](int64_t k, const std::vector<std::complex<double>>& v, bool conjugated) {
    values[static_cast<size_t>(k)] = {s.re[static_cast<size_t>(k)], s.im[static_cast<size_t>(k)]};
    for (int64_t i = 0; i < n; ++i) {
      std::complex<double> e = v[static_cast<size_t>(i)];
      vectors[static_cast<size_t>(i * n + k)] = conjugated ? std::conj(e) : e;
    }
  };
  for (int64_t k = 0; k < n; ++k) {
    std::vector<std::complex<double>> v = s.vector_of(k);
    put(k, v, false);
    if (s.im[static_cast<size_t>(k)] != 0) put(++k, v, true);
  }
  return true;
}

}  // namespace tfl::schur

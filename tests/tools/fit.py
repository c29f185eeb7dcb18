#!/usr/bin/env python3
"""Derives the polynomial coefficients of runtime/math (needs mpmath).

A weighted least-squares fit on Chebyshev nodes is within a small factor of the minimax polynomial (Trefethen, "Approximation
Theory and Approximation Practice", chapter 16), and unlike Remez it takes any set of powers. Coefficients are rounded to the
target format one by one from the lowest power, refitting the others each time, so that rounding errors compensate.

usage: fit.py [NAME...]   prints the C++ initialisers of the tables whose name begins with NAME
"""
import sys

import mpmath as mp

mp.mp.prec = 160


def round_to(x, bits):
    m, e = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(m, bits)), e - bits)


def solve(rows, rhs, n):
    # Normal equations; the working precision makes their condition harmless.
    a = mp.matrix(n, n)
    b = mp.matrix(n, 1)
    for r, y in zip(rows, rhs):
        for i in range(n):
            b[i] += r[i] * y
            for j in range(i, n):
                a[i, j] += r[i] * r[j]
    for i in range(n):
        for j in range(i):
            a[i, j] = a[j, i]
    return mp.lu_solve(a, b)


def fit(f, powers, lo, hi, weight=lambda x: 1, bits=24, nodes=None):
    """f(x) ~ sum c_i x^powers[i]; the error times weight(x) is kept small. Returns (coefficients, weighted error)."""
    lo, hi = mp.mpf(lo), mp.mpf(hi)
    count = nodes or 4 * len(powers) + 10
    xs = [(lo + hi) / 2 + (hi - lo) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    xs = [x for x in xs if x != 0]
    ys = [f(x) for x in xs]
    ws = [mp.mpf(weight(x)) for x in xs]
    done, left, rest = [], list(powers), list(ys)
    # Chebyshev weights make least squares uniform; the nodes already are.
    while left:
        rows = [[w * x**p for p in left] for x, w in zip(xs, ws)]
        c = solve(rows, [w * y for w, y in zip(ws, rest)], len(left))
        first = round_to(c[0], bits)
        done.append(first)
        rest = [y - first * x ** left[0] for x, y in zip(xs, rest)]
        left.pop(0)
    worst = max(abs(r * w) for r, w in zip(rest, ws))
    return done, worst


def as_hex(x, bits):
    if x == 0:
        return "0x0p0" + ("f" if bits <= 24 else "")
    m, e = mp.frexp(abs(x))
    digits = 6 if bits <= 24 else 13
    n = int(mp.ldexp(m, digits * 4 + 1))
    s = hex(n - (1 << digits * 4))[2:].rjust(digits, "0").rstrip("0")
    return f"{'-' if x < 0 else ''}0x1{'.' + s if s else ''}p{int(e) - 1}{'f' if bits <= 24 else ''}"


def show(name, f, powers, lo, hi, weight=lambda x: 1, bits=24):
    if len(sys.argv) > 1 and not any(name.startswith(a) for a in sys.argv[1:]):
        return
    c, worst = fit(f, powers, lo, hi, weight, bits)
    print(f"// {name}: powers {powers} on [{mp.nstr(mp.mpf(lo), 5)}, {mp.nstr(mp.mpf(hi), 5)}], "
          f"error 2^{mp.nstr(mp.log(worst, 2), 4)}")
    print("{" + ", ".join(as_hex(x, bits) for x in c) + "}\n", flush=True)


def odd(a, b):
    return list(range(a, b + 1, 2))


def main():
    exp, log, sin, cos, atan, asin, erf, erfc = mp.exp, mp.log, mp.sin, mp.cos, mp.atan, mp.asin, mp.erf, mp.erfc
    half_ln2 = mp.log(2) / 2 * mp.mpf("1.0005")
    quarter_pi = mp.pi / 4 * mp.mpf("1.0005")
    lo, hi = mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(2) - 1
    rel = lambda f: (lambda x: 1 / abs(f(x)))
    tail = lambda x: exp(x) - 1 - x
    show("exp_f32", tail, range(2, 7), -half_ln2, half_ln2)
    show("exp_f32_pair", tail, range(2, 8), -half_ln2, half_ln2, lambda x: 1 / abs(x))
    show("exp_low", tail, range(2, 8), -half_ln2, half_ln2, bits=53)
    show("exp_f64", tail, range(2, 13), -half_ln2, half_ln2, lambda x: 1 / abs(x), bits=53)
    ltail = lambda x: log(1 + x) - x + x * x / 2
    show("log_f32", ltail, range(3, 11), lo, hi, lambda x: 1 / abs(x))
    s = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mp.mpf("1.0005")
    atail = lambda x: 2 * mp.atanh(x) - 2 * x
    show("log_f64", atail, odd(3, 15), 0, s, rel(lambda x: x), bits=53)
    show("log_long", lambda x: atail(x) - 2 * x**3 / 3, odd(5, 19), 0, s, rel(lambda x: x), bits=53)
    show("log_low", ltail, range(3, 16), lo, hi, rel(lambda x: x), bits=53)
    show("sin_f32", lambda x: sin(x) - x, odd(3, 9), 0, quarter_pi, rel(sin))
    show("cos_f32", lambda x: cos(x) - 1 + x * x / 2, [4, 6, 8], 0, quarter_pi)
    show("sin_f64", lambda x: sin(x) - x, odd(3, 13), 0, quarter_pi, rel(sin), bits=53)
    show("cos_f64", lambda x: cos(x) - 1 + x * x / 2, [4, 6, 8, 10, 12, 14], 0, quarter_pi, bits=53)
    root = mp.sqrt
    show("tanh_f32", lambda z: (mp.tanh(root(z)) - root(z)) / root(z)**3, range(7), 0, mp.mpf("0.95")**2 * mp.mpf("1.0005"), lambda z: root(z)**3 / mp.tanh(root(z)))
    show("tanh_exp_f32", lambda x: exp(2 * x) - 1 - 2 * x, range(2, 7), -half_ln2 / 2, half_ln2 / 2)
    show("tan_f64", lambda x: mp.tan(x) - x, odd(3, 29), 0, quarter_pi, rel(mp.tan), bits=53)
    show("atan_f64", lambda x: atan(x) - x, odd(3, 25), 0, mp.mpf(7) / 16, rel(atan), bits=53)
    show("asin_f64", lambda x: asin(x) - x, odd(3, 27), 0, 0.5, rel(asin), bits=53)
    show("sinh_f64", lambda x: mp.sinh(x) - x, odd(3, 17), 0, 1, rel(mp.sinh), bits=53)
    show("erf_f32", lambda x: erf(x) / x - 1, range(0, 14, 2), 0, 1)
    show("erf_q_f32", lambda x: -log(erfc(x)), range(1, 8), 0.95, 4, erfc)
    show("erf_f64", lambda x: erf(x) / x - 1, range(0, 26, 2), 0, 0.9, bits=53)
    erfcx = lambda x: exp(x * x) * erfc(x)
    from_t = lambda t: 4 * (1 + t) / (1 - t)
    show("erfcx_f64", lambda t: (1 + 2 * from_t(t)) * erfcx(from_t(t)), range(0, 25), -0.8, 0.76, bits=53)

    # The inverse of erfc by w = -log(q (2 - q)) = -log((1 - v)(1 + v)).
    def erfcinv_of_w(w):
        with mp.workprec(1400 if w > 40 else 400):
            q = 1 - mp.sqrt(1 - exp(-w))
            if q > mp.mpf("1e-30"):
                return mp.erfinv(1 - q), 1 - q
            x = mp.sqrt(w - log(w * mp.pi) / 2)
            for _ in range(60):
                step = (erfc(x) - q) * mp.sqrt(mp.pi) / 2 * exp(x * x)
                x += step / (1 - x * step)
                if abs(step) < mp.mpf(10) ** -60:
                    break
            return x, 1 - q

    def central(w):
        x, v = erfcinv_of_w(w)
        return x / v

    show("erfinv_central", lambda t: central(t + 2.5), range(0, 11), -2.4999999, 3.5, bits=53)
    show("erfinv_tail", lambda t: erfcinv_of_w((t + 4) ** 2)[0], range(0, 11), -1.6, 2.3, bits=53)
    show("erfinv_far", lambda t: erfcinv_of_w((t + 16) ** 2)[0], range(0, 11), -9.8, 11.5, bits=53)
    show("lgamma_p", lambda t: mp.loggamma(t + 1.5) / ((t + 0.5) * (t - 0.5)), range(0, 23), -0.49999, 0.49999, bits=53)
    show("i0e_small", lambda t: exp(-4 * (t + 1)) * mp.besseli(0, 4 * (t + 1)), range(0, 30), -1, 1,
         lambda t: 4 * (t + 1) + 1, bits=53)
    show("i1e_small", lambda t: exp(-4 * (t + 1)) * mp.besseli(1, 4 * (t + 1)) / (4 * (t + 1)), range(0, 27), -0.9999999, 1,
         lambda t: 4 * (t + 1) + 1, bits=53)
    large = lambda n: (lambda u: mp.sqrt(16 / (u + 1)) * exp(-16 / (u + 1)) * mp.besseli(n, 16 / (u + 1)))
    show("i0e_large", large(0), range(0, 25), -0.99999, 1, bits=53)
    show("i1e_large", large(1), range(0, 25), -0.99999, 1, bits=53)


if __name__ == "__main__":
    main()

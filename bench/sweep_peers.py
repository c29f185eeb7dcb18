"""The points of sweep_ops.tfl in NumPy, JAX (jit) and PyTorch (eager or compiled): sweep_peers.py POINTS.json numpy|jax|torch|compile [SECONDS]"""
import json
import sys
import time

import numpy as np

path, side, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 0.12
points = json.load(open(path))
NP = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i32": np.int32, "i64": np.int64, "bool": np.bool_}


def operand(rng, spec):
    dtype, shape, low, high = spec
    if dtype in ("i32", "i64"):
        return rng.randint(low, high, size=shape).astype(NP[dtype])
    if dtype == "bool":
        return rng.random_sample(shape) < 0.5
    a = (rng.random_sample(shape) * (high - low) + low).astype("float32")
    return a if dtype == "bf16" else a.astype(NP[dtype])


def ax(p):
    a = p.get("axis")
    return tuple(a) if isinstance(a, list) else a


def numpy_ops():
    def sm(x, a):
        e = np.exp(x - x.max(a, keepdims=True))
        return e / e.sum(a, keepdims=True)

    def mm(p, x, y):
        return np.matmul(np.swapaxes(x, -1, -2) if p["ta"] else x, np.swapaxes(y, -1, -2) if p["tb"] else y)
    return {
        "relu": lambda p, x: np.maximum(x, 0), "exp": lambda p, x: np.exp(x), "tanh": lambda p, x: np.tanh(x), "log1p": lambda p, x: np.log1p(x), "sin": lambda p, x: np.sin(x),
        "add": lambda p, x, y: x + y, "muladd": lambda p, x, y, z: x * y + z, "mod": lambda p, x, y: x % y, "floordiv": lambda p, x, y: x // y, "where": lambda p, c, x, y: np.where(c, x, y),
        "clip": lambda p, x: np.clip(x, -0.5, 0.5), "cast": lambda p, x: x.astype(NP[p["to"]]) if p["to"] in NP else None, "equal": lambda p, x, y: x == y,
        "sum": lambda p, x: np.sum(x, ax(p)), "mean": lambda p, x: np.mean(x, ax(p)), "max": lambda p, x: np.max(x, ax(p)), "argmax": lambda p, x: np.argmax(x, p["axis"]), "any": lambda p, x: np.any(x, ax(p)),
        "cumsum": lambda p, x: np.cumsum(x, p["axis"]), "cumprod": lambda p, x: np.cumprod(x, p["axis"]), "transpose": lambda p, x: np.array(np.transpose(x, p["perm"]), order="C", copy=True),
        "concat": lambda p, x, y: np.concatenate([x, y], p["axis"]), "tile": lambda p, x: np.tile(x, p["times"]), "pad": lambda p, x: np.pad(x, p["pads"]), "reverse": lambda p, x: np.ascontiguousarray(np.flip(x, p["axis"])),
        "roll": lambda p, x: np.roll(x, 3, p["axis"]), "gather": lambda p, x, i: np.take(x, i, axis=p["axis"]), "strided": lambda p, x: np.array(x[::2, 1::3], order="C", copy=True), "repeat": lambda p, x: np.repeat(x, 3, axis=p["axis"]),
        "matmul": mm, "matvec": lambda p, x, y: x @ y, "einsum": lambda p, x, y: np.einsum(p["spec"], x, y, optimize=True), "dense": lambda p, x, w, b: np.maximum(x @ w + b, 0),
        "softmax": lambda p, x: sm(x, p["axis"]), "sort": lambda p, x: np.sort(x, -1), "argsort": lambda p, x: np.argsort(x, -1, kind="stable"), "searchsorted": lambda p, x, y: np.searchsorted(x, y),
        "bincount": lambda p, x: np.bincount(x, minlength=p["depth"]), "stencil": lambda p, x: 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) - x[1:-1, 1:-1],
    }


def jax_ops():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def sym(a):
        return a @ jnp.swapaxes(a, -1, -2) + jnp.eye(a.shape[-1], dtype=a.dtype) * float(a.shape[-1])

    def ln(p, x, g, b):
        m = x.mean(-1, keepdims=True)
        v = jnp.mean((x - m) ** 2, -1, keepdims=True)
        return (x - m) * lax.rsqrt(v + 1e-5) * g + b
    J = {"f32": jnp.float32, "f64": jnp.float64, "f16": jnp.float16, "bf16": jnp.bfloat16, "i32": jnp.int32, "i64": jnp.int64}
    ops = {
        "relu": lambda p, x: jax.nn.relu(x), "exp": lambda p, x: jnp.exp(x), "tanh": lambda p, x: jnp.tanh(x), "log1p": lambda p, x: jnp.log1p(x), "erf": lambda p, x: jax.scipy.special.erf(x),
        "sigmoid": lambda p, x: jax.nn.sigmoid(x), "sin": lambda p, x: jnp.sin(x), "rsqrt": lambda p, x: lax.rsqrt(x), "add": lambda p, x, y: x + y, "muladd": lambda p, x, y, z: x * y + z,
        "mod": lambda p, x, y: x % y, "floordiv": lambda p, x, y: x // y, "pow": lambda p, x, y: x ** y, "where": lambda p, c, x, y: jnp.where(c, x, y), "clip": lambda p, x: jnp.clip(x, -0.5, 0.5),
        "cast": lambda p, x: x.astype(J[p["to"]]), "gelu": lambda p, x: jax.nn.gelu(x, approximate=False), "equal": lambda p, x, y: x == y,
        "sum": lambda p, x: jnp.sum(x, ax(p)), "mean": lambda p, x: jnp.mean(x, ax(p)), "max": lambda p, x: jnp.max(x, ax(p)), "var": lambda p, x: jnp.var(x, ax(p)), "argmax": lambda p, x: jnp.argmax(x, p["axis"]),
        "logsumexp": lambda p, x: jax.nn.logsumexp(x, ax(p)), "any": lambda p, x: jnp.any(x, ax(p)), "sumsq": lambda p, x: jnp.sum(x * x, ax(p)), "sumexp": lambda p, x: jnp.sum(jnp.exp(x) * x, ax(p)),
        "cumsum": lambda p, x: jnp.cumsum(x, p["axis"]), "cumprod": lambda p, x: jnp.cumprod(x, p["axis"]), "transpose": lambda p, x: jnp.transpose(x, p["perm"]), "concat": lambda p, x, y: jnp.concatenate([x, y], p["axis"]),
        "tile": lambda p, x: jnp.tile(x, p["times"]), "pad": lambda p, x: jnp.pad(x, p["pads"]), "reverse": lambda p, x: jnp.flip(x, p["axis"]), "roll": lambda p, x: jnp.roll(x, 3, p["axis"]),
        "gather": lambda p, x, i: jnp.take(x, i, axis=p["axis"], mode="clip"), "scatter": lambda p, x, i, u: x.at[i].add(u), "one_hot": lambda p, i: jax.nn.one_hot(i, p["depth"]), "strided": lambda p, x: x[::2, 1::3],
        "repeat": lambda p, x: jnp.repeat(x, 3, axis=p["axis"]), "matmul": lambda p, x, y: jnp.matmul(jnp.swapaxes(x, -1, -2) if p["ta"] else x, jnp.swapaxes(y, -1, -2) if p["tb"] else y),
        "matvec": lambda p, x, y: x @ y, "einsum": lambda p, x, y: jnp.einsum(p["spec"], x, y), "dense": lambda p, x, w, b: jax.nn.relu(x @ w + b),
        "conv2d": lambda p, x, k: lax.conv_general_dilated(x, k, (p["stride"],) * 2, p["padding"], dimension_numbers=("NHWC", "HWIO", "NHWC")),
        "depthwise": lambda p, x, k: lax.conv_general_dilated(x, k.reshape(k.shape[0], k.shape[1], 1, -1), (p["stride"],) * 2, p["padding"], dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=x.shape[-1]),
        "maxpool": lambda p, x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
        "conv1d": lambda p, x, k: lax.conv_general_dilated(x, k, (p["stride"],), p["padding"], dimension_numbers=("NWC", "WIO", "NWC")),
        "softmax": lambda p, x: jax.nn.softmax(x, p["axis"]), "log_softmax": lambda p, x: jax.nn.log_softmax(x, p["axis"]), "layernorm": ln,
        "xent": lambda p, x, y: jnp.mean(-jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1)), "sort": lambda p, x: jnp.sort(x, -1), "argsort": lambda p, x: jnp.argsort(x, -1),
        "top_k": lambda p, x: lax.top_k(x, p["k"])[0], "searchsorted": lambda p, x, y: jnp.searchsorted(x, y), "bincount": lambda p, x: jnp.bincount(x, length=p["depth"]),
        "segment": lambda p, x, i: jax.ops.segment_sum(x, i, p["depth"]), "cholesky": lambda p, x: jnp.linalg.cholesky(sym(x)), "solve": lambda p, x, y: jnp.linalg.solve(sym(x), y), "inv": lambda p, x: jnp.linalg.inv(sym(x)),
        "qr": lambda p, x: jnp.abs(jnp.linalg.qr(x)[1]), "svd": lambda p, x: jnp.linalg.svd(x, compute_uv=False), "eigh": lambda p, x: jnp.linalg.eigvalsh(sym(x)),
        "pairwise": lambda p, x, y: jnp.sqrt(jnp.sum((x[:, None] - y[None]) ** 2, -1) + 1e-6), "stencil": lambda p, x: 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) - x[1:-1, 1:-1],
        "gram": lambda p, x: jnp.exp(-0.5 * (jnp.sum(x * x, 1)[:, None] - 2.0 * x @ x.T + jnp.sum(x * x, 1)[None])), "attention": lambda p, q, k, v: jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) * 0.125) @ v,
        "scanloop": lambda p, x: lax.fori_loop(0, x.shape[0], lambda i, s: 0.9 * s + jnp.tanh(x[i]), jnp.zeros_like(x[0])),
        "poweriter": lambda p, a, v: lax.fori_loop(0, 20, lambda i, v: (lambda w: w / jnp.linalg.norm(w))(a @ v), v),
        "normalize": lambda p, x: (x - x.mean(ax(p), keepdims=True)) / (x.std(ax(p), keepdims=True) + 1e-3),
        "uniform": lambda p, x: jax.random.uniform(jax.random.PRNGKey(1), p["shape"]) + x, "normal": lambda p, x: jax.random.normal(jax.random.PRNGKey(1), p["shape"]) + x,
    }
    return ops, jax


def torch_ops():
    import torch
    import torch.nn.functional as F
    torch.set_num_threads(2)

    def sym(a):
        return a @ a.transpose(-1, -2) + torch.eye(a.shape[-1], dtype=a.dtype) * float(a.shape[-1])

    def dims(p, x):
        a = ax(p)
        return tuple(range(x.ndim)) if a is None else a

    def conv(p, x, k, groups=1):
        x = x.permute(0, 3, 1, 2)
        k = k.permute(3, 2, 0, 1)
        if p["padding"] == "SAME" and p["stride"] > 1:
            n = [max((-(-s // p["stride"]) - 1) * p["stride"] + w - s, 0) for s, w in zip(x.shape[2:], k.shape[2:])]
            x = F.pad(x, (n[1] // 2, n[1] - n[1] // 2, n[0] // 2, n[0] - n[0] // 2))
            return F.conv2d(x, k, stride=p["stride"], groups=groups).permute(0, 2, 3, 1)
        return F.conv2d(x, k, stride=p["stride"], padding="same" if p["padding"] == "SAME" else "valid", groups=groups).permute(0, 2, 3, 1)
    T = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32, "i64": torch.int64}

    def roll(x, a):
        return torch.roll(x, 3, a)
    return {
        "relu": lambda p, x: torch.relu(x), "exp": lambda p, x: torch.exp(x), "tanh": lambda p, x: torch.tanh(x), "log1p": lambda p, x: torch.log1p(x), "erf": lambda p, x: torch.erf(x), "sigmoid": lambda p, x: torch.sigmoid(x),
        "sin": lambda p, x: torch.sin(x), "rsqrt": lambda p, x: torch.rsqrt(x), "add": lambda p, x, y: x + y, "muladd": lambda p, x, y, z: torch.addcmul(z, x, y) if x.shape == y.shape == z.shape else x * y + z,
        "mod": lambda p, x, y: x % y, "floordiv": lambda p, x, y: torch.div(x, y, rounding_mode="floor"), "pow": lambda p, x, y: x ** y, "where": lambda p, c, x, y: torch.where(c, x, y), "clip": lambda p, x: torch.clip(x, -0.5, 0.5),
        "cast": lambda p, x: x.to(T[p["to"]]), "gelu": lambda p, x: F.gelu(x), "equal": lambda p, x, y: x == y,
        "sum": lambda p, x: torch.sum(x, dims(p, x)), "mean": lambda p, x: torch.mean(x, dims(p, x)), "max": lambda p, x: torch.amax(x, dims(p, x)), "var": lambda p, x: torch.var(x, dims(p, x), unbiased=False), "argmax": lambda p, x: torch.argmax(x, p["axis"]),
        "logsumexp": lambda p, x: torch.logsumexp(x, dims(p, x)), "any": lambda p, x: torch.any(x, p["axis"]) if isinstance(p["axis"], int) else torch.any(x), "sumsq": lambda p, x: torch.sum(x * x, dims(p, x)), "sumexp": lambda p, x: torch.sum(torch.exp(x) * x, dims(p, x)),
        "cumsum": lambda p, x: torch.cumsum(x, p["axis"]), "cumprod": lambda p, x: torch.cumprod(x, p["axis"]), "transpose": lambda p, x: torch.permute(x, p["perm"]).clone(memory_format=torch.contiguous_format), "concat": lambda p, x, y: torch.cat([x, y], p["axis"]),
        "tile": lambda p, x: torch.tile(x, p["times"]), "pad": lambda p, x: F.pad(x, [n for q in reversed(p["pads"]) for n in q]), "reverse": lambda p, x: torch.flip(x, [p["axis"]]), "roll": lambda p, x: roll(x, p["axis"]),
        "gather": lambda p, x, i: torch.index_select(x, p["axis"], i), "scatter": lambda p, x, i, u: x.index_add(0, i, u), "one_hot": lambda p, i: F.one_hot(i, p["depth"]).float(), "strided": lambda p, x: x[::2, 1::3].clone(memory_format=torch.contiguous_format),
        "repeat": lambda p, x: torch.repeat_interleave(x, 3, p["axis"]), "matmul": lambda p, x, y: torch.matmul(x.transpose(-1, -2) if p["ta"] else x, y.transpose(-1, -2) if p["tb"] else y), "matvec": lambda p, x, y: torch.matmul(x, y),
        "einsum": lambda p, x, y: torch.einsum(p["spec"], x, y), "dense": lambda p, x, w, b: torch.relu(torch.addmm(b, x, w)), "conv2d": conv, "depthwise": lambda p, x, k: conv(p, x, k.reshape(k.shape[0], k.shape[1], 1, -1), x.shape[-1]),
        "maxpool": lambda p, x: F.max_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1),
        "conv1d": lambda p, x, k: conv({"stride": p["stride"], "padding": p["padding"]}, x[:, None], k[None])[:, 0] if p["stride"] == 1 else None,
        "softmax": lambda p, x: torch.softmax(x, p["axis"]), "log_softmax": lambda p, x: torch.log_softmax(x, p["axis"]), "layernorm": lambda p, x, g, b: F.layer_norm(x, x.shape[-1:], g, b), "xent": lambda p, x, y: F.cross_entropy(x, y.long()),
        "sort": lambda p, x: torch.sort(x, -1)[0], "argsort": lambda p, x: torch.sort(x, -1, stable=True)[1], "top_k": lambda p, x: torch.topk(x, p["k"])[0], "searchsorted": lambda p, x, y: torch.searchsorted(x, y),
        "bincount": lambda p, x: torch.bincount(x, minlength=p["depth"]), "segment": lambda p, x, i: torch.zeros((p["depth"],) + tuple(x.shape[1:]), dtype=x.dtype).index_add_(0, i, x),
        "cholesky": lambda p, x: torch.linalg.cholesky(sym(x)), "solve": lambda p, x, y: torch.linalg.solve(sym(x), y), "inv": lambda p, x: torch.linalg.inv(sym(x)), "qr": lambda p, x: torch.abs(torch.linalg.qr(x)[1]),
        "svd": lambda p, x: torch.linalg.svdvals(x), "eigh": lambda p, x: torch.linalg.eigvalsh(sym(x)), "pairwise": lambda p, x, y: torch.cdist(x, y), "stencil": lambda p, x: 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) - x[1:-1, 1:-1],
        "gram": lambda p, x: torch.exp(-0.5 * ((x * x).sum(1)[:, None] - 2.0 * x @ x.T + (x * x).sum(1)[None])), "attention": lambda p, q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.125),
        "normalize": lambda p, x: (x - x.mean(ax(p), keepdim=True)) / (x.std(ax(p), keepdim=True, unbiased=False) + 1e-3),
        "uniform": lambda p, x: torch.rand(p["shape"]) + x, "normal": lambda p, x: torch.randn(p["shape"]) + x,
    }, torch


if side == "numpy":
    ops = numpy_ops()
    prepare, wrap, done = (lambda a, d: a), (lambda f: f), (lambda o: np.asarray(o))
elif side == "jax":
    ops, jax = jax_ops()
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    prepare, wrap, done = (lambda a, d: jnp.asarray(a, jnp.bfloat16) if d == "bf16" else jnp.asarray(a)), (lambda f: jax.jit(f)), (lambda o: np.asarray(o))
else:
    ops, torch = torch_ops()
    prepare = lambda a, d: torch.from_numpy(np.ascontiguousarray(a)).to(torch.bfloat16) if d == "bf16" else torch.from_numpy(np.ascontiguousarray(a))
    wrap = (lambda f: torch.compile(f, dynamic=False)) if side == "compile" else (lambda f: f)
    done = lambda o: o.float().numpy() if o.dtype == torch.bfloat16 else o.numpy()
for p in points:
    rng = np.random.RandomState(p["id"])
    try:
        if p["op"] not in ops or (side == "numpy" and any(s[0] == "bf16" for s in p["args"])):
            continue
        args = [prepare(operand(rng, s), s[0]) for s in p["args"]]
        plain = ops[p["op"]]
        f = wrap(lambda *a: plain(p, *a))
        out = f(*args)
        if out is None:
            continue
        t = time.perf_counter()
        while time.perf_counter() - t < seconds * 2 / 3:
            out = done(f(*args))
        best, n, start = 1e9, 0, time.perf_counter()
        while n < 3 or (time.perf_counter() - start < seconds and n < 20000):
            t = time.perf_counter()
            out = done(f(*args))
            best = min(best, time.perf_counter() - t)
            n += 1
        total = 0.0 if p["op"] in ("uniform", "normal") else float(np.sum(np.abs(np.asarray(out).astype("float64"))))
        print(json.dumps({"id": p["id"], "s": best, "sum": total}), flush=True)
    except Exception as e:
        print(json.dumps({"id": p["id"], "error": (type(e).__name__ + ": " + str(e)).split("\n")[0][:160]}), flush=True)

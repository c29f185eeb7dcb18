"""Random well-typed programs over tensors: the text of functions, and the tensors that they are called with.

A program is a function with branches, loops and calls of another function, a list of arguments and a signature. Types and sizes are known
while it is made up, so that most programs run through; some fail where it depends on data.
"""
import random

from program_text import text
from program_windows import Windows
from program_tables import (BOOL_BINARY, COMPARE, DIFFERENTIABLE, FLOAT_BINARY, FLOAT_UNARY, FLOATS, INT_BINARY, INT_UNARY, KINDS, LARGE,
                            NUMBERS, REDUCE, SMALL, UNSIGNED, Value, broadcast)


class Program(Windows):
    """`body`: statements as nested lists (program_text.py); `returned`: names."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.fresh = 0
        self.large = self.rng.random() < 0.12
        self.arguments = []
        kinds = self.rng.choice(KINDS)
        self.dtypes = kinds
        big = self.rng.choice(LARGE)
        shapes = [tuple(self.rng.choice(SMALL) for _ in range(self.rng.choice([0, 1, 1, 2, 2, 3]))) for _ in range(2)]
        for i in range(self.rng.randint(2, 4)):
            shape = self.rng.choice(shapes)
            if self.large and i < 2:
                shape = big
            elif self.rng.random() < 0.25:
                shape = tuple(1 if self.rng.random() < 0.4 else d for d in shape[self.rng.randint(0, len(shape)):])
            self.arguments.append(Value("abcd"[i], self.rng.choice(kinds), shape))
        self.arguments.append(Value("n", "int32", ()))
        self.unknown = self.rng.random() < 0.4  # sizes of the signature are left open
        env = list(self.arguments)
        self.helper = self.make_helper() if self.rng.random() < 0.3 else None
        self.body = self.block(env, 2, self.rng.randint(2, 7))
        names = [v for v in env if v.name != "n"]
        self.returned = [v.name for v in self.rng.sample(names, min(len(names), self.rng.randint(1, 4)))]
        last = names[-1].name
        if last not in self.returned:
            self.returned.append(last)

    # Values.
    def pick(self, env, want=lambda v: True):
        found = [v for v in env if want(v)]
        if not found:
            return None
        # What was made last is used most.
        return found[-1 - min(int(self.rng.expovariate(0.5)), len(found) - 1)]

    def literal(self, dtype):
        r = self.rng
        if dtype == "bool":
            return r.choice(["True", "False"])
        if dtype in FLOATS:
            return r.choice(["0.5", "-1.5", "2.0", "3.0", "0.0", "1e-3", "-0.25", "7.75", "1.0"])
        return str(r.choice([1, 2, 3, 5, 7] if dtype in UNSIGNED else [1, 2, 3, -1, 5, -2, 7]))

    def new(self, dtype, shape, expression, out, env):
        self.fresh += 1
        v = Value(f"v{self.fresh}", dtype, shape)
        out.append(f"{v.name} = {expression}")
        env.append(v)
        return v

    def scalar_condition(self, env):
        r = self.rng
        v = self.pick(env, lambda v: v.dtype in NUMBERS and v.size and v.dtype not in ("uint8", "uint16", "uint32", "uint64"))
        kind = r.random()
        if v is None or kind < 0.3:
            return f"n {r.choice(['<', '>', '=='])} {r.randrange(6)}"
        if v.rank == 0:
            return f"{v.name} {r.choice(['<', '>'])} {self.literal(v.dtype)}"
        if kind < 0.5:
            return f"tf.reduce_any({v.name} > {self.literal(v.dtype)})"
        place = ", ".join(str(r.randrange(d)) for d in v.shape)
        if kind < 0.75:
            return f"{v.name}[{place}] < {self.literal(v.dtype)}"
        return f"tf.reduce_{r.choice(['max', 'min', 'sum'])}({v.name}) > {self.literal(v.dtype)}"

    def like(self, env, target):
        """An expression of exactly the type and sizes of `target`."""
        r = self.rng
        fits = lambda v: broadcast(v.shape, target.shape) == target.shape
        x = self.pick(env, lambda v: fits(v) and v.dtype == target.dtype) or target
        y = self.pick(env, fits) or target
        y_text = y.name if y.dtype == target.dtype else f"tf.cast({y.name}, tf.{target.dtype})"
        if r.random() < 0.2:
            z = self.pick(env, lambda v: v.dtype in NUMBERS and v.rank > 0)
            if z is not None and z.size:
                y, y_text = Value("", target.dtype, ()), f"tf.cast(tf.reduce_max({z.name}), tf.{target.dtype})"
        operations = FLOAT_BINARY[:10] if target.dtype in FLOATS else BOOL_BINARY if target.dtype == "bool" else INT_BINARY
        text = r.choice(operations).format(x.name, y_text)
        if broadcast(x.shape, y.shape) != target.shape or r.random() < 0.3:
            text = r.choice(operations).format(target.name, f"({text})")
        if r.random() < 0.15:
            text = f"tf.where({self.mask(env, target)}, {text}, {target.name})"
        return text

    def mask(self, env, target):
        m = self.pick(env, lambda v: v.dtype == "bool" and broadcast(v.shape, target.shape) == target.shape)
        return m.name if m is not None and self.rng.random() < 0.5 else f"{target.name} {'==' if target.dtype == 'bool' else '>'} {self.literal(target.dtype)}"

    # Statements.
    def block(self, env, depth, count, loop=False):
        out = []
        for _ in range(count):
            kind = self.rng.random()
            if depth == 0 or kind < 0.68:
                self.operation(env, out)
            elif kind < 0.78:
                self.branch(env, out, depth, loop)
            elif kind < 0.93:
                self.loop(env, out, depth)
            elif kind < 0.96 and loop:
                out.append((f"if {self.scalar_condition(env)}:", [self.rng.choice(["break", "continue"])]))
            elif kind < 0.98:
                out.append(f"tf.debugging.assert_less(tf.reduce_max(n), {self.rng.choice([2, 5, 100, 100])}, message='n is large')")
            else:
                self.operation(env, out)
        return out

    def updates(self, env, inner, out, count):
        """Assignments to variables from outside that keep their types."""
        targets = [v for v in env if v.name != "n"]
        for _ in range(count):
            target = self.rng.choice(targets)
            out.append(f"{target.name} = {self.like(inner, target)}")

    def branch(self, env, out, depth, loop):
        blocks = []
        for _ in range(2 if self.rng.random() < 0.7 else 1):
            inner = list(env)
            body = self.block(inner, depth - 1, self.rng.randint(0, 2), loop)
            self.updates(env, inner, body, self.rng.randint(1, 2))
            blocks.append(body)
        statement = (f"if {self.scalar_condition(env)}:", blocks[0])
        out.append(statement + ("else:", blocks[1]) if len(blocks) > 1 else statement)

    def loop(self, env, out, depth):
        r = self.rng
        self.fresh += 1
        i = f"i{self.fresh}"
        inner = list(env)
        rows = self.pick(env, lambda v: v.rank > 0 and v.shape[0] < 20 and not self.large)
        kind = r.random()
        trips = r.choice(["n", "3", "n + 1", "5"])
        if kind < 0.45 or (rows is None and kind < 0.6):
            head = f"for {i} in tf.range({trips}):"
            inner.append(Value(i, "int32", ()))
        elif kind < 0.6:
            head = f"for {i} in {rows.name}:"
            inner.append(Value(i, rows.dtype, rows.shape[1:]))
        else:
            out.append(f"{i} = tf.constant(0)")
            head = f"while {i} < {trips}" + (f" and {self.scalar_condition(env)}:" if r.random() < 0.3 else ":")
        body = [f"{i} += 1"] if head.startswith("while") else []
        body += self.block(inner, depth - 1, r.randint(0, 2), True)
        self.updates(env, inner, body, r.randint(1, 2))
        out.append((head, body))

    def make_helper(self):
        """A traced function of two tensors of one type, elementwise."""
        r = self.rng
        one, two = r.choice(FLOAT_BINARY[:8]), r.choice(FLOAT_BINARY[:8])
        other = f"tf.{r.choice(['tanh', 'abs', 'sin'])}(q)"
        return [("if tf.reduce_all(tf.equal(p, q)):", [f"return {one.format('p', 'q')}"]), f"return {two.format('p', other)}"]

    def operation(self, env, out):
        for _ in range(20):
            if self.rng.choice([self.elementwise, self.elementwise, self.elementwise, self.compare, self.cast, self.reduce, self.reduce, self.move, self.move,
                                self.product, self.window, self.gather, self.select, self.scan, self.call, self.create, self.structure, self.library])(env, out):
                return

    def fitting(self, env, x):
        """A value of x's type that broadcasts with it."""
        def fits(v):
            both = broadcast(x.shape, v.shape)
            return v.dtype == x.dtype and both is not None and self.small_enough(both)
        return self.pick(env, fits) if x is not None else None

    def small_enough(self, shape):
        n = 1
        for d in shape:
            n *= d
        return n <= (400000 if self.large else 6000)

    def elementwise(self, env, out):
        r = self.rng
        x = self.pick(env)
        if x.dtype == "bool":
            y = self.pick(env, lambda v: v.dtype == "bool" and broadcast(x.shape, v.shape) is not None) or x
            if r.random() < 0.3:
                return self.new("bool", x.shape, f"tf.logical_not({x.name})", out, env)
            return self.new("bool", broadcast(x.shape, y.shape), r.choice(BOOL_BINARY).format(x.name, y.name), out, env)
        unary, binary = (FLOAT_UNARY, FLOAT_BINARY) if x.dtype in FLOATS else (INT_UNARY, INT_BINARY)
        if x.dtype in UNSIGNED:
            unary = ["tf.square", "tf.bitwise.invert"]
        if r.random() < 0.35:
            return self.new(x.dtype, x.shape, f"{r.choice(unary)}({x.name})", out, env)
        if r.random() < 0.3:
            return self.new(x.dtype, x.shape, r.choice(binary).format(x.name, self.literal(x.dtype)), out, env)
        y = self.fitting(env, x)
        if y is None:
            return None
        # Two operations in one expression are common.
        text = r.choice(binary).format(x.name, y.name)
        if r.random() < 0.3:
            text = r.choice(binary[:4]).format(f"({text})", y.name)
        return self.new(x.dtype, broadcast(x.shape, y.shape), text, out, env)

    def compare(self, env, out):
        x = self.pick(env, lambda v: v.dtype in NUMBERS)
        y = self.fitting(env, x)
        if x is None or y is None:
            return None
        return self.new("bool", broadcast(x.shape, y.shape), self.rng.choice(COMPARE).format(x.name, y.name), out, env)

    def select(self, env, out):
        x = self.pick(env)
        y = self.fitting(env, x)
        if y is None:
            return None
        shape = broadcast(x.shape, y.shape)
        if self.rng.random() < 0.2 and x.dtype in NUMBERS:
            low, high = sorted([self.literal(x.dtype), self.literal(x.dtype)], key=float)
            return self.new(x.dtype, x.shape, f"tf.clip_by_value({x.name}, {low}, {high})", out, env)
        return self.new(x.dtype, shape, f"tf.where({self.mask(env, Value(x.name, x.dtype, x.shape))}, {x.name}, {y.name})" if shape == x.shape
                        else f"tf.where({self.scalar_condition(env)}, {x.name}, {y.name} + {x.name})" if x.dtype in NUMBERS and shape == y.shape == x.shape
                        else f"tf.where({x.name} == {y.name}, {x.name}, {y.name})", out, env)

    def cast(self, env, out):
        x = self.pick(env)
        to = self.rng.choice(self.dtypes + ["float32", "int32"])
        return self.new(to, x.shape, f"tf.cast({x.name}, tf.{to})", out, env)

    def reduce(self, env, out):
        r = self.rng
        x = self.pick(env, lambda v: v.rank > 0)
        if x is None:
            return None
        axes = sorted(r.sample(range(x.rank), r.randint(1, x.rank)))
        keep = r.random() < 0.3
        shape = tuple(1 if k in axes else d for k, d in enumerate(x.shape) if keep or k not in axes)
        where = f"axis={[a - x.rank if r.random() < 0.3 else a for a in axes]}, keepdims={keep}"
        if x.dtype == "bool":
            return self.new("bool", shape, f"tf.reduce_{r.choice(['any', 'all'])}({x.name}, {where})", out, env)
        kind = r.random()
        if x.dtype in ("float32", "float64", "int32", "int64") and kind < 0.12 and x.shape[axes[0]] > 0:
            shape = tuple(d for k, d in enumerate(x.shape) if k != axes[0])
            return self.new("int64", shape, f"tf.arg{r.choice(['max', 'min'])}({x.name}, axis={axes[0]})", out, env)
        if x.dtype in FLOATS and kind < 0.3:
            name = r.choice(["reduce_logsumexp", "math.reduce_std", "math.reduce_variance", "math.reduce_euclidean_norm"])
            return self.new(x.dtype, shape, f"tf.{name}({x.name}, {where})", out, env)
        if x.dtype in FLOATS and kind < 0.4:
            return self.new(x.dtype, x.shape, f"tf.nn.{r.choice(['softmax', 'log_softmax'])}({x.name})", out, env)
        return self.new(x.dtype, shape, f"{r.choice(REDUCE)}({x.name}, {where})", out, env)

    def move(self, env, out):
        r = self.rng
        x = self.pick(env, lambda v: v.rank > 0)
        if x is None:
            return None
        axis = r.randrange(x.rank)
        d = x.shape[axis]
        kind = r.choice(["transpose", "reshape", "expand", "squeeze", "slice", "slice", "reverse", "concat", "tile", "broadcast", "pad", "stack", "roll",
                         "split"])
        if kind == "transpose":
            order = r.sample(range(x.rank), x.rank)
            return self.new(x.dtype, [x.shape[k] for k in order], f"tf.transpose({x.name}, {order})", out, env)
        if kind == "reshape":
            if r.random() < 0.5:
                return self.new(x.dtype, [x.size], f"tf.reshape({x.name}, [-1])" if x.size else f"tf.reshape({x.name}, [0])", out, env)
            if x.rank < 2:
                return None
            merged = x.shape[:axis - 1] + (x.shape[axis - 1] * d,) + x.shape[axis + 1:] if axis else (x.shape[0] * x.shape[1],) + x.shape[2:]
            return self.new(x.dtype, merged, f"tf.reshape({x.name}, {list(merged)})", out, env)
        if kind == "expand":
            return self.new(x.dtype, x.shape[:axis] + (1,) + x.shape[axis:], f"tf.expand_dims({x.name}, {axis})", out, env)
        if kind == "squeeze" and d == 1:
            return self.new(x.dtype, x.shape[:axis] + x.shape[axis + 1:], f"tf.squeeze({x.name}, [{axis}])", out, env)
        if kind == "slice":
            parts, shape = [], []
            for size in x.shape:
                form = r.random()
                if form < 0.4 or size < 2:
                    parts.append(":")
                    shape.append(size)
                elif form < 0.6:
                    parts.append(str(r.randrange(-size, size)))
                else:
                    begin, end = sorted(r.sample(range(size + 1), 2))
                    step = r.choice([1, 1, 2, -1])
                    if step == -1:
                        parts.append("::-1")
                        shape.append(size)
                    else:
                        parts.append(f"{begin}:{end}:{step}")
                        shape.append((end - begin + step - 1) // step)
            if r.random() < 0.15:
                parts.insert(0, "None")
                shape.insert(0, 1)
            return self.new(x.dtype, shape, f"{x.name}[{', '.join(parts)}]", out, env)
        if kind == "reverse":
            return self.new(x.dtype, x.shape, f"tf.reverse({x.name}, [{axis}])", out, env)
        if kind == "roll":
            return self.new(x.dtype, x.shape, f"tf.roll({x.name}, {r.choice([1, -1, 2])}, {axis})", out, env)
        if kind == "concat":
            y = self.pick(env, lambda v: v.dtype == x.dtype and v.rank == x.rank and all(a == b for k, (a, b) in enumerate(zip(v.shape, x.shape)) if k != axis))
            shape = x.shape[:axis] + (d + y.shape[axis],) + x.shape[axis + 1:]
            return self.new(x.dtype, shape, f"tf.concat([{x.name}, {y.name}], {axis})", out, env) if self.small_enough(shape) else None
        if kind == "stack":
            y = self.pick(env, lambda v: v.dtype == x.dtype and v.shape == x.shape)
            shape = x.shape[:axis] + (2,) + x.shape[axis:]
            return self.new(x.dtype, shape, f"tf.stack([{x.name}, {y.name}], {axis})", out, env) if self.small_enough(shape) else None
        if kind == "tile":
            shape = tuple(s * (2 if k == axis else 1) for k, s in enumerate(x.shape))
            times = [2 if k == axis else 1 for k in range(x.rank)]
            return self.new(x.dtype, shape, f"tf.tile({x.name}, {times})", out, env) if self.small_enough(shape) else None
        if kind == "broadcast":
            shape = (2,) + tuple(3 if s == 1 else s for s in x.shape)
            return self.new(x.dtype, shape, f"tf.broadcast_to({x.name}, {list(shape)})", out, env) if self.small_enough(shape) else None
        if kind == "pad" and x.dtype != "bool":
            pads = [[r.randrange(3), r.randrange(2)] if k == axis else [0, 0] for k in range(x.rank)]
            return self.new(x.dtype, [s + sum(p) for s, p in zip(x.shape, pads)], f"tf.pad({x.name}, {pads})", out, env)
        if kind == "split" and d and d % 2 == 0:
            half = x.shape[:axis] + (d // 2,) + x.shape[axis + 1:]
            return self.new(x.dtype, half, f"tf.split({x.name}, 2, {axis})[{r.randrange(2)}]", out, env)
        return None

    def product(self, env, out):
        r = self.rng
        x = self.pick(env, lambda v: v.rank >= 2 and v.dtype in ("float32", "float64", "float16", "bfloat16", "int32"))
        if x is None:
            return None
        y = self.pick(env, lambda v: v.dtype == x.dtype and v.rank == x.rank and v.shape[:-2] == x.shape[:-2])
        a, b = r.random() < 0.3, r.random() < 0.3
        m, k = x.shape[-2:][::-1] if a else x.shape[-2:]
        for flip in (b, not b):
            k2, n = y.shape[-2:][::-1] if flip else y.shape[-2:]
            shape = x.shape[:-2] + (m, n)
            if k == k2 and self.small_enough(shape) and m * n * k < 4000000:
                return self.new(x.dtype, shape, f"tf.matmul({x.name}, {y.name}, transpose_a={a}, transpose_b={flip})", out, env)
        return None

    def gather(self, env, out):
        r = self.rng
        x = self.pick(env, lambda v: v.rank > 0 and v.shape[0] > 0)
        if x is None:
            return None
        if r.random() < 0.4:
            return self.new(x.dtype, x.shape[1:], f"{x.name}[tf.math.floormod(n, {x.shape[0]})]" if r.random() < 0.8 else f"{x.name}[n]", out, env)
        index = self.pick(env, lambda v: v.dtype in ("int32", "int64") and v.rank <= 2)
        if index is None or not self.small_enough(index.shape + x.shape[1:]):
            return None
        text = index.name if r.random() < 0.1 else f"tf.math.floormod({index.name}, {x.shape[0]})"
        return self.new(x.dtype, index.shape + x.shape[1:], f"tf.gather({x.name}, {text})", out, env)

    def scan(self, env, out):
        r = self.rng
        x = self.pick(env, lambda v: v.rank > 0 and v.dtype in ("float32", "float64", "int32", "int64"))
        if x is None:
            return None
        return self.new(x.dtype, x.shape, f"tf.{r.choice(['cumsum', 'cumsum', 'math.cumprod'])}({x.name}, axis={r.randrange(x.rank)}, "
                        f"exclusive={r.random() < 0.3}, reverse={r.random() < 0.3})", out, env)

    def call(self, env, out):
        if self.helper is None:
            return None
        x = self.pick(env, lambda v: v.dtype in ("float32", "float64"))
        y = self.pick(env, lambda v: x is not None and v.dtype == x.dtype and v.shape == x.shape)
        return self.new(x.dtype, x.shape, f"helper({x.name}, {y.name})", out, env) if x else None

    def create(self, env, out):
        r = self.rng
        x = self.pick(env, lambda v: v.rank > 0 and v.dtype in NUMBERS)
        kind = r.random()
        if x is None or kind < 0.3:
            return self.new("int32", (), r.choice(["n * 2", "n - 3", "tf.size({})".format(self.pick(env).name)]), out, env)
        if kind < 0.5:
            return self.new("int32", (x.shape[0],), f"tf.range(tf.shape({x.name})[0])", out, env)
        if kind < 0.7:
            return self.new(x.dtype, x.shape, f"tf.{r.choice(['zeros', 'ones'])}_like({x.name})", out, env)
        if kind < 0.85 and x.rank == 1 and x.dtype in ("int32", "int64") and x.shape[0] < 100:
            return self.new("float32", x.shape + (3,), f"tf.one_hot({x.name}, 3)", out, env)
        return self.new(x.dtype, x.shape, f"tf.fill(tf.shape({x.name}), tf.cast({self.literal(x.dtype)}, tf.{x.dtype}))", out, env)

    def structure(self, env, out):
        """Statements that are more than one operation: gradients, control flow by functions, arrays, variables."""
        r = self.rng
        x = self.pick(env, lambda v: v.dtype in ("float32", "float64") and self.small_enough(v.shape * 2))
        kind = r.choice(["gradient", "gradient", "cond", "while_loop", "array", "variable", "updates"])
        if x is None:
            return None
        self.fresh += 1
        t = f"t{self.fresh}"
        if kind == "gradient":
            one, two = r.choice(FLOAT_UNARY[:20]), r.choice(DIFFERENTIABLE).format(x.name, t)
            out.append((f"with tf.GradientTape() as tape{t}:", [f"tape{t}.watch({x.name})", f"{t} = {one}({x.name})", f"{t} = {two}"]))
            return self.new(x.dtype, x.shape, f"tape{t}.gradient({t}, {x.name}, unconnected_gradients='zero')", out, env)
        if kind == "cond":
            return self.new(x.dtype, x.shape, f"tf.cond({self.tensor_condition(env)}, lambda: {self.like(env, x)}, lambda: {self.like(env, x)})", out, env)
        if kind == "while_loop":
            body = f"(i + 1, tf.sin(s) + {self.like(env, x)})"
            return self.new(x.dtype, x.shape, f"tf.while_loop(lambda i, s: i < n, lambda i, s: {body}, (0, {x.name}))[1]", out, env)
        if kind == "array":
            out.append(f"{t} = tf.TensorArray(tf.{x.dtype}, size=3, element_shape={list(x.shape) if not self.unknown else None})")
            out.append((f"for j{t} in tf.range(3):", [f"{t} = {t}.write(j{t}, {x.name} * tf.cast(j{t}, tf.{x.dtype}))"]))
            return self.new(x.dtype, (3,) + x.shape, f"{t}.stack()", out, env)
        if kind == "updates":
            test = self.tensor_condition(env)
            step = f"state.assign(tf.sin(state) + tf.cast(j{t}, tf.float32))"
            sometimes = f"cells.assign_add(tf.cast(tf.reduce_mean({x.name}), tf.float32) * cells + state)"
            out.append((f"for j{t} in tf.range(n % 5):", [step, (f"if {test}:", [sometimes])]))
            return self.new("float32", (3,), "cells * 1.0", out, env)
        changed = "state.assign_add(tf.cast(n, tf.float32)) * 1.0"
        return self.new(x.dtype, (), changed if x.dtype == "float32" else f"tf.cast(state * 2.0, tf.{x.dtype})", out, env)

    def tensor_condition(self, env):
        return f"tf.logical_and(n < {self.rng.randrange(6)}, {self.rng.choice(['True', 'n != 0'])})"

    def library(self, env, out):
        """Operations that other code than that of clusters does."""
        r = self.rng
        x = self.pick(env, lambda v: v.rank > 0 and v.dtype in ("float32", "int32", "float64", "int64"))
        if x is None or self.large:
            return None
        kind = r.choice(["sort", "mask", "scatter", "segments", "einsum", "diagonal", "top", "arg", "order", "random"])
        if kind == "sort":
            return self.new(x.dtype, x.shape, f"tf.sort({x.name}, direction='{r.choice(['ASCENDING', 'DESCENDING'])}')", out, env)
        if kind == "mask":
            return self.new(x.dtype, x.shape[1:], f"tf.reduce_sum(tf.boolean_mask({x.name}, tf.range(tf.shape({x.name})[0]) % 2 == 0), axis=0)", out, env)
        if kind == "scatter" and x.size:
            return self.new(x.dtype, x.shape, f"tf.tensor_scatter_nd_{r.choice(['update', 'add', 'max'])}({x.name}, [[n % {x.shape[0]}]], {x.name}[-1:])", out, env)
        if kind == "segments":
            return self.new(x.dtype, (3,) + x.shape[1:], f"tf.math.unsorted_segment_{r.choice(['sum', 'max', 'min', 'prod'])}({x.name}, tf.range(tf.shape({x.name})[0]) % 3, 3)", out, env)
        if kind == "einsum" and x.rank == 2 and x.dtype in FLOATS:
            return self.new(x.dtype, (x.shape[0], x.shape[0]), f"tf.einsum('ij,kj->ik', {x.name}, {x.name})", out, env)
        if kind == "diagonal" and x.rank == 2:
            return self.new(x.dtype, x.shape, f"tf.linalg.band_part({x.name}, {r.choice([0, 1, -1])}, {r.choice([0, 1, -1])})", out, env)
        if kind == "top" and x.shape[-1] > 1:
            return self.new(x.dtype, x.shape[:-1] + (2,), f"tf.math.top_k({x.name}, 2)[0]", out, env)
        if kind == "arg" and x.size:
            axis = r.randrange(x.rank)
            return self.new("int64", x.shape[:axis] + x.shape[axis + 1:], f"tf.{r.choice(['argmax', 'argmin'])}({x.name}, axis={axis})", out, env)
        if kind == "order":
            return self.new("int32", x.shape, f"tf.argsort({x.name}, axis={r.randrange(x.rank)}, stable=True)", out, env)
        if kind == "random" and x.dtype in ("float32", "float64"):
            draw = r.choice(["uniform", "normal", "truncated_normal"])
            return self.new(x.dtype, x.shape, f"{x.name} + tf.random.stateless_{draw}(tf.shape({x.name}), [n, 3], dtype=tf.{x.dtype})", out, env)
        return None

    # Text.
    def open_sizes(self):
        """The sizes that the signature leaves open."""
        r = random.Random(len(self.body))
        found = sorted({d for v in self.arguments for d in v.shape if d > 1})
        return {d for d in found if r.random() < 0.7}

    def sizes(self, other):
        """The arguments' sizes in the first call, or in another one where unknown sizes are others."""
        free = self.open_sizes()
        return [tuple(d + 1 if other and d in free else d for d in v.shape) for v in self.arguments]

    def signature(self):
        if not self.unknown:
            return "None"
        free = self.open_sizes()
        specs = [f"tf.TensorSpec([{', '.join('None' if d in free else str(d) for d in v.shape)}], tf.{v.dtype})" for v in self.arguments]
        return "[" + ", ".join(specs) + "]"

    def text(self, index):
        lines = []
        if self.helper:
            lines += ["@traced", "def helper(p, q):"] + text(self.helper, 1) + ["", ""]
        names = ", ".join(v.name for v in self.arguments)
        lines += [f"def program_{index}({names}):"] + text(self.body, 1) + [f"    return [{', '.join(self.returned)}]", "", ""]
        calls = []
        for other in ([False, True] if self.unknown else [False]):
            shapes = zip(self.arguments, self.sizes(other))
            calls.append([f'data("{v.dtype}", {list(shape)}, {k})' for k, (v, shape) in enumerate(shapes)])
        for trips, call in zip((3, 5), calls):
            call[-1] = f"tf.constant({trips})"
        calls.append(calls[0][:-1] + ["tf.constant(0)"])
        lines.append(f"run({index}, program_{index}, {self.signature()}, [" + ",\n    ".join("lambda: [" + ", ".join(c) + "]" for c in calls) + "])")
        return "\n".join(lines + ["", ""])

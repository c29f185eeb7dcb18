"""Random programs over host values: pieces with control flow, exceptions and generators; classes and the like are in host_families.py, formats and ways out of
blocks in host_forms.py."""
import random

from host_families import Families
from host_forms import Forms
from host_values import LITERALS, TEMPLATES
from program_text import text

TYPES = ["int", "int", "float", "str", "str", "list", "ints", "strs", "tuple", "dict", "counts", "bool", "any", "count"]
ERRORS = ["ValueError", "KeyError", "TypeError", "IndexError", "ZeroDivisionError", "LookupError", "ArithmeticError", "RuntimeError", "AttributeError", "OSError",
          "StopIteration", "Exception", "AssertionError", "Oops", "Detail", "NotImplementedError", "GeneratorExit", "KeyboardInterrupt"]
AUGMENTED = {"int": ["+=", "-=", "*=", "//=", "%=", "&=", "|=", "^="], "float": ["+=", "-=", "*=", "/="], "str": ["+="], "list": ["+="], "ints": ["+="], "strs": ["+="],
             "tuple": ["+="], "dict": ["|="], "counts": ["|="], "bool": ["&=", "|=", "^="]}


class Program(Forms, Families):
    """`body`: statements as nested lists (program_text.py)."""

    def __init__(self, seed):
        super().__init__(random.Random(seed))
        self.fresh = 0
        self.body = []
        pieces = [self.values, self.statements, self.statements, self.binding, self.generator, self.classes, self.exceptions, self.exceptions, self.contexts, self.closures,
                  self.data, self.iterators, self.unpacking, self.tracebacks, self.descriptors, self.sorting, self.formats, self.formats, self.slotted, self.leaving, self.leaving]
        for _ in range(self.rng.randint(2, 4)):
            self.body += self.rng.choice(pieces)()

    def source(self, index):
        return "\n".join([f"def program_{index}():", *text(self.body or ["pass"], 1), "", "", f"run({index}, program_{index})"])

    # What pieces are made of.
    def name(self, stem="v"):
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def shows(self, env, most=3):
        return [f"show(lambda: {self.expr(self.rng.choice(TYPES + ['set', 'any', 'any', 'bytes']), 2, env)})" for _ in range(self.rng.randint(1, most))]

    def values(self):
        return self.shows({}, 8)

    def assign(self, env, out):
        r = self.rng
        kind = r.choice(TYPES)
        known = [n for n, t in env.items() if t in AUGMENTED]
        how = r.random()
        if known and how < 0.25:
            n = r.choice(known)
            out.append(f"{n} {r.choice(AUGMENTED[env[n]])} {self.expr(env[n], 2, env)}")
            return
        if how < 0.35:
            targets = [self.name() for _ in range(r.randint(2, 3))]
            star = r.randrange(len(targets)) if r.random() < 0.5 else -1
            out.append(", ".join("*" * (i == star) + n for i, n in enumerate(targets)) + " = " + self.expr(r.choice(["list", "tuple", "ints", "str"]), 2, env))
            out.append(f"print({', '.join(targets)})")
            return
        n = r.choice(list(env) or [None]) if r.random() < 0.2 else None
        if n is None or env[n] != kind:
            n = self.name()
        out.append(f"{n} = {self.expr(kind, 2, env)}")
        env[n] = kind

    def block(self, env, depth, count, loop=False, function=False):
        r, out = self.rng, []
        for _ in range(count):
            how = r.random()
            if depth <= 0 or how < 0.45:
                if r.random() < 0.35 and env:
                    out.append(f"print({', '.join(r.choice(list(env)) for _ in range(2))})")
                else:
                    self.assign(env, out)
            elif how < 0.58:
                parts = [f"if {self.expr('bool', 2, env)}:", self.block(dict(env), depth - 1, r.randint(1, 2), loop, function)]
                if r.random() < 0.3:
                    parts += [f"elif {self.expr('any', 1, env)}:", self.block(dict(env), depth - 1, 1, loop, function)]
                if r.random() < 0.5:
                    parts += ["else:", self.block(dict(env), depth - 1, r.randint(1, 2), loop, function)]
                out.append(tuple(parts))
            elif how < 0.72:
                n = self.name("i")
                inner = dict(env, **{n: "any"})
                parts = [f"for {n} in {self.iterable(env)}:", self.block(inner, depth - 1, r.randint(1, 3), True, function)]
                if r.random() < 0.3:
                    parts += ["else:", self.block(dict(env), depth - 1, 1, loop, function)]
                out.append(tuple(parts))
            elif how < 0.77:
                n = self.name("n")
                out.append(f"{n} = {r.randint(1, 4)}")
                parts = [f"while {n} > 0:", [f"{n} -= 1"] + self.block(dict(env, **{n: "int"}), depth - 1, r.randint(1, 2), True, function)]
                if r.random() < 0.3:
                    parts += ["else:", ["print('ended')"]]
                out.append(tuple(parts))
            elif how < 0.92:
                out.append(self.attempt(env, depth, loop, function))
            elif loop:
                out.append((f"if {self.expr('bool', 1, env)}:", [r.choice(["break", "continue"])]))
            elif function and r.random() < 0.5:
                out.append((f"if {self.expr('bool', 1, env)}:", [f"return {self.expr('any', 1, env)}"]))
            else:
                out.append(r.choice([f"assert {self.expr('bool', 1, env)}, {self.expr('any', 1, env)}", self.raising(env)]))
        return out

    def iterable(self, env):
        return self.rng.choice([self.expr(self.rng.choice(["ints", "strs", "str", "dict", "tuple", "range"]), 1, env), f"enumerate({self.expr('str', 1, env)})",
                                f"zip({self.expr('ints', 1, env)}, {self.expr('str', 1, env)})", f"sorted({self.expr('strs', 1, env)})", f"{self.expr('dict', 0)}.items()"])

    def raising(self, env):
        r = self.rng
        error = r.choice(ERRORS)
        if error == "Detail":
            new = f"Detail({self.expr('any', 1, env)}, {self.expr('int', 0)})"
        else:
            new = r.choice([error, f"{error}()", f"{error}({self.expr('any', 1, env)})", f"{error}({self.expr('any', 0)}, {self.expr('any', 0)})"])
        cause = r.choice(["", "", "", " from None", f" from {r.choice(ERRORS[:8])}('cause')", " from ValueError", f" from {self.expr('any', 0)}"])
        return r.choice([f"raise {new}{cause}", f"raise {new}", "raise", f"{self.name()} = {self.expr('any', 2, env)}"])

    def attempt(self, env, depth, loop, function):
        r = self.rng
        inside = self.block(dict(env), depth - 1, r.randint(1, 2), loop, function)
        if r.random() < 0.7:
            inside.append(self.raising(env))
        parts = ["try:", inside]
        for _ in range(r.choice([0, 1, 1, 2])):
            e = self.name("e")
            caught = r.choice([*ERRORS, f"({r.choice(ERRORS)}, {r.choice(ERRORS)})", "Exception", "BaseException"])
            head = [f"print('caught', type({e}).__name__, {e}.args, repr({e}.__cause__), repr({e}.__context__), {e}.__suppress_context__)"]
            if r.random() < 0.2:
                head.append(f"{e}.add_note({self.expr('str', 0)})")
            parts += [f"except {caught} as {e}:", head + self.block(dict(env), depth - 1, r.randint(0, 1), loop, function) + ([self.raising(env)] if r.random() < 0.3 else [])]
        if len(parts) > 2 and r.random() < 0.3:
            parts += ["else:", self.block(dict(env), depth - 1, 1, loop, function)]
        if len(parts) == 2 or r.random() < 0.4:
            last = ["print('finally')"]
            if function and r.random() < 0.2:
                last.append(f"return {self.expr('any', 1, env)}")
            elif loop and r.random() < 0.1:
                last.append(r.choice(["break", "continue"]))
            elif r.random() < 0.15:
                last.append(self.raising(env))
            parts += ["finally:", last]
        return tuple(parts)

    def statements(self):
        f = self.name("f")
        env = {}
        body = self.block(env, 3, self.rng.randint(3, 7), function=True)
        return [(f"def {f}():", body or ["pass"]), f"show({f})"]

    ERROR_CLASSES = [("class Oops(ValueError):", ["pass"]),
                     ("class Detail(Exception):", [("def __init__(self, what, code=0):", ["super().__init__(what)", "self.code = code"]),
                                                   ("def __str__(self):", ["return f'{self.args} code {self.code}'"])])]

    def exceptions(self):
        f, g = self.name("f"), self.name("g")
        body = [self.attempt({"p": "any"}, 3, False, True) for _ in range(self.rng.randint(1, 2))]
        caller = [(f"def {g}(p):", ["try:", [f"return {f}(p)"], "finally:", ["print('left', p)"]])] if False else [(f"def {g}(p):", [f"return {f}(p)"])]
        return [*self.ERROR_CLASSES, (f"def {f}(p):", body), *caller,
                *[f"report(lambda: {self.rng.choice([f, g])}({self.expr('any', 1)}))" for _ in range(2)]]

    def generator(self):
        r, g = self.rng, self.name("g")
        env = {"p": "any"}

        def yields(env, depth):
            out = []
            for _ in range(r.randint(1, 3)):
                how = r.random()
                v = self.name()
                if depth <= 0 or how < 0.4:
                    out.append(r.choice([f"yield {self.expr('any', 1, env)}", f"{v} = yield {self.expr('int', 1, env)}", f"print('got', (yield {self.expr('any', 0, env)}))"]))
                    if out[-1].startswith(v):
                        env[v] = "any"
                elif how < 0.5:
                    out.append((f"for {v} in {self.iterable(env)}:", yields(dict(env, **{v: "any"}), depth - 1)))
                elif how < 0.75:
                    e = self.name("e")
                    parts = ["try:", yields(dict(env), depth - 1)]
                    if r.random() < 0.7:
                        parts += [f"except {r.choice(ERRORS)} as {e}:", [f"print('in', repr({e}), repr({e}.__context__))"] + (yields(dict(env), depth - 1) if r.random() < 0.4 else [self.raising(env)])]
                    if len(parts) == 2 or r.random() < 0.5:
                        parts += ["finally:", ["print('closing')"] + (yields(dict(env), 0) if r.random() < 0.15 else [])]
                    out.append(tuple(parts))
                elif how < 0.87:
                    out.append(r.choice([f"{v} = yield from {self.iterable(env)}", f"yield from {self.iterable(env)}", f"{v} = yield from {self.inner}({self.expr('any', 0)})",
                                         f"print('end', (yield from {self.inner}({self.expr('any', 0)})))"]))
                else:
                    out.append(r.choice([self.raising(env), f"return {self.expr('any', 1, env)}", f"print('at', {self.expr('any', 1, env)})"]))
            return out

        self.inner = "iter"
        inner, body = yields(dict(env), 2), None
        h = self.name("h")
        self.inner = h
        body = yields(env, 2)
        out = [*self.ERROR_CLASSES, (f"def {h}(p):", inner + ["yield 'last'", f"return {self.expr('any', 0)}"]), (f"def {g}(p):", body + [f"yield {self.expr('any', 0)}"])]
        for _ in range(r.randint(1, 3)):
            steps = [r.choice(["'next'", "'next'", "'next'", f"('send', {self.expr('any', 0)})", f"('throw', {r.choice(ERRORS[:13])}({self.expr('int', 0)}))", "'close'",
                               f"('throw', {r.choice(ERRORS[:8])})", "('throw', GeneratorExit())"]) for _ in range(r.randint(2, 7))]
            out.append(f"drive({g}({self.expr('any', 0)}), {', '.join(steps)})")
        it = self.name("it")
        out += [f"{it} = {g}({self.expr('any', 0)})",
                "show(lambda: " + r.choice([f"list({it})", f"[*{it}]", f"sum({it})", f"sorted({it}, key=repr)", f"dict.fromkeys({it})", f"list(zip({it}, range(2)))", f"{self.expr('any', 0)} in {it}",
                                            f"next({it}, None)", f"tuple(map(str, {it}))", f"max({it}, key=repr)", f"list(itertools.islice({it}, 2))", f"list(enumerate({it}))"]) + ")",
                f"drive({it}, 'next', 'next')", f"show({it}.close)"]
        return out

    def iterators(self):
        r, c = self.rng, self.name("C")
        stop = r.choice(["raise StopIteration", f"raise StopIteration({self.expr('int', 0)})", "raise IndexError('past')", "raise StopIteration(1, 2)"])
        cls = (f"class {c}:", [("def __init__(self, n):", ["self.n = n"]), ("def __iter__(self):", ["return self"]),
                               ("def __next__(self):", [("if self.n <= 0:", [stop]), "self.n -= 1", r.choice(["return self.n", f"return {self.expr('any', 0)}", "return [self.n]"])])])
        it = self.name("it")
        uses = [f"list({it})", f"next({it})", f"next({it}, 'none')", f"sum({it})", f"list(map(str, {it}))", f"list(zip({it}, 'ab'))", f"dict(enumerate({it}))", f"max({it})", f"sorted({it}, key=str)",
                f"list(filter(None, {it}))", f"list(itertools.chain({it}, [0]))", f"[*{it}, 1]", f"tuple({it})", f"2 in {it}", f"list(itertools.islice({it}, 2))", f"list(through({it}))", f"next(map(str, {it}))",
                f"next(zip({it}, {it}))", f"next(enumerate({it}))", f"{it}.__next__()", f"iter({it}) is {it}", f"any({it})", f"''.join({it})", f"(lambda *a: a)(*{it})", f"next(itertools.count(1))",
                f"list(itertools.accumulate({it}))", f"next(itertools.cycle({it}))", f"reversed({it})", f"len({it})", f"{it}[0]"]
        return [cls, ("def through(x):", ["r = yield from x", "print('r', r)", "yield r"]), f"{it} = {c}({r.randint(0, 4)})", *[f"show(lambda: {r.choice(uses)})" for _ in range(r.randint(2, 5))],
                f"report(lambda: {r.choice(uses)})"]

    def unpacking(self):
        r, out = self.rng, []
        for _ in range(r.randint(2, 5)):
            def targets(depth):
                names = [self.name() if depth <= 0 or r.random() < 0.75 else f"({targets(depth - 1)})" for _ in range(r.randint(1, 3))]
                if r.random() < 0.4:
                    i = r.randrange(len(names))
                    if not names[i].startswith("("):
                        names[i] = "*" + names[i]
                return ", ".join(names) + ","

            t = targets(1)
            import re
            names = re.findall(r"v\d+", t)
            value = r.choice([self.expr(r.choice(["list", "tuple", "str", "dict", "range", "any", "ints"]), 1), "[(1, 2), 3, 'xy']", "((i, i) for i in range(3))", "iter([1, [2, 3], 4])", "1, (2, 3), [4, 5]"])
            out += [("def unpack():", [f"{t} = {value}", f"return {', '.join(names)}"]), "report(unpack)"]
        return out

    def tracebacks(self):
        """Errors in expressions over several lines: where the carets stand."""
        r, f = self.rng, self.name("f")
        env = {"p": "any", "q": "int"}
        e = [self.expr("any", 2, env) for _ in range(4)]
        line = r.choice([f"return {e[0]}", f"return [{e[0]}, {e[1]}, {e[2]}]", f"x = {{'k': {e[0]}, **{self.expr('dict', 1, env)}}}", f"return p.attr[{e[0]}].more({e[1]})", f"return len({e[0]}) + len({e[1]})",
                         f"x = p[0][{e[0]}] + q * {e[1]}", f"q += {e[0]}", f"p[{e[0]}] = {e[1]}", f"del p[{e[0]}]", f"p.x = {e[0]}", f"return [y + {e[0]} for y in {self.expr('list', 1, env)}]",
                         f"return f'{{p!r:>10}} {{q + p}} {{p.nope}}'", f"for x in {e[0]}: print(x)", f"with p: pass", f"a, b = {e[0]}", f"return (lambda z: z + p)({e[0]})", f"return p if {e[0]} < {e[1]} else q",
                         f"raise Exception({e[0]}) from {e[1]}", f"assert {e[0]} == {e[1]}, {e[2]}", f"return {f}2(p, *{e[0]}, **{e[1]})", f"return not {e[0]} or {e[1]} and {e[2]}.x"])
        many = r.choice([[f"return ({e[0]} +", f"        {e[1]} *", f"        {e[2]})"], ["return print(", f"    {e[0]},", f"    q + {e[1]},", "    sep=p,", ")"],
                         ["return (p", f"        .strip({e[0]})", "        .lower()", f"        [{e[1]}])"], ["x = {", f"    'a': {e[0]},", f"    'b': q / {e[1]},", "}"], [line], [line]])
        return [(f"def {f}2(*a):", ["return a"]), (f"def {f}(p, q):", many), *[f"report(lambda: {f}({self.expr('any', 1)}, {self.expr('int', 0)}))" for _ in range(3)]]

    def sorting(self):
        r, out = self.rng, []
        for _ in range(r.randint(1, 4)):
            n = self.name("L")
            out += [f"{n} = {self.expr(r.choice(['list', 'ints', 'strs']), 2)}",
                    "show(lambda: " + r.choice([f"{n}.sort(key={r.choice(LITERALS['key'])}, reverse={r.choice(['True', 'False'])})", f"sorted({n}, key=functools.cmp_to_key(lambda a, b: (a > b) - (a < b)))",
                                               f"{n}.sort()", f"{n}.reverse()", f"{n}.insert({r.randint(-3, 9)}, 'new')", f"set_item({n}, slice({r.randint(-3, 3)}, {r.choice(['None', '2', '-1', '9'])}), {self.expr('list', 1)})",
                                               f"set_item({n}, slice(None, None, {r.choice([2, -1, -2, 3])}), {self.expr('list', 1)})", f"del_item({n}, slice({r.randint(-4, 4)}, None, {r.choice([1, 2, -1])}))",
                                               f"max({n}, key={r.choice(LITERALS['key'])}, default=0)", f"sorted({n}, key=lambda v: (type(v).__name__, str(v)))"]) + f")", f"print({n})"]
        return out


assert TEMPLATES

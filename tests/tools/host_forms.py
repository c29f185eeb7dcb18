"""Random programs over host values: formats, slots and copies, blocks that are left in every way."""


class Forms:
    """Pieces of a program: lists of statements. What is not here (names, expressions, errors) is the program's."""

    def spec(self, kind):
        r = self.rng
        align = r.choice(["", "", "<", ">", "^", "=", "*<", "0>", "é^", "x="])
        sign = r.choice(["", "", "", "+", "-", " "])
        width = r.choice(["", "", "1", "7", "12", "012", "07"])
        comma = r.choice(["", "", "", ",", "_"])
        precision = r.choice(["", "", ".0", ".1", ".3", ".17"])
        letter = {"int": "bcdoxXneEfFgG%", "float": "eEfFgGn%", "str": "s", "bool": "ds"}.get(kind, "sdfq")
        return align + sign + r.choice(["", "", "", "#", "z"]) + width + comma + precision + r.choice(["", r.choice(letter), r.choice(letter), r.choice("sdfcx")])

    def formats(self):
        r, out = self.rng, []
        for _ in range(r.randint(3, 8)):
            kind = r.choice(["int", "int", "float", "float", "str", "bool", "any"])
            v, spec = self.expr(kind, 1), self.spec(kind)
            percent = "%" + r.choice(["", "-", "+", " ", "0", "#", "-0"]) + r.choice(["", "5", "*", "12"]) + r.choice(["", ".2", ".0", ".*"]) + r.choice("diouxXeEfFgGcrsa%")
            stars = ", ".join([str(r.randint(0, 9)) for _ in range(percent.count("*"))] + [v])
            out.append("show(lambda: " + r.choice([
                f"format({v}, {spec!r})", f"'{{:{spec}}}'.format({v})", f"'{{0!{r.choice('rsa')}:{self.spec('str')}}}'.format({v})", f"{percent!r} % ({stars},)",
                f"{percent!r} % {v}", f"'%({r.choice('kv')}){percent[1:].replace('*', '3')}|' % {{'k': {v}}}", f"'{{:{{}}{{}}}}'.format({v}, {r.choice(['<', '>', '^', ''])!r}, {r.randint(0, 9)})",
                f"(lambda x, w: f'{{x:{{w}}}} {{x!r:>{{w}}}} {{x = }}')({v}, {r.randint(0, 9)})", f"'{{a[0]}} {{a[k]}} {{b.real}}'.format(a={self.expr('dict', 1)}, b={v})",
                f"'{{}} {{1}}'.format({v}, 1)", f"'{{{{{{0}}}}}}'.format({v})", f"str({v}).{r.choice(['ljust', 'rjust', 'center', 'zfill'])}({r.randint(0, 12)})",
                f"b'%a %d' % ({v}, {self.expr('int', 0)})", f"string.Template('$a ${{b}} $$ $c').safe_substitute(a={v}, b={self.expr('any', 0)})"]) + ")")
        return out

    def slotted(self):
        r = self.rng
        a, b, o = self.name("S"), self.name("S"), self.name("o")
        out = [("class Plain:", ["pass"]), (f"class {a}:", ["__slots__ = ('p', 'q')", r.choice(["pass", "w = 3", "__class__ = property(lambda self: int)", "def __eq__(self, o): return self.p == o.p"])]),
               (f"class {b}({r.choice([a, a, a + ', Plain', 'Plain, ' + a])}):", [r.choice(["pass", "__slots__ = ()", "__slots__ = 'r'", "__slots__ = ('r', '__dict__')", "p = 5"]),
                                                               r.choice(["pass", "def __getattr__(self, n): return n", "def __setattr__(self, n, v): super().__setattr__(n, (v, 1))"])]),
               ("def make():", [f"global _{o}", f"_{o} = {r.choice([a, b, b])}()", f"return type(_{o}).__name__"]), "show(make)"]
        uses = [f"setattr(_{o}, {n!r}, {self.expr('any', 0)})" for n in ("p", "q", "r", "z")] + [f"_{o}.{n}" for n in ("p", "q", "r", "z", "__slots__", "__dict__")] + [
            f"delattr(_{o}, {r.choice('pqz')!r})", f"vars(_{o})", f"sorted([n for n in dir(_{o}) if n[0] != '_'])", f"copy.copy(_{o}).p", f"copy.deepcopy(_{o}).q", f"isinstance(_{o}, int)",
            f"{a}.p", f"hasattr(_{o}, 'q')", f"_{o} == _{o}", f"{b}.__dict__.get('r')", f"{a}.p.__get__(_{o})"]
        return out + [f"show(lambda: {r.choice(uses)})" for _ in range(r.randint(4, 10))]

    def leaving(self):
        """Loops, `with` and `finally` inside each other, left by return, break, continue and errors."""
        r, f, m = self.rng, self.name("f"), self.name("M")
        manager = (f"class {m}:", [("def __init__(self, n, how=None):", ["self.n, self.how = n, how"]),
                                   ("def __enter__(self):", ["print('enter', self.n)", ("if self.how == 'enter':", ["raise OSError(self.n)"]), "return self.n"]),
                                   ("def __exit__(self, kind, e, tb):", ["print('exit', self.n, kind and kind.__name__, e)", ("if self.how == 'exit':", [f"raise {r.choice(['KeyError', 'ValueError', 'StopIteration'])}(self.n)"]),
                                                                         "return self.how == 'all'"])])

        def item():
            return f"{m}({r.randint(0, 9)}{r.choice(['', '', '', ', None', ', chr(97) + chr(108) * 2', ', str().join([chr(101), chr(120), chr(105), chr(116)])'])})"

        def block(depth, loop):
            out = []
            for _ in range(r.randint(1, 3)):
                how = r.random()
                if depth <= 0 or how < 0.3:
                    out.append(r.choice([f"print({self.expr('any', 1)})", "print(p)", self.raising({}), f"return {self.expr('any', 1)}", *(["break", "continue"] if loop else [])]))
                elif how < 0.55:
                    items = ", ".join([item() + r.choice(["", f" as {self.name()}"]) for _ in range(r.randint(1, 2))])
                    out.append((f"with {items}:", block(depth - 1, loop)))
                elif how < 0.8:
                    parts = ["try:", block(depth - 1, loop)]
                    if r.random() < 0.5:
                        e = self.name("e")
                        parts += [f"except {r.choice(['Exception', 'OSError', '(KeyError, ValueError)', 'BaseException'])} as {e}:", [f"print('in', repr({e}), repr({e}.__context__))"] + block(depth - 2, loop)]
                        if r.random() < 0.3:
                            parts += ["else:", block(depth - 2, loop)]
                    if len(parts) == 2 or r.random() < 0.6:
                        parts += ["finally:", ["print('finally')"] + (block(depth - 2, loop) if r.random() < 0.4 else [])]
                    out.append(tuple(parts))
                elif how < 0.9:
                    out.append((f"for p in {self.expr(r.choice(['ints', 'str', 'range']), 0)}:", block(depth - 1, True), "else:", ["print('else')"]))
                else:
                    out.append((f"if {self.expr('bool', 1)}:", block(depth - 1, loop)))
            return out

        return [*self.ERROR_CLASSES, manager, (f"def {f}(p):", block(4, False)), f"report(lambda: {f}({self.expr('any', 0)}))", f"report(lambda: {f}({self.expr('any', 0)}))"]

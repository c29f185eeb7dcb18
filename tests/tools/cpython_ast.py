"""Prints the syntax tree of a file as CPython 3.11 sees it, in the form of `tfl dump --ast`, to compare the two.

    python3 tests/tools/cpython_ast.py FILE > a; build/tfl dump --ast FILE > b; diff a b

Left out, because CPython 3.11 does not have them or places them inexactly: spans of parameters and inside f-strings, and whether a
tuple stands in parentheses.
"""

import ast
import sys

BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}
UNARY = {ast.Not: "not", ast.Invert: "~", ast.UAdd: "+", ast.USub: "-"}
COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}


class Dumper:
    def __init__(self, lines):
        self.lines = lines
        self.depth = 0
        self.in_format = 0
        self.out = []

    def column(self, line, offset):
        return len(self.lines[line - 1].encode()[:offset].decode())

    def head(self, node, what):
        if self.in_format:
            self.line(what + " -")
            return
        a = f"{node.lineno}:{self.column(node.lineno, node.col_offset)}"
        b = f"{node.end_lineno}:{self.column(node.end_lineno, node.end_col_offset)}"
        self.line(f"{what} {a}-{b}")

    def line(self, text):
        self.out.append("  " * self.depth + text)

    def child(self, e):
        if e is None:
            return
        self.depth += 1
        self.expr(e)
        self.depth -= 1

    def labelled(self, label, e):
        if e is None:
            return
        self.depth += 1
        self.line(label)
        self.child(e)
        self.depth -= 1

    def block(self, label, body):
        if not body:
            return
        self.line(label)
        self.depth += 1
        for s in body:
            self.stmt(s)
        self.depth -= 1

    def body(self, first, orelse=()):
        self.depth += 1
        self.block("body", first)
        self.block("else", orelse)
        self.depth -= 1

    def params(self, a):
        self.depth += 1
        plain = a.posonlyargs + a.args
        defaults = [None] * (len(plain) - len(a.defaults)) + a.defaults
        rows = [("positional-only" if i < len(a.posonlyargs) else "positional", p, d)
                for i, (p, d) in enumerate(zip(plain, defaults))]
        if a.vararg:
            rows.append(("*", a.vararg, None))
        rows += [("keyword-only", p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults)]
        if a.kwarg:
            rows.append(("**", a.kwarg, None))
        for kind, p, d in rows:
            self.line(f"param {kind} {p.arg}")
            self.labelled("annotation", p.annotation)
            self.labelled("default", d)
        self.depth -= 1

    def stmt(self, s):
        k = type(s).__name__
        if k == "Expr":
            self.head(s, "Expression")
            self.child(s.value)
        elif k == "Assign":
            self.head(s, "Assign")
            for t in s.targets:
                self.labelled("target", t)
            self.labelled("value", s.value)
        elif k == "AugAssign":
            self.head(s, f"AugAssign {BINARY[type(s.op)]}=")
            self.labelled("target", s.target)
            self.labelled("value", s.value)
        elif k == "AnnAssign":
            self.head(s, "AnnAssign simple" if s.simple else "AnnAssign")
            self.labelled("target", s.target)
            self.labelled("annotation", s.annotation)
            self.labelled("value", s.value)
        elif k in ("If", "While"):
            self.head(s, k)
            self.labelled("condition", s.test)
            self.body(s.body, s.orelse)
        elif k == "For":
            self.head(s, k)
            self.labelled("target", s.target)
            self.labelled("iterable", s.iter)
            self.body(s.body, s.orelse)
        elif k in ("Break", "Continue", "Pass"):
            self.head(s, k)
        elif k == "Return":
            self.head(s, k)
            self.child(s.value)
        elif k == "FunctionDef":
            self.head(s, f"FunctionDef {s.name}")
            for d in s.decorator_list:
                self.labelled("decorator", d)
            self.params(s.args)
            self.labelled("returns", s.returns)
            self.body(s.body)
        elif k == "ClassDef":
            self.head(s, f"ClassDef {s.name}")
            for d in s.decorator_list:
                self.labelled("decorator", d)
            for b in s.bases:
                self.labelled("base", b)
            self.body(s.body)
        elif k == "With":
            self.head(s, k)
            for item in s.items:
                self.labelled("context", item.context_expr)
                self.labelled("as", item.optional_vars)
            self.body(s.body)
        elif k == "Try":
            self.head(s, k)
            self.body(s.body)
            self.depth += 1
            for h in s.handlers:
                self.head(h, f"except as {h.name}" if h.name else "except")
                self.child(h.type)
                self.body(h.body)
            self.block("else", s.orelse)
            self.block("finally", s.finalbody)
            self.depth -= 1
        elif k == "Raise":
            self.head(s, k)
            self.labelled("exception", s.exc)
            self.labelled("from", s.cause)
        elif k == "Assert":
            self.head(s, k)
            self.labelled("condition", s.test)
            self.labelled("message", s.msg)
        elif k in ("Import", "ImportFrom"):
            self.head(s, k if k == "Import" else f"ImportFrom {s.module}")
            self.depth += 1
            for a in s.names:
                self.head(a, f"{a.name} as {a.asname}" if a.asname else a.name)
            self.depth -= 1
        elif k in ("Global", "Nonlocal"):
            self.head(s, k + "".join(" " + n for n in s.names))
        elif k == "Delete":
            self.head(s, k)
            for t in s.targets:
                self.child(t)
        else:
            self.head(s, "??? " + k)

    def quoted(self, text):
        out = ""
        for c in text if isinstance(text, str) else text.decode("latin-1"):
            if c == "\n":
                out += "\\n"
            elif c in "\\'":
                out += "\\" + c
            elif ord(c) < 0x20 or c == "\x7f" or (isinstance(text, bytes) and c >= "\x80"):
                out += f"\\x{ord(c):02x}"
            else:
                out += c
        return f"'{out}'"

    def constant(self, v):
        if v is None or v is True or v is False:
            return str(v)
        if v is ...:
            return "Ellipsis"
        if isinstance(v, int):
            return f"Int {v}"
        if isinstance(v, float):
            return f"Float {v:.17g}"
        return ("String " if isinstance(v, str) else "Bytes ") + self.quoted(v)

    def format_parts(self, node):
        self.head(node, "FormattedString")
        self.depth += 1
        self.in_format += 1
        for p in node.values:
            if isinstance(p, ast.Constant):
                self.line(self.quoted(p.value))
                continue
            self.line(f"field !{chr(p.conversion)}" if p.conversion > 0 else "field")
            self.child(p.value)
            spec = p.format_spec
            if spec is not None and all(isinstance(v, ast.Constant) for v in spec.values):
                text = "".join(v.value for v in spec.values)
                spec = ast.copy_location(ast.Constant(text), spec)
            self.labelled("spec", spec)
        self.in_format -= 1
        self.depth -= 1

    def expr(self, e):
        k = type(e).__name__
        if k == "Constant":
            self.head(e, self.constant(e.value))
        elif k == "UnaryOp" and isinstance(e.op, ast.USub) and isinstance(e.operand, ast.Constant) and e.operand.value == 1 << 63:
            self.head(e, f"Int {-(1 << 63)}")
        elif k == "JoinedStr":
            self.format_parts(e)
        elif k == "Name":
            self.head(e, f"Name {e.id}")
        elif k == "Attribute":
            self.head(e, f"Attribute {e.attr}")
            self.child(e.value)
        elif k == "Subscript":
            self.head(e, k)
            self.labelled("index", e.slice)
            self.child(e.value)
        elif k == "Slice":
            self.head(e, k)
            self.labelled("lower", e.lower)
            self.labelled("upper", e.upper)
            self.labelled("step", e.step)
        elif k == "Call":
            self.head(e, k)
            for a in e.args:
                self.labelled("arg", a)
            for kw in e.keywords:
                self.labelled(f"{kw.arg}=" if kw.arg else "**", kw.value)
            self.child(e.func)
        elif k == "UnaryOp":
            self.head(e, f"Unary {UNARY[type(e.op)]}")
            self.child(e.operand)
        elif k == "BinOp":
            self.head(e, f"Binary {BINARY[type(e.op)]}")
            self.labelled("right", e.right)
            self.child(e.left)
        elif k == "BoolOp":
            self.head(e, "BoolOp and" if isinstance(e.op, ast.And) else "BoolOp or")
            for v in e.values:
                self.child(v)
        elif k == "Compare":
            self.head(e, k)
            self.child(e.left)
            for op, v in zip(e.ops, e.comparators):
                self.labelled(COMPARE[type(op)], v)
        elif k == "IfExp":
            self.head(e, "Conditional")
            self.labelled("condition", e.test)
            self.labelled("then", e.body)
            self.labelled("else", e.orelse)
        elif k == "Lambda":
            self.head(e, k)
            self.params(e.args)
            self.child(e.body)
        elif k == "NamedExpr":
            self.head(e, f"NamedExpr {e.target.id}")
            self.child(e.value)
        elif k in ("Starred", "Yield", "YieldFrom"):
            self.head(e, k)
            self.child(e.value)
        elif k in ("Tuple", "List", "Set"):
            self.head(e, k)
            for v in e.elts:
                self.child(v)
        elif k == "Dict":
            self.head(e, k)
            for key, v in zip(e.keys, e.values):
                self.labelled("key", key)
                self.labelled("value" if key is not None else "**", v)
        elif k in ("ListComp", "SetComp", "DictComp", "GeneratorExp"):
            name = {"ListComp": "list", "SetComp": "set", "DictComp": "dict", "GeneratorExp": "generator"}[k]
            self.head(e, f"Comprehension {name}")
            self.labelled("element", e.key if k == "DictComp" else e.elt)
            self.labelled("value", e.value if k == "DictComp" else None)
            for g in e.generators:
                self.labelled("for", g.target)
                self.labelled("in", g.iter)
                for c in g.ifs:
                    self.labelled("if", c)
        else:
            self.head(e, "??? " + k)


def main():
    text = open(sys.argv[-1], encoding="utf-8-sig", newline=None).read()
    dumper = Dumper(text.split("\n"))
    dumper.block("Module", ast.parse(text).body)
    print("\n".join(dumper.out))


if __name__ == "__main__":
    main()

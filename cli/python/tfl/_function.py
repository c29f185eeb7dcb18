"""tfl.function: a Python function whose source text TFL compiles."""
import ast
import builtins
import functools
import inspect
import threading
import types

from ._native import Value


def _definition(f):
    """The statement `def` of a function, its text without decorators and without what it is indented by, and the number of its first line."""
    lines, first = inspect.getsourcelines(f)
    indent = len(lines[0]) - len(lines[0].lstrip())
    text = "".join(line[indent:] if line[:indent].isspace() or not indent else line for line in lines)
    tree = ast.parse(text).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise TypeError("tfl.function makes functions that a statement `def` defined; lambdas and coroutines it does not know")
    own = text.splitlines(keepends=True)[tree.lineno - 1:tree.end_lineno]
    return tree, "".join(own), first + tree.lineno - 1


def _names(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


class _Unit:
    """The functions that are compiled together: one and those that it calls."""

    def __init__(self, context):
        self.context = context
        self.module = context._interp.run_text("", "<tfl.function>", 1)
        self.done = {}

    def add(self, f):
        if f in self.done:
            return
        self.done[f] = None
        tree, text, line = _definition(f)
        names = _names(tree)
        closure = inspect.getclosurevars(f)
        known = {**closure.globals, **closure.nonlocals}
        # Names of annotations and defaults are not the function's own: they are looked up where it was defined.
        for name in names:
            if name not in known and name in f.__globals__:
                known[name] = f.__globals__[name]
        for name in sorted(names):
            if name in known and known[name] is not f and not (name == f.__name__ and isinstance(known[name], Function)):
                self.hand_over(f, name, known[name], line)
        self.context._said(self.context._interp.run_text, text, f.__code__.co_filename, line, self.module)

    def hand_over(self, f, name, value, line):
        if isinstance(value, types.ModuleType):
            # tfl itself is a module here and there; everything else is asked for by its name.
            self.context._interp.run_text(f"import {value.__name__} as {name}\n", f.__code__.co_filename, line, self.module)
        elif isinstance(value, Value) and value._kind == "module":
            # That of another context has its like in this one.
            setattr(self.module, name, self.context._interp.import_module(value.__name__))
        elif isinstance(value, Function):
            setattr(self.module, name, value._made(self.context))
        elif isinstance(value, types.FunctionType):
            self.add(value)
            if name != value.__name__:
                setattr(self.module, name, getattr(self.module, value.__name__))
        elif isinstance(value, type) and getattr(builtins, value.__name__, None) is value:
            pass
        else:
            try:
                setattr(self.module, name, value)
            except TypeError as e:
                raise TypeError(f"{f.__code__.co_filename}:{line}: {f.__name__}() uses {name}: {e}") from None


class Function:
    """What `tfl.function` makes of a Python function."""

    def __init__(self, f, context, options):
        if not isinstance(f, types.FunctionType):
            raise TypeError(f"tfl.function takes a Python function, not {type(f).__name__}")
        functools.update_wrapper(self, f)
        self._function = f
        self._context = context
        self._options = options
        self._compiled = {}
        self._lock = threading.Lock()

    def _made(self, context):
        made = self._compiled.get(context)
        if made is None:
            with self._lock:
                made = self._compiled.get(context)
                if made is None:
                    unit = _Unit(context)
                    unit.add(self._function)
                    plain = getattr(unit.module, self._function.__name__)
                    made = context._interp.import_module("tensorflow").function(plain, **self._options)
                    self._compiled[context] = made
        return made

    def __call__(self, *args, **kwargs):
        from . import context
        here = self._context or context()
        compiled = self._compiled.get(here) or self._made(here)
        if here._direct:
            return compiled(*args, **kwargs)
        try:
            return compiled(*args, **kwargs)
        finally:
            here._show()

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        raise TypeError("tfl.function takes functions, not methods: Python's objects are not TFL's")

    def __repr__(self):
        return f"<tfl.function {self.__qualname__}>"

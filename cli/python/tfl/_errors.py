"""TFL's errors as Python exceptions, with the lines of the script as frames of the traceback."""
import builtins
import types


class Error(Exception):
    """An error of a script. Each class of errors has a class of its own here (`tfl.InvalidArgumentError`), which is Python's class
    of that name, too, where Python has one.

    kind       the name of the class in TFL
    traceback  what the program tfl would print
    hint       what to do about it, or ""
    """
    kind = ""
    traceback = ""
    hint = ""


_classes = {"Error": Error}


def _class_of(kind):
    made = _classes.get(kind)
    if made is None:
        own = getattr(builtins, kind, None)
        bases = (Error,)
        if isinstance(own, type) and issubclass(own, Exception):
            bases = (Error, own)
        elif kind == "TimeLimitError":
            bases = (Error, TimeoutError)
        made = _classes[kind] = type(kind, bases, {"__module__": "tfl", "__doc__": f"{kind} of a script."})
    return made


def __getattr__(name):
    if name.endswith(("Error", "Iteration", "Warning")) and name.isidentifier():
        return _class_of(name)
    raise AttributeError(f"module 'tfl' has no attribute {name!r}")


def _frame(file, line, function, after):
    """A traceback entry for a line of a script: what is seen is a code object of that name that raised there."""
    code = compile("raise KeyError", file, "exec").replace(co_name=function, co_firstlineno=line)
    try:
        exec(code, {"__name__": function})
    except KeyError as e:
        inner = e.__traceback__.tb_next
        return types.TracebackType(after, inner.tb_frame, inner.tb_lasti, line)


def exception(kind, message, traceback, hint, places, exit_code):
    """The exception for an error of TFL: `places` are (file, line, function), outermost first."""
    if kind == "SystemExit":
        return SystemExit(exit_code if message.isdigit() or not message else message)
    if kind in ("KeyboardInterrupt", "GeneratorExit"):
        made = getattr(builtins, kind)(message)
    else:
        cls = _class_of(kind)
        # KeyError shows the repr of its argument, and what TFL says is that repr.
        made = cls(_Said(message)) if issubclass(cls, KeyError) else cls(message)
        made.kind, made.traceback, made.hint = kind, traceback, hint
        if kind == "SyntaxError":
            made.msg = message
            if places:
                made.filename, made.lineno = places[-1][:2]
            places = places[:-1]
        if hint:
            made.add_note(hint if hint.startswith("  ") else "  " + hint)
    after = None
    for file, line, function in reversed(places):
        after = _frame(file, line, function, after)
    return made.with_traceback(after)


class _Said(str):
    def __repr__(self):
        return str(self)

"""TFL in Python: scripts with TensorFlow's API, run by a native program that needs no TensorFlow.

    import tfl

    tfl.run("train.tfl", ["--epochs", "3"])          # as the program runs it
    model = tfl.load("model.tfl")                    # its functions take and give NumPy arrays
    model.predict(images)

    @tfl.function                                    # this very function, as a compiled graph
    def norm(x):
        return tf.sqrt(tf.reduce_sum(x * x))

Arrays are not copied on their way in and out. Several contexts run at once, one on each thread.
"""
import os as _os
import sys as _sys
import threading as _threading

from . import _native
from ._errors import Error, __getattr__ as _error_class
from ._native import Value

__version__ = _native.version
__build__ = _native.build
__all__ = ["Context", "Error", "Value", "context", "function", "import_module", "load", "run", "tensor"]

_JIT = {"auto": 0, "wait": 1, "off": 2}


class Context:
    """One interpreter: modules, variables, limits and rights of its own.

    Used by one thread at a time; other threads wait. Contexts know nothing of each other and run at once on several threads.

    memory       bytes that its tensors may take; None: 80 % of the machine
    time         seconds that one call may take; None: any
    threads      that one operation may use; None: all processors
    depth        calls within calls; None: 1000
    jit          "auto", "wait" (machine code before the first run) or "off"
    cache        whether bytecode and machine code are kept on disk
    allow_read, allow_write   folders that scripts may use beside their own and the working directory
    allow_all    whether they may use every file
    folder       where `import` looks first; None: the working directory

    `with context:` makes it the one that the functions of this module use on this thread.
    """

    def __init__(self, *, memory=None, time=None, threads=None, depth=None, jit="auto", cache=True, allow_read=(), allow_write=(),
                 allow_all=False, folder=None):
        if jit not in _JIT:
            raise ValueError(f"jit is 'auto', 'wait' or 'off', not {jit!r}")
        self._direct = _prints_directly()
        self._interp = _native.Interp(
            memory=memory or 0, time=time or 0.0, threads=threads or 0, depth=depth or 0, jit=_JIT[jit], cache=cache,
            allow_read=[_os.fspath(f) for f in allow_read], allow_write=[_os.fspath(f) for f in allow_write], allow_all=allow_all,
            folder=None if folder is None else _os.fspath(folder), keep_output=not self._direct)
        self._before = []

    def run(self, path, args=()):
        """Runs a script as the program does, `sys.argv[1:]` being `args`; gives its module. `sys.exit` in it raises SystemExit."""
        return self._said(self._interp.run, _os.fspath(path), [str(a) for a in args])

    def run_text(self, text, name="<string>", line=1):
        """Runs a text, which stands in the file `name` from `line` on; gives its module."""
        return self._said(self._interp.run_text, text, name, line)

    def load(self, path):
        """A script (its module), a saved model (a folder), an ONNX model (.onnx), a Keras model (.keras, .h5) or a library that `tfl build` made (.so)."""
        path = _os.fspath(path)
        if path.endswith(".so"):
            from . import _library
            return _library.load(path)
        return self._said(self._interp.load, path)

    def import_module(self, name):
        """A module of TFL: "tensorflow", "numpy", or a script's."""
        return self._said(self._interp.import_module, name)

    def tensor(self, array):
        """A tensor over the elements of an array, which are not copied and must not change while the tensor lives."""
        return self._interp.tensor(array)

    def function(self, f=None, **options):
        """tfl.function in this context."""
        from ._function import Function
        return Function(f, self, options) if f is not None else lambda g: Function(g, self, options)

    def cancel(self):
        """Stops what the context is doing on another thread: it raises KeyboardInterrupt there."""
        self._interp.cancel()

    def _said(self, work, *args):
        if self._direct:
            _sys.stdout.flush()
            return work(*args)
        try:
            return work(*args)
        finally:
            self._show()

    def _show(self):
        """What was printed goes where Python prints."""
        for number, stream in ((1, _sys.stdout), (2, _sys.stderr)):
            if text := self._interp.output(number):
                stream.write(text)

    def __enter__(self):
        self._before.append(getattr(_here, "context", None))
        _here.context = self
        return self

    def __exit__(self, *what):
        _here.context = self._before.pop()


def _prints_directly():
    """Whether Python's standard output is the process's: then scripts write there themselves."""
    try:
        return _sys.stdout.fileno() == 1 and _sys.stderr.fileno() == 2
    except (AttributeError, OSError, ValueError):
        return False


_here = _threading.local()
_default = None
_making = _threading.Lock()


def context():
    """The context that the functions of this module use: that of the innermost `with`, else one for the whole process."""
    global _default
    own = getattr(_here, "context", None)
    if own is not None:
        return own
    if _default is None:
        with _making:
            if _default is None:
                _default = Context()
    return _default


def run(path, args=(), **options):
    """Runs a script as the program does, in a context of its own (`options` are Context's); gives its module."""
    return Context(**options).run(path, args)


def load(path):
    """Context.load in the present context: a script, a saved model, an ONNX or Keras model, or a library that `tfl build` made."""
    return context().load(path)


def import_module(name):
    """A module of TFL, "tensorflow" for one."""
    return context().import_module(name)


def tensor(array):
    """A tensor over the elements of an array, which are not copied and must not change while the tensor lives."""
    return context().tensor(array)


def function(f=None, **options):
    """Makes a Python function one of TFL: its source text is compiled, traced and run by TFL; `options` are tf.function's.

    The names that it uses must stand for things that TFL knows: modules (`tf`, `np`, `math`), numbers, texts, arrays, lists of
    these, other functions. They are looked up when the function is called for the first time."""
    from ._function import Function
    if f is not None:
        return Function(f, None, options)
    return lambda g: Function(g, None, options)


def __getattr__(name):
    if name in ("tf", "np"):
        return import_module({"tf": "tensorflow", "np": "numpy"}[name])
    return _error_class(name)

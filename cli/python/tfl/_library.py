"""Libraries that `tfl build` made: the Python file that lies beside each is its interface."""
import importlib.util
import os


def load(path):
    """A context of libNAME.so, whose methods are the library's functions: NAME.Context() of the module NAME.py beside it."""
    folder, name = os.path.split(os.path.abspath(path))
    name = name.removeprefix("lib").removesuffix(".so")
    interface = os.path.join(folder, name + ".py")
    if not os.path.exists(path):
        raise FileNotFoundError(2, "No such file or directory", path)
    if not os.path.exists(interface):
        raise FileNotFoundError(2, f"tfl build writes {name}.py beside {os.path.basename(path)}; it is not there", interface)
    spec = importlib.util.spec_from_file_location(name, interface)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Context()

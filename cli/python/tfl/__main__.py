"""python -m tfl: the program tfl."""
import os
import sys

from . import _program


def main():
    program = _program.path()
    if program is None:
        sys.exit("python -m tfl: the program tfl is neither in the package nor on the path")
    os.execv(program, ["tfl", *sys.argv[1:]])


if __name__ == "__main__":
    main()

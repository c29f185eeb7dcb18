"""Where the program tfl is."""
import os
import shutil


def path():
    """The one that came with the package, else the one on the path; None: there is none."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tfl")
    return own if os.access(own, os.X_OK) else shutil.which("tfl")

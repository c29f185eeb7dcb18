#!/usr/bin/env python3
"""The prompt at a terminal: what is typed and pasted, Ctrl-C and the end. A pseudo-terminal of 80 columns plays the terminal."""
import argparse
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time


OWN = "TFL_OWN_TERMINALS"  # set where the test runs in a mount namespace with pseudo-terminals of its own


def open_terminal():
    if OWN not in os.environ:
        return pty.openpty()
    master = os.open("/dev/pts/ptmx", os.O_RDWR | os.O_NOCTTY)
    fcntl.ioctl(master, 0x40045431, struct.pack("i", 0))  # TIOCSPTLCK
    number = struct.unpack("I", fcntl.ioctl(master, 0x80045430, struct.pack("I", 0)))[0]  # TIOCGPTN
    return master, os.open(f"/dev/pts/{number}", os.O_RDWR | os.O_NOCTTY)


def with_own_terminals():
    """A bare root has no /dev/pts: the test once more, where there is one. None: no right to make one."""
    mount = "mkdir -p /dev/pts && mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts"
    inside = ["unshare", "-m", "--propagation", "unchanged", "sh", "-c"]  # in a chroot / is no mount whose propagation could be changed
    if subprocess.run(inside + [mount + " && umount /dev/pts"], capture_output=True).returncode:
        return None
    run = mount + ' && { "$@"; code=$?; umount -l /dev/pts; exit $code; }'
    return subprocess.run(inside + [run, "sh", sys.executable] + sys.argv, env={**os.environ, OWN: "1"}).returncode


class Terminal:
    def __init__(self, tfl, folder):
        master, slave = open_terminal()
        modes = termios.tcgetattr(slave)
        modes[0] |= 0x4000  # IUTF8, as terminals have it: what is typed before the editor listens is erased by characters, too
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TFL_", "LC_", "LANG"))}
        env.update(TERM="xterm", HOME=folder, XDG_CACHE_HOME=folder, XDG_STATE_HOME=folder)

        def own_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([tfl, "repl"], stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=env, preexec_fn=own_terminal)
        os.close(slave)
        self.master, self.text = master, ""

    def wait(self, wanted, seconds=20):
        """Reads until `wanted` (a pattern) is there, and gives what came before it and it."""
        end = time.monotonic() + seconds
        while not (found := re.search(wanted, self.text)):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.master], [], [], left)[0]:
                sys.exit(f"prompt.py: no {wanted!r} in {self.text!r}")
            try:
                data = os.read(self.master, 65536)
            except OSError:
                data = b""
            if not data:
                sys.exit(f"prompt.py: it ended before {wanted!r}: {self.text!r}")
            self.text += re.sub(r"\x1b\[\??[0-9;]*[A-Za-z]", "", data.decode("utf-8", "replace")).replace("\r", "")
        got, self.text = self.text[:found.end()], self.text[found.end():]
        return got

    def type(self, text, wanted=">>> "):
        os.write(self.master, text.encode())
        return self.wait(wanted) if wanted else ""

    def paste(self, text, wanted=">>> "):
        return self.type(f"\x1b[200~{text}\x1b[201~", wanted)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tfl", default="build/tfl")
    tfl = os.path.abspath(p.parse_args().tfl)
    try:
        for fd in open_terminal():
            os.close(fd)
    except OSError as e:
        code = with_own_terminals()
        if code is None:
            print(f"there are no pseudo-terminals here ({e}) and none can be made: nothing to try")
        return code or 0
    with tempfile.TemporaryDirectory() as folder:
        t = Terminal(tfl, folder)
        t.wait(">>> ")
        t.type("s = 'é日本☕'\r", "\n>>> ")
        t.type("s, len(s)\r", r"\('é日本☕', 4\)\n>>> ")
        t.type("größe = 3\r", "\n>>> ")
        t.type("größe * 2\r", r"\n6\n>>> ")
        # Keys that move and take away whole characters.
        t.type("'日本語\x7f\x7f'\r", r"'日'\n>>> ")
        t.type("'ac'\x1b[D\x1b[Dé\r", r"\n'aéc'\n>>> ")
        # Ctrl-C takes the statement that is begun and nothing else, whatever is typed with it.
        for begun in ("x = 12", "def f(", "def f():\r    return 1\r", "(1,\r2"):
            t.type(begun, None)
            time.sleep(0.1)
            t.type("\x03", r"KeyboardInterrupt\n>>> ")
            t.type("40 + 2\r", r"\n42\n>>> ")
        for _ in range(20):
            t.type("\x03", None)
            t.type("7 * 3\r", r"21\n>>> |KeyboardInterrupt")
        time.sleep(0.1)
        t.type("\r", ">>> ")
        t.text = ""
        t.type("1000 + 1\r", r"\n1001\n>>> ")
        t.type("while True: pass\r\r", None)
        time.sleep(0.3)
        t.type("\x03", r"KeyboardInterrupt\n>>> ")
        # What is pasted is taken as a whole: empty lines end nothing, and statements may follow each other.
        t.paste("class A:\n    x = 'ü'\n\n    def f(self):\n\n        return self.x * 2\n\n\nprint(A().f())\nA.x\n", r"\nüü\n'ü'\n>>> ")
        t.paste("def g(n):\r\n\r\n    return n + 1", r"\.\.\.     return n \+ 1")
        t.type("\r", "\n>>> ")
        t.type("g(", None)
        t.paste("5", None)
        t.type(")\r", r"\n6\n>>> ")
        t.paste("[1,\n\n2]\n", r"\n\[1, 2\]\n>>> ")
        t.type("def h():\r", r"\.\.\. ")
        t.paste("    a = 1\n\n    return a\n", r"return a\n(.*\n)*\.\.\. ")
        t.type("\r", ">>> ")
        t.type("h()\r", r"\n1\n>>> ")
        t.type("if True:\r\tprint('in')\r\r", r"\nin\n>>> ")
        t.type("import te\t", "import te")
        t.type("\x03", r"KeyboardInterrupt\n>>> ")
        t.type("largest = 5\r", ">>> ")
        t.type("larg\t + 1\r", r"\n6\n>>> ")
        t.type("\x1b[A\r", r"\n6\n>>> ")  # the line before
        t.type("x = '" + "ä" * 100 + "'; len(x)\r", r"\n100\n>>> ")  # longer than the terminal is wide
        # A block comes back whole, is indented by the prompt, and is edited whole.
        t.type("def twice(n):\rreturn n * 2\r\r", "\n>>> ")
        t.type("twice(4)\r", r"\n8\n>>> ")
        t.type("\x1b[A", r"twice\(4\)")  # each key when the line before it is there
        t.type("\x1b[A", r"return n \* 2")
        t.type("\x7f3\r", r"3\n>>> ")
        t.type("twice(4)\r", r"\n12\n>>> ")
        # breakpoint() asks in between, and goes on.
        t.type("def stops(n):\rbreakpoint()\rreturn n + 1\r\r", "\n>>> ")
        t.type("stops(4)\r", r"stops\(\)\n\(tfl\) ")
        t.type("p n * 3\r", r"\n12\n\(tfl\) ")
        t.type("n = 7\r", r"\(tfl\) ")
        t.type("c\r", r"\n8\n>>> ")
        # Sources, pages, times, scripts.
        t.type("twice??\r", r"def twice\(n\):\n    return n \* 3\n(.*\n)*>>> ")
        t.type("len?\r", r"built-in function len(.*\n)*>>> ")
        t.type("nothing?\r", r"NameError: name 'nothing' is not defined\n(.*\n)*>>> ")
        t.type("%time twice(5)\r", r"\n15\nCPU time: [^\n]* wall time: [^\n]*s\n>>> ")
        t.type("%timeit twice(5)\r", r"[mµn]?s ± [^\n]* per loop \(mean ± std\. dev\. of 7 runs, [\d,]+ loops each\)\n>>> ")
        t.type("%timeit 1 / 0\r", r"ZeroDivisionError: division by zero\n>>> ")
        t.type("%%time\rtotal = 0\rfor i in range(4):\rtotal += i\r\r", r"wall time: [^\n]*\n>>> ")
        t.type("total\r", r"\n6\n>>> ")
        t.type("%load_ext x\r", r"there is no %load_ext in TFL(.*\n)*>>> ")
        with open(os.path.join(folder, "part.tfl"), "w") as f:
            f.write("def half(x):\n    return x / 2\n\n\npart = half(9)\n")
        t.type("%run par\t\r", ">>> ")
        t.type("part, half(3)\r", r"\(4\.5, 1\.5\)\n>>> ")
        # Keyword arguments, keys.
        t.type("def area(width=1, height=2): return width * height\r\r", "\n>>> ")
        t.type("area(width=3, hei\t5)\r", r"\n15\n>>> ")
        t.type("d = {'alpha': 7, 'beta': 8}\r", ">>> ")
        t.type("d['al\t + 1\r", r"\n8\n>>> ")
        t.type("\x12largest\r", None)  # search in what was typed before
        t.type("\r", ">>> ")
        t.type("largest\r", r"\n5\n>>> ")
        t.type("\x04", None)
        if t.process.wait(20) != 0:
            sys.exit(f"prompt.py: exit status {t.process.returncode}")
        with open(os.path.join(folder, "tfl", "history"), "rb") as f:
            if b"largest" not in f.read():
                sys.exit("prompt.py: the history was not kept")
    print("the prompt: as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())

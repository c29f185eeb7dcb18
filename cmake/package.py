#!/usr/bin/env python3
"""Packages of what the build folder holds: an archive that runs from any folder, a package for Debian, a wheel for Python. The bytes depend on
what was built and on the commit alone: files are in order, owned by root, as old as the commit.

usage: package.py --build DIR --out DIR [--fast] [--only archive|deb|wheel]
"""
import argparse
import base64
import ctypes
import hashlib
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PLATFORM = "linux-x86_64"
GLIBC = (2, 36)  # the oldest that has all that the linker was told to use (packed relocations)
SUMMARY = "A tensor language with TensorFlow's API and a native compiler"


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def commit_time():
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    done = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 else 315532800  # the oldest that a zip file can tell


def files_below(folder):
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(where, name)
            yield os.path.relpath(path, folder), path


def mode_of(path):
    """755 for what may be run, else 644, whatever the user's mask was."""
    return 0o755 if os.stat(path).st_mode & stat.S_IXUSR else 0o644


def add_licences(build, doc):
    """The licence of TFL, and of each package that the list of what it is made of names."""
    folder = os.path.join(doc, "licences")
    os.makedirs(folder, exist_ok=True)
    shutil.copy(os.path.join(ROOT, "LICENSE"), os.path.join(doc, "copyright"))
    with open(os.path.join(build, "tfl.spdx.json"), encoding="utf-8") as f:
        packages = [p["name"] for p in json.load(f)["packages"] if p["name"] != "tfl"]
    for name in packages:
        source = os.path.join("/usr/share/doc", name, "copyright")
        if os.path.exists(source):
            shutil.copy(source, os.path.join(folder, name))
    return packages


def stage(build, folder):
    run("cmake", "--install", build, "--prefix", folder, "--strip")
    shutil.copy(os.path.join(build, "tfl.spdx.json"), os.path.join(folder, "share/doc/tfl/tfl.spdx.json"))
    add_licences(build, os.path.join(folder, "share/doc/tfl"))
    for where, folders, names in os.walk(folder):
        for name in folders:
            os.chmod(os.path.join(where, name), 0o755)
        for name in names:
            path = os.path.join(where, name)
            if not os.path.islink(path):
                os.chmod(path, mode_of(path))


def archive(folder, name, out, when, fast):
    """NAME.tar.zst of `folder`, everything below NAME/."""
    def plain(info):
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        info.mtime = when
        return info
    tar = os.path.join(out, name + ".tar")
    with tarfile.open(tar, "w", format=tarfile.GNU_FORMAT) as t:
        for relative, path in files_below(folder):
            t.add(path, f"{name}/{relative}", recursive=False, filter=plain)
    run("zstd", "-3" if fast else "-19", "--long=27", "-T1", "-q", "-f", "--rm", tar, "-o", tar + ".zst")
    return tar + ".zst"


def debian(folder, version, out, when, scratch, fast):
    root = os.path.join(scratch, "deb")
    shutil.copytree(folder, os.path.join(root, "usr"), symlinks=True)
    size = sum(os.lstat(p).st_size for _, p in files_below(root)) // 1024
    os.makedirs(os.path.join(root, "DEBIAN"))
    control = f"""Package: tfl
Version: {version}
Architecture: amd64
Maintainer: TFL <tfl@localhost>
Installed-Size: {size}
Section: devel
Priority: optional
Depends: libc6 (>= {GLIBC[0]}.{GLIBC[1]})
Suggests: libhdf5-103-1, python3-numpy, openmpi-bin | mpich
Description: {SUMMARY}
 A .tfl script is Python 3 with TensorFlow's API; one native program parses,
 traces, compiles and runs it. Contains the program, the library libtfl with
 its headers for C and C++, and the Python package tfl.
"""
    with open(os.path.join(root, "DEBIAN", "control"), "w", encoding="utf-8") as f:
        f.write(control)
    for where, folders, _ in os.walk(root):
        os.chmod(where, 0o755)
    name = os.path.join(out, f"tfl_{version}_amd64.deb")
    run("dpkg-deb", "--root-owner-group", "-Zxz", "-z0" if fast else "-z6", "--build", root, name, env=dict(os.environ, SOURCE_DATE_EPOCH=str(when)))
    return name


class Deflate:
    """What zipfile asks to compress a file, by libdeflate: 4 % smaller than zlib makes it (levels to 12)."""

    def __init__(self, level):
        try:
            self.library = ctypes.CDLL("libdeflate.so.0")
        except OSError:
            sys.exit("a wheel needs libdeflate: Debian has it in libdeflate0")
        self.library.libdeflate_alloc_compressor.restype = ctypes.c_void_p
        self.library.libdeflate_deflate_compress.restype = self.library.libdeflate_deflate_compress_bound.restype = ctypes.c_size_t
        self.level, self.data = level, b""

    def compress(self, data):
        self.data += bytes(data)
        return b""

    def flush(self):
        compressor = ctypes.c_void_p(self.library.libdeflate_alloc_compressor(self.level))
        most = self.library.libdeflate_deflate_compress_bound(compressor, ctypes.c_size_t(len(self.data)))
        out = ctypes.create_string_buffer(most)
        n = self.library.libdeflate_deflate_compress(compressor, self.data, ctypes.c_size_t(len(self.data)), out, ctypes.c_size_t(most))
        self.library.libdeflate_free_compressor(compressor)
        return out.raw[:n]


def wheel(folder, version, out, when, fast):
    """The package, and beside its files what it needs: the library, LLVM, the program."""
    tag = f"cp311-abi3-manylinux_{GLIBC[0]}_{GLIBC[1]}_x86_64"
    info = f"tfl-{version}.dist-info"
    package = os.path.join(folder, "lib/python3/dist-packages/tfl")
    if not os.path.isdir(package):
        sys.exit("the Python package was not built: Debian has Python's headers in libpython3-dev")
    parts = {f"tfl/{relative}": path for relative, path in files_below(package)}
    parts["tfl/libtfl.so.1"] = os.path.realpath(os.path.join(folder, "lib/libtfl.so.1"))
    for name in ("libtfl_llvm.so", "libtfl_hdf5.so", "libtfl_mpi.so", "libtfl_mpich.so"):
        path = os.path.join(folder, "lib/tfl", name)
        if os.path.exists(path):
            parts["tfl/" + name] = path
    parts["tfl/tfl"] = os.path.join(folder, "bin/tfl")
    for relative, path in files_below(os.path.join(folder, "share/doc/tfl")):
        parts[f"{info}/licenses/{relative}"] = path
    with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as f:
        page = f.read()
    texts = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tfl\nVersion: {version}\nSummary: {SUMMARY}\nRequires-Python: >=3.11\n"
                            f"Provides-Extra: numpy\nRequires-Dist: numpy; extra == 'numpy'\nDescription-Content-Type: text/markdown\n\n{page}",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tfl\nRoot-Is-Purelib: false\nTag: {tag}\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntfl = tfl.__main__:main\n",
    }
    level = 10 if fast else 12
    date = time.gmtime(max(when, 315532800))[:6]
    record = io.StringIO()
    name = os.path.join(out, f"tfl-{version}-{tag}.whl")
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as z:
        def add(where, data, mode):
            entry = zipfile.ZipInfo(where, date)
            entry.external_attr = (stat.S_IFREG | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            with z.open(entry, "w") as out:
                if hasattr(out, "_compressor"):
                    out._compressor = Deflate(level)
                out.write(data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.write(f"{where},sha256={digest},{len(data)}\n")
        for where in sorted(parts):
            with open(parts[where], "rb") as f:
                add(where, f.read(), mode_of(parts[where]))
        for where in sorted(texts):
            add(where, texts[where].encode(), 0o644)
        record.write(f"{info}/RECORD,,\n")
        entry = zipfile.ZipInfo(f"{info}/RECORD", date)
        entry.external_attr = (stat.S_IFREG | 0o644) << 16
        z.writestr(entry, record.getvalue())
    return name


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--fast", action="store_true", help="larger packages in less time, to try them")
    p.add_argument("--only", choices=("archive", "deb", "wheel"), action="append")
    args = p.parse_args()
    only = args.only or ("archive", "deb", "wheel")
    os.makedirs(args.out, exist_ok=True)
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as f:
        version = re.search(r"project\(tfl VERSION ([\d.]+)", f.read()).group(1)
    when = commit_time()
    with tempfile.TemporaryDirectory() as scratch:
        staged = os.path.join(scratch, "staged")
        stage(os.path.abspath(args.build), staged)
        made = []
        if "archive" in only:
            made.append(archive(staged, f"tfl-{version}-{PLATFORM}", args.out, when, args.fast))
        if "deb" in only:
            made.append(debian(staged, version, args.out, when, scratch, args.fast))
        if "wheel" in only:
            made.append(wheel(staged, version, args.out, when, args.fast))
    sums = []
    for path in made:
        with open(path, "rb") as f:
            data = f.read()
        sums.append(f"{hashlib.sha256(data).hexdigest()}  {os.path.basename(path)}\n")
        print(f"{len(data) / 1e6:6.1f} MB  {path}")
    with open(os.path.join(args.out, "SHA256SUMS"), "w", encoding="utf-8") as f:
        f.writelines(sums)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A release: the change log has its version, all tests pass, packages are made twice with the same bytes, tried in roots that hold nothing else, and
their sums are signed. `./dev release` calls it.

usage: release.py --build DIR --out DIR --key KEY [--draft] [--suites LIST] [--only STEP]

KEY is a private key of SSH; with it `ssh-keygen -Y sign` makes SHA256SUMS.sig, which everybody checks with the file allowed_signers that comes along:

    ssh-keygen -Y verify -f allowed_signers -I tfl -n tfl-release -s SHA256SUMS.sig < SHA256SUMS && sha256sum -c SHA256SUMS
"""
import argparse
import filecmp
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
STEPS = ("check", "test", "package", "roots", "sign")
SUITES = "bookworm,trixie"

# What a user does in a fresh root, as root (the .deb), then as a normal user in a home folder (the archive, the wheel).
TRIAL = r"""set -e
mount -t proc proc /proc   # where the program learns its own place
dpkg -i /packages/*.deb > /dev/null
useradd -m reader
cat > /trial.sh << 'END'
set -e
cd ~
cat > numbers.tfl << 'SCRIPT'
import tensorflow as tf
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def twice(x):
    return x + x
if __name__ == "__main__":
    print(twice(tf.constant([1.5, 2.0])).numpy())
SCRIPT
cat > use.c << 'SCRIPT'
#include <stdio.h>
#include "numbers.h"
int main(void) {
  const float x[2] = {1.5f, 2.0f};
  float y[2] = {0};
  tfl_context *context = NULL;
  if (numbers_context_new(NULL, &context) != TFL_OK || numbers_twice_f32(context, x, 2, y) != TFL_OK) return 1;
  printf("%g %g\n", y[0], y[1]);
  numbers_context_free(context);
  return 0;
}
SCRIPT
try() {
  test "$(tfl run --jit=wait numbers.tfl)" = "[3. 4.]"
  rm -rf out
  tfl build numbers.tfl -o out > /dev/null
  cc use.c -Iout -Lout -lnumbers -Wl,-rpath,out -o use
  test "$(./use)" = "3 4"
}
try
echo ".deb: a script, a library, a C program"
mkdir archive && tar --use-compress-program='zstd -d --long=27' -xf /packages/*.tar.zst -C archive
PATH=$(echo "$PWD"/archive/*/bin):/usr/bin:/bin
try
echo "archive: a script, a library, a C program"
python3 -m zipfile -e /packages/*.whl wheel && chmod +x wheel/tfl/tfl
PYTHONPATH=wheel python3 -c 'import array, tfl; print("wheel:", memoryview(tfl.load("numbers.tfl").twice(array.array("f", [4.0]))).tolist())'
END
chmod 755 /trial.sh
su reader -c 'bash /trial.sh'
"""


def run(*command, **options):
    print("+", *command, file=sys.stderr, flush=True)
    done = subprocess.run([str(c) for c in command], check=False, **options)
    if done.returncode != 0:
        sys.exit(f"release: {command[0]} ended with status {done.returncode}")


def check(options, folder):
    """The change log has a section of this version with a date, and nothing is left to commit."""
    said = subprocess.run([os.path.join(options.build, "tfl"), "--version"], capture_output=True, text=True, check=True).stdout
    version = re.match(r"tfl (\d+\.\d+\.\d+)", said)[1]
    with open(options.changes, encoding="utf-8") as f:
        section = re.search(rf"^## {re.escape(version)}, (.*)$", f.read(), re.M)
    if section is None:
        sys.exit(f"release: {options.changes} has no section of version {version}")
    if options.draft:
        return
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", section[1]):
        sys.exit(f"release: the section of {version} in {options.changes} says '{section[1]}' in place of a date")
    if not os.path.isdir(os.path.join(ROOT, "tests", "old", version)):
        sys.exit(f"release: tests/old has no files of {version}: tests/tools/old_artefacts.py --make writes them")
    if subprocess.run(["git", "-C", ROOT, "status", "--porcelain"], capture_output=True, text=True, check=True).stdout:
        sys.exit("release: there are changes that are not committed")
    if "+" in said:
        sys.exit("release: the program was built from changes that are not committed")


def test(options, folder):
    run(sys.executable, os.path.join(ROOT, "tests", "run"), "--build", options.build)


def package(options, folder):
    """Packages, twice: the bytes are the same."""
    how = ["--fast"] if options.draft else []
    again = os.path.join(folder, "again")
    for out in (options.out, again):
        run(sys.executable, os.path.join(HERE, "package.py"), "--build", options.build, "--out", out, *how)
    names = sorted(os.listdir(again))
    _, different, missing = filecmp.cmpfiles(options.out, again, names, shallow=False)
    if different or missing:
        sys.exit(f"release: two runs differ in {', '.join(different + missing)}")


def roots(options, folder):
    """The packages in roots that debootstrap makes, without the clone and without a network."""
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        sys.exit("release: clean roots need root and the package debootstrap; --only runs the other steps")
    for suite in options.suites.split(","):
        root = os.path.join(folder, suite)
        run("debootstrap", "--variant=minbase", "--include=zstd,gcc,libc6-dev,python3", suite, root, stdout=subprocess.DEVNULL)
        os.makedirs(os.path.join(root, "packages"))
        for name in os.listdir(options.out):
            if name.endswith((".deb", ".whl", ".tar.zst")):
                shutil.copy(os.path.join(options.out, name), os.path.join(root, "packages", name))
        print(f"{suite}:", flush=True)
        run("unshare", "--net", "--mount", "chroot", root, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "bash", "-s", input=TRIAL, text=True)
        shutil.rmtree(root)


def sign(options, folder):
    """Sums of all files of the folder, and a signature of the sums."""
    if options.key is None:
        sys.exit("release: --key says which private key of SSH signs")
    made = ("SHA256SUMS", "SHA256SUMS.sig", "allowed_signers")
    lines = []
    for name in sorted(os.listdir(options.out)):
        if name not in made:
            with open(os.path.join(options.out, name), "rb") as f:
                lines.append(f"{hashlib.file_digest(f, 'sha256').hexdigest()}  {name}\n")
    if not lines:
        sys.exit(f"release: there is nothing in {options.out}")
    for name in made:
        if os.path.exists(os.path.join(options.out, name)):
            os.remove(os.path.join(options.out, name))
    with open(os.path.join(options.out, "SHA256SUMS"), "w", encoding="utf-8") as f:
        f.writelines(lines)
    public = subprocess.run(["ssh-keygen", "-y", "-f", options.key], capture_output=True, text=True, check=False)
    if public.returncode != 0:
        sys.exit(f"release: {options.key} is no private key of SSH: {public.stderr.strip()}")
    with open(os.path.join(options.out, "allowed_signers"), "w", encoding="utf-8") as f:
        f.write(f'tfl namespaces="tfl-release" {" ".join(public.stdout.split()[:2])}\n')
    run("ssh-keygen", "-Y", "sign", "-f", options.key, "-n", "tfl-release", os.path.join(options.out, "SHA256SUMS"))


def main():
    p = argparse.ArgumentParser(description="Makes a release.")
    p.add_argument("--build", required=True, help="the build folder")
    p.add_argument("--out", required=True, help="where the files of the release go")
    p.add_argument("--key", help="the private key of SSH that signs")
    p.add_argument("--changes", default=os.path.join(ROOT, "CHANGELOG.md"), help="the change log")
    p.add_argument("--draft", action="store_true", help="to try it: no date, no commit, larger packages in a tenth of the time")
    p.add_argument("--suites", default=SUITES, help=f"Debian's versions whose roots are tried (default: {SUITES})")
    p.add_argument("--only", choices=STEPS, action="append", help="this step alone; may be repeated")
    options = p.parse_args()
    options.build, options.out = os.path.abspath(options.build), os.path.abspath(options.out)
    os.makedirs(options.out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for step in options.only or STEPS:
            globals()[step](options, folder)
    print(options.out)


if __name__ == "__main__":
    main()

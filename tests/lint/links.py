#!/usr/bin/env python3
"""Do the links between pages lead somewhere? Prints `ok RULE` or `FAIL RULE`, as tests/run expects: every relative link of a page (Markdown) names a
file or folder of the project, and what stands behind `#` is a heading of that page; the book (docs/index.md) has every page of docs."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r"!?\[(?:[^\]\[`]|`[^`]*`|\[[^\]]*\])*\]\(([^()\s]+)\)")
BLOCK = re.compile(r"^(```+).*?^\1$", re.M | re.S)


def pages():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.split("\0") if path and os.path.exists(os.path.join(ROOT, path))]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return BLOCK.sub("", f.read())


def anchors(text):
    """Names of the headings, as GitHub and MyST make them."""
    out = set()
    for heading in re.findall(r"^#+ +(.*?) *$", text, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        out.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return out


def wrong(path):
    text = read(path)
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        place = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.exists(os.path.join(ROOT, place)):
            yield f"{path}: there is no {target}"
        elif anchor and place.endswith(".md") and anchor not in anchors(read(place)):
            yield f"{path}: {place} has no heading #{anchor}"


def left_out():
    with open(os.path.join(ROOT, "docs", "index.md"), encoding="utf-8") as f:
        listed = f.read().split("\n")
    for path in pages():
        name = path.removeprefix("docs/").removesuffix(".md")
        if path.startswith("docs/") and not name.startswith("decisions/") and name not in ("README", "index") and name not in listed:
            yield f"docs/index.md: there is no line {name}"


def main():
    for rule, problems in (("links lead somewhere", [p for path in pages() for p in wrong(path)]), ("the book has every page", list(left_out()))):
        print("FAIL" if problems else "ok", rule)
        for problem in problems:
            print("  " + problem)


if __name__ == "__main__":
    main()

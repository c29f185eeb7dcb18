#!/usr/bin/env python3
"""Writes unicode_classes.inc, unicode_letters.inc and unicode_case.inc from what this Python knows of Unicode.

A class of characters is a sorted list of code points where membership changes; a case mapping is a list of ranges
{first, last, step, delta}, with the mappings to several characters apart. Run it in this folder; the files are kept.
"""
import unicodedata

LIMIT = 0x110000
HEAD = "// Made by unicode_tables.py from Unicode %s; do not edit.\n" % unicodedata.unidata_version


def text_of(cp):
    return chr(cp)


CLASSES = [
    ("alpha", str.isalpha),
    ("decimal", str.isdecimal),
    ("digit", str.isdigit),
    ("numeric", str.isnumeric),
    ("space", str.isspace),
    ("printable", str.isprintable),
    ("upper", str.isupper),
    ("lower", str.islower),
    ("titlecase", lambda c: unicodedata.category(c) == "Lt"),
    ("case_ignorable", lambda c: unicodedata.category(c) in ("Mn", "Me", "Cf", "Lm", "Sk") or c in "'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a"),
    ("id_start", str.isidentifier),
    ("id_continue", lambda c: ("a" + c).isidentifier()),
]


def wrapped(items, out, indent="    ", width=118):
    line = indent
    for item in items:
        piece = item + ","
        if len(line) + len(piece) + 1 > width:
            out.append(line.rstrip())
            line = indent
        line += piece + " "
    if line.strip():
        out.append(line.rstrip())


def classes():
    out = [HEAD.rstrip()]
    for name, member in CLASSES:
        points, inside = [], False
        for cp in range(LIMIT):
            now = bool(member(text_of(cp)))
            if now != inside:
                points.append(cp)
                inside = now
        if inside:
            points.append(LIMIT)
        out.append("inline constexpr uint32_t k_%s[] = {" % name)
        wrapped(["0x%x" % p if p > 9 else str(p) for p in points], out)
        out.append("};")
        if name == "printable":
            open("unicode_classes.inc", "w").write("\n".join(out) + "\n")
            out = [HEAD.rstrip()]
    # The first digit (0) of each run of ten decimal digits.
    zeros = [cp for cp in range(LIMIT) if text_of(cp).isdecimal() and unicodedata.decimal(text_of(cp)) == 0]
    for z in zeros:
        assert all(unicodedata.decimal(text_of(z + i)) == i for i in range(10))
    out.append("inline constexpr uint32_t k_decimal_zeros[] = {")
    wrapped(["0x%x" % p for p in zeros], out)
    out.append("};")
    open("unicode_letters.inc", "w").write("\n".join(out) + "\n")


def mapping_ranges(single):
    ranges = []
    for cp in sorted(single):
        delta = single[cp] - cp
        if ranges:
            first, last, step, d = ranges[-1]
            if d == delta and cp - last in (1, 2) and (first == last or cp - last == step):
                ranges[-1] = (first, cp, cp - last, d)
                continue
        ranges.append((cp, cp, 1, delta))
    return ranges


def cases():
    out = [HEAD.rstrip()]
    for name, convert in [("to_upper", str.upper), ("to_lower", str.lower), ("to_title", str.title), ("to_fold", str.casefold)]:
        single, many = {}, []
        for cp in range(LIMIT):
            if 0xD800 <= cp < 0xE000:
                continue
            c = text_of(cp)
            to = convert(c)
            if to == c:
                continue
            if len(to) == 1:
                single[cp] = ord(to)
            else:
                many.append((cp, to))
        out.append("inline constexpr CaseRange k_%s[] = {" % name)
        wrapped(["{0x%x,0x%x,%d,%d}" % r for r in mapping_ranges(single)], out)
        out.append("};")
        out.append("inline constexpr CaseText k_%s_text[] = {" % name)
        wrapped(['{0x%x,"%s"}' % (cp, "".join("\\%03o" % b for b in to.encode())) for cp, to in many], out)
        out.append("};")
    open("unicode_case.inc", "w").write("\n".join(out) + "\n")


classes()
cases()

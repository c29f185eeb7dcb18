#!/usr/bin/env python3
"""Writes unicode_classes.inc, unicode_letters.inc, unicode_case.inc and normal_form*.inc from what this Python knows of Unicode.

A class of characters is a sorted list of code points where membership changes; a case mapping is a list of ranges
{first, last, step, delta}, with the mappings to several characters apart. Normal forms are known for characters of names. Run it in this folder; the files are kept.
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


def octal(text):
    return "".join("\\%03o" % b for b in text.encode())


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
        wrapped(['{0x%x,"%s"}' % (cp, octal(to)) for cp, to in many], out)
        out.append("};")
    open("unicode_case.inc", "w").write("\n".join(out) + "\n")


def normal_forms():
    part_of_name = [cp for cp in range(0x80, LIMIT) if ("a" + text_of(cp)).isidentifier() and not 0xAC00 <= cp < 0xD7A4]
    pairs = {}
    for cp in range(0x80, LIMIT):
        parts = unicodedata.decomposition(text_of(cp)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            a, b = [int(p, 16) for p in parts]
            if unicodedata.normalize("NFC", chr(a) + chr(b)) == chr(cp):
                pairs[cp] = (a, b)
    single, many = {}, []
    for cp in part_of_name:
        apart = unicodedata.normalize("NFKD", text_of(cp))
        if apart == text_of(cp):
            continue
        if len(apart) == 1:
            single[cp] = ord(apart)
        elif cp not in pairs:
            many.append((cp, apart))
    classes = []
    for cp in part_of_name:
        c = unicodedata.combining(text_of(cp))
        if c and classes and classes[-1][1] == cp - 1 and classes[-1][2] == c:
            classes[-1][1] = cp
        elif c:
            classes.append([cp, cp, c])
    out = [HEAD.rstrip(), "inline constexpr NormalShift k_compatible[] = {"]
    wrapped(["{0x%x,0x%x,%d,%d}" % r for r in mapping_ranges(single)], out)
    out.append("};")
    open("normal_form_single.inc", "w").write("\n".join(out) + "\n")
    out = [HEAD.rstrip(), "inline constexpr NormalText k_compatible_text[] = {"]
    wrapped(['{0x%x,"%s"}' % (cp, octal(to)) for cp, to in many], out)
    out += ["};", "inline constexpr Composed k_composed[] = {"]
    wrapped(["{0x%x,0x%x,0x%x}" % (a, b, cp) for cp, (a, b) in sorted(pairs.items(), key=lambda p: p[1])], out)
    out += ["};", "inline constexpr CombiningRange k_combining[] = {"]
    wrapped(["{0x%x,0x%x,%d}" % tuple(c) for c in classes], out)
    out.append("};")
    open("normal_form.inc", "w").write("\n".join(out) + "\n")


classes()
cases()
normal_forms()

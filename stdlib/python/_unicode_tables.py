#!/usr/bin/env python3
"""Writes _unicode_records.tfl, the tables of the module unicodedata, from what this Python knows of Unicode. Run it in this folder; the file is kept.

A table is a text, compressed and written in base 64: for a property a line `first code point, value` where the value changes; for decompositions a line
`code point, mapping`. Hangul syllables follow from rules and are left out.
"""
import base64
import unicodedata
import zlib

LIMIT = 0x110000
WIDTH = 190


def packed(text):
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def runs(value_of):
    lines, last = [], None
    for c in range(LIMIT):
        value = value_of(chr(c))
        if value != last:
            lines.append(f"{c:x} {'' if value is None else value}")
            last = value
    return "\n".join(lines)


def written(name, text):
    data = packed(text)
    lines = [data[i:i + WIDTH] for i in range(0, len(data), WIDTH)]
    return f"{name} = (\n" + "\n".join([f'    r"{line}"' for line in lines]) + ")\n"


def number(c, ask):
    value = ask(c, None)
    return value if value is None or value != int(value) else int(value)


def main():
    head = f"# Made by _unicode_tables.py from Unicode {unicodedata.unidata_version}; do not edit. A table is text, compressed, in base 64.\n"
    parts = [f'VERSION = "{unicodedata.unidata_version}"\n']
    for name, ask in (("CATEGORIES", unicodedata.category), ("BIDIRECTIONAL", unicodedata.bidirectional), ("WIDTHS", unicodedata.east_asian_width),
                      ("COMBINING", unicodedata.combining), ("MIRRORED", unicodedata.mirrored),
                      ("NUMERIC", lambda c: number(c, unicodedata.numeric)), ("DIGITS", lambda c: number(c, unicodedata.digit)),
                      ("DECIMALS", lambda c: number(c, unicodedata.decimal))):
        parts.append(written(name, runs(ask)))
    mappings, excluded = [], []
    for c in range(LIMIT):
        mapping = unicodedata.decomposition(chr(c))
        if not mapping or 0xAC00 <= c < 0xD7A4:
            continue
        mappings.append(f"{c:x} {mapping}")
        if not mapping.startswith("<") and unicodedata.normalize("NFC", chr(c)) != chr(c):
            excluded.append(f"{c:x}")
    parts.append(written("DECOMPOSITIONS", "\n".join(mappings)))
    parts.append(written("NOT_COMPOSED", " ".join(excluded)))
    with open("_unicode_records.tfl", "w") as file:
        file.write(head + "\n".join(parts))


if __name__ == "__main__":
    main()

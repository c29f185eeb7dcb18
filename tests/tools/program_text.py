"""Statements as nested lists: a block is a list of lines and of (head, block, head, block ...) tuples. Their text, and what is left of them when
a statement is taken away: what both makers of random programs share."""


def text(block, indent):
    lines = []
    for s in block:
        if isinstance(s, str):
            lines.append("    " * indent + s)
        else:
            for part in s:
                lines += ["    " * indent + part] if isinstance(part, str) else text(part or ["pass"], indent + 1)
    return lines


def smaller(block):
    """Every block with one statement less, or with the inside of a compound statement in its place."""
    for i, s in enumerate(block):
        yield block[:i] + block[i + 1:]
        if not isinstance(s, tuple):
            continue
        for k, part in enumerate(s):
            if not isinstance(part, list):
                continue
            if not any("break" in str(line) or "continue" in str(line) for line in part):
                yield block[:i] + part + block[i + 1:]
            for less in smaller(part):
                if less:
                    yield block[:i] + [s[:k] + (less,) + s[k + 1:]] + block[i + 1:]

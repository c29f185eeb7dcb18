"""Which sanitizer a program is built with: some of what the tests of tests/tools look at is the sanitizer's and not the program's."""


def sanitizer(program):
    """"address", "thread" or ""."""
    with open(program, "rb") as f:
        code = f.read()
    return "address" if b"__asan_init" in code else "thread" if b"__tsan_init" in code else ""

"""What the functions of failures.tfl say when they fail is the same from inside the library, after the line and the function's name.
usage: failures.py FOLDER, with what failures.tfl prints on standard input"""
import json
import re
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import failures  # noqa: E402

TYPES = {"float32": np.float32, "int32": np.int32}
functions = {f["name"]: f for f in json.loads(failures.metadata())["functions"]}
wrong = 0
with failures.Context() as c:
    for line in sys.stdin:
        name, inputs, wanted = json.loads(line)
        arguments = [np.array(v, TYPES[a["dtype"]]) for v, a in zip(inputs, functions[name]["arguments"])]
        try:
            getattr(c, name)(*arguments)
            got = "no error"
        except failures.Error as e:
            got = str(e)
        if not re.match(r"failures\.tfl:\d+: " + name + ": ", got) or not got.endswith(": " + wanted):
            print(f"{name}{inputs}\n  says     {got}\n  and not  {wanted}")
            wrong += 1
print(f"{wrong} wrong" if wrong else "all right")
sys.exit(wrong != 0)

#!/usr/bin/env python3
"""base/unprintable.def is what scripts/unicode makes of the Unicode data that it names, where this Python has that version; in any case
it holds what this Python knows to be hidden by category, but for characters that were assigned in between."""
import pathlib
import re
import subprocess
import sys
import unicodedata

TOP = pathlib.Path(__file__).resolve().parents[3]
TEXT = (TOP / "base" / "unprintable.def").read_text()
VERSION = re.search(r"Unicode ([0-9.]+)\.", TEXT).group(1)
RANGES = [(int(a, 16), int(b, 16)) for a, b in re.findall(r"R\((0x[0-9a-f]+), (0x[0-9a-f]+)\)", TEXT)]


def main():
    assert RANGES and all(a <= b for a, b in RANGES)
    assert all(last + 1 < first for (_, last), (first, _) in zip(RANGES, RANGES[1:])), "in order, not touching"
    hidden = {c for a, b in RANGES for c in range(a, b + 1)}
    for c in range(0x110000):
        category = unicodedata.category(chr(c))
        if category in ("Cc", "Zl", "Zp", "Co"):
            assert c in hidden, f"U+{c:04X} is {category}"
        if category == "Cf" and unicodedata.unidata_version == VERSION:
            assert c in hidden, f"U+{c:04X} is Cf"
    if unicodedata.unidata_version == VERSION:
        made = subprocess.run([str(TOP / "scripts" / "unicode")], capture_output=True, text=True, check=True).stdout
        assert made == TEXT, "run scripts/unicode >base/unprintable.def"
    print(f"Unicode {VERSION}, {len(RANGES)} ranges, {len(hidden)} characters")


sys.exit(main())

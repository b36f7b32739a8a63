#!/usr/bin/env python3
"""test_phrase_format.py COMPILER: arguments that do not fit a phrase do not compile, those that do compile."""
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
SOURCE = """#include <stdio.h>
#include "model/phrases.h"
void say(enum language l);
void say(enum language l) { (void)l; printf(%s, %s); }
"""
CASES = (("phrase(REMEDY_IS, l)", '"text"', True), ("phrase(REMEDY_IS, l)", "42", False), ("phrase(NEWS_SCALED, l)", "(int64_t)42", True),
         ("phrase(NEWS_SCALED, l)", '"text"', False), ("phrase(NOT_A_PHRASE, l)", '"text"', False),
         ("phrase(DIAG_NO_BOOL, l)", '"text"', True), ("phrase(DIAG_NO_BOOL, l)", "42", False))


def compiles(compiler, row, argument):
    command = [compiler, "-std=gnu17", "-Wall", "-Wextra", "-Wformat=2", "-Werror", "-fsyntax-only", f"-I{TOP}", "-xc", "-"]
    return subprocess.run(command, input=SOURCE % (row, argument), text=True, capture_output=True, check=False).returncode == 0


def main(compiler):
    wrong = [f"{row} with {argument}: should {'' if fits else 'not '}compile" for row, argument, fits in CASES if compiles(compiler, row, argument) != fits]
    print("\n".join(wrong) or f"{len(CASES)} calls")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
"""Build ids of small trees: by revision, by content where that is another, the same for the same.

Usage: tests/integration/build_id/test_build_id.py CMAKE
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests"))
import cases  # noqa: E402
import scratch  # noqa: E402

ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_CEILING_DIRECTORIES": "/"}


def git(tree, *args):
    subprocess.run(["git", "-C", tree, "-c", "user.name=x", "-c", "user.email=x@y", *args], check=True, capture_output=True, env=ENVIRONMENT)


def build_id(tree, program="git", cmake=TOP / "cmake"):
    out = tree / "build_id.h"
    subprocess.run([sys.argv[1], f"-DSOURCE={tree}", f"-DOUT={out}", f"-DGIT={program}", "-DPROJECT_VERSION=1.2.3", "-P",
                    cmake / "BuildId.cmake"], check=True, capture_output=True, env=ENVIRONMENT)
    return re.search(r'OPC_BUILD_ID "(.*)"', out.read_text())[1]


def tree_of(text):
    tree = pathlib.Path(scratch.folder("build-id"))
    (tree / "base").mkdir()
    (tree / "base" / "a.c").write_text(text)
    return tree


def without_a_revision():
    one, same, other = (build_id(tree_of(text)) for text in ("1", "1", "2"))
    assert re.fullmatch(r"1\.2\.3-unknown-[0-9a-f]{12}", one) and one == same != other, (one, same, other)
    assert build_id(tree_of("1"), program="") == one


def with_a_revision():
    tree = tree_of("1")
    git(tree, "init")
    git(tree, "add", "base")
    git(tree, "commit", "-m", "x")
    clean = build_id(tree)
    assert re.fullmatch(r"1\.2\.3-[0-9a-f]{12}", clean), clean
    (tree / "docs").mkdir()
    (tree / "docs" / "page.md").write_text("of no build")
    assert build_id(tree) == clean
    found = {clean}
    for change in (lambda: (tree / "base" / "a.c").write_text("2"), lambda: (tree / "base" / "a.c").write_text("3"),
                   lambda: (tree / "base" / "new.h").write_text("")):
        change()
        found.add(build_id(tree))
    assert len(found) == 4 and all(i.startswith(clean) for i in found), found
    (tree / "base" / "new.h").unlink()
    (tree / "base" / "a.c").write_text("1")
    assert build_id(tree) == clean


def in_a_repository_of_others():
    outer = tree_of("1")
    git(outer, "init")
    git(outer, "add", "base")
    git(outer, "commit", "-m", "x")
    (outer / "inner" / "base").mkdir(parents=True)
    (outer / "inner" / "base" / "a.c").write_text("1")
    assert build_id(outer / "inner") == build_id(tree_of("1")), build_id(outer / "inner")


def of_a_tarball():
    """Which says its revision, but not whether it was changed since."""
    tree = tree_of("1")
    shutil.copytree(TOP / "cmake", tree / "cmake")
    (tree / "cmake" / "revision").write_text("0123456789abcdef0123456789abcdef01234567\n")
    one = build_id(tree, cmake=tree / "cmake")
    (tree / "base" / "a.c").write_text("2")
    two = build_id(tree, cmake=tree / "cmake")
    assert one != two and all(re.fullmatch(r"1\.2\.3-0123456789ab-[0-9a-f]{12}", i) for i in (one, two)), (one, two)


def the_same_is_not_written_again():
    tree = tree_of("1")
    build_id(tree)
    os.utime(tree / "build_id.h", (1, 1))
    build_id(tree)
    assert (tree / "build_id.h").stat().st_mtime == 1


CASES = (without_a_revision, with_a_revision, in_a_repository_of_others, of_a_tarball, the_same_is_not_written_again)


if __name__ == "__main__":
    cases.run(CASES, sys.argv[2:])

#!/usr/bin/env python3
"""What the pages show is what the program prints: every block ```console of them is run and compared.

A block ```yaml or ```json whose first line is "# NAME" is written to the file NAME first. In a block ```console a line
"$ COMMAND" is run by bash, in the page's own folder; the lines below it are its output, where … stands for anything."""
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(TOP / "tests"))
import scratch  # noqa: E402

PROGRAM = pathlib.Path(sys.argv[1])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def pages():
    """README and everything below docs that has such a block."""
    for path in [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]:
        text = path.read_text()
        if "```console" in text:
            yield path, text


def calls(text):
    """(command, expected output) of one block."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def run(folder, session):
    """What the commands of a page print, one by one, in one shell: `echo $?` is that of the command before."""
    script = "".join(f"{command}\ncode=$?; printf '\\036'; (exit $code)\n" for command in session)
    r = subprocess.run(["bash", "-c", script], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                       env={"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "HOME": str(folder), "LC_ALL": "C.UTF-8"})
    return r.stdout.split("\x1e")[:-1]


def differs(expected, printed):
    pattern = ".*?".join(re.escape(part) for part in expected.strip().split("…"))
    return not re.fullmatch(pattern, printed.strip(), re.S)


def check(path, text):
    folder = pathlib.Path(scratch.folder("page"))
    shown = []
    for kind, body in BLOCK.findall(text):
        if kind == "console":
            shown += calls(body)
        elif re.match(r"# [\w.-]+\n", body):
            (folder / body.split("\n", 1)[0][2:]).write_text(body)
    printed = run(folder, [command for command, _ in shown])
    for i, (command, expected) in enumerate(shown):
        got = printed[i] if i < len(printed) else "(nothing)"
        if differs(expected, got):
            yield f"{path.relative_to(TOP)}: $ {command}\n--- the page says\n{expected}--- it prints\n{got}"


def main():
    passed, failed = 0, 0
    for path, text in pages():
        found = list(check(path, text))
        passed += not found
        failed += len(found)
        print("\n".join(found) or f"ok {path.relative_to(TOP)}", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0 or passed == 0)


main()

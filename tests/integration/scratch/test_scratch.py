#!/usr/bin/env python3
"""Test programs that end in every way leave no file and no process: test_scratch.py LEAVER"""
import os
import pathlib
import signal
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(TESTS))
import scratch  # noqa: E402

LEAVER = sys.argv[1]
PROGRAM = f"""
import pathlib, sys, time
sys.path.append({str(TESTS)!r})
import scratch
folder = scratch.folder("left")
(folder / "inner").mkdir()
(folder / "inner" / "file").write_text("x")
(folder / "inner").chmod(0)
child = scratch.start(["sleep", "600"])
while sys.argv[1] == "waits" and pathlib.Path("/proc", str(child.pid), "comm").read_text() != "sleep\\n":
    time.sleep(0.01)
scratch.at_end(folder, "touch", sys.argv[2])
print("made", child.pid, flush=True)
if sys.argv[1] == "kept":
    scratch.keep(folder)
if sys.argv[1] == "fails":
    raise AssertionError
if sys.argv[1] == "waits":
    time.sleep(600)
"""


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def becomes(condition):
    end = time.monotonic() + 20
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def run(command, kill):
    """Runs it in a temporary folder of its own until it has made what it makes, and to its end; (that folder, its last word)."""
    place = scratch.folder("place")
    # A session of its own: libcheck passes SIGTERM on to its whole process group.
    process = subprocess.Popen(command(place), env={**os.environ, "TMPDIR": str(place)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, start_new_session=True)
    made = next((line for line in process.stdout if line.startswith("made ")), "")
    assert made, command
    if kill:
        process.send_signal(kill)
    process.stdout.read()
    process.wait(60)
    return place, made.split()[1]


def in_c(how, kill=None):
    place, _ = run(lambda _: [LEAVER, how], kill)
    return becomes(lambda: not os.listdir(place))


def in_python(how, kill=None, left=0):
    """Nothing is left but what is kept; before that the last command was run and the child had ended."""
    mark = scratch.folder("mark") / "ended"
    place, child = run(lambda _: [sys.executable, "-c", PROGRAM, how, mark], kill)
    return becomes(lambda: len(os.listdir(place)) == left and not alive(child) and mark.exists() == (not left))


CASES = {
    "a test in C ends": lambda: in_c("ends"),
    "a test in C fails": lambda: in_c("fails"),
    "a test in C crashes": lambda: in_c("crashes"),
    "a test in C is killed": lambda: in_c("waits", signal.SIGKILL),
    "a test in C is told to end": lambda: in_c("waits", signal.SIGTERM),
    "a test in Python ends": lambda: in_python("ends"),
    "a test in Python fails": lambda: in_python("fails"),
    "a test in Python is killed": lambda: in_python("waits", signal.SIGKILL),
    "a test in Python is told to end": lambda: in_python("waits", signal.SIGTERM),
    "a test in Python is interrupted": lambda: in_python("waits", signal.SIGINT),
    "what is to be kept is kept": lambda: in_python("kept", left=1),
}


def main():
    failed = 0
    for name, case in CASES.items():
        good = case()
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {name}", flush=True)
    print(f"{len(CASES) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

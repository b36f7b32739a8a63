"""Runs the cases of a test program one after the other: a line for each, and a count at the end."""
import sys


def run(cases, only=(), skipped=(), why=""):
    """The functions, or those of them whose names are in `only`; ends the program, with 1 when one has failed. Those of `skipped` are named, and why."""
    cases = [case for case in cases if case.__name__ in only] or cases
    failed = 0
    for case in cases:
        try:
            case()
            print(f"ok {case.__name__}", flush=True)
        except Exception as e:  # noqa: BLE001 - every failure is reported the same way
            failed += 1
            print(f"FAIL {case.__name__}: {type(e).__name__}: {e}", flush=True)
    for case in skipped:
        print(f"skip {case.__name__}: {why}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed, {len(skipped)} skipped")
    sys.exit(failed != 0)

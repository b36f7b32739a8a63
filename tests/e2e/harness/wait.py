"""Waiting for something, never longer than needed."""
import time

POLL = 0.03


class Timeout(AssertionError):
    pass


def until(what, fn, timeout=10.0, every=POLL):
    """Poll fn until it returns something true and return that. `what` names it when it never does."""
    end = time.monotonic() + timeout
    while True:
        value = fn()
        if value:
            return value
        if time.monotonic() > end:
            raise Timeout(f"{what}: not within {timeout:g} s")
        time.sleep(every)


def never(what, fn, seconds):
    """fn must stay false for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = fn()
        if value:
            raise AssertionError(f"{what}: {value}")
        time.sleep(POLL)

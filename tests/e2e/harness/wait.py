"""Waiting for something, never longer than needed."""
import time

POLL = 0.03
REST = 2    # times as long as it takes to ask: forty scenarios that run the program without a pause wait for one another


class Timeout(AssertionError):
    pass


def timed(fn):
    begin = time.monotonic()
    value = fn()
    return value, time.monotonic() - begin


def until(what, fn, timeout=10.0, every=POLL):
    """Poll fn until it returns something true and return that. `what` names it when it never does."""
    end = time.monotonic() + timeout
    while True:
        value, took = timed(fn)
        if value:
            return value
        if time.monotonic() > end:
            raise Timeout(f"{what}: not within {timeout:g} s")
        time.sleep(max(every, REST * took))


def never(what, fn, seconds):
    """fn must stay false for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value, took = timed(fn)
        if value:
            raise AssertionError(f"{what}: {value}")
        time.sleep(max(POLL, REST * took))

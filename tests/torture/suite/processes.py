"""Who runs below whom, and a SIGKILL that cannot hit anybody else."""
import os
import signal
import threading
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    start: str      # when it was started: a pid that is used again has another one


def _read(pid):
    """The process with that pid; None when it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            stat = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if stat[0] in "ZX" else Process(pid, int(stat[1]), stat[19])


class Snapshot:
    """All processes, read again when that is FRESH seconds ago: send() looks closer before it strikes."""
    FRESH = 0.15

    def __init__(self):
        self.at, self.all, self.lock = 0.0, [], threading.Lock()

    def read(self):
        with self.lock:
            if time.monotonic() - self.at > self.FRESH:
                self.all = [p for p in (_read(int(entry)) for entry in os.listdir("/proc") if entry.isdigit()) if p]
                self.at = time.monotonic()
            return self.all


snapshot = Snapshot()


def children_of(pid):
    """The living direct children of a process."""
    return [p for p in snapshot.read() if p.parent == pid]


def process(pid):
    return _read(pid)


def command_of(p):
    """Its command line, [] when it has ended."""
    try:
        with open(f"/proc/{p.pid}/cmdline", encoding="utf-8", errors="replace") as file:
            return file.read().split("\0")[:-1]
    except OSError:
        return []


def send(p, sig=signal.SIGKILL):
    """True when exactly that process was alive and has got the signal."""
    try:
        fd = os.pidfd_open(p.pid)
    except OSError:
        return False
    try:
        now = _read(p.pid)
        if not now or now.start != p.start:
            return False
        signal.pidfd_send_signal(fd, sig)
        return True
    except OSError:
        return False
    finally:
        os.close(fd)

"""Who runs below whom, and a SIGKILL that cannot hit anybody else."""
import os
import pathlib
import signal
from dataclasses import dataclass


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    start: str      # when it was started: a pid that is used again has another one


def _read(pid):
    """The process with that pid; None when it has ended."""
    try:
        stat = pathlib.Path("/proc", str(pid), "stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if stat[0] in "ZX" else Process(pid, int(stat[1]), stat[19])


def children_of(pid):
    """The living direct children of a process."""
    every = (_read(int(entry)) for entry in os.listdir("/proc") if entry.isdigit())
    return [p for p in every if p and p.parent == pid]


def process(pid):
    return _read(pid)


def command_of(p):
    """Its command line, [] when it has ended."""
    try:
        return pathlib.Path("/proc", str(p.pid), "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
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

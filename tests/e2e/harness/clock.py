"""The program with a wall clock that can be set (tests/torture/clock_step.c), and the hand that sets it."""
import pathlib
import struct
import subprocess


class Clock:
    """The wall clock of every process that runs of a copy, as copy() makes one, in that folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.path = self.folder / "libexec" / "ops-pod-cleaner" / "clock-step"
        self.step(0.0)

    @classmethod
    def copy(cls, build, folder):
        """By another process: what this one has open for writing while it forks for another scenario cannot be executed (ETXTBSY)."""
        source = pathlib.Path(build) / "tests" / "torture"
        pathlib.Path(folder).mkdir(parents=True)
        subprocess.run(["cp", "-r", source / "bin", source / "libexec", folder], check=True)
        return cls(folder)

    def step(self, seconds):
        """It is then so far from this machine's."""
        with open(self.path, "r+b" if self.path.exists() else "wb", buffering=0) as file:
            file.write(struct.pack("=q", int(seconds * 1e9)))

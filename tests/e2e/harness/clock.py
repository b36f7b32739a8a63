"""The program with a wall clock that can be set (tests/torture/clock_step.c), and the hand that sets it."""
import pathlib
import shutil
import struct


class Clock:
    """The wall clock of every process that runs of a copy, as copy() makes one, in that folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.path = self.folder / "libexec" / "ops-pod-cleaner" / "clock-step"
        self.step(0.0)

    @classmethod
    def copy(cls, build, folder):
        shutil.copytree(pathlib.Path(build) / "tests" / "torture", folder, ignore=shutil.ignore_patterns("CMake*", "*.cmake"))
        return cls(folder)

    def step(self, seconds):
        """It is then so far from this machine's."""
        with open(self.path, "r+b" if self.path.exists() else "wb", buffering=0) as file:
            file.write(struct.pack("=q", int(seconds * 1e9)))

"""A disk that can be full."""
import os
import subprocess
import time


class Disk:
    """A file system of its own for one state directory, of so many bytes; only root may make one."""

    def __init__(self, folder, size):
        self.folder, self.size = folder, size
        self.ballast = folder / "ballast"
        self.full_times = []    # [(begin, end)]
        self.full_since = 0.0

    @staticmethod
    def possible():
        return os.geteuid() == 0

    def mount(self, at_end):
        """at_end: called with the command that takes it away again, should nobody close it."""
        self.folder.mkdir(parents=True)
        at_end("umount", "--lazy", self.folder)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.size},mode=0700", "test", self.folder], check=True)

    def close(self):
        subprocess.run(["umount", "--lazy", self.folder], check=False)

    def fill(self):
        """Not one byte is left."""
        self.full_since = time.time()
        with open(self.ballast, "wb", buffering=0) as file:
            block = b"\0" * (1 << 20)
            while block:
                try:
                    file.write(block)
                except OSError:
                    block = block[:len(block) // 2] if len(block) > 1 else b""

    def empty(self):
        self.ballast.unlink()
        self.full_times.append((self.full_since, time.time()))

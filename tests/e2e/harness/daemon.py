"""A program of Prometheus' family, as it is: Prometheus itself, an Alertmanager. It says at /-/ready that it is."""
import subprocess
import urllib.request

import scratch


class Daemon:
    def __init__(self, t, name, address, command):
        self.url, self.log = f"http://{address}", t.dir / f"{name}.log"
        with open(self.log, "wb") as log:
            self.process = scratch.start(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=t.dir)
        t.closing.append(self)
        t.until(f"{name} to be ready", self.is_ready, 30)

    def is_ready(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=5):
                return True
        except OSError:
            return False

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

"""One real supervisor over children that misbehave on request, and the running of cases."""
import concurrent.futures
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import descriptors  # noqa: E402
import scratch  # noqa: E402
from answers import answer  # noqa: E402

SUPERVISOR, FAKECHILD, PROGRAM = sys.argv[1], sys.argv[2], sys.argv[3]
GOOD = {"reporter": "ok", "watcher": "ok", "worker": "ok", "loader": "ok"}


def place(program, path):
    """A link where possible: a copy that is still open for writing in a fork of another case cannot be executed (ETXTBSY)."""
    try:
        os.link(program, path)
    except OSError:
        shutil.copy(program, path)


class Service:
    """One supervisor with its log. Whatever becomes of the case, run() closes the services of its thread."""

    opened = threading.local()

    def __init__(self, environment=None, group=None, **behaviour):
        """group: may look (the read-only socket)."""
        Service.opened.services.append(self)
        self.after_ready = []   # what is open then
        self.dir = scratch.folder("supervisor")
        if group is not None:
            os.chown(self.dir, -1, group)
            os.chmod(self.dir, 0o710)
        place(SUPERVISOR, os.path.join(self.dir, "supervisor"))
        for role in GOOD:
            place(FAKECHILD, os.path.join(self.dir, role))
        self.config = os.path.join(self.dir, "config.yml")
        self.write(**behaviour)
        self.log = os.path.join(self.dir, "log")
        self.process = scratch.start(
            [os.path.join(self.dir, "supervisor"), "--config", self.config,
             "--control-socket=" + os.path.join(self.dir, "control.sock")],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(self.log, "w"), env={"OPC_LOG_FORMAT": "text", **(environment or {})})

    def write(self, **behaviour):
        with open(self.config, "w") as f:
            for role, what in {**GOOD, **behaviour}.items():
                f.write(f"{role} {what}\n")

    def text(self):
        """The log; what a fake child prints without base/log is what it printed."""
        with open(self.log) as f:
            return re.sub(r'^.* output that is no line of the log text="(.*)" pid=\d+$', r"\1", f.read(), flags=re.M)

    def wait_for(self, pattern, count=1, limit=20.0):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if len(re.findall(pattern, self.text())) >= count:
                return
            time.sleep(0.02)
        raise AssertionError(f"{pattern!r} x {count} did not appear:\n{self.text()[-3000:]}")

    def wait_until(self, what, condition, limit=20.0):
        end = time.monotonic() + limit
        while not condition():
            assert time.monotonic() < end, f"{what}:\n{self.text()[-3000:]}"
            time.sleep(0.02)

    @staticmethod
    def is_program(pid, name):
        """A child that was just forked has the name of the supervisor still."""
        try:
            return os.path.basename(os.readlink(f"/proc/{pid}/exe")) == name
        except OSError:
            return False

    def wait_exit(self, limit=30.0):
        return self.process.wait(limit)

    def reload(self, **behaviour):
        if behaviour:
            self.write(**behaviour)
        self.signal(signal.SIGHUP)

    def kill(self, role, sig=signal.SIGKILL):
        """The first of that role that has been ready."""
        os.kill(int(re.findall(rf'ready role="{role}".*?pid=(\d+)', self.text())[0]), sig)

    def signal(self, sig):
        self.process.send_signal(sig)

    def ask(self, *args, code=0):
        """A command of an operator; -> what it printed, JSON read where it was asked for."""
        r = subprocess.run([PROGRAM, *args, "--control-socket", os.path.join(self.dir, "control.sock")], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=60)
        tells = "status" in args and r.returncode == 1 and code == 0   # a pause or a trouble stands in it
        assert r.returncode == code or tells, (args, r.returncode, r.stdout, r.stderr)
        return answer(r.stdout) if "json" in args and code in (0, 1) else r.stdout + r.stderr

    def children(self):
        out = subprocess.run(["ps", "-o", "pid=,stat=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        return [line.split() for line in out.stdout.splitlines()]

    def has_open(self):
        """What the supervisor has open, as tests/descriptors.py counts it; the children are fakes."""
        tree = [(self.process.pid, "supervisor")]
        for pid, _ in self.children():
            try:
                tree += [(int(pid), os.path.basename(os.readlink(f"/proc/{pid}/exe")))]
            except OSError:
                pass    # it has ended
        return [one for one in descriptors.of_tree(tree) if one[0] == "supervisor"]

    def leaked(self):
        """A text of a descriptor that the supervisor, which still runs, has kept open; or None."""
        end = time.monotonic() + 5
        while self.process.poll() is None and (text := descriptors.leaked(self.after_ready, self.has_open())):
            if time.monotonic() > end:
                return text
            time.sleep(0.05)
        return None

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        scratch.remove(self.dir)


def ready(**how):
    """Such a service, when all its processes are."""
    t = Service(**how)
    t.wait_for("all processes are ready")
    t.after_ready = t.has_open()
    return t


def run(case):
    began = time.monotonic()
    Service.opened.services = []
    try:
        case()
        for text in filter(None, [service.leaked() for service in Service.opened.services if service.after_ready]):
            raise AssertionError(text)
        print(f"ok {case.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
        return True
    except Exception as e:  # noqa: BLE001 - every failure is reported the same way
        print(f"FAIL {case.__name__}: {type(e).__name__}: {e}", flush=True)
        return False
    finally:
        for service in Service.opened.services:
            service.close()


def main(module):
    """The functions of a module whose name does not begin with _ are its cases. Prints one line a case and a count."""
    cases = [f for f in module.values() if getattr(f, "__module__", "") == "__main__" and not f.__name__.startswith("_")]
    only = sys.argv[4] if len(sys.argv) > 4 else ""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(run, [c for c in cases if only in c.__name__]))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    sys.exit(not all(results))

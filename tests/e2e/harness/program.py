"""One running ops-pod-cleaner with its own configuration, state directory and control socket."""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
import zlib

import descriptors
import scratch
from answers import answer

from .wait import Timeout, until

ROLES = ("supervisor", "reporter", "watcher", "worker", "loader")


def yaml(value, indent=0):
    """Plain block YAML of dicts, lists and scalars; strings are quoted."""
    pad = "  " * indent
    lines = []
    for key, item in value.items():
        if isinstance(item, dict):
            lines += [f"{pad}{key}:", yaml(item, indent + 1)]
        elif isinstance(item, list) and item and isinstance(item[0], dict):
            lines.append(f"{pad}{key}:")
            for entry in item:
                text = yaml(entry, indent + 2)
                lines.append(f"{pad}  - " + text[len(pad) + 4:])
        else:
            lines.append(f"{pad}{key}: {json.dumps(item)}")
    return "\n".join(lines)


STATEMENTS = {code: text for page in (pathlib.Path(__file__).resolve().parents[3] / "text").glob("texts_*.def")
              for code, text in re.findall(r'^T\(\w+, "(\w+)",\s*"((?:[^"\\]|\\.)*)"', page.read_text(), re.M)}


def filled(code, facts):
    """A statement of text/texts.def in English, as its head says what a row is."""
    def place(match):
        key, _, words = match[1].partition("|")
        one, _, many = words.partition("|")
        return (one if facts.get(key) == 1 else many) if words else str(facts.get(key, "?"))

    row = re.sub(r"\[([^]]*)\]", lambda part: part[1] if all(key in facts for key in re.findall(r"\{(\w+)", part[1])) else "", STATEMENTS.get(code, code))
    return re.sub(r"\{([^}]*)\}", place, row)


def found(row):
    """The facts of a row: what was found, and how it ended. "key value; ..."; statements are sentences."""
    parts = [row.get(name) or {} for name in ("evidence", "detail")]
    facts = {**parts[0], **parts[1]}
    facts["finding"] = [filled(code, facts) for part in parts for code in part.get("finding", [])]
    return "; ".join(f"{key} {value}" if key != "finding" else "; ".join(value) for key, value in facts.items())


class Died(AssertionError):
    pass


class Program:
    """`config` is a dict or the text of the file; `env` is added to an environment that holds nothing of the caller's. status() and
    history() are asked by the build `tools`: again and again, and an instrumented one takes long to begin."""

    def __init__(self, build, folder, config, kubeconfig=None, env=None, args=(), cwd=None, writer_context=None, tools=None):
        self.build = pathlib.Path(build)
        self.binary, self.asker = (pathlib.Path(d) / "bin" / "ops-pod-cleaner" for d in (build, tools or build))
        self.dir = pathlib.Path(folder)
        self.dir.mkdir(parents=True, exist_ok=True)
        self.state = self.dir / "state"
        self.socket = self.dir / "ctl"
        self.log_path = self.dir / "log"
        self.config_path = self.dir / "config.yml"
        self.kubeconfig = kubeconfig
        self.writer_context = writer_context    # stands in every configuration that is written
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(self.dir), "LANG": "C.UTF-8", **(env or {})}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        self.args = list(args)
        self.cwd = cwd
        self.process = None
        self.preexec = None     # runs in the new process before it becomes the program
        self.after_ready = []   # (role, what it has open), of each process
        self.write_config(config)

    def write_config(self, config):
        text = config
        lease = {"name": f"e2e-{zlib.crc32(str(self.dir).encode()):08x}"}   # its own: scenarios share a cluster
        if isinstance(config, dict):
            text = yaml({"metricsListen": "", **config, "leaderElection": {**lease, **config.get("leaderElection", {})}}) + "\n"
        elif self.writer_context and "leaderElection" not in text:
            text = text.rstrip("\n") + f"\nleaderElection: {{name: {lease['name']}}}\n"
        if self.writer_context and "writerContext" not in text:
            text = text.rstrip("\n") + f"\nwriterContext: {self.writer_context}\n"
        self.config_path.write_text(text)

    def command(self):
        command = [self.binary, "run", "--config", self.config_path, "--state-dir", self.state, "--control-socket",
                   self.socket, *self.args]
        if self.kubeconfig:
            command += ["--kubeconfig", self.kubeconfig]
        return [str(c) for c in command]

    def open_log(self):
        """Where it writes: a file object that is closed when it has been started."""
        return open(self.log_path, "ab")

    def start(self, wait=True):
        log = self.open_log()
        self.process = scratch.start(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env,
                                        cwd=self.cwd or self.dir, start_new_session=True, preexec_fn=self.preexec)
        log.close()
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self, timeout=20):
        """Until every watcher has a complete cache and every process is ready."""
        until("the program to be ready", self.is_ready, timeout, every=0.05)
        self.after_ready += descriptors.of_tree(self.ready_tree())

    def ready_tree(self):
        """tree() without children that are still starting: a worker may be, for whom there is work just now."""
        ready = {p["pid"] for p in self.status()["processes"] if p["state"] == "ready"}
        return [(pid, role) for pid, role in self.tree() if role not in ("reporter", "watcher", "worker") or pid in ready]

    def is_ready(self):
        if self.process.poll() is not None:
            raise Died(f"the program ended with {self.process.returncode}")
        status = self.status()
        return bool(status) and ready_in(status)

    # --- questions ---

    def ask(self, *args, timeout=10, check=False, user=None, env=None, binary=None):
        result = subprocess.run([binary or self.binary, *args, "--control-socket", self.socket], env={**self.env, **(env or {})}, timeout=timeout,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, user=user)
        if check and result.returncode and (args[0], result.returncode) != ("status", 1):  # 1: it tells of a trouble
            raise AssertionError(f"ops-pod-cleaner {' '.join(args)}: exit {result.returncode}: {result.stderr.strip()}")
        return result

    @contextlib.contextmanager
    def reading(self, *args, timeout=30):
        """The lines of a command that goes on until it is interrupted, as they come."""
        process = subprocess.Popen([self.binary, *args, "--control-socket", self.socket], env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end = threading.Timer(timeout, process.kill)
        end.start()
        try:
            yield iter(process.stdout.readline, "")
        finally:
            end.cancel()
            process.terminate()
            process.communicate(timeout=10)

    def on_terminal(self, columns, *args, timeout=10, env=None, asks=True, codes=(0,)):
        """The lines of a command on a terminal of that width, without colours. Not every command `asks` an instance, and takes its socket."""
        where = ["--control-socket", self.socket] if asks else []
        master, slave = pty.openpty()       # the slave stays open here: nothing that is written to it gets lost
        try:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            process = subprocess.Popen([self.binary, *args, *where], stdin=subprocess.DEVNULL, stdout=slave,
                                       stderr=subprocess.PIPE, env={**self.env, "TERM": "xterm", "NO_COLOR": "1", **(env or {})})
            text, end = b"", time.monotonic() + timeout
            # Whether it has ended is asked first: what it wrote before is there then.
            while process.poll() is None or select.select([master], [], [], 0.05)[0]:
                assert time.monotonic() < end, f"{args}: no end after {timeout:g} s"
                if select.select([master], [], [], 0.05)[0]:
                    text += os.read(master, 65536)
            assert process.returncode in codes or args[0] == "status" and process.returncode == 1, (args, process.returncode, text, process.stderr.read())
            process.stderr.close()
            return text.decode().replace("\r\n", "\n").splitlines()
        finally:
            os.close(slave)
            os.close(master)

    def ask_plain(self, *args, timeout=10, env=None):
        """A command that talks to no running instance."""
        return subprocess.run([self.binary, *args], env={**self.env, **(env or {})}, timeout=timeout, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)

    def ask_json(self, *args, timeout=60, binary=None):
        """What a command prints with -o json."""
        return answer(self.ask(*args, "-o", "json", timeout=timeout, check=True, binary=binary).stdout)

    def status(self):
        result = self.ask("status", "-o", "json", binary=self.asker)
        return answer(result.stdout) if result.returncode in (0, 1) else None

    def history(self, *args):
        """Rows as `history -o json` prints them; `ns` and `observe` for short, and `found`: all their facts as one text."""
        rows = self.ask_json("history", "--limit", "10000", *args, binary=self.asker)
        return [{**row, "ns": row["namespace"], "observe": row["mode"] == "observe", "found": found(row)} for row in rows]

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    # --- processes ---

    def tree(self):
        """[(pid, role)] of everything that hangs below what was started, itself included."""
        parents, names = {}, {}
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                stat = pathlib.Path("/proc", entry, "stat").read_text().rsplit(")", 1)[1].split()
                exe = os.readlink(f"/proc/{entry}/exe")
            except OSError:
                continue        # gone meanwhile, or a kernel thread
            if stat[0] not in "ZX":
                names[int(entry)] = os.path.basename(exe).removesuffix(" (deleted)")
                parents[int(entry)] = int(stat[1])
        root = self.process.pid
        found = []
        for pid in parents:
            p = pid
            while p in parents and p != root:
                p = parents[p]
            if p == root:
                found.append((pid, names[pid]))
        return found

    def main_pid(self):
        """The supervisor."""
        return self.process.pid

    def lasting(self):
        """tree() without what comes and goes: a loader, and what the supervisor has forked and is not another program yet."""
        return sorted((pid, role) for pid, role in self.tree() if role in ROLES and role != "loader" and (role != "supervisor" or pid == self.main_pid()))

    def pids(self, role):
        """Of the supervisor its own: what it has forked bears its name until it is another program."""
        return [pid for pid, name in self.tree() if name == role and (role != "supervisor" or pid == self.main_pid())]

    def kill(self, role, which=0, sig=signal.SIGKILL):
        """One process of that role; its pid, or None when there is none."""
        pids = sorted(self.pids(role))
        if len(pids) <= which:
            return None
        try:
            os.kill(pids[which], sig)
        except ProcessLookupError:
            return None
        return pids[which]

    def kill_all(self):
        """Every process at once, as when the machine loses its power. Returns when they are gone."""
        pids = [pid for pid, _ in self.tree()]
        for pid in pids:
            try:
                os.kill(pid, signal.SIGSTOP)
            except ProcessLookupError:
                pass
        pids = [pid for pid, _ in self.tree()]
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait(10)
        until("the processes to be gone", lambda: not any(alive(pid) for pid in pids), 10)

    def leaked(self):
        """A text of a descriptor that some process has kept open, or None."""
        try:
            until("the descriptors", lambda: self.after_ready and not descriptors.leaked(self.after_ready, descriptors.of_tree(self.tree())), 3)
        except Timeout:
            return descriptors.leaked(self.after_ready, descriptors.of_tree(self.tree()))
        return None

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def stop(self, timeout=30):
        """SIGTERM; the exit code."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            pids = [pid for pid, _ in self.tree()]
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                left = self.tree()
                self.kill_all()
                raise AssertionError(f"the program did not end within {timeout} s of SIGTERM; left: {left}")
            until("the children to be gone", lambda: not any(alive(pid) for pid in pids), 5)
        return self.process.returncode

    def destroy(self):
        if self.process is not None and self.process.poll() is None:
            self.kill_all()


def alive(pid):
    try:
        stat = pathlib.Path("/proc", str(pid), "stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in "ZX"


def ready_in(status):
    """Does `status -o json` tell of a tree that is complete and at work?"""
    working = [p for p in status["processes"] if p["role"] in ("reporter", "watcher", "worker")]
    watchers = [p for p in working if p["role"] == "watcher"]
    return (status["phase"] in ("running", "degraded") and watchers and all(p["state"] == "ready" for p in working)
            and len(status["clusters"]) == len(watchers) and all(c["synced"] for c in status["clusters"]))

"""One instance of the program under torture: started again whenever it has died, its log read as it is written."""
import collections
import json
import os
import subprocess
import threading
import time
from dataclasses import dataclass

from harness.program import Program

from . import processes

ROLES = ("reporter", "watcher", "worker", "loader")
LOCKED = 75         # somebody of the life before still holds the state directory


@dataclass
class Kill:
    t: float                # of the monotonic clock
    role: str
    healed: float = 0.0     # when what died was ready again, 0 = never


class Instance(Program):
    def __init__(self, number, build, folder, config, kubeconfig):
        super().__init__(build, folder, config, kubeconfig)
        self.number = number
        self.kills, self.pending = [], collections.defaultdict(list)
        self.exits = collections.Counter()      # by code, of deaths that nobody wished
        self.lock = threading.Lock()
        self.ending = threading.Event()
        self.readers = []
        self.keeper = threading.Thread(target=self._keep, daemon=True)

    # --- its life ---

    def open_log(self):
        """The supervisor writes to a pipe, so that a line has the time at which it came, whatever the program's clock says."""
        ours, theirs = os.pipe()
        reader = threading.Thread(target=self._read_log, args=(ours,), daemon=True)
        reader.start()
        self.readers.append(reader)
        return os.fdopen(theirs, "wb")

    def _read_log(self, fd):
        with os.fdopen(fd, "rb") as lines, open(self.log_path, "ab", buffering=0) as file:
            for line in lines:
                file.write(line)
                if b"child ready" in line:
                    row = json.loads(line)
                    self._healed((row["role"], row["number"]))
                elif b"all processes are ready" in line:
                    self._healed("all")

    def run(self):
        self.keeper.start()
        self.wait_ready(60)

    def _keep(self):
        """As a service manager would, but at once."""
        while not self.ending.is_set():
            self.start(wait=False)
            code = self.process.wait()
            if self.ending.is_set():
                return
            if code != -9:
                self.exits[code] += 1
                time.sleep(0.1 if code == LOCKED else 1.0)

    def is_ready(self):
        try:
            return self.process is not None and self.process.poll() is None and super().is_ready()
        except (AssertionError, subprocess.TimeoutExpired):
            return False

    def end(self):
        """SIGTERM; the exit code."""
        self.ending.set()
        code = self.stop(60)
        self.keeper.join(10)
        for reader in self.readers:
            reader.join(5)
        return code

    # --- its deaths ---

    def _note(self, role, place):
        kill = Kill(time.monotonic(), role)
        self.kills.append(kill)
        if place:
            self.pending[place].append(kill)

    def _healed(self, place):
        now = time.monotonic()
        with self.lock:
            for kill in self.pending.pop(place, ()):
                kill.healed = now

    def _supervisor(self):
        return processes.process(self.process.pid) if self.process and self.process.poll() is None else None

    def kill_child(self, which, role=None):
        """SIGKILL of one child, of that role if one is named; which: 0..1, among those that live. Its role, or None."""
        supervisor = self._supervisor()
        children = sorted(processes.children_of(supervisor.pid), key=lambda p: p.pid) if supervisor else []
        if role:
            children = [c for c in children if processes.command_of(c)[:1] == [role]]
        if not children:
            return None
        child = children[int(which * len(children))]
        command = processes.command_of(child)
        name, place = "starting", None      # until it has become what it shall be, its command line is the supervisor's
        if command[:1] == ["loader"]:
            name = "loader"
        elif len(command) > 2 and command[0] in ROLES:
            name, place = command[0], (command[0], int(command[2]))
        with self.lock:
            if not processes.send(child):
                return None
            self._note(name, place)
        return name

    def kill_supervisor(self):
        supervisor = self._supervisor()
        with self.lock:
            if supervisor and processes.send(supervisor):
                self._note("supervisor", "all")

    def kill_tree(self):
        """The children first, then who would start them again: each is one kill."""
        supervisor = self._supervisor()
        victims = [*processes.children_of(supervisor.pid), supervisor] if supervisor else ()
        with self.lock:
            for victim in victims:
                if processes.send(victim):
                    self._note("tree", "all" if victim is supervisor else None)

"""Runs the scenarios, the longest first: on servers that cost nothing each on its own; on one that they share those that want it alone come last."""
import concurrent.futures
import fnmatch
import pathlib
import sys
import threading
import time

import scratch

from .capabilities import CAPABILITIES, YES
from .scenario import SCENARIOS, execute, folder_name
from .servers import Apisim, Cluster
from .tls import Authority

SERVERS = {"apisim": Apisim, "cluster": Cluster}
# Of a whole run those that take longest, in seconds: `tests/e2e/run --slow` prints them. A scenario that is not there is taken for quick.
SLOW = pathlib.Path(__file__).resolve().parents[1] / "slow.txt"
SLOW_S, UNKNOWN_S = 8, 0


def slow_ones():
    """{server/scenario: seconds}, of the file."""
    return {name: int(seconds) for seconds, name in map(str.split, SLOW.read_text().splitlines())}


class Runner:
    def __init__(self, build, servers, only=(), keep=False, jobs=4, but=(), out=sys.stdout, slow=False, tools=None):
        self.build = pathlib.Path(build).resolve()
        self.tools = pathlib.Path(tools).resolve() if tools else self.build
        self.servers = servers
        self.only, self.but, self.slow = only, but, slow
        self.keep = keep
        scratch.leashed = not keep
        self.jobs = jobs
        self.out = out
        self.folder = scratch.folder("e2e")
        self.authority = Authority(self.folder / "authority")
        self.passed = self.failed = self.skipped = 0
        self.lock = threading.Lock()
        self.seconds, self.took = slow_ones(), {}

    def say(self, text):
        with self.lock:
            print(text, file=self.out, flush=True)

    def wanted(self, one):
        def is_of(patterns):
            return any(fnmatch.fnmatch(one.name, p) or fnmatch.fnmatch(one.name, p + "/*") for p in patterns)
        return (not self.only or is_of(self.only)) and not is_of(self.but)

    def run(self):
        try:
            for name in self.servers:
                self.run_on(name)
        finally:
            if self.keep:
                scratch.keep(self.folder)
                self.say(f"files: {self.folder}")
            else:
                scratch.remove(self.folder)
                if self.failed:
                    self.say("--keep leaves the files to look at")
        if self.slow:
            rows = [f"{took:.0f} {name}" for name, took in sorted(self.took.items(), key=lambda row: -row[1]) if took >= SLOW_S]
            SLOW.write_text("".join(f"{row}\n" for row in rows))
        self.say(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed or not self.passed else 0

    def run_on(self, name):
        scenarios = [s for s in SCENARIOS if self.wanted(s) and name in s.servers]
        for other in [s for s in SCENARIOS if self.wanted(s) and name not in s.servers and len(self.servers) == 1]:
            self.say(f"skip {name}/{other.name}: runs on {', '.join(other.servers)} only")
            self.skipped += 1
        if not scenarios:
            return
        scenarios.sort(key=lambda s: -self.seconds.get(f"{name}/{s.name}", UNKNOWN_S))
        if SERVERS[name].own:
            self.side_by_side(scenarios, self.on_own_server)
            return
        server = SERVERS[name](self.folder / f"server-{name}", self.build)
        server.start()
        scenarios = [s for s in scenarios if self.can(server, s)]
        try:
            self.side_by_side([s for s in scenarios if not s.alone], lambda s: self.one(server, s))
            for one in [s for s in scenarios if s.alone]:
                self.one(server, one)
        finally:
            if not self.keep:
                server.stop()

    def side_by_side(self, scenarios, run):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(run, scenarios))

    def on_own_server(self, one):
        server = Apisim(self.folder / "servers" / folder_name(one.name), self.tools, authority=self.authority)
        server.start()
        try:
            self.one(server, one)
        finally:
            if not self.keep:
                server.stop()

    def can(self, server, one):
        """Has the server what the scenario needs?"""
        lacking = [CAPABILITIES[name].says for name in one.needs if server.capabilities()[name] != YES]
        if lacking:
            self.skipped += 1
            self.say(f"skip {server.name}/{one.name}: the API server lacks: {', '.join(lacking)}")
        return not lacking

    def one(self, server, one):
        result, tests = [], []
        begin = time.monotonic()
        thread = threading.Thread(target=lambda: result.append(execute(self, server, one, tests)), daemon=True)
        thread.start()
        thread.join(one.timeout)
        if thread.is_alive():
            details = tests[0].tails() if tests else ""
            for test in tests:
                test.abort()
            thread.join(20)
            result = [(f"not finished within {one.timeout} s", None, details, time.monotonic() - begin, "")]
        failure, skip, details, took, note = result[0]
        name = f"{server.name}/{one.name}"
        self.took[name] = took
        if skip:
            self.skipped += 1
            self.say(f"skip {name}: {skip}")
        elif failure:
            self.failed += 1
            self.say(f"FAIL {name} ({took:.1f} s): {failure}\n{details}")
        else:
            self.passed += 1
            self.say(f"ok {name} ({took:.1f} s)" + (f": {note}" if note else ""))

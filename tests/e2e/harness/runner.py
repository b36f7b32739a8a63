"""Runs the scenarios: those that share a server beside one another, those that want it alone afterwards."""
import concurrent.futures
import fnmatch
import pathlib
import sys
import threading
import time

import scratch

from .capabilities import CAPABILITIES, YES
from .scenario import SCENARIOS, execute
from .servers import Apisim, Cluster
from .tls import Authority

SERVERS = {"apisim": Apisim, "cluster": Cluster}


class Runner:
    def __init__(self, build, servers, only=(), keep=False, jobs=4, but=(), out=sys.stdout):
        self.build = pathlib.Path(build).resolve()
        self.servers = servers
        self.only, self.but = only, but
        self.keep = keep
        scratch.leashed = not keep
        self.jobs = jobs
        self.out = out
        self.folder = scratch.folder("e2e")
        self.authority = Authority(self.folder / "authority")
        self.passed = self.failed = self.skipped = 0
        self.lock = threading.Lock()

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
        self.say(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed or not self.passed else 0

    def run_on(self, name):
        scenarios = [s for s in SCENARIOS if self.wanted(s) and name in s.servers]
        for other in [s for s in SCENARIOS if self.wanted(s) and name not in s.servers and len(self.servers) == 1]:
            self.say(f"skip {name}/{other.name}: runs on {', '.join(other.servers)} only")
            self.skipped += 1
        if not scenarios:
            return
        server = SERVERS[name](self.folder / f"server-{name}", self.build)
        server.start()
        scenarios = [s for s in scenarios if self.can(server, s)]
        try:
            with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
                list(pool.map(lambda s: self.one(server, s), [s for s in scenarios if not s.alone]))
            for one in [s for s in scenarios if s.alone]:
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
        if skip:
            self.skipped += 1
            self.say(f"skip {name}: {skip}")
        elif failure:
            self.failed += 1
            self.say(f"FAIL {name} ({took:.1f} s): {failure}\n{details}")
        else:
            self.passed += 1
            self.say(f"ok {name} ({took:.1f} s)" + (f": {note}" if note else ""))

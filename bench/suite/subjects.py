"""What is measured: the program, the peers on client-go, and curl. Each counts the seconds from the start of its process."""
import json
import os
import re
import signal
import subprocess
import time
from datetime import datetime
from typing import NamedTuple

import scratch
from harness.program import Program
from harness.wait import until
from oracle import judge

from . import machine

PROTOBUF = "application/vnd.kubernetes.protobuf"
NAMESPACE = "bench"     # the only one where something is deleted
WORKERS = 4
# Whoever deletes, the program, its peer or the lower bound, has as many deletions under way at a time.
IN_FLIGHT = WORKERS * int(re.search(r"WORKER_LEASES_MAX (\d+)", (machine.TOP / "ipc" / "msg.h").read_text()).group(1))
CONFIG = {"deleteEvictedPod": {"enable": True, "includeJobs": False, "namespaces": [NAMESPACE]}}


def ca_file(server):
    """[the file], or nothing without TLS."""
    return [str(server.ca)] if server.ca and server.url.startswith("https") else []


def kill(process):
    """At once, when there is one and it still runs."""
    if process and process.poll() is None:
        process.kill()
        process.wait()


def curl(server, accept=PROTOBUF):
    """Seconds and bytes of the whole list, as fast as one can read it and drop it: over HTTP/2, its default, it is slower."""
    command = ["curl", "-sS", "--http1.1", "-o", os.devnull, "-w", "%{size_download} %{http_code}", "-H", f"Accept: {accept}",
               "-H", f"Authorization: Bearer {server.tokens['cleaner']}", server.url + "/api/v1/pods?resourceVersion=0"]
    for ca in ca_file(server):
        command += ["--cacert", ca]
    begin = time.monotonic()
    size, code = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    seconds = time.monotonic() - begin
    if code != "200":
        raise AssertionError(f"curl: the server answered {code}")
    return seconds, int(size)


def drop(build, server):
    """Seconds that libcurl takes to read a WatchList and to drop it: the lower bound of what reads the same."""
    command = [build / "bench" / "bench_drop", server.url, server.tokens["cleaner"], *ca_file(server)]
    begin = time.monotonic()
    subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def hold(build, server, seconds):
    """PSS of a process that after so many seconds holds the watch of all pods, and does nothing else."""
    process = scratch.start([build / "bench" / "bench_drop", "--hold", server.url, server.tokens["cleaner"], *ca_file(server)], stdout=subprocess.DEVNULL)
    try:
        time.sleep(seconds)
        return machine.pss(process.pid)
    finally:
        kill(process)


class Ours:
    name = "ops-pod-cleaner"

    def __init__(self, build, folder, server, workers=2, **config):
        """workers None: as many as the program finds right."""
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(server.kubeconfig("cleaner"))
        self.server, self.since = server, len(server.log())
        self.program = Program(build, folder, {**CONFIG, **({"workers": workers} if workers else {}), **config}, kubeconfig)

    def start(self, timeout=300):
        """Returns seconds from the start of the program to the complete cache."""
        begin = time.time()
        self.program.start(wait=False)
        line = until("a complete cache", self._complete, timeout, every=0.02)
        end = datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp()
        self.pods = line["pods"]
        return end - begin

    def _complete(self):
        if self.program.process.poll() is not None:
            raise AssertionError(f"the program ended:\n{self.program.log()[-2000:]}")
        for text in self.program.log().splitlines():
            if '"list complete"' in text:
                return json.loads(text)
        return None

    def ready(self):
        self.program.wait_ready(60)
        return self

    def watcher(self):
        return self.program.pids("watcher")[0]

    def find_watcher(self):
        """Its pid; None as long as there is none."""
        return next(iter(self.program.pids("watcher")), None) if self.program.process else None

    def memory(self):
        return sum(machine.pss(pid) for pid, _ in self.program.tree())

    def processes(self):
        """[(pid, role)]"""
        return self.program.tree()

    def stop(self):
        code = self.program.stop()
        if code:
            raise AssertionError(f"the program ended with {code}:\n{self.program.log()[-2000:]}")
        self.judge()

    def judge(self):
        """The oracle's word on every write of this run: bound, once, and right where the log shows the pod."""
        log = [r for r in self.server.log()[self.since:] if r.ns == NAMESPACE]
        report = judge.check(log, judge.Policy(evicted={NAMESPACE}), is_program=self.server.is_program)
        if not report.ok:
            raise AssertionError("the oracle: " + "\n".join(str(f) for f in report.findings[:5]))

    def destroy(self):
        self.program.destroy()


class Floor:
    """The lower bound of deletions: bench_floor, which reads and deletes the pods it is told, and nothing else."""
    name = "lower bound: libcurl, read and delete"

    def __init__(self, build, server, names, workers=IN_FLIGHT):
        self.command = [build / "bench" / "bench_floor", server.url, server.tokens["cleaner"], server.ca, NAMESPACE, workers]
        self.names, self.process = names, None

    def start(self):
        self.process = scratch.start(self.command, stdin=subprocess.PIPE, text=True)
        with self.process.stdin as lines:
            lines.write("\n".join(self.names))

    def processes(self):
        return []

    def stop(self):
        if self.process.wait(60):
            raise AssertionError("bench_floor: a pod could not be read or deleted")

    def destroy(self):
        kill(self.process)


class Variant(NamedTuple):
    """A way to set up the peer."""
    protobuf: bool
    watch_list: bool
    limited: bool = False       # by client-go's default of 5 requests a second

    @property
    def name(self):
        return f"client-go, {'protobuf' if self.protobuf else 'JSON'}" + ", WatchList" * self.watch_list + ", its default limit" * self.limited


# Which of them is the fastest differs with the server; the goals compare with that one.
VARIANTS = tuple(Variant(protobuf, watch_list) for protobuf in (True, False) for watch_list in (False, True))


class Peer:
    def __init__(self, binary, folder, server, variant, workers=IN_FLIGHT):
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(server.kubeconfig("cleaner"))
        self.name = variant.name
        self.environment = {**os.environ, "KUBE_FEATURE_WatchListClient": "true" if variant.watch_list else "false"}
        self.log_path = folder / "log"
        self.command = [binary, "--kubeconfig", kubeconfig, "--namespace", NAMESPACE, "--workers", workers]
        self.command += ["--protobuf"] if variant.protobuf else []
        self.command += [] if variant.limited else ["--qps", "-1"]
        self.process = None

    def start(self, timeout=300):
        """Returns seconds from the start of the program to the complete cache."""
        begin = time.time()
        with open(self.log_path, "wb") as log:
            self.process = scratch.start(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=self.environment)
        _, end, pods = until("the peer's complete cache", self._synced, timeout, every=0.02)
        self.pods = int(pods)
        return float(end) - begin

    def _synced(self):
        text = self.log_path.read_text()
        if self.process.poll() is not None:
            raise AssertionError(f"the peer ended:\n{text[-2000:]}")
        return next((l.split() for l in text.splitlines() if l.startswith("synced ")), None)

    def ready(self):
        return self

    def memory(self):
        return machine.pss(self.process.pid)

    def processes(self):
        return [(self.process.pid, "peer")]

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.destroy()

    def destroy(self):
        kill(self.process)

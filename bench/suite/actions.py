"""Evictions, and how fast what is measured answers them: the same on apisim and on the real server."""
import os
import time
from typing import NamedTuple

from harness.wait import until

from . import machine
from .subjects import NAMESPACE

MERGE = "application/merge-patch+json"
EVICTED = {"status": {"phase": "Failed", "reason": "Evicted"}}
GAP = 0.02      # seconds between single evictions
LOOK = 0.25     # seconds
DELETE = b'"verb":"delete"'     # in a line of either server's log


def pod(name):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"nodeName": "node-1", "containers": [{"name": "main", "image": "registry.example.com/shop/web:1.2.3"}]},
            "status": {"phase": "Running"}}


def create_namespace(server):
    server.admin.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})


def create(server, names, make=pod):
    for name in names:
        code, answer = server.admin.request("POST", f"/api/v1/namespaces/{NAMESPACE}/pods", make(name))
        if code != 201:
            raise AssertionError(f"cannot create a pod: {code} {answer}")


def evict(server, name):
    code, answer = server.admin.request("PATCH", f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/status", EVICTED, MERGE)
    if code != 200:
        raise AssertionError(f"cannot evict: {code} {answer}")


class Spans(NamedTuple):
    """Medians of the steps from an eviction to its DELETE as the server saw them, in milliseconds."""
    patch: float        # the eviction, received to answered
    way: float          # to the fresh read
    read: float         # which is answered
    judge: float        # to the DELETE


class Watched:
    """Of the server's log, from now on: the requests that evicted each pod, and those by which what is measured read and deleted it."""

    def __init__(self, server):
        self.server, self.since = server, len(server.log())
        self.offset, self.seen = os.path.getsize(server.audit), 0
        self.evicted, self.got, self.deleted = {}, {}, {}

    def look(self):
        """How many deletions are in the log. Its lines are only counted: to parse them takes time on the cores that are measured."""
        with open(self.server.audit, "rb") as log:
            log.seek(self.offset)
            new = log.read()
        new = new[:new.rfind(b"\n") + 1]
        self.offset, self.seen = self.offset + len(new), self.seen + new.count(DELETE)
        return self.seen

    def read(self):
        log = self.server.log()
        for r in log[self.since:]:
            if r.resource != "pods" or r.ns != NAMESPACE or not r.ok:
                continue
            if r.verb == "patch" and r.subresource == "status":
                self.evicted[r.name] = r
            elif r.verb == "get" and self.server.is_program(r):
                self.got[r.name] = r
            elif r.verb == "delete" and self.server.is_program(r):
                self.deleted.setdefault(r.name, r)
        self.since = len(log)
        return self

    def wait(self, count, seconds=600, each=None):
        """each(deletions so far) is called at every look."""
        def are_there():
            seen = self.look()
            if each:
                each(seen)
            return seen >= count and len(self.read().deleted) >= count
        until(f"{count} deletions", are_there, seconds, every=LOOK)

    def milliseconds(self):
        return [(r.t - self.evicted[n].t) * 1000 for n, r in self.deleted.items() if n in self.evicted]

    def spans(self):
        ways = [(self.evicted[n], self.got[n], r) for n, r in self.deleted.items() if n in self.evicted and n in self.got]
        steps = [(e.t_end - e.t, g.t - e.t_end, g.t_end - g.t, d.t - g.t_end) for e, g, d in ways]
        return Spans(*(machine.median(step) * 1000 for step in zip(*steps)))


def latency(server, prefix, count, make=pod):
    """Evictions one by one, all of them answered."""
    names = [f"{prefix}-{i}" for i in range(count)]
    create(server, names, make)
    time.sleep(1)
    watched = Watched(server)
    for name in names:
        evict(server, name)
        time.sleep(GAP)
    watched.wait(count)
    return watched


def round_trip(server, floor, count):
    """Milliseconds from GET to DELETE of the lower bound with one connection, which does nothing in between."""
    watched = Watched(server)
    floor.start()
    watched.wait(count)
    floor.stop()
    return machine.median((r.t - watched.got[n].t) * 1000 for n, r in watched.deleted.items())


def rate(watched, count, each=None):
    """Deletions a second, first to last."""
    watched.wait(count, each=each)
    times = sorted(r.t for r in watched.deleted.values())
    return (len(times) - 1) / (times[-1] - times[0])


def rate_and_cost(subject, watched, count, server):
    """Starts it. Deletions a second, and {role: µs of CPU a deletion} of its processes and of [(pid, role)] of the server."""
    samples = []
    subject.start()
    processes = [*server, *subject.processes()]
    speed = rate(watched, count, lambda seen: samples.append((seen, machine.cpu_of_roles(processes))))
    (first, before), (last, after) = samples[0], samples[-1]
    return speed, {role: (after[role] - before[role]) / max(1, last - first) * 1e6 for role in after}


def spread(times):
    return [f"{machine.quantile(times, q):.2f}" for q in (0.5, 0.9, 0.99)] + [f"{max(times):.2f}"]

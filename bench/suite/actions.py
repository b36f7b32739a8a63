"""Evictions, and how fast what is measured answers them: the same on apisim and on the real server."""
import time

from harness.wait import until

from . import machine
from .subjects import NAMESPACE

MERGE = "application/merge-patch+json"
EVICTED = {"status": {"phase": "Failed", "reason": "Evicted"}}
GAP = 0.02      # seconds between single evictions
LOOK = 1        # seconds: reading the server's log takes time on the cores that are measured


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


class Watched:
    """Of the server's log, from now on: when each pod was evicted, and when what is measured deleted it."""

    def __init__(self, server):
        self.server, self.since = server, len(server.log())
        self.evicted, self.deleted = {}, {}

    def read(self):
        log = self.server.log()
        for r in log[self.since:]:
            if r.resource != "pods" or r.ns != NAMESPACE or not r.ok:
                continue
            if r.verb == "patch" and r.subresource == "status":
                self.evicted[r.name] = r.t
            elif r.verb == "delete" and self.server.is_program(r):
                self.deleted.setdefault(r.name, r.t)
        self.since = len(log)
        return self

    def wait(self, count, seconds=600):
        until(f"{count} deletions", lambda: len(self.read().deleted) >= count, seconds, every=LOOK)

    def milliseconds(self):
        return [(self.deleted[n] - self.evicted[n]) * 1000 for n in self.deleted if n in self.evicted]


def latency(server, prefix, count, make=pod):
    """Milliseconds from each eviction to its DELETE, both as the server received them."""
    names = [f"{prefix}-{i}" for i in range(count)]
    create(server, names, make)
    time.sleep(1)
    watched = Watched(server)
    for name in names:
        evict(server, name)
        time.sleep(GAP)
    watched.wait(count)
    return watched.milliseconds()


def rate(watched, count, seconds=600):
    """Deletions a second, first to last."""
    watched.wait(count, seconds)
    times = sorted(watched.deleted.values())
    return (len(times) - 1) / (times[-1] - times[0])


def spread(times):
    return [f"{machine.quantile(times, q):.2f}" for q in (0.5, 0.9, 0.99)] + [f"{max(times):.2f}"]

"""How many deletions a second: evicted pods that wait while the instances are paused, from `resume` to the last of them."""
import pathlib
import threading
import time

from harness.etcd import Etcd, Mould
from harness.wait import until
from oracle import logs

from .feed import DELETE, Thing

MOST = 0.95         # of the pods: the time of the last few says who waited for a retry, not how fast it goes
PACE = 6.0          # seconds between two kills of one role of one instance: ten a minute


def in_audit(server, begin):
    """When each successful DELETE of the program was answered, by uid, from that place of the log on."""
    found = {}
    with open(server.audit, "rb") as file:
        file.seek(begin)
        for line in file:
            if b'"verb":"delete"' in line and b'"username":"cleaner' in line and line.endswith(b"\n"):
                request = logs.parse_line(line)
                if request and request.ok and request.resource == "pods":
                    found[request.uid] = request.t_end
    return found


class Backlog:
    """Evicted pods for all instances, written straight to etcd while they are paused."""

    def __init__(self, server, instances, feeds, name, count):
        self.server, self.instances, self.feeds, self.name = server, instances, feeds, name
        self.count = count // len(instances)
        self.things = []

    def pause(self):
        for instance in self.instances:
            until("a pause", lambda: instance.ask("pause", "--reason", self.name).returncode == 0, 30, every=0.2)

    def fill(self):
        etcd = Etcd(self.server.etcd_url)
        for feed in self.feeds:
            ns = feed.spaces["evicted"]
            sample = feed.objects.evict(feed.objects.pod(ns, f"{self.name}-xxxxxx"))
            mould = Mould(etcd, ns, sample)
            names = mould.fill(self.count)
            self.things += [Thing(self.name, ns, name, mould.uids[name], DELETE) for name in names]
            self.things.append(Thing(self.name, ns, mould.name, mould.uid, DELETE))

    def drain(self, limit):
        """Deletions a second; None when too few are done within the limit, seconds."""
        begin = pathlib.Path(self.server.audit).stat().st_size
        now = time.time()
        for thing in self.things:
            thing.due = thing.earliest = now
        for instance in self.instances:
            until("a resume", lambda: instance.ask("resume").returncode == 0, 30, every=0.2)
        wanted, end = {t.uid for t in self.things}, time.monotonic() + limit
        while time.monotonic() < end:
            time.sleep(0.5)
            times = sorted(t for uid, t in in_audit(self.server, begin).items() if uid in wanted)
            if len(times) >= MOST * len(wanted):
                return len(times) / (times[-1] - now)
        return None


class Pacer(threading.Thread):
    """Ten kills a minute of each role of each instance."""

    def __init__(self, instances):
        super().__init__(daemon=True)
        self.instances, self.ended, self.kills = instances, threading.Event(), 0

    def run(self):
        roles = ("reporter", "watcher", "worker")
        turn = 0
        while not self.ended.wait(PACE / (len(roles) * len(self.instances))):
            instance = self.instances[turn % len(self.instances)]
            role = roles[turn // len(self.instances) % len(roles)]
            self.kills += instance.kill_child((turn * 0.37) % 1.0, role) is not None
            turn += 1

    def stop(self):
        self.ended.set()
        self.join()

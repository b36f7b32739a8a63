"""First synchronisation, memory and latency on the real control plane of tests/cluster."""
import time

from . import actions, machine
from .real_server import RealServer
from .subjects import IN_FLIGHT, VARIANTS, WORKERS, Floor, Ours, Peer, curl, drop

PODS, SINGLES = 50_000, 200
QUICK = (5_000, 50)
ROUNDS = 5          # of the program, beside curl
CALM_EVERY = 2      # memory and single evictions in the first round and each second one after it
TRIPS = 100         # pods
PEERS = {f"peer-{i}": variant for i, variant in enumerate(VARIANTS)}


class Real:
    def __init__(self, run):
        self.run = run
        self.pods, self.singles = QUICK if run.quick else (PODS, SINGLES)
        self.results = {}

    def synchronise(self, subject):
        """Seconds to the complete cache."""
        if isinstance(subject, Ours):
            size = curl(self.server)[1]             # the page before warms nothing up for one of the two only
            self.curls.append(curl(self.server)[0])
            self.drops.append(drop(self.run.build, self.server))
            self.run.say(f"curl {self.curls[-1]:.2f} s for {size / 1e6:.0f} MB, lower bound {self.drops[-1]:.2f} s")
        wall = subject.start()
        self.run.say(f"{subject.name}: {subject.pods:,} pods in {wall:.2f} s")
        return wall

    def measure(self, prefix, turn):
        """A new process: synchronisation; in the turns of all subjects also memory and single evictions."""
        subject = self.subject(prefix)
        seen = self.results.setdefault(prefix, {"name": subject.name, "walls": [], "singles": []})
        seen["walls"].append(self.synchronise(subject))
        if turn % CALM_EVERY == 0:
            time.sleep(2)
            seen["held"] = subject.ready().memory()
            watched = actions.latency(self.server, f"{prefix}-{turn}", self.singles, self.server.pod)
            seen["singles"].append(watched.milliseconds())
            if prefix == "ours":
                self.run.known.update(spans_real=watched.spans(), fdatasync_real=machine.fdatasync(self.run.new_folder("disk")))
            self.run.say(f"{subject.name}: {seen['held'] / 1e6:.1f} MB, p50 {machine.quantile(seen['singles'][-1], 0.5):.2f} ms")
        subject.stop()

    def sum_up(self):
        for r in self.results.values():
            r["p50"] = machine.median(machine.quantile(times, 0.5) for times in r["singles"])
            r["p99"] = machine.quantile([t for times in r["singles"] for t in times], 0.99)

    def trip(self):
        floor = self.run.keep(Floor(self.run.build, self.server, self.server.evict(TRIPS), workers=1))
        self.run.known["trip_real"] = actions.round_trip(self.server, floor, TRIPS)

    def subject(self, prefix):
        folder = self.run.new_folder(f"real-{prefix}")
        if prefix == "ours":
            return self.run.keep(Ours(self.run.build, folder, self.server, workers=WORKERS))
        return self.run.keep(Peer(self.run.peer, folder, self.server, PEERS[prefix]))

    def all(self):
        self.server = self.run.keep(RealServer(self.run)).start()
        self.server.fill(self.pods)
        self.curls, self.drops = [], []
        curl(self.server)
        peers = PEERS if self.run.peer else ()
        for i in range(ROUNDS):                 # in turns: the server grows older
            for prefix in ("ours", *peers):
                self.measure(prefix, i)
        self.trip()
        self.sum_up()
        self.verdicts()
        self.server.stop()

    def verdicts(self):
        ours, peers = self.results["ours"], [r for p, r in self.results.items() if p != "ours"]
        self.run.known["sync_real_floor"] = machine.median(self.drops)
        self.run.values["sync_real"] = machine.median(w / c for w, c in zip(ours["walls"], self.curls))
        if peers:
            self.run.values["latency_real"] = ours["p50"] / min(p["p50"] for p in peers)
        rows = [[r["name"], f"{machine.median(r['walls']):.2f}", f"{r['held'] / 1e6:.0f}", f"{r['p50']:.1f}", f"{r['p99']:.1f}"] for r in (ours, *peers)]
        rows.append(["`curl -o /dev/null` of the list, protobuf", f"{machine.median(self.curls):.2f}", "", "", ""])
        rows.append(["lower bound: libcurl drops the WatchList", f"{machine.median(self.drops):.2f}", "", "", ""])
        self.run.table("On the real API server", f"etcd and kube-apiserver beside it on the same machine, {self.pods:,} pods of 8 KB; the peers without "
                       f"client-side limit, with {IN_FLIGHT} deletions under way at most, as {WORKERS} workers have; medians of {ROUNDS} rounds, all in turns. "
                       "Synchronised: from the start of each process. "
                       f"Latency: {self.singles} evictions 20 ms apart in each second round, from status patch to DELETE.",
                       ["", "synchronised, s", "memory, MB", "p50, ms", "p99, ms"], rows)

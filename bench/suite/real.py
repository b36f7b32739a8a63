"""Everything that is measured on the real control plane of tests/cluster.

Tens of thousands of pods are not created one by one: one is created through the API server and completed there, and its
stored form is then written to etcd under other names and uids of the same length. The API server learns of them by its watch.
"""
import os
import signal
import time

from harness.etcd import Etcd, Mould
from harness.servers import Cluster
from harness.wait import until

from . import actions, machine
from .subjects import IN_FLIGHT, NAMESPACE, VARIANTS, WORKERS, Floor, Ours, Peer, curl, drop

PODS, SINGLES, BULK = 50_000, 200, 2000
QUICK = (5_000, 50, 300)
BATCH = 100         # pods in one transaction of etcd
ROUNDS = 5          # of the program, beside curl
CALM_EVERY = 2      # memory and single evictions in the first round and each second one after it
TRIPS = 100         # pods
PEERS = {f"peer-{i}": variant for i, variant in enumerate(VARIANTS)}
DROPPED_META = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "ownerReferences", "namespace")
DROPPED_SPEC = ("priority", "priorityClassName", "preemptionPolicy")     # admission wants to set them


class Real:
    def __init__(self, run):
        self.run = run
        self.pods, self.singles, self.bulk = QUICK if run.quick else (PODS, SINGLES, BULK)
        self.results = {}

    def start(self):
        self.run.say("a real API server")
        self.server = self.run.keep(Cluster(self.run.folder / "cluster"))
        self.server.start()
        # It would hold all pods too, and delete those without an owner.
        os.kill(int((self.server.dir / "kube-controller-manager.pid").read_text()), signal.SIGTERM)
        self.etcd = Etcd(self.server.etcd_url)
        for name in (NAMESPACE, "shop"):
            self.server.admin.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def pod(self, name):
        """The sample under that name, as one may create it."""
        meta = {k: v for k, v in self.run.sample["metadata"].items() if k not in DROPPED_META}
        spec = {k: v for k, v in self.run.sample["spec"].items() if k not in DROPPED_SPEC}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "name": name}, "spec": {**spec, "nodeName": "node-1"}}

    def mould(self, namespace, name, status):
        path = f"/api/v1/namespaces/{namespace}/pods"
        self.server.admin.call("POST", path, self.pod(name))
        self.server.admin.call("PATCH", f"{path}/{name}/status", {"status": status}, actions.MERGE)
        # The sample's 8 KB are with its managedFields; those of two writes by hand are twice as large.
        managed = self.run.sample["metadata"]["managedFields"]
        pod = self.server.admin.call("PATCH", f"{path}/{name}", {"metadata": {"managedFields": managed}}, actions.MERGE)
        return Mould(self.etcd, namespace, pod)

    def known(self, namespace, name):
        """Waits until the API server has learnt of the last pod that was written."""
        path = f"/api/v1/namespaces/{namespace}/pods/{name}"
        until("the API server to know all pods", lambda: self.server.admin.request("GET", path, resourceVersion="0")[0] == 200, 300, every=0.5)

    def fill(self):
        self.run.say(f"{self.pods:,} pods, written straight to etcd")
        mould = self.mould("shop", "checkout-api-7d9f8b6c5-x2x4b", self.run.sample["status"])
        self.known("shop", mould.fill(self.pods, self.run.say, BATCH)[-1])
        self.evicted = self.mould(NAMESPACE, "evicted-api-7d9f8b6c5-x2x4b", actions.EVICTED["status"])
        self.server.admin.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods/{self.evicted.name}", {"gracePeriodSeconds": 0})

    def evict(self):
        """Evicted pods for one bulk, while nobody watches; their names."""
        names = self.evicted.fill(self.bulk, batch=BATCH)
        self.known(NAMESPACE, names[-1])
        return names

    def synchronise(self, subject):
        """Seconds to the complete cache, and how fast it deleted the evicted pods that it found."""
        self.evict()
        watched = actions.Watched(self.server)
        if isinstance(subject, Ours):
            size = curl(self.server)[1]             # the page before warms nothing up for one of the two only
            self.curls.append(curl(self.server)[0])
            self.drops.append(drop(self.run.build, self.server))
            self.run.say(f"curl {self.curls[-1]:.2f} s for {size / 1e6:.0f} MB, lower bound {self.drops[-1]:.2f} s")
        wall = subject.start()
        speed = actions.rate(watched, self.bulk)
        self.run.say(f"{subject.name}: {subject.pods:,} pods in {wall:.2f} s, {speed:.0f} deletions a second")
        return wall, speed

    def measure(self, prefix, turn):
        """A new process: synchronisation, many evicted pods; in the turns of all subjects also memory and single evictions."""
        subject = self.subject(prefix)
        seen = self.results.setdefault(prefix, {"name": subject.name, "walls": [], "rates": [], "singles": []})
        wall, rate = self.synchronise(subject)
        seen["walls"].append(wall)
        seen["rates"].append(rate)
        if turn % CALM_EVERY == 0:
            time.sleep(2)
            seen["held"] = subject.ready().memory()
            watched = actions.latency(self.server, f"{prefix}-{turn}", self.singles, self.pod)
            seen["singles"].append(watched.milliseconds())
            if prefix == "ours":
                self.run.known.update(spans_real=watched.spans(), fdatasync_real=machine.fdatasync(self.run.new_folder("disk")))
            self.run.say(f"{subject.name}: {seen['held'] / 1e6:.1f} MB, p50 {machine.quantile(seen['singles'][-1], 0.5):.2f} ms")
        subject.stop()

    def sum_up(self):
        for r in self.results.values():
            r["rate"] = machine.median(r["rates"])
            r["p50"] = machine.median(machine.quantile(times, 0.5) for times in r["singles"])
            r["p99"] = machine.quantile([t for times in r["singles"] for t in times], 0.99)

    def floor(self):
        """Deletions a second of the lower bound, after a few with one connection."""
        names = self.evict()
        few = self.run.keep(Floor(self.run.build, self.server, names[:TRIPS], workers=1))
        self.run.known["trip_real"] = actions.round_trip(self.server, few, TRIPS)
        watched = actions.Watched(self.server)
        floor = self.run.keep(Floor(self.run.build, self.server, names[TRIPS:]))
        floor.start()
        speed = actions.rate(watched, len(names) - TRIPS)
        floor.stop()
        self.run.say(f"{floor.name}: {speed:.0f} deletions a second")
        return speed

    def subject(self, prefix):
        folder = self.run.new_folder(f"real-{prefix}")
        if prefix == "ours":
            return self.run.keep(Ours(self.run.build, folder, self.server, workers=WORKERS))
        return self.run.keep(Peer(self.run.peer, folder, self.server, PEERS[prefix]))

    def all(self):
        self.start()
        self.fill()
        self.curls, self.drops = [], []
        curl(self.server)
        peers = PEERS if self.run.peer else ()
        for i in range(ROUNDS):                 # in turns: the server grows older
            for prefix in ("ours", *peers):
                self.measure(prefix, i)
        self.run.known["deletions_real_floor"] = self.floor()
        self.sum_up()
        self.verdicts()
        self.server.stop()

    def verdicts(self):
        ours, peers = self.results["ours"], [r for p, r in self.results.items() if p != "ours"]
        self.run.known["sync_real_floor"] = machine.median(self.drops)
        self.run.values["sync_real"] = machine.median(w / c for w, c in zip(ours["walls"], self.curls))
        if peers:
            self.run.values["latency_real"] = ours["p50"] / min(p["p50"] for p in peers)
            # Round by round: what slows this machine down for a while slows all of a round.
            best = max(peers, key=lambda p: p["rate"])
            ratios = [a / b for a, b in zip(ours["rates"], best["rates"])]
            self.run.known.update(deletions_real_peer=best["rate"], deletions_real_ratios=ratios)
            self.run.values["deletions_real"] = machine.median(ratios)
        rows = [[r["name"], f"{machine.median(r['walls']):.2f}", f"{r['held'] / 1e6:.0f}", f"{r['p50']:.1f}", f"{r['p99']:.1f}",
                 f"{r['rate']:.0f} ({min(r['rates']):.0f} to {max(r['rates']):.0f})"]
                for r in (ours, *peers)]
        rows.append(["`curl -o /dev/null` of the list, protobuf", f"{machine.median(self.curls):.2f}", "", "", "", ""])
        rows.append(["lower bound: libcurl drops the WatchList", f"{machine.median(self.drops):.2f}", "", "", "", ""])
        rows.append([Floor.name, "", "", "", "", f"{self.run.known['deletions_real_floor']:.0f}"])
        self.run.table("On the real API server", f"etcd and kube-apiserver beside it on the same machine, {self.pods:,} pods of 8 KB; the peers without "
                       f"client-side limit; {WORKERS} workers, the lower bound and the peers each have {IN_FLIGHT} deletions under way; medians of "
                       f"{ROUNDS} rounds, all in turns. Synchronised: from the start of each process. "
                       f"Latency: {self.singles} evictions 20 ms apart in each second round, from status patch to DELETE. Deletions: {self.bulk:,} pods found "
                       "evicted at the start, first to last DELETE, and the least and the most. The program reads each pod live before it writes; the peers do not.",
                       ["", "synchronised, s", "memory, MB", "p50, ms", "p99, ms", "deletions a second"], rows)

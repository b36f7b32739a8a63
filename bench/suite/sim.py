"""Everything that is measured on apisim, the API server in memory."""
import json
import os
import subprocess
import time
from typing import NamedTuple

from harness.servers import Apisim
from harness.wait import Timeout, until

from . import actions, machine
from .subjects import CONFIG, IN_FLIGHT, VARIANTS, WORKERS, Floor, Ours, Peer, Variant, curl, drop, hold

GROWTH = (10_000, 50_000, 150_000, 1_000_000)
GROWTH_QUICK = (10_000, 50_000, 150_000)
PEER_MOST = {True: 150_000, False: 50_000}      # pods, by protobuf: it holds 35 KB of each
PATIENCE = 120      # seconds for it
MAIN = 150_000
ROUNDS = 7
SINGLES = 300
BULK = 5000
BULK_ROUNDS = 8
LIMITED = 60        # deletions under client-go's default limit of 5 a second
IDLE = 40           # seconds
SETTLE = 13         # seconds until a process has given back what only its start needed
BEAT = 8            # seconds between two heartbeats of a child
LOOK = 1            # seconds after which the supervisor looks whether one is missing
START = 300         # seconds within which a million pods are filled in
PLANNED = 10_000    # pods
PLANS = 7
PLANNED_FEW = 100   # pods, of the least that a plan takes
STORMS = (1_000, 5_000, 20_000)     # events a second


class Round(NamedTuple):
    """Seconds of one first synchronisation, and of what it is compared with."""
    curl: float
    floor: float
    wall: float
    cpu: float
    system: float


class Sim:
    def __init__(self, run):
        self.run = run
        self.empty = None       # PSS of a watcher of next to nothing

    def server(self, pods, tls=False):
        self.run.say(f"an API server in memory, {pods:,} pods{', TLS' if tls else ''}")
        server = self.run.keep(Apisim(self.run.new_folder("server"), self.run.build, ("--fill", pods), tls=tls, answers=False))
        server.start(START)
        actions.create_namespace(server)
        return server

    def ours(self, server, **config):
        return self.run.keep(Ours(self.run.build, self.run.new_folder("ours"), server, **config))

    def peer(self, server, variant):
        return self.run.keep(Peer(self.run.peer, self.run.new_folder("peer"), server, variant))

    def point(self, kind, name, pods, value):
        self.run.lines[kind].setdefault(name, []).append((pods, value))

    # --- growth, memory, synchronisation ---

    def growth(self):
        self.idle()
        self.plan()
        for pods in GROWTH_QUICK if self.run.quick else GROWTH:
            server = self.server(pods)
            ours = self.sync(server, "sync_plain" if pods == MAIN else None, ROUNDS if pods == MAIN else 1, pods)
            self.memory(server, ours, pods)
            ours.stop()
            if pods == MAIN:
                self.first_peak(server)
            self.peers(server, pods)
            server.stop()
        self.run.table("Memory", "Growth of the watcher's PSS over one of 100 pods, and PSS of all processes.",
                       ["pods", "bytes a pod", "whole tree, MB"], self.run.grown)
        server = self.server(MAIN, tls=True)
        ours = self.sync(server, "sync_tls", ROUNDS, None)
        self.latencies(server, ours)
        time.sleep(SETTLE)
        self.run.values["burst_bytes"] = (machine.pss(ours.watcher()) - self.empty) / MAIN
        ours.stop()
        self.run.known["trip"] = self.trip(server)
        server.stop()

    def sync(self, server, key, rounds, pods):
        """Curl, the lower bound and the program in turns, and with `pods` the peer and the points of the charts. The last one goes on."""
        seen = []
        for i in range(rounds):
            page, floor = curl(server), drop(self.run.build, server)
            ours = self.ours(server)
            wall = ours.start()
            watcher = ours.ready().watcher()
            seen.append(Round(page[0], floor, wall, machine.cpu_seconds(watcher), machine.system_seconds(watcher)))
            self.run.say(f"{ours.pods:,} pods synchronised in {wall:.2f} s, curl {page[0]:.2f} s, lower bound {floor:.2f} s")
            if i + 1 < rounds:
                ours.stop()
        if key:
            self.report(key, seen, ours.pods, page[1])
        if pods:
            self.point("sync", "curl, protobuf", pods, machine.median(r.curl for r in seen))
            self.point("sync", ours.name, pods, machine.median(r.wall for r in seen))
        return ours

    def report(self, key, seen, pods, size):
        self.run.values[key] = machine.median(r.wall / r.curl for r in seen)
        middle = [machine.median(r[i] for r in seen) for i in range(len(Round._fields))]
        self.run.known.update({key: Round(*middle), "pods": pods})
        names = ("`curl -o /dev/null` of the list", "lower bound: libcurl reads the WatchList and drops it", "start of the program to complete cache",
                 "CPU time of the watcher", "of it in the kernel")
        self.run.table(f"First synchronisation, {'TLS' if key == 'sync_tls' else 'plain'}",
                       f"{pods:,} pods, {size / 1e6:.0f} MB of protobuf; medians of {len(seen)} rounds, the three in turns, each from the start of its "
                       "process.",
                       ["", "seconds"], [[name, f"{value:.2f}"] for name, value in zip(names, middle)])

    def memory(self, server, ours, pods):
        time.sleep(SETTLE)
        watcher, tree = ours.watcher(), ours.memory()
        grown = (machine.pss(watcher) - self.empty) / pods
        self.point("memory", ours.name, pods, tree / 1e6)
        self.run.say(f"{grown:.0f} bytes a pod, {tree / 1e6:.1f} MB in all")
        self.run.grown.append([f"{pods:,}", f"{grown:.0f}", f"{tree / 1e6:.1f}"])
        if pods == 1_000_000:
            self.run.values["tree_1m"] = tree / 1e6
        if pods == MAIN:
            steady = machine.anonymous(watcher)
            self.run.values.update(pod_bytes=grown, tree_150k=tree / 1e6, peak_relist=self.relist(server, ours) / steady)

    def first_peak(self, server):
        """The most memory during a first list; looking so often costs a little, so that this one is not timed."""
        ours = self.ours(server)
        peak = machine.Peak(ours.find_watcher)
        ours.start()
        time.sleep(SETTLE)
        self.run.values["peak_first"] = peak.stop() / machine.anonymous(ours.ready().watcher())
        ours.stop()

    def relist(self, server, ours):
        """The most memory of the watcher while it lists once more."""
        lists = ours.program.log().count('"list complete"')
        peak = machine.Peak(ours.watcher)
        server.admin.request("POST", "/_sim/close-watches?error=410")
        until("a relist", lambda: ours.program.log().count('"list complete"') > lists, 120, every=0.1)
        time.sleep(1)
        return peak.stop()

    def peers(self, server, pods):
        for variant in VARIANTS:
            if self.run.peer is None or pods > PEER_MOST[variant.protobuf]:
                continue
            peer = self.peer(server, variant)
            try:
                seconds = peer.start(PATIENCE)
            except Timeout:
                self.run.say(f"{peer.name}: nothing within {PATIENCE} s")
                peer.destroy()
                continue
            time.sleep(1)
            held = peer.memory()
            self.run.say(f"{peer.name}: {seconds:.2f} s, {held / 1e6:.0f} MB")
            self.point("sync", peer.name, pods, seconds)
            self.point("memory", peer.name, pods, held / 1e6)
            peer.stop()

    # --- idle ---

    def idle(self):
        server = self.server(100)
        ours = self.ours(server, workers=None)
        ours.start()
        ours.ready()
        time.sleep(SETTLE + 2)      # what the start has armed has run, too
        tree = ours.program.tree()
        before = {pid: (machine.wakeups(pid), machine.cpu_seconds(pid)) for pid, _ in tree}
        self.run.say(f"{IDLE} s of nothing")
        time.sleep(IDLE)
        rows, woken, total = [], 0.0, 0
        for pid, role in sorted(tree, key=lambda t: t[1]):
            pss, wakes = machine.pss(pid), (machine.wakeups(pid) - before[pid][0]) / IDLE
            rows.append([role, f"{pss / 1e6:.1f}", f"{wakes:.2f}", f"{(machine.cpu_seconds(pid) - before[pid][1]) / IDLE * 100:.3f} %"])
            woken, total = woken + wakes, total + pss
        rows.append(["all", f"{total / 1e6:.1f}", f"{woken:.2f}", ""])
        beats = 2 * (len(tree) - 1) / BEAT + 1 / LOOK
        mapped = [machine.pss_parts(pid) for pid, _ in tree]
        self.run.known["idle_parts"] = {kind: sum(m[kind] for m in mapped) / 1e6 for kind in mapped[0]}
        self.run.known["idle_floor"] = hold(self.run.build, server, SETTLE) / 1e6
        self.empty = machine.pss(ours.watcher())
        self.run.values.update(idle_tree=total / 1e6, idle_wakeups=max(0.0, woken - beats))
        self.run.table("The idle tree", f"100 pods, no events, {IDLE} s. PSS counts shared pages once. {len(tree) - 1} children send a heartbeat "
                       f"every {BEAT} s, which wakes the child and then, at most, the supervisor, and that looks every {LOOK} s whether one is "
                       f"missing: {beats:.1f} a second. The figures of the children reach the reporter every {BEAT} s.",
                       ["process", "PSS, MB", "wake-ups a second", "CPU"], rows)
        ours.stop()
        server.stop()

    # --- without an instance ---

    def plan_once(self, folder):
        command = [self.run.build / "bin" / "ops-pod-cleaner", "plan", "--config", folder / "config.yml", "--kubeconfig", folder / "kubeconfig"]
        begin = time.monotonic()
        subprocess.run([str(c) for c in command], check=True, capture_output=True, env={**os.environ, "HOME": str(folder), "LANG": "C.UTF-8"})
        return time.monotonic() - begin

    def plan(self):
        """`plan` beside curl of the same list, in turns: the median of each."""
        server, folder = self.server(PLANNED), self.run.new_folder("plan")
        few = self.run.new_folder("plan")
        plans, curls, least = [], [], []
        small = self.server(PLANNED_FEW)
        for at, one in ((folder, server), (few, small)):
            (at / "config.yml").write_text(json.dumps(CONFIG))
            (at / "kubeconfig").write_text(one.kubeconfig("cleaner"))
        for _ in range(PLANS):
            curls.append(curl(server)[0])
            plans.append(self.plan_once(folder))
            least.append(self.plan_once(few))
        small.stop()
        wall, one = machine.median(plans), machine.median(curls)
        self.run.known.update(plan_few=machine.median(least), plan_curl=one, plan_pods=PLANNED_FEW, plan_all=PLANNED)
        self.run.say(f"plan {wall:.2f} s, curl {one:.2f} s")
        self.run.values.update(plan_wall=wall, plan_list=machine.median(p / c for p, c in zip(plans, curls)))
        self.run.table("A plan without an instance", f"{PLANNED:,} pods; medians of {PLANS} rounds in turns. It starts the whole tree in mode observe, waits for a "
                       "complete list and its judgement, asks, and ends it.", ["", "seconds"],
                       [["`plan`, start to end", f"{wall:.2f}"], ["`curl -o /dev/null` of the list", f"{one:.2f}"]])
        server.stop()

    # --- actions ---

    def storm(self, server, rate, seconds):
        code, answer = server.admin.request("POST", "/_sim/storm", {"pods": 20000, "ratePerSecond": rate, "seconds": seconds})
        if code != 200:
            raise AssertionError(f"no storm: {answer}")

    def latencies(self, server, ours):
        rows = []
        for events in (0, *STORMS):
            name = f"{events:,} events/s" if events else "no other events"
            self.run.say(f"{SINGLES} evictions, one by one, {name}")
            if events:
                self.storm(server, events, 3 + SINGLES * 0.06)
            watched = actions.latency(server, f"single-{events}", SINGLES)
            times = watched.milliseconds()
            rows.append([name, *actions.spread(times)])
            if events == 1000:
                self.run.values.update(latency_p50=machine.quantile(times, 0.5), latency_p99=machine.quantile(times, 0.99))
                self.run.known.update(spans=watched.spans(), fdatasync=machine.fdatasync(self.run.new_folder("disk")))
            time.sleep(2)
        self.run.table("From eviction to deletion", f"{SINGLES} evictions 20 ms apart among {ours.pods:,} pods, TLS: from the status patch to the "
                       "DELETE in milliseconds, both as the server received them. In between: event, judgement, then fresh read and second judgement "
                       "while the intent is put on disk. The more events there are, the more of these cores "
                       "the server itself needs.", ["beside it", "p50", "p90", "p99", "worst"], rows)

    def trip(self, server):
        names = [f"trip-{i}" for i in range(SINGLES)]
        actions.create(server, names)
        return actions.round_trip(server, self.run.keep(Floor(self.run.build, server, names, workers=1)), SINGLES)

    def bulk(self, server, subject, prefix, count):
        """Deletions a second, and microseconds of CPU that one takes in each role."""
        names = [f"{prefix}-{i}" for i in range(count)]
        actions.create(server, names)
        for name in names:
            actions.evict(server, name)
        speed, spent = actions.rate_and_cost(subject, actions.Watched(server), count, [(server.process.pid, "API server")])
        subject.stop()
        self.run.say(f"{prefix}: {speed:.0f} deletions a second")
        return speed, spent

    def deletions(self):
        server = self.server(1000, tls=True)
        rows = [["ops-pod-cleaner, 1 worker", f"{self.bulk(server, self.ours(server, workers=1), 'workers-1', BULK)[0]:.0f}"]]
        seen, floors, others = [], [], {None: [], 2: []}    # by workers; None: the default
        floor = None

        def ours(workers, i):
            return self.bulk(server, self.ours(server, workers=workers), f"workers-{workers or 'default'}-{i}", BULK)

        def lower_bound(i):
            nonlocal floor
            floor = self.run.keep(Floor(self.run.build, server, [f"floor-{i}-{n}" for n in range(BULK)]))
            return self.bulk(server, floor, f"floor-{i}", BULK)[0]
        turns = [lambda i: others[None].append(ours(None, i)[0]), lambda i: others[2].append(ours(2, i)[0]),
                 lambda i: seen.append(ours(WORKERS, i)), lambda i: floors.append(lower_bound(i))]
        for i in range(BULK_ROUNDS):        # in turns: what slows this machine down for a while slows all
            for turn in turns[i % len(turns):] + turns[:i % len(turns)]:    # and each comes behind each
                turn(i)
        speed = machine.median(s for s, _ in seen)
        spent = {role: machine.median(s[role] for _, s in seen) for role in seen[0][1]}
        default, two = (machine.median(rates) for rates in others.values())
        best = others[2] if two > speed else [rate for rate, _ in seen]
        self.run.values["deletions"] = speed
        self.run.values["deletions_default"] = machine.median(rate / fixed for rate, fixed in zip(others[None], best))
        self.run.values["deletions_floor"] = machine.median(rate / floor for rate, floor in zip(others[None], floors))
        self.run.known.update(deletions_floor=machine.median(floors), deletion_cpu=spent)
        rows += [["ops-pod-cleaner, 2 workers", f"{two:.0f}"], ["ops-pod-cleaner, the default", f"{default:.0f}"],
                 [f"ops-pod-cleaner, {WORKERS} workers", f"{speed:.0f}"], [floor.name, f"{self.run.known['deletions_floor']:.0f}"]]
        if self.run.peer:
            for variant, count in ((Variant(False, False), BULK), (Variant(False, False, limited=True), LIMITED)):
                rows.append([variant.name, f"{self.bulk(server, self.peer(server, variant), f'peer-{count}', count)[0]:.0f}"])
        self.run.table("Deletions", f"{BULK:,} pods found evicted at start, TLS: first to last DELETE at the server; of all but one worker "
                       f"medians of {BULK_ROUNDS} rounds in turns. {WORKERS} workers, the lower bound and the peers each have {IN_FLIGHT} deletions under way. The program writes each down before and after, reads it again and judges it "
                       "again; the peer does none of that.", ["", "a second"], rows)
        self.run.table("What one deletion costs", "CPU time of all processes of a role with 4 workers, microseconds a deletion, from the "
                       "complete cache to the last one. The API server stands on the same cores.", ["", "µs"],
                       [[role, f"{us:.0f}"] for role, us in sorted(spent.items(), key=lambda t: -t[1])] + [["all", f"{sum(spent.values()):.0f}"]])
        server.stop()

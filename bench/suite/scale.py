"""What more than one machine's worth of clusters needs: unit costs, the formulas made of them, and three trees that hold the formulas. Writes docs/scale.md."""
import itertools
import math
import textwrap
import time
from typing import NamedTuple

from harness.program import Program
from harness.servers import Apisim
from harness.wait import until

from . import actions, machine, pages
from .subjects import CONFIG

SETTLE = 13             # seconds until what only the start needed is given back
ALONE, BUSY = 80, 20_000    # events a second of each cluster, so few that each comes alone, and so many that they come together
SECONDS, ROUNDS = 3, 12     # of each tree in turns, so often: what else this machine does is spread over all of them
ACTIONS = 1_000         # evictions at once
SMALL = 100             # pods
FEW, MANY, EACH = 10, 100, 4_000    # clusters, pods of each but one
LARGE = 200_000
POINTS = ((20, 5_000), (60, 2_000), (100, 10_000))     # clusters, pods of each
CLUSTERS_MAX = 300      # of one tree
WITHIN = 15             # %
PLAN = ((1, 5_000), (30, 2_000), (300, 3_000), (1_000, 10_000))     # clusters, pods of each
CHANGES = 6             # of a pod, an hour
DUE = 0.01              # of all pods, a day
DAYS = 30               # of history


class Seen(NamedTuple):
    """What one tree took."""
    memory: float       # bytes, all processes
    requests: float     # of one action
    history: float      # bytes of one action


class Scale:
    def __init__(self, run):
        self.run, self.empty = run, 0

    def server(self, pods):
        server = self.run.keep(Apisim(self.run.new_folder("server"), self.run.build, ("--fill", pods), answers=False))
        server.start(300)
        actions.create_namespace(server)
        return server

    def start(self, clusters, pods):
        """A tree in which all clusters are one server, so that each sees all its pods and events; where something is due it is another one."""
        common, own, folder = self.server(pods), self.server(SMALL), self.run.new_folder("scale")
        entries, busy = [], own if clusters > 1 else common
        for name, server in {**{f"c{i}": common for i in range(clusters - 1)}, "own": busy}.items():
            path = folder / f"{name}.kubeconfig"
            path.write_text(server.kubeconfig("cleaner"))
            entries.append({"name": name, "kubeconfig": str(path)})
        program = self.run.keep(Program(self.run.build, folder, {**CONFIG, "clusters": entries}))
        program.start(wait=False)
        until("all lists", lambda: program.log().count('"list complete"') >= clusters, 300, every=0.1)
        program.wait_ready(60)
        time.sleep(SETTLE)
        return program, common, busy

    @staticmethod
    def spent(program):
        """Seconds of CPU of all processes."""
        return sum(machine.cpu_seconds(pid) for pid, _ in program.tree())

    def window(self, program, server, rate):
        """Seconds of CPU that the tree spends while so many pods of the server change a second."""
        before = self.spent(program)
        if rate:
            code, answer = server.admin.request("POST", "/_sim/storm", {"pods": 20000, "ratePerSecond": rate, "seconds": SECONDS})
            if code != 200:
                raise AssertionError(f"no storm: {answer}")
        time.sleep(SECONDS + 0.5)
        return self.spent(program) - before

    def events(self, rates):
        """{tree: µs of CPU, all processes, for one event of one cluster} of {tree: events a second of each cluster}, the median of what is left
        when the idle tree's is taken off."""
        self.run.say("events of " + ", ".join(f"{clusters} × {pods:,}" for clusters, pods in rates) + " in turns")
        started = {tree: self.start(*tree)[:2] for tree in rates}
        idle = {tree: self.window(*started[tree], 0) for tree in rates}
        seen = {tree: [] for tree in rates}
        for tree, rate in itertools.chain(*[rates.items()] * ROUNDS):
            spent = self.window(*started[tree], rate) - idle[tree]
            seen[tree].append(spent / (rate * SECONDS * max(1, tree[0] - 1)) * 1e6)
        for program, _ in started.values():
            program.stop()
        self.run.close_all()
        for (clusters, pods), costs in seen.items():
            self.run.say(f"{clusters} × {pods:,}: {machine.median(costs):.1f} µs an event, {min(costs):.1f} to {max(costs):.1f}")
        return {tree: machine.median(costs) for tree, costs in seen.items()}

    @staticmethod
    def deletions(program, server):
        """Requests of an action."""
        names = [f"scale-{i}" for i in range(ACTIONS)]
        actions.create(server, names)
        since = len(server.log())
        for name in names:
            actions.evict(server, name)
        until("all to be written down", lambda: program.log().count('"outcome":"done"') >= ACTIONS, 120, every=0.2)
        return sum(server.is_program(r) and r.verb in ("get", "delete", "create", "patch") for r in server.log()[since:]) / ACTIONS

    def measure(self, clusters, pods, acts=True):
        self.run.say(f"{clusters} clusters of {pods:,} pods")
        program, _, own = self.start(clusters, pods)
        memory = sum(machine.pss(pid) for pid, _ in program.tree())
        requests = self.deletions(program, own) if acts else 0.0
        program.stop()
        size = sum(f.stat().st_size for f in program.state.rglob("history.db*"))
        if not acts:
            self.empty = size
        history = (size - self.empty) / ACTIONS
        self.run.close_all()
        self.run.say(f"{memory / 1e6:.1f} MB, {requests:.2f} requests and {history:.0f} bytes an action")
        return Seen(memory, requests, history)

    # --- formulas ---

    def measure_all(self):
        """The trees that give the units among those that hold the formulas: a machine that grows slower or faster does so for both."""
        unit = {(1, SMALL): False, (MANY, EACH): False, (1, LARGE): True}       # does it act?
        return {tree: self.measure(*tree, unit.get(tree, True)) for tree in sorted({*unit, *POINTS})}

    def units(self, seen):
        one, many, large = (seen[tree] for tree in ((1, SMALL), (MANY, EACH), (1, LARGE)))
        self.pod = (large.memory - one.memory) / (LARGE - SMALL)
        self.cluster = (many.memory - one.memory) / (MANY - 1) - EACH * self.pod
        self.base = one.memory - self.cluster - SMALL * self.pod
        self.requests, self.bytes = large.requests, large.history

    def alone(self, clusters):
        """µs of an event that comes alone, between FEW and MANY by the logarithm of the number of clusters."""
        few, many = self.costs[FEW, EACH], self.costs[MANY, EACH]
        return few + (many - few) * math.log(min(max(clusters, FEW), MANY) / FEW) / math.log(MANY / FEW)

    def memory(self, clusters, pods):
        return self.base + clusters * self.cluster + pods * self.pod

    def check(self, trees):
        """[clusters, pods of each, what, by the formula, measured, off] of each point."""
        rows, worst = [], 0.0
        for clusters, pods in POINTS:
            seen = trees[clusters, pods]
            in_all = (clusters - 1) * pods + SMALL
            for what, formula, measured, form in (("memory, MB", self.memory(clusters, in_all) / 1e6, seen.memory / 1e6, "{:.1f}"),
                                                  ("µs an event that comes alone", self.alone(clusters), self.costs[clusters, pods], "{:.1f}"),
                                                  ("requests an action", self.requests, seen.requests, "{:.2f}"),
                                                  ("bytes an action", self.bytes, seen.history, "{:.0f}")):
                off = formula / measured - 1
                worst = max(worst, abs(off))
                rows.append([f"{clusters} × {pods:,}", what, form.format(formula), form.format(measured), f"{off * 100:+.0f} %"])
        self.run.values["scale_off"] = worst * 100
        return rows

    def plan(self):
        rows = []
        for clusters, each in PLAN:
            trees, pods = -(-clusters // CLUSTERS_MAX), clusters * each
            events, acts = pods * CHANGES / 3600, pods * DUE
            memory = trees * self.base + clusters * self.cluster + pods * self.pod
            rows.append([f"{clusters:,}", f"{pods:,}", str(trees), f"{memory / 1e6:,.0f} MB", f"{memory / trees / 1e6:,.0f} MB", f"{events:,.0f}",
                         f"{events * self.alone(clusters / trees) / 1e6:.2f}", f"{acts:,.0f}", f"{acts * self.requests / 86400:.2f}", f"{acts * DAYS * self.bytes / 1e6:,.0f} MB"])
        return rows

    def all(self):
        seen = self.measure_all()
        self.units(seen)
        self.costs = self.events({(1, LARGE): BUSY, **{tree: ALONE for tree in ((FEW, EACH), *POINTS, (MANY, EACH))}})
        rows = self.check(seen)
        write(self, rows, self.plan())


def write(scale, checks, plan):
    wrap = lambda text: textwrap.wrap(" ".join(text.split()), pages.WIDTH)     # noqa: E731
    units = [["memory of a tree", f"{scale.base / 1e6:.1f} MB"], ["of a cluster in it", f"{scale.cluster / 1e6:.2f} MB"], ["of a pod", f"{scale.pod:.0f} bytes"],
             [f"CPU of an event (a change of a pod) that comes alone, {FEW} clusters", f"{scale.alone(FEW):.1f} µs"],
             [f"the same, {MANY} clusters", f"{scale.alone(MANY):.1f} µs"], ["of one of many that come together", f"{scale.costs[1, LARGE]:.1f} µs"], ["requests of a deletion (fresh read, DELETE, Event)", f"{scale.requests:.2f}"],
             ["history of a deletion", f"{scale.bytes:.0f} bytes"]]
    lines = ["# How much it takes for how many clusters", "",
             *wrap(f"""Written by `bench/run BUILD_DIR --only scale`. Servers, trees and what evicts share one machine. One supervisor has at most {CLUSTERS_MAX} clusters:
             more are shared out to several of them, each with a folder of kubeconfigs (`clustersFrom`) and a state directory of its own."""), "",
             *[f"- {m}" for m in machine.describe(scale.run.build)], "", "## What one more costs", "",
             *wrap(f"""Memory is PSS of all processes without workers, {SETTLE} s after the start: a tree of one cluster with {SMALL} pods, one of {MANY} clusters with
             {EACH:,} pods each, and one with {LARGE:,} pods. CPU is that of all processes above that of the idle tree, the median of {ROUNDS} times {SECONDS} seconds, all
             trees in turns: trees of {FEW} and {MANY} clusters with {EACH:,} pods each, {ALONE} changes a second in each cluster, and the one with {LARGE:,} pods,
             {BUSY:,} changes a second. A process that is woken for one event finds the processor's caches full of what others did, which costs most of it; many events
             together pay that once. Here the clusters of a tree are woken by the same change, one right after the other, and share a little of what it costs."""), "",
             *pages.table(["", ""], units), "", "## What holds it", "",
             *wrap(f"""The same figures for trees of other sizes, by the formula and measured. Goal: within {WITHIN} %; the worst here is
             {scale.run.values['scale_off']:.0f} %: **{'met' if scale.run.values['scale_off'] <= WITHIN else 'missed'}**."""), "",
             *pages.table(["clusters × pods", "", "by the formula", "measured", "off"], checks), "", "## What follows", "",
             *wrap(f"""For pods that change {CHANGES} times an hour, of which {DUE * 100:g} % are deleted a day, with {DAYS} days of history; cores for events that come
             alone, which costs most. The API server of each cluster
             serves one watch of pods, and a list at the start (of namespaces, too, where their labels are asked for); requests are those of actions. A worker that
             acts takes some 2 MB more until five minutes after the last action."""), "",
             *wrap("Scale-downs take two to six times the history of a deletion ([benchmarks](benchmarks.md))."), "",
             *pages.table(["clusters", "pods", "supervisors", "memory", "of each", "events a second", "cores", "actions a day", "requests a second", "history"], plan), ""]
    path = machine.TOP / "docs" / "scale.md"
    path.write_text("\n".join(lines), encoding="utf-8")
    scale.run.say(f"written to {path}")

"""Many clusters in one tree: what they cost while nothing happens, and what one of them loses while another has a storm."""
import re
import time

from harness.program import Program
from harness.servers import Apisim
from harness.sink import Sink
from harness.wait import until

from . import actions, machine
from .subjects import CONFIG

CLUSTERS = 100
PODS = 1000         # of each
IDLE = 40           # seconds
SETTLE = 13         # seconds until what only the start needed is given back
FIRST = 5           # clusters in which something is evicted, once
CALM = 200          # evictions without a storm
STORM = 5000        # evictions at once
ROUNDS = 5
GAP = 0.01          # seconds between single evictions
GATHER = 1          # seconds in which a message is gathered
OTHER_TREE = "lower bound: beside a storm of another tree"
ROLES = ("watcher", "supervisor", "reporter", "worker")


class Chat(Sink):
    """A place that is told of the quiet cluster."""

    def __init__(self):
        super().__init__(kind="webhook")
        self.known = 0      # deletions of those that were asked for

    def config(self):
        return {"tell": {"gather": f"{GATHER}s", "withReport": []}, "sinks": [self.settings("chat", clusters=["quiet"], tell=["actions"])]}

    def arrivals(self):
        """When each deletion was told of, oldest first."""
        return [post.t for post in self.accepted for _ in range(int(re.search(r"eleted (\d+) evicted pod", post.body["title"])[1]))]

    def milliseconds(self, watched):
        """From each eviction to the message that counts it, both in their order."""
        evicted = sorted(watched.evicted[name].t for name in watched.deleted)
        wanted = self.known + len(evicted)
        until("the messages", lambda: len(self.arrivals()) >= wanted, 60, every=0.1)
        told, self.known = self.arrivals()[self.known:wanted], wanted
        return [(arrived - at) * 1000 for at, arrived in zip(evicted, told)]


class Waits:
    """How long each process of a tree waits for a core when it has something to do, by its role."""

    def __init__(self):
        self.total = {}     # {role: [seconds, times]}

    def of(self, program, measure):
        """What measure() returns; the waits meanwhile are added."""
        before = machine.core_waits(program.tree())
        result = measure()
        for pid, (role, seconds, times) in machine.core_waits(program.tree()).items():
            _, seconds_before, times_before = before.get(pid, (role, 0, 0))
            total = self.total.setdefault(role, [0, 0])
            total[0] += seconds - seconds_before
            total[1] += times - times_before
        return result

    def microseconds(self, role):
        seconds, times = self.total[role]
        return seconds / times * 1e6


class Fleet:
    def __init__(self, run):
        self.run = run

    def server(self):
        server = self.run.keep(Apisim(self.run.new_folder("server"), self.run.build, ("--fill", PODS), answers=False))
        server.start()
        actions.create_namespace(server)
        return server

    def start(self, servers, **config):
        """A tree with a cluster of each name, and the seconds until all lists are complete."""
        folder, clusters = self.run.new_folder("fleet"), []
        for name, server in servers.items():
            path = folder / f"{name}.kubeconfig"
            path.write_text(server.kubeconfig("cleaner"))
            clusters.append({"name": name, "kubeconfig": str(path)})
        program = self.run.keep(Program(self.run.build, folder, {**CONFIG, **config, "clusters": clusters}))
        begin = time.monotonic()
        program.start(wait=False)
        until("all lists", lambda: program.log().count('"list complete"') >= len(clusters), 120, every=0.05)
        seconds = time.monotonic() - begin
        program.wait_ready(60)
        return program, seconds

    def all(self):
        self.idle()
        self.storm()
        self.run.close_all()

    # --- idle ---

    def idle(self):
        """One server plays all clusters but those where something is evicted: they see the same pods, none of which is to be deleted."""
        self.run.say(f"{CLUSTERS} clusters of {PODS:,} pods")
        common, own = self.server(), [self.server() for _ in range(FIRST)]
        program, seconds = self.start({**{f"c{i}": common for i in range(CLUSTERS - FIRST)}, **{f"own{i}": s for i, s in enumerate(own)}})
        time.sleep(SETTLE)
        tree = program.tree()
        memory, before = sum(machine.pss(pid) for pid, _ in tree) / 1e6, sum(machine.wakeups(pid) for pid, _ in tree)
        self.run.say(f"{IDLE} s of nothing in {len(tree)} processes")
        time.sleep(IDLE)
        woken = (sum(machine.wakeups(pid) for pid, _ in tree) - before) / IDLE / CLUSTERS
        first = machine.median(actions.latency(server, "first", 1).milliseconds()[0] for server in own)
        self.run.values.update(fleet_memory=memory, fleet_sync=seconds, fleet_wakeups=woken, fleet_first=first)
        self.run.table("A hundred clusters", f"{CLUSTERS} clusters of {PODS:,} pods in one tree of {len(tree)} processes, {IDLE} s of nothing, then one eviction "
                       f"in each of {FIRST} clusters, whose first worker starts for it: the median.", ["", ""], [
                           ["start to the last complete list", f"{seconds:.2f} s"], ["PSS of all processes", f"{memory:.0f} MB"],
                           ["wake-ups a second and cluster", f"{woken:.2f}"], ["from the eviction to its DELETE at the server", f"{first:.1f} ms"]])
        program.stop()

    # --- one storm, and a quiet cluster beside it ---

    def storm(self):
        """The lower bound of what a storm costs another cluster on these cores: the storm of a tree of its own."""
        servers, chat = {"loud": self.server(), "quiet": self.server()}, Chat()
        program, _ = self.start(servers, **chat.config())
        times, told = ({"calm": [], "beside a storm": []} for _ in range(2))
        waits = {name: Waits() for name in ("calm", "beside a storm", OTHER_TREE)}
        for i in range(ROUNDS):
            turns = (lambda: actions.latency(servers["quiet"], f"calm-{i}", CALM), lambda: self.beside(program, servers, f"one-{i}"))
            for name, turn in zip(times, turns):
                watched = waits[name].of(program, turn)
                times[name] += watched.milliseconds()
                told[name] += chat.milliseconds(watched)
        program.stop()
        chat.close()
        loud, quiet = (self.start({name: server})[0] for name, server in servers.items())
        times[OTHER_TREE] = [t for i in range(ROUNDS) for t in waits[OTHER_TREE].of(quiet, lambda: self.beside(loud, servers, f"two-{i}")).milliseconds()]
        for tree in (loud, quiet):
            tree.stop()
        self.tell(times, told, waits)

    def tell(self, times, told, waits):
        calm, beside, floor = (machine.quantile(t, 0.99) for t in times.values())
        self.run.values["fleet_fairness"] = beside / calm
        self.run.values["fleet_told"] = machine.quantile(told["beside a storm"], 0.99) / machine.quantile(told["calm"], 0.99)
        self.run.known["fairness"] = (calm, beside, floor)
        self.run.table("A storm in another cluster", f"Two clusters in one tree: from an eviction in the one to its DELETE, milliseconds, while nothing happens in "
                       f"the other, and while it has {STORM:,} evictions at once, in {ROUNDS} rounds of both in turns. Both API servers share the cores with the program.",
                       ["", "evictions", "p50", "p90", "p99", "worst"], [[name, str(len(t)), *actions.spread(t)] for name, t in times.items()])
        self.run.table("Its waits for a core", "Of the same evictions: how long a process of the tree that has something to do waits until a core is free, microseconds, the mean by "
                       "its role. An eviction is on its way through each of them, through supervisor and reporter more than once.",
                       ["", *ROLES], [[name, *(f"{w.microseconds(role):.0f}" for role in ROLES)] for name, w in waits.items()])
        self.run.table("Its messages", f"The same evictions: from each to the message of a chat that counts it, milliseconds. The deletion is in the history then. Messages are "
                       f"gathered for {GATHER} s.", ["", "evictions", "p50", "p90", "p99", "worst"],
                       [[name, str(len(t)), *actions.spread(t)] for name, t in told.items()])

    def beside(self, program, servers, prefix):
        """The quiet cluster's deletions while the loud one has its storm."""
        loud, quiet, names = servers["loud"], servers["quiet"], [f"storm-{prefix}-{n}" for n in range(STORM)]
        singles = [f"beside-{prefix}-{n}" for n in range(CALM)]
        program.ask("pause", "deleteEvictedPod", "loud")
        actions.create(loud, names)
        actions.create(quiet, singles)
        for name in names:
            actions.evict(loud, name)
        here, there = actions.Watched(quiet), actions.Watched(loud)
        program.ask("resume", "deleteEvictedPod", "loud")
        evicted = 0
        while there.look() < STORM and evicted < CALM:
            actions.evict(quiet, singles[evicted])
            evicted += 1
            time.sleep(GAP)
        here.wait(evicted)
        there.wait(STORM)
        self.run.say(f"{STORM:,} evictions at once, {evicted} in the other cluster meanwhile")
        return here

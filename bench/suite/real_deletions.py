"""Deletions a second on the real control plane, against client-go and the lower bound, by turns that cancel what grows with time.

An API server keeps what has changed lately, and its garbage collector takes the longer the more that is: each round has a server of its own, and in it
each subject has its turn twice, the second time in the reverse order.
"""
from . import actions, machine
from .real_server import RealServer
from .subjects import IN_FLIGHT, WORKERS, Floor, Ours, Peer, Variant

ROUNDS, QUICK_ROUNDS = 5, 1
PODS, BULK = 1000, 2000     # that stay; that are deleted in one turn
DEFAULT, FIXED = "ops-pod-cleaner, the default", (2, WORKERS)
PEER = Variant(protobuf=True, watch_list=False)


def fixed(workers):
    return f"ops-pod-cleaner, {workers} workers"


class RealDeletions:
    def __init__(self, run):
        self.run = run
        self.subjects = {DEFAULT: self.ours(None), **{fixed(n): self.ours(n) for n in FIXED}}       # server and names to what is measured
        if run.peer:
            self.subjects[PEER.name] = lambda server, _: Peer(run.peer, run.new_folder("peer"), server, PEER)
        self.subjects[Floor.name] = lambda server, names: Floor(run.build, server, names)
        self.speeds = {name: [] for name in self.subjects}      # one a round
        self.spent = {name: [] for name in self.subjects}       # {role: µs of a deletion}, one a turn

    def ours(self, workers):
        return lambda server, _: Ours(self.run.build, self.run.new_folder("ours"), server, workers=workers)

    def turn(self, server, name):
        """Seconds for BULK deletions."""
        subject = self.run.keep(self.subjects[name](server, server.evict(BULK)))
        speed, spent = actions.rate_and_cost(subject, actions.Watched(server), BULK, server.processes())
        subject.stop()
        self.spent[name].append(spent)
        self.run.say(f"{name}: {speed:.0f} deletions a second, {spent['API server']:.0f} µs of the API server each")
        return BULK / speed

    def round(self, order):
        server = self.run.keep(RealServer(self.run)).start()
        server.fill(PODS)
        seconds = dict.fromkeys(order, 0)
        for name in (*order, *reversed(order)):
            seconds[name] += self.turn(server, name)
        for name, took in seconds.items():
            self.speeds[name].append(2 * BULK / took)
        server.stop()

    def all(self):
        rounds, names = QUICK_ROUNDS if self.run.quick else ROUNDS, list(self.subjects)
        for i in range(rounds):
            self.round(names[i:] + names[:i])
        self.table(rounds)
        self.verdicts()

    def ratios(self, name, other):
        return [a / b for a, b in zip(self.speeds[name], self.speeds[other])]

    def cost(self, name):
        turns = self.spent[name]        # in some of which no worker may have been looked at: they come with the work
        return {role: machine.median(turn.get(role, 0) for turn in turns) for role in dict.fromkeys(role for turn in turns for role in turn)}

    def verdicts(self):
        best = max(map(fixed, FIXED), key=lambda name: machine.median(self.speeds[name]))
        self.run.values["deletions_default_real"] = machine.median(self.ratios(DEFAULT, best))
        if self.run.peer:
            ratios = self.ratios(fixed(WORKERS), PEER.name)
            self.run.values["deletions_real"] = machine.median(ratios)
            self.run.known.update(deletions_real_ratios=ratios, deletions_real_floor=machine.median(self.ratios(Floor.name, PEER.name)),
                                  deletions_real_costs=(self.cost(fixed(WORKERS)), self.cost(PEER.name)))

    def table(self, rounds):
        rows = []
        for name, speeds in self.speeds.items():
            cost = self.cost(name)
            own = sum(us for role, us in cost.items() if role not in ("API server", "etcd"))
            part = spread(self.ratios(name, PEER.name)) if self.run.peer else "–"
            rows.append([name, f"{machine.median(speeds):.0f}", part, f"{cost['API server']:.0f}", f"{cost['etcd']:.0f}", f"{own:.0f}" if own else ""])
        self.run.table("Deletions on the real API server", f"{BULK:,} pods of 8 KB found evicted at the start, among {PODS:,}; first to last DELETE. {WORKERS} workers, the "
                       f"lower bound and the peer, without client-side limit, each have {IN_FLIGHT} deletions under way. {rounds} rounds, each with a new API "
                       "server and etcd, in which each has its turn twice, the second time in reverse order; medians, least and most. The program reads each "
                       "pod live before it writes; the peer does not. Processor time of one deletion, of the server and of one's own, in microseconds.",
                       ["", "a second", "as part of the peer's, round by round", "API server, µs", "etcd, µs", "own, µs"], rows)


def spread(ratios):
    return f"{machine.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"

"""Deletions a second on the real control plane, against client-go and the lower bound, by turns that cancel what grows with time.

An API server keeps what has changed lately, and its garbage collector takes the longer the more that is: each round has a server of its own, and in it
each subject has its turn twice, the second time in the reverse order.
"""
from . import actions, machine
from .real_server import RealServer
from .subjects import IN_FLIGHT, WORKERS, Floor, Ours, Peer, Variant

ROUNDS, QUICK_ROUNDS = 7, 1
PODS, BULK = 1000, 2000     # that stay; that are deleted in one turn


class RealDeletions:
    def __init__(self, run):
        self.run = run
        self.subjects = [self.ours, *([self.peer] if run.peer else []), self.floor]
        self.speeds, self.spent = {}, {}        # by subject: a speed a round; a cost a turn

    def ours(self, server, _):
        return Ours(self.run.build, self.run.new_folder("ours"), server, workers=WORKERS)

    def peer(self, server, _):
        return Peer(self.run.peer, self.run.new_folder("peer"), server, Variant(protobuf=True, watch_list=False))

    def floor(self, server, names):
        return Floor(self.run.build, server, names)

    def turn(self, server, make):
        """Seconds for BULK deletions."""
        subject = self.run.keep(make(server, server.evict(BULK)))
        speed, spent = actions.rate_and_cost(subject, actions.Watched(server), BULK, server.cpu())
        subject.stop()
        self.spent.setdefault(subject.name, []).append(spent)
        self.run.say(f"{subject.name}: {speed:.0f} deletions a second, {spent['API server']:.0f} µs of the API server each")
        return subject.name, BULK / speed

    def round(self, order):
        server = self.run.keep(RealServer(self.run)).start()
        server.fill(PODS)
        seconds = {}
        for make in (*order, *reversed(order)):
            name, took = self.turn(server, make)
            seconds[name] = seconds.get(name, 0) + took
        for name, took in seconds.items():
            self.speeds.setdefault(name, []).append(2 * BULK / took)
        server.stop()

    def all(self):
        rounds = QUICK_ROUNDS if self.run.quick else ROUNDS
        for i in range(rounds):
            first = i % len(self.subjects)
            self.round(self.subjects[first:] + self.subjects[:first])
        self.verdicts(rounds)

    def verdicts(self, rounds):
        ours = self.speeds[Ours.name]
        costs = {name: {role: machine.median(s[role] for s in spent) for role in spent[0]} for name, spent in self.spent.items()}
        rows = []
        for name, speeds in self.speeds.items():
            ratios = [a / b for a, b in zip(ours, speeds)]
            rest = sum(us for role, us in costs[name].items() if role not in ("API server", "etcd"))
            rows.append([name, f"{machine.median(speeds):.0f} ({min(speeds):.0f} to {max(speeds):.0f})", spread(ratios), f"{costs[name]['API server']:.0f}",
                         f"{costs[name]['etcd']:.0f}", f"{rest:.0f}" if rest else ""])
            if name not in (Ours.name, Floor.name):
                self.run.values["deletions_real"] = machine.median(ratios)
                floor = machine.median(a / b for a, b in zip(self.speeds[Floor.name], speeds))
                self.run.known.update(deletions_real_ratios=ratios, deletions_real_floor=floor, deletions_real_costs=(costs[Ours.name], costs[name]))
        self.run.table("Deletions on the real API server", f"{BULK:,} pods of 8 KB found evicted at the start, among {PODS:,}; first to last DELETE. The program with {WORKERS} "
                       f"workers, the lower bound and the peer without client-side limit each have {IN_FLIGHT} deletions under way. {rounds} rounds, each "
                       "with a new API server and etcd, in which each has its turn twice, the second time in reverse order; medians, least and most. The "
                       "program reads each pod live before it writes; the peer does not.",
                       ["", "deletions a second", "the program's as part of it, round by round", "µs of the API server", "µs of etcd", "µs of its own"], rows)


def spread(ratios):
    return f"{machine.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"

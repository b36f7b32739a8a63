"""What happens when: all of it drawn from one seed before the run begins."""
import random
from dataclasses import dataclass

TREE_EVERY = 20.0               # seconds between two deaths of one instance's supervisor, or of its whole tree
SERVER_PAUSE = (6.0, 18.0)      # between two disturbances of the server
SERVER_FAULTS = ("stop-apiserver", "restart-apiserver", "restart-etcd")
STOPPED = (2.0, 8.0)            # seconds that the API server stands still
DISK_FULL = 10.0                # seconds
DISK_EVERY = 45.0               # of one instance after the other
CLOCK_EVERY = (5.0, 20.0)
CLOCK_STEPS = (0.5, 5.0, 60.0, 600.0, 7200.0, 86400.0)      # seconds, forward or back


@dataclass(frozen=True)
class Fault:
    t: float            # seconds since the fire began
    what: str
    instance: int = 0
    value: float = 0.0  # of a kill: which of those that live, 0..1; else seconds


def kills(rng, seconds, instances, per_second):
    """One child at a time, so many a second over all instances."""
    faults, t = [], 0.0
    while (t := t + rng.uniform(0.5, 1.5) / per_second) < seconds:
        faults.append(Fault(t, "kill", rng.randrange(instances), rng.random()))
    return faults


def trees(rng, seconds, instances):
    faults = []
    for i in range(instances):
        t = rng.uniform(0.2, 1.0) * min(TREE_EVERY, seconds)
        while t < seconds:
            faults.append(Fault(t, rng.choice(("kill-supervisor", "kill-tree")), i))
            t += TREE_EVERY
    return sorted(faults, key=lambda f: f.t)


def server(rng, seconds):
    """Each kind once, then again in another order; `t` is the pause before it, for nobody knows how long one takes."""
    faults, t, kinds = [], 0.0, []
    short = min(1.0, seconds / 60)
    while t < seconds:
        if not kinds:
            kinds = rng.sample(SERVER_FAULTS, len(SERVER_FAULTS))
        what, pause = kinds.pop(), rng.uniform(*SERVER_PAUSE) * short
        lasts = rng.uniform(*STOPPED) if what == "stop-apiserver" else rng.uniform(0.0, 3.0)
        faults.append(Fault(pause, what, value=lasts))
        t += pause + lasts
    return faults


def disks(rng, seconds, instances):
    """A disk is full for DISK_FULL and never longer than half of a short run."""
    lasts, every = min(DISK_FULL, seconds / 2), min(DISK_EVERY, seconds)
    t, faults = rng.uniform(0.05, 0.3) * every, []
    while t + lasts < seconds:
        faults.append(Fault(t, "fill-disk", rng.randrange(instances), lasts))
        t += every
    return faults


def clocks(rng, seconds):
    faults, t = [], 0.0
    while (t := t + rng.uniform(*CLOCK_EVERY)) < seconds:
        faults.append(Fault(t, "step-clock", value=rng.choice((-1, 1)) * rng.choice(CLOCK_STEPS)))
    return faults


DRAWERS = {"kills": lambda rng, seconds, instances, per_second: kills(rng, seconds, instances, per_second),
           "trees": lambda rng, seconds, instances, _: trees(rng, seconds, instances),
           "server": lambda rng, seconds, *_: server(rng, seconds),
           "disks": lambda rng, seconds, instances, _: disks(rng, seconds, instances),
           "clocks": lambda rng, seconds, *_: clocks(rng, seconds)}


def draw(seed, lanes, seconds, instances, per_second):
    """{lane: faults in their order}. What one lane draws does not depend on the others."""
    return {lane: DRAWERS[lane](random.Random(f"{seed}-{lane}"), seconds, instances, per_second) for lane in lanes}


LANES = tuple(DRAWERS)      # run beside one another

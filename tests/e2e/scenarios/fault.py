"""Each role is killed again and again while there is much to do; the server's log tells whether anything was lost or doubled."""
import os
import random
import threading
import time

from harness.scenario import scenario

PODS, STUCK, FLEETS = 400, 30, 10
KILLS = 8       # of each role, at least


class Feeder(threading.Thread):
    """Makes the work, spread over the time of the kills."""

    def __init__(self, t, ns):
        super().__init__(daemon=True)
        self.t, self.ns = t, ns
        self.evicted, self.stuck, self.fleets, self.error = [], [], [], None
        self.done = threading.Event()

    def run(self):
        t, ns = self.t, self.ns
        try:
            for i in range(PODS):
                self.evicted.append(t.objects.evict(t.objects.pod(ns)))
                if i % (PODS // STUCK) == 0 and len(self.stuck) < STUCK:
                    pod = t.objects.pod(ns)
                    t.objects.stop_containers(pod)
                    self.stuck.append(t.objects.terminate(pod, 1))
                if i % (PODS // FLEETS) == 0 and len(self.fleets) < FLEETS:
                    fleet = t.objects.workload("Fleet", ns, 2)
                    fleet.fail_to_pull()
                    self.fleets.append(fleet)
                time.sleep(0.05)
        except Exception as e:
            self.error = e
        self.done.set()


@scenario("fault/kill-each-role", servers=("apisim",), alone=True, timeout=240)
def kill_each(t):
    """400 evicted, 30 stuck, 10 failing workloads; every role killed at least 8 times meanwhile: nothing lost, nothing doubled."""
    seed = int(os.environ.get("OPC_E2E_SEED", "0")) or random.randrange(1, 10**6)
    dice = random.Random(seed)
    ns = t.ns()
    program = t.run(evicted=ns, terminating=ns, image_pull=ns, hours="2s", workers=3)
    feeder = Feeder(t, ns)
    feeder.start()
    kills = dict.fromkeys(("worker", "watcher", "reporter", "supervisor"), 0)
    try:
        while not feeder.done.is_set() or min(kills.values()) < KILLS:
            time.sleep(dice.uniform(0.05, 0.4))
            role = min(kills, key=lambda r: (kills[r], dice.random())) if dice.random() < 0.5 else dice.choice(list(kills))
            killed = program.kill(role, dice.randrange(3) if role == "worker" else 0)
            kills[role] += killed is not None
            # One that was just started may not be the program yet.
            if role == "supervisor" and (killed or program.process.poll() is not None):
                program.process.wait(10)
                program.start(wait=False)
                time.sleep(dice.uniform(0.2, 0.8))
    finally:
        t.note = f"seed {seed}, kills {kills}"
    assert feeder.error is None, feeder.error
    if program.process.poll() is not None:
        program.start(wait=False)
    try:
        t.until("every pod to be gone", lambda: finished(t, feeder), 60, every=0.5)
    except AssertionError:
        program.kill_all()      # a role may have spent its restarts: a new start must find everything
        program.start()
        t.until(f"every pod to be gone after a new start ({t.note})", lambda: finished(t, feeder), 60, every=0.5)
    check(t, program, feeder)


def succeeded(t):
    return [r for r in t.writes() if r.ok]


def finished(t, feeder):
    names = {r.name for r in succeeded(t)}
    return all(x["metadata"]["name"] in names for x in feeder.evicted + feeder.stuck) and all(
        f.name in names for f in feeder.fleets)


def check(t, program, feeder):
    t.expect_success(deleted=feeder.evicted, forced=feeder.stuck, scaled=feeder.fleets)
    doubled = [r for r in t.writes() if not r.ok and r.code not in (404, 409)]
    assert not doubled, f"{t.note}: {doubled}"
    wanted = {p["metadata"]["uid"] for p in feeder.evicted + feeder.stuck}

    def all_written_down():
        rows = program.history()
        done = {}
        for row in rows:
            if row["outcome"] in ("done", "gone", "unconfirmed"):
                done.setdefault(row["uid"], []).append(row)
        return wanted <= set(done) and done
    done = t.until(f"every pod in the history ({t.note})", all_written_down, 15, every=0.5)
    twice = {uid: [(r["id"], r["reason"], r["settledAt"]) for r in rows]
             for uid, rows in done.items() if uid in wanted and sum(r["outcome"] == "done" for r in rows) > 1}
    assert not twice, f"{t.note}: done twice in the history: {twice}"

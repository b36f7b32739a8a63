"""Duty crashLoop."""
import time

from harness.objects import condition, terminated
from harness.scenario import scenario
from scenarios.restore import restore as take_back


def crash(t, workload, restarts=7):
    """All its pods, from now on. Returns when that began."""
    begin, _ = t.objects.loop(workload.pods(), restarts)
    return begin


def run(t, ns, hours="2s", **more):
    return t.run(crash_loop=ns, hours=hours, crashLoop={"counts": 5, **more})


def make_kind(kind):
    @scenario(f"crash-loop/{kind.lower()}")
    def acts(t):
        ns = t.ns()
        program = run(t, ns)
        workload = t.objects.workload(kind, ns, 2)
        begin = time.time()
        crash(t, workload)
        request = t.wait_write(workload)
        assert request.t >= begin + 2, f"acted {begin + 2 - request.t:.3f} s too early"
        t.until("replicas 0", lambda: workload.wanted() == 0, 3)
        row = t.wait_history(program, outcome="done")
        assert row["duty"] == "crashLoop" and row["replicas"] == 2 and workload.name in row["target"], row
        time.sleep(1)
        t.expect(scaled=[workload])
    acts.__doc__ = f"{kind}: scaled to zero once, and never again."


for _kind in ("Deployment", "StatefulSet", "Rollout"):
    make_kind(_kind)


@scenario("crash-loop/between-two-crashes")
def between(t):
    """A container that runs for a moment between two crashes, without a probe even Ready, does not start the clock anew."""
    ns = t.ns()
    run(t, ns, "12s")       # of which it may be Ready for a tenth
    workload = t.objects.workload("Deployment", ns, 1)
    begin, restarts = crash(t, workload, 6), 7
    pod = workload.pods()[0]
    t.objects.run(pod, True, restarts, terminated("Error", 1, ran=1))
    t.objects.crash(pod, restarts)
    while time.time() < begin + 11:
        t.objects.run(pod, False, restarts, terminated("Error", 1, ran=1))
        time.sleep(0.5)
        restarts += 1
        t.objects.crash(pod, restarts)
        time.sleep(0.5)
        assert not [r for r in t.writes() if r.t < begin + 12], "acted before the threshold"
    request = t.wait_write(workload)
    assert -0.5 <= request.t - begin - 12 < 5, f"acted {request.t - begin - 12:+.3f} s from the threshold"
    t.expect(scaled=[workload])


@scenario("crash-loop/out-of-step")
def out_of_step(t):
    """Six pods of which one or two always run for a moment, none ever Ready: all of them crash."""
    ns = t.ns()
    program = run(t, ns, "6s")
    workload = t.objects.workload("Deployment", ns, 6)
    begin, restarts = crash(t, workload, 20), 21
    pods = workload.pods()
    for turn in range(60):
        up, down = pods[turn % 6], pods[(turn + 5) % 6]
        t.objects.crash(down, restarts + turn // 6 + 1)
        if any(r.ok for r in t.writes()):
            break
        t.objects.run(up, False, restarts + turn // 6, terminated("Error", 1, ran=1))
        time.sleep(0.4)
    request = t.wait_write(workload)
    assert request.t >= begin + 5.5, f"acted {request.t - begin - 6:+.3f} s from the threshold"
    assert "6 of 6 pods of the revision fail" in t.wait_history(program, outcome="done")["found"]
    t.expect(scaled=[workload])


@scenario("crash-loop/ready-in-between")
def in_between(t):
    """One replica that is Ready for half the time serves, however often it crashes: it is told, and not stopped. One that is Ready for
    a moment does not."""
    ns = t.ns()
    program = run(t, ns, "4s")
    works, wreck = (t.objects.workload("Deployment", ns, 1) for _ in range(2))
    pod = works.pods()[0]
    begin, restarts = crash(t, works, 6), 7
    crash(t, wreck)
    while time.time() < begin + 9:
        t.objects.run(pod, True, restarts, terminated("Error", 1, ran=1))
        time.sleep(0.6)
        restarts += 1
        t.objects.crash(pod, restarts)
        time.sleep(0.6)
    t.wait_write(wreck)
    row = t.wait_history(program, duty="crashLoop", reason="ReadyInBetween")
    assert row["name"] == pod["metadata"]["name"] and row["evidence"]["window"] == 4, row
    t.expect(scaled=[wreck])


@scenario("crash-loop/lifetime-restarts")
def lifetime(t):
    """What a pod had restarted before it began to crash in a loop does not count; what a pod that was made since has does."""
    ns = t.ns()
    run(t, ns, "1s")
    old, wreck = (t.objects.workload("Deployment", ns, 1) for _ in range(2))
    t.objects.crash(old.pods()[0], 100)
    crash(t, wreck)
    t.wait_write(wreck)
    t.objects.crash(old.pods()[0], 104)
    t.never("acted on the restarts of its life", lambda: [r for r in t.writes() if r.name == old.name], 3)
    t.objects.crash(old.pods()[0], 105)
    t.wait_write(old)
    t.expect(scaled=[wreck, old])


@scenario("crash-loop/not-all")
def not_all(t):
    """One Ready pod, or one that does not crash as often, and the workload stays."""
    ns = t.ns()
    program = run(t, ns, "1s")
    ready, calm, gone = (t.objects.workload("ReplicaSet", ns, n) for n in (2, 2, 1))
    for workload in (ready, calm):
        crash(t, workload, 3)
    t.objects.run(ready.pods()[0])
    t.objects.crash(ready.pods()[1], 8)
    t.objects.crash(calm.pods()[1], 8)
    crash(t, gone)
    t.wait_write(gone)
    t.wait_history(program, duty="crashLoop", reason="WorkloadHasReadyPods")
    time.sleep(1)
    t.expect(scaled=[gone])


# Kubernetes 1.34.1 leaves the rules out (gate ContainerRestartRules, on since 1.35).
@scenario("crash-loop/restarts-that-are-asked-for", servers=("apisim",))
def asked(t):
    """A container that ended with a code for which its own rule asks for a restart has not crashed, nor has one of a pod that restarts
    all of its containers; with any other code it has."""
    ns = t.ns()
    program = run(t, ns, "1s")
    rule = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
    wanted, together, crashes = (t.objects.workload("Deployment", ns, 2, rules=rules) for rules in ([rule], (), [rule]))
    for workload, code, more in ((wanted, 42, ()), (together, 1, [condition("AllContainersRestarting", "True")]), (crashes, 1, ())):
        t.objects.loop(workload.pods(), 7, code=code, more=more)
    t.wait_write(crashes)
    said = program.ask("explain", f"{ns}/{wanted.pods()[0]['metadata']['name']}", "--rules").stdout
    assert "the pod asks for its restarts" in said, said
    time.sleep(2)
    t.expect(scaled=[crashes])


# Kubernetes 1.34.1 leaves allocatedResourcesStatus out (gate ResourceHealthStatus, on since 1.36).
@scenario("crash-loop/sick-device", servers=("apisim",))
def sick(t):
    """A crash on a device that the node calls Unhealthy is the node's: its workload is refused, with device and node; one sick pod among
    others that crash is enough."""
    ns = t.ns()
    program = run(t, ns, "1s")
    all_sick, one_sick, healthy = (t.objects.workload("Deployment", ns, 2) for _ in range(3))
    for workload, states in ((all_sick, ("Unhealthy", "Unhealthy")), (one_sick, ("Healthy", "Unhealthy")), (healthy, ("Healthy", "Unknown"))):
        for pod, health in zip(workload.pods(), states):
            t.objects.loop([pod], 7, allocatedResourcesStatus=[
                {"name": "example.com/gpu", "resources": [{"resourceID": "GPU-0", "health": "Healthy"}, {"resourceID": "GPU-1", "health": health}]}])
    t.wait_write(healthy)
    row = t.wait_history(program, reason="DeviceUnhealthy", duty="crashLoop")
    assert f"its device GPU-1 on node {all_sick.pods()[0]['spec']['nodeName']} is Unhealthy" in row["found"], row
    time.sleep(3)
    t.expect(scaled=[healthy])


@scenario("crash-loop/waits-for-its-gang")
def gang(t):
    """A pod that is not scheduled, as one that waits for the rest of its group, proves nothing: neither that its workload crashes nor that
    it works. The others tell. (1.34.1 leaves the group out.)"""
    ns = t.ns()
    program = run(t, ns, "1s")
    waits = t.objects.workload("Deployment", ns, 2, node=None, group="ring")
    first, second = waits.pods()
    t.objects.status(second, phase="Pending", conditions=[
        {**condition("PodScheduled", "False"), "reason": "Unschedulable", "message": "waiting for the rest of its PodGroup"}])
    t.objects.loop([first], 7)
    t.wait_write(waits)
    row = t.wait_history(program, duty="crashLoop", outcome="done")
    assert row["evidence"]["provesNothing"] == 1, row
    t.expect(scaled=[waits])


@scenario("crash-loop/one-cannot-pull")
def two_ways(t):
    """One pod crashes and one cannot pull its image: neither duty acts, and that is told with both."""
    ns = t.ns()
    program = t.run(crash_loop=ns, image_pull=ns, hours="1s", crashLoop={"counts": 5})
    both, wreck = (t.objects.workload("Deployment", ns, 2) for _ in range(2))
    crashes, pulls = both.pods()
    t.objects.fail_to_pull(pulls)
    t.objects.loop([crashes], 7)
    crash(t, wreck)
    t.wait_write(wreck)
    row = t.wait_history(program, reason="FailsInTwoWays")
    assert row["evidence"]["cannotPull"] == row["evidence"]["crashing"] == 1, row
    time.sleep(2)
    t.expect(scaled=[wreck])


@scenario("crash-loop/recovers")
def recovers(t):
    """A container that ran for ten minutes has shown that it starts, Ready or not: a later loop gets the whole time again."""
    ns = t.ns()
    run(t, ns, "6s")
    workload = t.objects.workload("Deployment", ns, 1)
    begin = crash(t, workload)
    time.sleep(max(0, begin + 2 - time.time()))
    pod = workload.pods()[0]
    second = time.time()
    t.objects.crash(pod, 9, ran=660)
    time.sleep(0.5)
    t.objects.crash(pod, 20)
    t.no_write_before("acted on the old clock", second + 5.9)
    t.wait_write(workload)
    t.expect(scaled=[workload])


@scenario("crash-loop/restore")
def restore(t):
    """Its replicas come back by the same path as those of errImagePull."""
    ns = t.ns()
    program = run(t, ns, "1s")
    workload = t.objects.workload("Deployment", ns, 2)
    crash(t, workload)
    t.wait_write(workload)
    t.wait_history(program, outcome="done", duty="crashLoop")
    t.policy.restore = True
    workload.leave()
    take_back(program, f"{ns}/{workload.name}")
    t.until("the replicas to be back", lambda: workload.wanted() == 2, 10)


@scenario("crash-loop/restart-keeps-the-clock")
def clock(t):
    """A restart of the program neither begins the wait anew nor shortens it."""
    ns = t.ns()
    program = run(t, ns, "12s")
    workload = t.objects.workload("Deployment", ns, 1)
    begin = crash(t, workload)
    time.sleep(6)
    program.kill_all()
    program.start()
    request = t.wait_write(workload)
    assert 0 <= request.t - begin - 12 < 5, f"acted {request.t - begin - 12:+.3f} s from the threshold"
    t.expect(scaled=[workload])

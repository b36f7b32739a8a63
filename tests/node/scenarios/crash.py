"""Containers that end again and again, as a real kubelet starts them."""
from harness.scenario import scenario

from kit import pods

CRASH = "sleep 1; exit 3"
# One of its pods gets the lock and serves.
ONE_SERVES = "mkdir /shared/lock 2>/dev/null && sleep 3600; " + CRASH


def restarts(found):
    return max((c.get("restartCount", 0) for c in pods.statuses(found)), default=0)


@scenario("crash/loops", servers=("node",), timeout=120)
def crash_loops(t):
    """A real CrashLoopBackOff, of main and init containers, for exit codes, memory and a command that is absent: scaled to 0 when every pod of it crashes, told and left alone while one of them serves."""
    ns = t.ns()
    bad = pods.Deployment(t, ns, "bad", pods.container(CRASH), replicas=2)
    hungry = pods.Deployment(t, ns, "hungry", pods.container("dd if=/dev/zero of=/dev/null bs=64M",
                                                             resources={"limits": {"memory": "16Mi"}}))
    start = pods.Deployment(t, ns, "start", pods.container(), initContainers=[pods.container(CRASH, name="start")])
    absent = pods.Deployment(t, ns, "absent", {**pods.container(None), "command": ["/no/such/program"]})
    shared = t.server.home / "shared"
    shared.mkdir()
    serves = pods.Deployment(t, ns, "serves", pods.container(ONE_SERVES, volumeMounts=[{"name": "v", "mountPath": "/shared"}]),
                             replicas=2, volumes=[{"name": "v", "hostPath": {"path": str(shared)}}])
    program = t.run(crash_loop=ns, hours="3s", crashLoop={"counts": 2})
    for workload in (start, absent, bad, hungry, serves):
        t.until(f"{workload.name} to loop", lambda: "CrashLoopBackOff" in dict(t.server.records.waiting(ns, workload.name)), 60, every=0.2)
        if workload in (start, absent):
            t.server.keep(f"crash-{workload.name}", workload.pods()[0])
    assert "OOMKilled" in t.server.records.ended(ns, "hungry"), t.server.records.ended(ns, "hungry")
    assert "StartError" in t.server.records.ended(ns, "absent"), t.server.records.ended(ns, "absent")
    for workload in (bad, hungry, start, absent):
        t.until(f"{workload.name} to be scaled to 0", lambda: workload.wanted() == 0, 60, every=0.3)
    calm = [pod for pod in serves.pods() if not restarts(pod)]
    assert len(calm) == 1 and pods.is_ready(calm[0]), "nobody serves"
    assert {r["reason"] for r in program.history() if r["outcome"] == "done"} == {"CrashLooping"}, program.history()
    restless = next(pod for pod in serves.pods() if restarts(pod))
    t.server.keep("crash-restless", restless)
    t.until("its refusal", lambda: pods.told(program, restless, "crashLoop")[1] == "WorkloadHasReadyPods", 40, every=0.3)
    t.expect(scaled=[bad, hungry, start, absent])


@scenario("crash/not-configured", servers=("node",))
def not_configured(t):
    """CreateContainerConfigError, a ConfigMap is absent: it crashes not, it pulls not, it is nobody's duty."""
    ns = t.ns()
    program = t.run(crash_loop=ns, image_pull=ns, hours="1s", crashLoop={"counts": 1})
    workload = pods.Deployment(t, ns, "unset", pods.container(envFrom=[{"configMapRef": {"name": "absent"}}]))
    t.until("the error", lambda: "CreateContainerConfigError" in dict(t.server.records.waiting(ns, "unset")), 40, every=0.2)
    pod = t.server.keep("crash-not-configured", workload.pods()[0])
    t.never("a write", t.writes, 2)
    told = [pods.told(program, pod, duty)[1] for duty in ("crashLoop", "errImagePull")]
    assert told == ["NotCrashing", "NotFailing"], told
    t.expect()

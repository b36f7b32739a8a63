"""Containers that end again and again, as a real kubelet starts them."""
import time

from harness.scenario import scenario

from kit import pods

CRASH = "sleep 1; exit 3"
# One of its pods gets the lock and serves.
ONE_SERVES = "mkdir /shared/lock 2>/dev/null && sleep 3600; " + CRASH


def restarts(found):
    return max((c.get("restartCount", 0) for c in pods.statuses(found)), default=0)


@scenario("crash/loops", servers=("node",), timeout=200)
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
    # The runtime hears of the OOM killer by itself: an end that is reported first is an Error, and the next one has another chance.
    for workload, reason in ((hungry, "OOMKilled"), (absent, "StartError")):
        t.until(f"an end {reason}", lambda: reason in t.server.records.ended(ns, workload.name), 40, every=0.2)
    for workload in (bad, hungry, start, absent):
        t.until(f"{workload.name} to be scaled to 0", lambda: workload.wanted() == 0, 60, every=0.3)
    calm = [pod for pod in serves.pods() if not restarts(pod)]
    assert len(calm) == 1 and pods.is_ready(calm[0]), "nobody serves"
    assert {r["reason"] for r in program.history() if r["outcome"] == "done"} == {"CrashLooping"}, program.history()
    restless = next(pod for pod in serves.pods() if restarts(pod))
    t.server.keep("crash-restless", restless)
    t.until("its refusal", lambda: pods.told(program, restless, "crashLoop")[1] == "WorkloadHasReadyPods", 40, every=0.3)
    t.expect(scaled=[bad, hungry, start, absent])


@scenario("crash/works-in-between", servers=("node",), timeout=150)
def works_in_between(t):
    """One replica that serves for 25 s at a time and then ends, Ready in most looks (nearly nine of ten, less on a busy machine): told, never scaled."""
    ns = t.ns()
    workload = pods.Deployment(t, ns, "works", pods.container("sleep 25; exit 3"))
    program = t.run(crash_loop=ns, hours="20s", crashLoop={"counts": 1})
    looks, refusal = [], None
    t.until("it to be Ready", lambda: any(map(pods.is_ready, workload.pods())), 40)
    begin = time.monotonic()
    while not refusal and time.monotonic() < begin + 120:
        looks.append(any(map(pods.is_ready, workload.pods())))
        refusal = next((r for r in program.history("--refusals") if r["reason"] == "ReadyInBetween"), None)
        time.sleep(0.5)
    assert refusal and refusal["name"] == workload.pods()[0]["metadata"]["name"], refusal
    assert sum(looks) > 0.65 * len(looks), f"Ready in {sum(looks)} of {len(looks)} looks"
    assert workload.wanted() == 1
    t.note = f"Ready in {sum(looks)} of {len(looks)} looks"
    t.expect()


@scenario("crash/out-of-step", servers=("node",), timeout=120)
def out_of_step(t):
    """Six pods that end at times of their own, none ever Ready: scaled to 0, though one or the other runs at any time."""
    ns = t.ns()
    never = {"readinessProbe": {"exec": {"command": ["false"]}, "periodSeconds": 1}}
    workload = pods.Deployment(t, ns, "step", pods.container("sleep $((2 + RANDOM % 7)); exit 3", **never), replicas=6)
    t.run(crash_loop=ns, hours="3s", crashLoop={"counts": 2})
    mixed = 0

    def scaled():
        nonlocal mixed
        states = {key for found in workload.pods() for c in pods.statuses(found) for key in c["state"]}
        mixed += {"running", "waiting"} <= states
        return workload.wanted() == 0
    t.until("it to be scaled to 0", scaled, 100, every=0.3)
    assert mixed, "they were in step"
    t.expect(scaled=[workload])


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

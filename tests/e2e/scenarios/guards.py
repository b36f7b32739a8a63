"""Guards beyond the single object: what is due is held, says why, and goes when it may."""
import time

from harness.client import MERGE
from harness.clock import Clock
from harness.objects import path_of
from harness.scenario import scenario

NO_BREAKER = {"workloads": 0, "percent": 0, "sameHost": 0, "sameNode": 0}


def evicted(t, ns, n):
    return [t.objects.evict(t.objects.pod(ns)) for _ in range(n)]


def held(program):
    return [r for r in program.ask_json("plan")["items"] if r["when"] == "blocked"]


def wait_held(t, program, n, reason, timeout=20):
    """Until the plan shows that many, all held for that reason."""
    def look():
        rows = held(program)
        return rows if len(rows) == n and {r["reason"] for r in rows} == {reason} else None
    return t.until(f"{n} pods held by {reason}", look, timeout, every=0.3)


def gone(pods, requests):
    """Those of the pods that were deleted."""
    names = {r.name for r in requests if r.ok}
    return [p for p in pods if p["metadata"]["name"] in names]


@scenario("guards/budget", timeout=90)
def budget(t):
    """Not more than so many an hour, also across a restart; what is over it waits, and a person can see why."""
    ns = t.ns()
    config = t.config(evicted=ns)
    config["deleteEvictedPod"]["maxPerHour"] = 3
    program = t.program(config)
    pods = evicted(t, ns, 8)
    t.until("three deletions", lambda: len(t.writes()) == 3, 15)
    # As long as the end of an act is not known yet, it is not known either when its share is free again.
    t.until("a time for each", lambda: all(r["until"] for r in wait_held(t, program, 5, "BudgetSpent")), 20)
    waiting = [p for p in pods if p not in gone(pods, t.writes())]
    answer = program.ask("explain", f"{ns}/{waiting[0]['metadata']['name']}", check=True).stdout
    assert "BudgetSpent" in answer and "3 of 3" in answer, answer
    t.wait_history(program, reason="BudgetSpent", ns=ns)
    program.kill_all()
    program.start()
    wait_held(t, program, 5, "BudgetSpent")
    old = program.kill("watcher")
    t.until("another watcher", lambda: program.pids("watcher") and old not in program.pids("watcher"), 20)
    t.until("the program to be up again", program.is_ready, 20)
    wait_held(t, program, 5, "BudgetSpent")
    t.never("more than the budget", lambda: len(t.writes()) > 3, 2)
    t.expect(deleted=gone(pods, t.writes()))
    assert len(t.writes()) == 3


@scenario("guards/budget-given-back", timeout=90)
def given_back(t):
    """What a worker refuses live is not counted: the next one goes."""
    ns = t.ns()
    config = t.config(image_pull=ns, hours="1s", breaker=NO_BREAKER)
    config["errImagePull"]["maxPerDay"] = 1
    program = t.program(config)
    first, second = (t.objects.workload("Deployment", ns, 1) for _ in range(2))
    t.admin.post(path_of("ScaledObject", ns), {
        "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": first.name, "namespace": ns},
        "spec": {"scaleTargetRef": {"name": first.name}, "triggers": []}})
    first.fail_to_pull()
    t.wait_history(program, reason="HasKeda", ns=ns)
    second.fail_to_pull()
    t.wait_write(second)
    t.expect(scaled=[second])


@scenario("guards/share", timeout=90)
def share(t):
    """At most that share of a namespace's pods within an hour."""
    ns = t.ns()
    t.complete = False
    config = t.config(evicted=ns)
    config["deleteEvictedPod"]["maxPercentOfNamespace"] = 20
    program = t.program(config, start=False)
    pods = evicted(t, ns, 10)
    program.start()
    t.until("two deletions", lambda: len(t.writes()) == 2, 15)
    wait_held(t, program, 8, "BudgetSpent")
    program.kill_all()
    program.start()
    wait_held(t, program, 8, "BudgetSpent")
    t.never("more than the share", lambda: len(t.writes()) > 2, 2)
    t.expect(deleted=gone(pods, t.writes()))


@scenario("guards/window", timeout=90)
def window(t):
    """Not one second before its window opens, and not after it has closed."""
    ns = t.ns()
    opens = (int(time.time()) // 5 + 3) * 5     # 10 to 15 s from now
    at = time.gmtime(opens)
    config = t.config(evicted=ns)
    config["deleteEvictedPod"]["windows"] = [f"{at.tm_sec} {at.tm_min} {at.tm_hour} * * * for 1m"]
    config["timeZone"] = "UTC"
    program = t.program(config)
    pods = evicted(t, ns, 3)

    def look():
        """The rows; none where the machine was too slow to see them before the window opened."""
        rows = held(program)
        return len(rows) == 3 and {r["reason"] for r in rows} == {"OutsideWindow"} and (rows,) or time.time() >= opens and ([],)
    for row in t.until("3 pods held by OutsideWindow", look, 20)[0]:
        assert row["until"][:19] == time.strftime("%Y-%m-%dT%H:%M:%S", at), (row, opens)
    for pod in pods:
        request = t.wait_write(pod, 40)
        assert request.t >= opens, f"acted {opens - request.t:.3f} s before the window"
    t.expect(deleted=pods)


@scenario("guards/window-in-a-zone")
def zone(t):
    """A window that is open only in its own time zone; the zone of another duty does not matter."""
    ns = t.ns()
    config = t.config(evicted=ns, terminating=ns, hours="1s")
    far = time.gmtime(time.time() + 8 * 3600 - 600)       # ten minutes ago in Shanghai
    config["deleteEvictedPod"]["windows"] = [f"CRON_TZ=Asia/Shanghai {far.tm_min} {far.tm_hour} * * * for 1h"]
    here = time.gmtime(time.time() - 600 + 6 * 3600)
    config["deleteTerminatingPod"]["windows"] = [f"{here.tm_min} {here.tm_hour} * * * for 1h"]
    config["timeZone"] = "UTC"
    program = t.program(config)
    stuck = t.objects.pod(ns)
    t.objects.stop_containers(stuck)
    t.objects.terminate(stuck, 1)
    pod = evicted(t, ns, 1)[0]
    t.wait_write(pod)
    wait_held(t, program, 1, "OutsideWindow")
    t.expect(deleted=[pod])


@scenario("guards/breaker", timeout=120)
def breaker(t):
    """Many workloads that ran fail at once, and the registry has not answered for good: none is scaled, one alert says what they
    share; let go when few are left; kept over a restart. One of another registry goes, and so does a chart of tags that do not exist."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="2s", breaker={"workloads": 3, "sameHost": 3, "sameNode": 0, "within": "10m", "release": "4s"})
    # Not earlier: their clocks must not differ by more than what it takes to make them.
    workloads = [t.objects.workload("Deployment", ns, 1) for _ in range(5)]
    wrong = [t.objects.workload("Deployment", ns, 1) for _ in range(4)]
    for workload in workloads:
        for pod in workload.pods():
            t.objects.run(pod)
    program.ask("pause", check=True)
    for workload in workloads:
        workload.fail_to_pull(message="unauthorized: authentication required")
    for workload in wrong:
        workload.fail_to_pull()
    t.until("all to be seen", lambda: len(held(program)) == 9, 20, every=0.3)
    program.ask("resume", check=True)
    for workload in wrong:
        t.wait_write(workload)
    wait_held(t, program, 5, "BreakerOpen")
    row = t.wait_history(program, reason="BreakerOpen", ns=ns)
    assert "5 workloads began to fail together" in row["found"] and "registry.example.com" in row["found"], row
    assert program.log().count("breaker open") == 1
    program.kill_all()
    program.start()
    t.never("one of them scaled", lambda: len(t.writes()) > len(wrong), 3)
    assert "BreakerOpen" in program.ask("explain", f"{ns}/{workloads[0].pods()[0]['metadata']['name']}", check=True).stdout
    well, ill = workloads[:3], workloads[3:]
    for workload in well:
        for pod in workload.pods():
            t.objects.run(pod)
    for workload in ill:
        t.wait_write(workload, 30)
    t.expect(scaled=wrong + ill)


def replace_pods(t, workload):
    """Its pods go, and others take their place."""
    old = {pod["metadata"]["uid"] for pod in workload.pods()}
    for pod in workload.pods():
        t.objects.force_delete(pod)
    if not t.server.has_controllers:
        workload.add_pod(7)
    t.until("a new pod", lambda: [p for p in workload.pods() if p["metadata"]["uid"] not in old], 15)


@scenario("guards/pulled-before-the-restart", timeout=90)
def pulled_before(t):
    """Three workloads that ran cannot reach their registry any more; their pods are replaced while the program is down, and a fourth follows:
    all four had been pulled, so it is the registry, and none is scaled."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="15s", breaker={"workloads": 20, "sameHost": 3, "sameNode": 0, "within": "10m", "release": "4s"})
    workloads = [t.objects.workload("Deployment", ns, 1) for _ in range(4)]
    for workload in workloads:
        for pod in workload.pods():
            t.objects.run(pod)
    t.until("the pods to be seen", lambda: program.status()["clusters"][0]["pods"] >= 4, 10)
    message = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    for workload in workloads[:3]:
        workload.fail_to_pull(message=message)
    t.until("three that fail", lambda: program.ask("plan").stdout.count("WaitingForThreshold") >= 3, 10)
    time.sleep(1)       # and that is written down
    program.kill_all()
    for workload in workloads[:3]:
        replace_pods(t, workload)
        workload.fail_to_pull(message=message)
    program.start()
    workloads[3].fail_to_pull(message=message)
    wait_held(t, program, 4, "BreakerOpen", 40)
    t.expect()


@scenario("guards/first-start")
def first_start(t):
    """A first start on a cluster where twelve workloads of one registry have been broken for long, with the breaker's defaults: all go."""
    ns = t.ns()
    wrecks = [t.objects.workload("Deployment", ns, 1) for _ in range(12)]
    for workload in wrecks:
        workload.fail_to_pull(message="tls: failed to verify certificate: x509: certificate signed by unknown authority")
    t.run(image_pull=ns, hours="2s", breaker={"workloads": 20, "sameHost": 10, "sameNode": 5, "within": "10m", "release": "15m"})
    for workload in wrecks:
        t.wait_write(workload, 30)
    t.expect(scaled=wrecks)


def returns(t, workload):
    """Somebody scales it up again; its new pods fail as the old ones did."""
    ns = workload.ns
    for pod in workload.pods():
        t.objects.force_delete(pod)
    t.until("the old pods to be gone", lambda: not workload.pods(), 15)
    time.sleep(2.1)     # creation times are whole seconds
    t.admin.patch(path_of(workload.kind, ns, workload.name), {"spec": {"replicas": 1}}, MERGE)
    if not t.server.has_controllers:
        workload.add_pod(7)
    t.until("a new pod", lambda: workload.pods(), 15)
    workload.fail_to_pull()


@scenario("guards/reverted", timeout=90)
def reverted(t):
    """A workload that somebody scales up again is not scaled down again at once, and a person is told; also after a restart."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="1s", breaker=NO_BREAKER)
    workload = t.objects.workload("Deployment", ns, 1)
    workload.fail_to_pull()
    t.wait_write(workload)
    t.wait_history(program, outcome="done", ns=ns)
    returns(t, workload)
    rows = wait_held(t, program, 1, "Reverted")
    assert rows[0]["until"], rows
    t.wait_history(program, reason="Reverted", ns=ns)
    program.kill_all()
    program.start()
    wait_held(t, program, 1, "Reverted")
    t.never("scaled again", lambda: len(t.writes()) > 1, 2)
    assert workload.wanted() == 1
    t.expect(scaled=[workload])


@scenario("guards/startup-quiet")
def quiet(t):
    """Nothing at all for so long after the first complete list, and it says so."""
    ns = t.ns()
    pod = evicted(t, ns, 1)[0]
    begin = time.time()
    program = t.program(t.config(evicted=ns, startupQuiet="8s"))
    wait_held(t, program, 1, "StartupQuiet")
    request = t.wait_write(pod, 20)
    assert request.t >= begin + 8, f"acted {request.t - begin:.3f} s after its start"
    t.expect(deleted=[pod])


@scenario("guards/fresh-attempt", timeout=90)
def fresh(t):
    """One pod is deleted first, so that a new one tries afresh; scaled only when that one fails too."""
    ns = t.ns()
    config = t.config(image_pull=ns, hours="1s", breaker=NO_BREAKER)
    config["errImagePull"]["freshAttempt"] = "4s"
    t.policy.fresh_attempt = True
    program = t.program(config)
    workload = t.objects.workload("ReplicaSet", ns, 1)
    workload.fail_to_pull()
    first = workload.pods()[0]
    retry = t.wait_write(first)
    assert retry.verb == "delete" and retry.uid == first["metadata"]["uid"], retry
    t.objects.force_delete(first)
    if not t.server.has_controllers:
        workload.add_pod(1)
    t.until("a new pod", lambda: [p for p in workload.pods() if p["metadata"]["uid"] != first["metadata"]["uid"]], 15)
    workload.fail_to_pull()
    row = t.until("a wait for its outcome", lambda: next(
        (r for r in program.ask_json("plan")["items"] if r["reason"] == "FreshAttempt"), None), 15, every=0.3)
    assert row["when"] == "later", row
    scaled = t.wait_write(workload, 30)
    assert scaled.t >= retry.t + 4, f"scaled {scaled.t - retry.t:.3f} s after the fresh attempt"
    rows = program.history()
    assert [r["action"] for r in sorted(rows, key=lambda r: r["id"])] == ["freshAttempt", "scaleDown"], rows


@scenario("guards/clock-set-back-and-right", timeout=90)
def clock_set_back_and_right(t):
    """What is evicted while this host's clock is two hours behind stays, says why, and goes as soon as the clock is right."""
    ns = t.ns()
    clock = Clock.copy(t.build, t.dir / "program")
    t.build = clock.folder
    program = t.run(evicted=ns)
    clock.step(-7200)
    pod = evicted(t, ns, 1)[0]
    t.until("a wait for the clock", lambda: {"TimeInFuture", "ClockUncertain"} & {
        r["reason"] for r in program.ask_json("plan")["items"]}, 20, every=0.3)
    t.never("deleted by a wrong clock", lambda: t.writes(), 3)
    clock.step(0)
    t.wait_write(pod, 10, code=200)
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done")
    t.expect(deleted=[pod])


def kill_all(t, program):
    program.kill_all()
    program.start()
    t.until("the program to be up again", program.is_ready, 20)


def loop(t, restart_after=None):
    """Three pods of one owner are evicted from one node, one after the other; the fourth is kept."""
    ns = t.ns()
    t.complete = False
    program = t.run(evicted=ns)
    workload = t.objects.workload("ReplicaSet", ns, 1)
    deleted = []
    for i in range(4):
        pod = t.until("a pod to evict", lambda: next(
            (p for p in workload.pods() if p["metadata"]["uid"] not in {d["metadata"]["uid"] for d in deleted}), None), 15)
        time.sleep(2.1)     # creation times are whole seconds
        t.objects.evict(pod)
        if i == 3:
            break
        t.wait_write(pod, 15)
        t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done")
        deleted.append(pod)
        if not t.server.has_controllers:
            workload.add_pod(i + 1)
        if i == restart_after:
            time.sleep(1)       # what it has learnt of this end is on its way to the disk
            kill_all(t, program)
    wait_held(t, program, 1, "EvictLoop")
    t.wait_history(program, reason="EvictLoop", ns=ns)
    t.never("the newest deleted", lambda: len(t.writes()) > 3, 2)
    return program, deleted


@scenario("guards/evict-loop", timeout=90)
def evict_loop(t):
    """Evicted, replaced on the same node, evicted again: deleted all the same, but the newest stays, and a person is told once."""
    _, deleted = loop(t)
    t.expect(deleted=deleted)


@scenario("guards/evict-loop-and-restart", timeout=120)
def evict_loop_and_restart(t):
    """The program is killed between the second and the third time, and again while the newest is kept."""
    program, deleted = loop(t, restart_after=1)
    kill_all(t, program)
    wait_held(t, program, 1, "EvictLoop")
    t.never("the newest deleted", lambda: len(t.writes()) > 3, 2)
    t.expect(deleted=deleted)

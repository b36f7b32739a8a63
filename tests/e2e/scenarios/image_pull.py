"""Duty errImagePull."""
import contextlib
import sqlite3
import time

from harness.objects import condition, owner_ref, path_of
from harness.proxy import DROP, Answer
from harness.scenario import scenario


SLACK_S = 2     # KNOWN_SLACK_MS of the supervisor


def any_pod(ns):
    return f"/namespaces/{ns}/pods/[^/]+$"


def scale(workload):
    return f"/{workload.name}(/scale)?$"


def make_kind(kind):
    @scenario(f"image-pull/{kind.lower()}")
    def acts(t):
        """Scaled to zero once, with the count from before in the history; never again."""
        ns = t.ns()
        program = t.run(image_pull=ns, hours="2s")
        workload = t.objects.workload(kind, ns, 2)
        begin = time.time()
        workload.fail_to_pull()
        request = t.wait_write(workload)
        assert request.t >= begin + 2, f"acted {begin + 2 - request.t:.3f} s too early"
        t.until("replicas 0", lambda: workload.wanted() == 0, 3)
        row = t.wait_history(program, outcome="done", reason="CannotPullImage")
        assert row["duty"] == "errImagePull" and row["replicas"] == 2 and workload.name in row["target"], row
        time.sleep(1)
        t.expect(scaled=[workload])
    acts.__doc__ = f"{kind}: scaled to zero once, and never again."


for _kind in ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Rollout", "Fleet"):
    make_kind(_kind)


@scenario("image-pull/stale-ready")
def stale_ready(t):
    """A pod of it was evicted and its condition Ready never taken back: it serves nobody, and does not count."""
    ns = t.ns()
    t.run(image_pull=ns, hours="2s")
    workload = t.objects.workload("Fleet", ns, 2)
    workload.fail_to_pull()
    t.objects.evict(workload.add_pod(), ready="True")
    t.wait_write(workload)
    t.expect(scaled=[workload])


def fleet_without_selector(t, ns):
    """As of a resource definition that names no labelSelectorPath."""
    fleet = t.objects.workload("Fleet", ns, 2)
    t.objects.admin.patch(path_of("Fleet", ns, fleet.name) + "/status", {"status": {"selector": None}})
    assert not t.objects.admin.get(fleet.scale_path())["status"].get("selector")
    return fleet


@scenario("image-pull/no-selector")
def no_selector(t):
    """A scale without a selector: its pods are told by their owners, and what else serves there is not its own."""
    ns = t.ns()
    other = t.objects.workload("ReplicaSet", ns, 1)
    fleet = fleet_without_selector(t, ns)
    for pod in other.pods() + [t.objects.pod(ns)]:
        t.objects.run(pod)
    program = t.run(image_pull=ns, hours="2s")
    fleet.fail_to_pull()
    t.wait_write(fleet)
    t.wait_history(program, outcome="done", reason="CannotPullImage")
    t.expect(scaled=[fleet])


@scenario("image-pull/no-selector-and-it-serves")
def no_selector_and_it_serves(t):
    """The same, but a ReplicaSet below it serves: the workload stays."""
    ns = t.ns()
    below = t.objects.workload("ReplicaSet", ns, 1)
    fleet = fleet_without_selector(t, ns)
    t.objects.admin.patch(path_of("ReplicaSet", ns, below.name), {"metadata": {"ownerReferences": [owner_ref(fleet.top)]}})
    for pod in below.pods():
        t.objects.run(pod)
    program = t.run(image_pull=ns, hours="1s")
    fleet.fail_to_pull()
    t.wait_history(program, outcome="refused", reason="WorkloadHasReadyPods")
    t.never("acted although a pod of it serves", t.writes, 2)
    t.expect()


@scenario("image-pull/sets-without-labels")
def sets_without_labels(t):
    """ReplicaSets that carry none of the labels by which their workload's scale selects: found by their owner."""
    ns = t.ns()
    rollout = t.objects.workload("Rollout", ns, 2)
    path = path_of("ReplicaSet", ns, rollout.replica_set["metadata"]["name"])
    t.objects.admin.patch(path, {"metadata": {"labels": {key: None for key in rollout.replica_set["metadata"]["labels"]}}})
    t.run(image_pull=ns, hours="2s")
    rollout.fail_to_pull()
    t.wait_write(rollout)
    t.expect(scaled=[rollout])


@scenario("image-pull/no-scale")
def no_scale(t):
    """A controller of a kind without a scale subresource, and a pod without one: reported, nothing written."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="1s")
    t.objects.workload("Widget", ns, 1).fail_to_pull()
    bare = t.objects.fail_to_pull(t.objects.pod(ns))
    t.wait_history(program, reason="KindNotScalable")
    t.wait_history(program, uid=bare["metadata"]["uid"], reason="NoController")
    t.expect()


@scenario("image-pull/threshold")
def threshold(t):
    """Not one second before it has failed for `hours`; flips between ErrImagePull and ImagePullBackOff do not start anew."""
    ns = t.ns()
    t.run(image_pull=ns, hours="8s")
    workload = t.objects.workload("Deployment", ns, 1)
    begin = time.time()
    workload.fail_to_pull(reason="ErrImagePull")
    while time.time() < begin + 7:
        time.sleep(0.5)
        workload.fail_to_pull(reason="ImagePullBackOff")
        time.sleep(0.5)
        workload.fail_to_pull(reason="ErrImagePull")
    request = t.wait_write(workload)
    assert 0 <= request.t - begin - 8 < 5, f"acted {request.t - begin - 8:+.3f} s from the threshold"
    t.expect(scaled=[workload])


@scenario("image-pull/restart-keeps-the-clock")
def clock(t):
    """A restart of the program neither begins the wait anew nor shortens it."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="12s")
    workload = t.objects.workload("Deployment", ns, 1)
    begin = time.time()
    workload.fail_to_pull()
    time.sleep(6)
    program.kill_all()
    program.start()
    request = t.wait_write(workload)
    assert 0 <= request.t - begin - 12 < 5, f"acted {request.t - begin - 12:+.3f} s from the threshold"
    t.expect(scaled=[workload])


# --- a StatefulSet that waits, in order, for a pod that its correction has left behind (kubernetes/kubernetes#67250) ---

def left_behind(t, ns, replicas=2):
    """(the StatefulSet, its last pod): a rollout has got as far as that pod, which cannot pull, and the template was corrected since.
    The others serve."""
    workload = t.objects.workload("StatefulSet", ns, replicas, ordered=True)

    def named(i, but=None):
        return t.until(f"pod {i}", lambda: next((p for p in workload.pods() if p["metadata"]["name"] == f"{workload.name}-{i}"
                                                 and p["metadata"]["uid"] != but), None), 30)
    for i in range(replicas):
        first = t.objects.run(named(i))
    workload.correct()
    if t.server.has_controllers:    # it asks the last one to go
        t.until("the last pod to be asked", lambda: t.objects.get(first)["metadata"].get("deletionTimestamp"), 30)
    t.objects.force_delete(first)
    if not t.server.has_controllers:
        workload.add_pod(replicas - 1)
    last = t.objects.fail_to_pull(named(replicas - 1, first["metadata"]["uid"]))
    workload.correct()
    return workload, last


@scenario("image-pull/ordinal-stuck")
def ordinal_stuck(t):
    """Its StatefulSet never replaces it: with ordinalStuck: delete it is deleted, not by force, though others serve; the next one is of
    the newest revision. Not before it has failed for `hours`."""
    ns = t.ns()
    workload, last = left_behind(t, ns)
    config = t.config(image_pull=ns, hours="3s")
    config["errImagePull"]["ordinalStuck"] = "delete"
    begin = time.time()
    program = t.program(config)
    deleted = t.wait_write(last)
    assert deleted.verb == "delete" and deleted.grace is None and deleted.t >= begin + 3, f"{deleted} {deleted.t - begin:.3f} s after the start"
    row = t.wait_history(program, outcome="done", reason="OrdinalDeleted")
    assert row["duty"] == "errImagePull" and row["target"] == f"pods/{ns}/{last['metadata']['name']}", row
    t.objects.force_delete(last)
    if t.server.has_controllers:
        def again():
            return next((p for p in workload.pods() if p["metadata"]["name"] == last["metadata"]["name"]
                         and p["metadata"]["uid"] != last["metadata"]["uid"]), None)
        made = t.until("the next pod of that name", again, 30)
        assert made["metadata"]["labels"]["controller-revision-hash"] == workload.revision, made["metadata"]["labels"]
    time.sleep(1)
    t.expect(deleted=[last])


@scenario("image-pull/ordinal-nobody-heard")
def ordinal_nobody_heard(t):
    """The server took the deletion; neither its answer nor the look after it came through: the history follows the pod, and says done when it is gone."""
    ns, proxy = t.ns(), t.proxy()
    _, last = left_behind(t, ns)
    config = t.config(image_pull=ns, hours="3s")
    config["errImagePull"]["ordinalStuck"] = "delete"
    uid = last["metadata"]["uid"]

    def lose(_):
        proxy.before("GET", f"/pods/{last['metadata']['name']}$", lambda _: DROP)
        return DROP

    proxy.after("DELETE", f"/pods/{last['metadata']['name']}$", lose)
    program = t.program(config, t.kubeconfig(proxy=proxy))
    t.wait_history(program, uid=uid, outcome="unconfirmed")
    t.objects.force_delete(last)
    row = t.wait_history(program, uid=uid, outcome="done")
    assert row["settledAt"], row
    t.expect(deleted=[last])


@scenario("image-pull/ordinal-planned")
def ordinal_planned(t):
    """What plan says of it is what would be done."""
    ns = t.ns()
    workload, last = left_behind(t, ns)
    config = t.config(image_pull=ns, hours="2s")
    config["errImagePull"]["ordinalStuck"] = "delete"
    config["mode"] = "observe"
    t.policy.observe = True
    program = t.program(config)
    t.wait_history(program, outcome="would", reason="OrdinalDeleted")
    assert t.objects.get(last) and workload.wanted() == 2
    t.expect()


@scenario("image-pull/ordinal-told")
def ordinal_told(t):
    """By default the refusal says that the pod has to be deleted, and how."""
    ns = t.ns()
    workload, last = left_behind(t, ns, replicas=1)
    program = t.run(image_pull=ns, hours="2s")
    row = t.wait_history(program, outcome="refused", reason="OrdinalStuck")
    said = str(program.ask_json("show", str(row["id"])))
    assert last["metadata"]["name"] in said and workload.revision in said, said
    assert f"kubectl -n {ns} delete pod {last['metadata']['name']}" in (shown := program.ask("show", str(row["id"])).stdout), shown
    t.never("acted", t.writes, 2)
    t.expect()


@scenario("image-pull/ordinal-below-a-partition")
def below_a_partition(t):
    """There the older revision is what its owner wants: deleted, it would come back as it was."""
    ns = t.ns()
    workload, last = left_behind(t, ns)
    t.admin.patch(path_of("StatefulSet", ns, workload.name), {"spec": {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 5}}}})
    config = t.config(image_pull=ns, hours="1s")
    config["errImagePull"]["ordinalStuck"] = "delete"
    program = t.program(config)
    t.wait_history(program, outcome="refused", reason="NotNewestRevision")
    t.never("acted", t.writes, 2)
    assert t.objects.get(last)
    t.expect()


@scenario("image-pull/not-observed")
def not_observed(t):
    """Its controller has not looked at a change yet: that is waited for, and then it acts. (The Rollouts of both servers have none.)"""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="2s")
    workload = t.objects.workload("Rollout", ns, 1)
    path = path_of("Rollout", ns, workload.name)

    def observe(generation):
        t.admin.patch(path + "/status", {"status": {"observedGeneration": str(generation)}})
    generation = t.admin.patch(path, {"spec": {"paused": False}})["metadata"]["generation"]
    observe(generation - 1)
    workload.fail_to_pull()
    t.wait_history(program, outcome="refused", reason="NotObserved")
    t.never("acted on what its controller has not seen", t.writes, 4)
    observe(generation)
    begin = time.time()
    request = t.wait_write(workload)
    assert request.t - begin < 10, f"{request.t - begin:.1f} s after its controller had looked"
    t.expect(scaled=[workload])


@scenario("image-pull/first-installation")
def first_installation(t):
    """It has failed for long when the program starts for the first time: watcher and supervisor begin to count together, and only
    once `hours` pass."""
    ns = t.ns()
    workload = t.objects.workload("StatefulSet", ns, 1)
    workload.fail_to_pull()
    time.sleep(2)
    begin = time.time()
    t.run(image_pull=ns, hours="6s")
    ready = time.time()
    request = t.wait_write(workload)
    assert request.t - begin >= 6, f"acted {request.t - begin:.3f} s after the start"
    assert request.t - ready < 6 + 5, f"acted {request.t - ready:.3f} s after it was ready: it waited twice"
    t.expect(scaled=[workload])


@scenario("image-pull/forged-memory")
def forged_memory(t):
    """The watcher's memory says that it has failed for a day. Nothing on the server tells otherwise, but the supervisor has not
    known it for so long."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="10s")
    workload = t.objects.workload("StatefulSet", ns, 1)
    time.sleep(10.5)    # older than the threshold: when it was made does not tell
    begin = time.time()
    workload.fail_to_pull()

    def forge():
        """The file is the reporter's alone while it lives."""
        time.sleep(2)
        program.kill_all()
        with contextlib.closing(sqlite3.connect(next(program.state.rglob("history.db")))) as db, db:
            n = db.execute("UPDATE failing_since SET at = at - 86400000").rowcount
        if n == 0:
            program.start()
        return n

    t.until("it is remembered since when it fails", forge, 5)
    program.start()
    request = t.wait_write(workload, 30)
    assert request.t - begin >= 10 - SLACK_S, f"acted {request.t - begin:.3f} s after it began to fail"
    t.wait_history(program, outcome="refused", reason="WaitingForThreshold")
    t.expect(scaled=[workload])


@scenario("image-pull/new-revision-starts-anew")
def new_revision(t):
    """A new rollout gets the whole time again."""
    ns = t.ns()
    t.run(image_pull=ns, hours="9s")
    workload = t.objects.workload("Deployment", ns, 1)
    begin = time.time()
    workload.fail_to_pull()
    time.sleep(max(0, begin + 3 - time.time()))
    workload.new_revision()
    second = time.time()
    workload.fail_to_pull()
    t.no_write_before("acted on the old revision's clock", second + 8.9)
    t.wait_write(workload)
    t.expect(scaled=[workload])


@scenario("image-pull/other-states")
def other_states(t):
    """Other waiting reasons, images pulled at last, ephemeral containers: none of them condemns a workload."""
    ns = t.ns()
    t.run(image_pull=ns, hours="1s")
    for reason in ("CrashLoopBackOff", "ContainerCreating", "InvalidImageName", "ErrImageNeverPull", "PodInitializing"):
        t.objects.workload("ReplicaSet", ns, 1).fail_to_pull(reason=reason)
    evicted = t.objects.workload("ReplicationController", ns, 1)
    for pod in evicted.pods():
        t.objects.fail_to_pull(pod)
        t.objects.status(pod, phase="Succeeded")
    failing = t.objects.workload("Fleet", ns, 1)
    failing.fail_to_pull()
    t.wait_write(failing)
    time.sleep(1)
    t.expect(scaled=[failing])


@scenario("image-pull/init-container")
def init_container(t):
    """An init container that cannot be pulled counts as well."""
    ns = t.ns()
    t.run(image_pull=ns, hours="1s")
    workload = t.objects.workload("Deployment", ns, 1, init=("prepare",))
    workload.fail_to_pull(container="prepare")
    t.wait_write(workload)
    t.expect(scaled=[workload])


@scenario("image-pull/one-pod-ready")
def one_ready(t):
    """Never while any pod of the workload is Ready; when that one fails too, it acts."""
    ns = t.ns()
    t.run(image_pull=ns, hours="1s")
    workload = t.objects.workload("Deployment", ns, 3)
    ready, *failing = workload.pods()
    t.objects.run(ready)
    for pod in failing:
        t.objects.fail_to_pull(pod)
    t.never("acted although a pod is Ready", t.writes, 3)
    t.objects.fail_to_pull(ready)
    t.wait_write(workload)
    t.expect(scaled=[workload])


@scenario("image-pull/old-revision-serves")
def old_serves(t):
    """A new revision that cannot be pulled beside an old one that serves: the workload stays."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="1s")
    workload = t.objects.workload("Deployment", ns, 2)
    for pod in workload.pods():
        t.objects.run(pod)
    for pod in workload.new_revision():
        t.objects.fail_to_pull(pod)
    t.wait_history(program, reason="WorkloadHasReadyPods")
    t.never("acted although the old revision serves", t.writes, 2)
    t.expect()


@scenario("image-pull/served-until-lately")
def served_until_lately(t):
    """The old revision served until a moment ago: the time counts from there, however long the new one has failed."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="4s")
    workload = t.objects.workload("Deployment", ns, 1)
    old = workload.pods()
    for pod in old:
        t.objects.run(pod)
    workload.becomes_available(True)
    for pod in workload.new_revision():
        t.objects.fail_to_pull(pod)
    time.sleep(2)       # half of its time, while the old one serves
    for pod in old:
        t.objects.run(pod, ready=False)
    ended = workload.becomes_available(False)
    t.wait_history(program, outcome="refused", reason="WaitingForThreshold")
    request = t.wait_write(workload)
    assert request.t >= ended + 4, f"acted {ended + 4 - request.t:.3f} s too early"
    t.expect(scaled=[workload])


@scenario("image-pull/not-all-fail")
def not_all(t):
    """One pod fails, another has its image and is not Ready yet: the image can be pulled."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="1s")
    workload = t.objects.workload("Deployment", ns, 2)
    bad, runs = workload.pods()
    t.objects.fail_to_pull(bad)
    t.objects.run(runs, False)
    t.wait_history(program, reason="NotAllFailing")
    t.never("acted although not all pods fail", t.writes, 1.5)
    t.expect()


@scenario("image-pull/pods-that-prove-nothing")
def silent(t):
    """Pods that were never scheduled, or hang before their first container starts, have pulled nothing, and hinder nothing."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="1s")
    workload = t.objects.workload("Deployment", ns, 4, node=None)
    bad, worse, creating, unscheduled = workload.pods()
    t.objects.status(unscheduled, phase="Pending", conditions=[
        {**condition("PodScheduled", "False"), "reason": "Unschedulable", "message": "0/3 nodes are available"}])
    t.objects.fail_to_pull(creating, reason="ContainerCreating", message="")
    t.objects.fail_to_pull(bad)
    t.objects.fail_to_pull(worse)
    t.wait_write(workload)
    row = t.wait_history(program, duty="errImagePull", outcome="done")
    assert row["evidence"]["provesNothing"] == 2, row
    t.expect(scaled=[workload])


@scenario("image-pull/already-zero")
def already_zero(t):
    """Nothing is written to a workload that wants no replicas already, however long its pods linger."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="1s")
    workload = t.objects.workload("Fleet", ns, 1)
    t.admin.patch(path_of("Fleet", ns, workload.name), {"spec": {"size": 0}})
    workload.fail_to_pull()
    t.wait_history(program, outcome="gone", reason="AlreadyZero")
    t.expect()


@scenario("image-pull/excluded-namespace")
def excluded(t):
    """excludeNamespaces beats a namespace that is named; one that is not named is not touched either."""
    served, excluded_ns, other = t.ns(), t.ns(), t.ns()
    config = t.config(image_pull=[served, excluded_ns], hours="1s", excludeNamespaces=[excluded_ns])
    t.policy.image_pull = {served}
    t.program(config)
    for ns in (excluded_ns, other):
        t.objects.workload("ReplicaSet", ns, 1).fail_to_pull()
    workload = t.objects.workload("ReplicaSet", served, 1)
    workload.fail_to_pull()
    t.wait_write(workload)
    time.sleep(1.5)
    t.expect(scaled=[workload])


@scenario("image-pull/better-before-read")
def better(t):
    """The image arrives between nomination and grant: the pods are Ready when the worker looks."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload("Deployment", ns, 2)
    pods = workload.pods()
    hook = proxy.before("GET", any_pod(ns), lambda _: [t.objects.run(p) for p in pods] and None)
    workload.fail_to_pull()
    assert hook.ran.wait(30), "the worker never read the pod"
    t.wait_history(program, outcome="refused", ns=ns)
    t.never("acted on a workload that is well", t.writes, 1.5)
    t.expect()


@scenario("image-pull/changed-before-write")
def changed(t):
    """Somebody scales the workload between the worker's read and its write: 409, then judged anew and done."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload("Fleet", ns, 1)
    proxy.before("PATCH", scale(workload), lambda _: t.admin.patch(
        path_of("Fleet", ns, workload.name), {"spec": {"size": 5}}) and None)
    workload.fail_to_pull()
    t.wait_write(workload, code=200)
    row = t.wait_history(program, outcome="done")
    assert row["replicas"] == 5, row
    t.expect(scaled=[workload], failed=[(workload, 409)])


@scenario("image-pull/name-reused")
def reused(t):
    """Another workload takes the name: its uid is not the one the pods name, it is not touched."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload("Fleet", ns, 1)
    hook = proxy.before("GET", f"/fleets/{workload.name}$", lambda _: workload.replace() and None)
    workload.fail_to_pull()
    assert hook.ran.wait(30), "the worker never read the owner"
    t.wait_history(program, outcome="refused", reason="OwnerUidDiffers")
    t.expect()


@scenario("image-pull/name-reused-before-write")
def reused_before_write(t):
    """The workload is replaced between the worker's read and its write: the precondition refuses."""
    ns, proxy = t.ns(), t.proxy()
    t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload("ReplicaSet", ns, 1)
    hook = proxy.before("PATCH", scale(workload), lambda _: workload.replace() and None)
    workload.fail_to_pull()
    assert hook.ran.wait(30), "no PATCH was sent"
    t.wait_write(workload)
    time.sleep(1)
    assert not [r for r in t.writes() if r.ok], "the new workload was scaled"
    assert workload.wanted() == 1


@scenario("image-pull/forbidden")
def forbidden(t):
    """403 on the write: written down as forbidden, never in a hot loop."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload("ReplicaSet", ns, 1)
    hook = proxy.before("PATCH", scale(workload), lambda _: Answer(403, reason="Forbidden"), times=10**6)
    workload.fail_to_pull()
    t.wait_history(program, outcome="forbidden", reason="Forbidden")
    t.never("more than 10 tries in 2 s", lambda: hook.calls > 10 and hook.calls, 2)
    t.expect()


@scenario("image-pull/gone-before-write")
def gone(t):
    """The workload is deleted between the worker's read and its write: 404 counts as gone."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload("Fleet", ns, 1)
    proxy.before("PATCH", scale(workload), lambda _: workload.delete())
    workload.fail_to_pull()
    t.wait_history(program, outcome="gone", ns=ns)
    t.expect(failed=[(workload, 404)])

"""Duty deleteEvictedPod."""
import time
import uuid

from harness.objects import conditions, container_status, path_of, pod_path, terminated
from harness.proxy import Answer
from harness.scenario import scenario
from oracle.logs import parse_time


def replace(t, pod, evict):
    """Another pod takes the name, as a StatefulSet does it. Returns the new one."""
    t.objects.force_delete(pod)
    new = t.objects.pod(pod["metadata"]["namespace"], pod["metadata"]["name"])
    return t.objects.evict(new) if evict else t.objects.run(new)


def exact(pod):
    return f"/pods/{pod['metadata']['name']}$"


def judged(program, pod):
    """What the duty says of the pod, once it was seen evicted: before that it is a pod like any other."""
    return next((r for r in program.ask_json("explain", pod) if r["duty"] == "deleteEvictedPod" and r["verdict"] != "none"), None)


@scenario("evicted/acts")
def acts(t):
    """Evicted pods go, those there already and those that come; each with its row in the history."""
    ns = t.ns()
    early = [t.objects.evict(t.objects.pod(ns)) for _ in range(3)]
    program = t.run(evicted=ns)
    late = t.objects.pod(ns)
    t.objects.run(late)
    t.objects.evict(late)
    for pod in early + [late]:
        t.wait_write(pod)
        row = t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done", reason="Evicted")
        assert row["duty"] == "deleteEvictedPod" and row["ns"] == ns and row["name"] == pod["metadata"]["name"], row
        assert "The node was low on resource: ephemeral-storage." in row["found"], row["found"]    # gone with the pod
    node = late["spec"]["nodeName"]
    assert node in row["found"], row["found"]
    by_node = program.ask("history", "--summary", "--by", "node", check=True).stdout
    assert any(line.split()[:1] == [node] for line in by_node.splitlines()), by_node
    t.expect(deleted=early + [late])


@scenario("evicted/any-bytes")
def any_bytes(t):
    """A container may leave any bytes in its message, also one that JSON writes as \\u0000."""
    ns = t.ns()
    program = t.run(evicted=ns)
    pod = t.objects.pod(ns)
    ended = terminated("Error", 137)
    ended["terminated"]["message"] = "core\0dumped"
    t.objects.status(pod, phase="Failed", reason="Evicted", conditions=conditions("False"), message="low on\0memory",
                     containerStatuses=[container_status(c, ended) for c in t.objects.names(pod)])
    t.wait_write(pod)
    row = t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done", reason="Evicted")
    assert "low on" in row["found"] and "memory" in row["found"], row
    t.expect(deleted=[pod])


@scenario("evicted/kept-for-its-time")
def kept(t):
    """With `hours` the record of an eviction stays so long, as its message says why; then it goes."""
    ns = t.ns()
    config = t.config(evicted=ns, deleteEvictedPod={"hours": "8s"})
    t.policy.evicted_hours = 8.0
    program = t.program(config)
    pod = t.objects.finish(t.objects.pod(ns), "Evicted")
    name = f"{ns}/{pod['metadata']['name']}"
    verdict = t.until("its eviction to be judged", lambda: judged(program, name))
    assert verdict["verdict"] == "wait" and verdict["reason"] == "WaitingForThreshold", verdict
    t.wait_write(pod)
    t.expect(deleted=[pod])


@scenario("evicted/keeps-the-newest")
def keeps_the_newest(t):
    """With keepNewest the last eviction of a workload stays until another one comes; a pod without an owner does not."""
    ns = t.ns()
    t.policy.evicted_keep = 1
    program = t.program(t.config(evicted=ns, deleteEvictedPod={"keepNewest": 1}))
    bare = t.objects.evict(t.objects.pod(ns))
    workload = t.objects.workload("ReplicaSet", ns, 2)
    pods = workload.pods()
    evicted = []
    for pod in pods:
        evicted.append(t.objects.finish(pod, "Evicted"))
        time.sleep(1.1)      # times are whole seconds
    t.wait_write(bare)
    t.wait_write(evicted[0])
    name = f"{ns}/{evicted[1]['metadata']['name']}"
    verdict = t.until("it to be judged", lambda: judged(program, name))
    assert verdict["reason"] == "KeptNewest", verdict
    t.never("its deletion", lambda: t.writes_on(evicted[1]), 1.5)
    t.expect(deleted=[bare, evicted[0]])


@scenario("evicted/nothing-else")
def nothing_else(t):
    """Failed for another reason, Evicted in another phase, other spellings, Job pods, mirror pods, marked pods: all stay."""
    ns = t.ns()
    t.run(evicted=ns)
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "report", "uid": "0b6a3a44-0000-4000-8000-000000000001"}}
    stay = [t.objects.evict(t.objects.pod(ns), reason) for reason in
            ("Shutdown", "NodeAffinity", "evicted", "EvictedByVPA", "Evicted ", "Preempting", "UnexpectedAdmissionError")]
    stay += [t.objects.evict(t.objects.pod(ns), phase=phase) for phase in ("Running", "Pending", "Succeeded")]
    if not t.server.has_controllers:    # there the garbage collector takes a pod whose Job never was
        stay.append(t.objects.evict(t.objects.pod(ns, owner=job)))
    stay.append(t.objects.evict(t.objects.pod(ns, annotations={"kubernetes.io/config.mirror": "x"})))
    stay.append(t.objects.evict(t.objects.pod(ns, annotations={"ops-pod-cleaner.io/ignore": "true"})))
    stay.append(t.objects.run(t.objects.pod(ns)))
    gone = t.canary(ns)
    t.until("settled", lambda: True)
    t.expect(deleted=[gone])
    assert all(t.objects.get(p) for p in stay)


@scenario("evicted/stale-ready")
def stale_ready(t):
    """A virtual kubelet leaves condition Ready True: the pod is Failed all the same, and goes."""
    ns = t.ns()
    program = t.run(evicted=ns)
    pod = t.objects.evict(t.objects.run(t.objects.pod(ns)), ready="True")
    t.wait_write(pod)
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done", reason="Evicted")
    t.expect(deleted=[pod])


@scenario("evicted/excluded-namespace")
def excluded(t):
    """excludeNamespaces beats a namespace that is named; one that is not named is not touched either."""
    served, excluded_ns, other = t.ns(), t.ns(), t.ns()
    config = t.config(evicted=[served, excluded_ns], excludeNamespaces=[excluded_ns])
    t.policy.evicted = {served}
    for ns in (excluded_ns, other):
        t.objects.evict(t.objects.pod(ns))
    program = t.program(config)
    for ns in (excluded_ns, other):
        t.objects.evict(t.objects.pod(ns))
    gone = t.canary(served)
    t.wait_history(program, ns=excluded_ns, reason="NamespaceExcluded")
    t.expect(deleted=[gone])


@scenario("evicted/every-namespace", alone=True)
def every(t):
    """"*" is every namespace but the default exclusions and excludeNamespaces."""
    served, served2, excluded_ns = t.ns(), t.ns(), t.ns()
    system = t.ns("kube-system")
    config = t.config(evicted="*", excludeNamespaces=excluded_ns)
    t.policy.evicted = {served, served2}
    gone = [t.objects.evict(t.objects.pod(ns)) for ns in (served, served2)]
    stay = [t.objects.evict(t.objects.pod(ns, f"{t.prefix}-stays")) for ns in (excluded_ns, system)]
    program = t.program(config)
    gone.append(t.canary(served))
    for pod in gone:
        t.wait_write(pod)
    t.wait_history(program, ns="kube-system", reason="NamespaceProtected")
    t.expect(deleted=gone)
    assert all(t.objects.get(p) for p in stay)


@scenario("evicted/patterns")
def patterns(t):
    """Namespaces by a pattern: not what it excepts, not what excludeNamespaces takes by a pattern of its own, not what is protected."""
    served, served2, excepted, excluded_ns, other = t.ns(), t.ns(), t.ns(), t.ns(), t.ns(f"x{t.prefix}-1")
    system = t.ns("kube-system")
    config = t.config(evicted=[f"{t.prefix}-*", "kube-*", f"!{excepted}"], excludeNamespaces=[f"*{excluded_ns[1:]}"])
    gone = [t.objects.evict(t.objects.pod(ns)) for ns in (served, served2)]
    stay = [t.objects.evict(t.objects.pod(ns, f"{t.prefix}-stays")) for ns in (excepted, excluded_ns, other, system)]
    program = t.program(config)
    gone.append(t.canary(served))
    for pod in gone:
        t.wait_write(pod)
    t.wait_history(program, ns=excluded_ns, reason="NamespaceExcluded")
    t.wait_history(program, ns=system, reason="NamespaceProtected")
    t.expect(deleted=gone)
    assert all(t.objects.get(p) for p in stay)


def label(t, ns, **labels):
    """Labels of a namespace, and the oracle told of them."""
    then = t.policy.labels.setdefault(ns, [(0, {})])
    then.append((time.time(), {**then[-1][1], **labels}))
    t.admin.patch(f"/api/v1/namespaces/{ns}", {"metadata": {"labels": labels}})


@scenario("evicted/namespace-labels")
def namespace_labels(t):
    """Namespaces by label: what has it when the program starts, what gets it later, nothing that lost it, nothing that is excluded by one."""
    before, later, without, excluded_ns = t.ns(), t.ns(), t.ns(), t.ns()
    for ns in (before, excluded_ns):
        label(t, ns, team=t.prefix)
    label(t, excluded_ns, env="prod-1")
    label(t, without, team="another")
    config = t.config(evicted=[f"label:team={t.prefix}"], excludeNamespaces=["label:env=prod-*"])
    waits, *stay = [t.objects.evict(t.objects.pod(ns)) for ns in (later, without, excluded_ns)]
    gone = [t.objects.evict(t.objects.pod(before))]
    program = t.program(config)
    t.wait_write(gone[0])
    t.wait_history(program, ns=excluded_ns, reason="NamespaceExcluded")
    assert not t.writes_on(waits)
    label(t, later, team=t.prefix)
    t.wait_write(waits)
    label(t, before, team="another")
    stay.append(t.objects.evict(t.objects.pod(before)))
    gone += [waits, t.canary(later)]
    t.expect(deleted=gone)
    assert all(t.objects.get(p) for p in stay)


@scenario("evicted/namespace-label-lost-before-read")
def namespace_label_lost(t):
    """The label goes while the worker is about to look: it reads the namespace itself, and nothing is written."""
    ns, proxy = t.ns(), t.proxy()
    label(t, ns, team=t.prefix)
    program = t.run(proxy, evicted=[f"label:team={t.prefix}"])
    hook = proxy.before("GET", f"^/api/v1/namespaces/{ns}$", lambda _: label(t, ns, team="another"))
    pod = t.objects.evict(t.objects.pod(ns))
    assert hook.ran.wait(10), "the worker never read the namespace"
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="refused", reason="NamespaceNotSelected")
    t.expect(deleted=[])


@scenario("evicted/namespace-labels-forbidden")
def namespace_labels_forbidden(t):
    """Who may not read namespaces does nothing by label, and says so; what is named is served."""
    named, labelled, proxy = t.ns(), t.ns(), t.proxy()
    label(t, labelled, team=t.prefix)
    proxy.before("GET", rf"^/api/v1/namespaces(/{labelled})?$", lambda _: Answer(403, reason="Forbidden"), times=10**6)
    program = t.run(proxy, evicted=[named, f"label:team={t.prefix}"])
    t.policy.evicted = {named}
    stay = t.objects.evict(t.objects.pod(labelled))
    gone = t.canary(named)
    t.wait_history(program, uid=stay["metadata"]["uid"], reason="NamespaceUnknown")
    t.until("status says why", lambda: "namespaces: the API server answered 403" in str(program.status()), 10)
    t.expect(deleted=[gone])


def mark(t, kind, ns, name, on=True, what="annotations"):
    path = f"/api/v1/namespaces/{ns}" if kind == "Namespace" else path_of(kind, ns, name)
    t.admin.patch(path, {"metadata": {what: {"ops-pod-cleaner.io/ignore": "true" if on else None}}})


@scenario("evicted/marked-above")
def marked_above(t):
    """Owners write the mark on their workload or their namespace: its pods are left alone, until it is taken away."""
    ns, marked, labelled = t.ns(), t.ns(), t.ns()
    free, kept = t.objects.workload("Deployment", ns, 1), t.objects.workload("Deployment", ns, 1)
    mark(t, "Deployment", ns, kept.name)
    mark(t, "Namespace", marked, marked)
    mark(t, "Namespace", labelled, labelled, what="labels")
    program = t.run(evicted=[ns, marked, labelled])
    stay = [t.objects.evict(kept.pods()[0]), t.objects.evict(t.objects.pod(marked)), t.objects.evict(t.objects.pod(labelled))]
    for pod in stay:
        row = t.wait_history(program, uid=pod["metadata"]["uid"], outcome="refused", reason="IgnoreAnnotation")
        assert "ops-pod-cleaner.io/ignore on " in str(row), row
    gone = [t.objects.evict(free.pods()[0])]
    t.wait_write(gone[0])
    mark(t, "Namespace", marked, marked, on=False)
    t.objects.annotate(stay[1], "seen", "again")    # it is looked at again by itself, but in minutes
    t.wait_write(stay[1], timeout=60)
    t.expect(deleted=gone + [stay[1]])


@scenario("evicted/runs-to-completion")
def runs_to_completion(t):
    """Pods of what neither scales nor is a kind that serves are kept like those of Jobs: kinds of the list, and what discovery tells."""
    ns = t.ns()
    fleet, widget = t.objects.workload("Fleet", ns, 1), t.objects.workload("Widget", ns, 1)
    program = t.run(evicted=ns)
    stay = [t.objects.evict(widget.pods()[0])]
    if not t.server.has_controllers:    # there the garbage collector takes a pod whose owner never was
        for version, kind in (("argoproj.io/v1alpha1", "Workflow"), ("tekton.dev/v1", "TaskRun"), ("kubeflow.org/v1", "PyTorchJob")):
            owner = {"apiVersion": version, "kind": kind, "metadata": {"name": "run", "uid": str(uuid.uuid4())}}
            stay.append(t.objects.evict(t.objects.pod(ns, owner=owner)))
    t.wait_history(program, uid=stay[0]["metadata"]["uid"], outcome="refused", reason="JobPodKept")
    gone = t.objects.evict(fleet.pods()[0])
    t.wait_write(gone)
    t.expect(deleted=[gone])
    assert all(t.objects.get(p) for p in stay)


@scenario("evicted/better-before-read")
def better_before_read(t):
    """The pod is well again when the worker looks: nothing is written."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    pod = t.objects.pod(ns)
    hook = proxy.before("GET", exact(pod), lambda _: t.objects.run(pod) and None)
    t.objects.evict(pod)
    assert hook.ran.wait(10), "the worker never read the pod"
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="refused", reason="NotEvicted")
    gone = t.canary(ns)
    t.expect(deleted=[gone])


@scenario("evicted/better-before-write")
def better_before_write(t):
    """The pod is well again between the worker's read and its write: the precondition refuses, the second read too."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    pod = t.objects.pod(ns)
    hook = proxy.before("DELETE", exact(pod), lambda _: t.objects.run(pod) and None)
    t.objects.evict(pod)
    assert hook.ran.wait(10), "no DELETE was sent"
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="refused", reason="NotEvicted")
    gone = t.canary(ns)
    t.expect(deleted=[gone], failed=[(pod, 409)])
    assert t.objects.get(pod)


@scenario("evicted/changed-before-write")
def changed_before_write(t):
    """Something else of the pod changed meanwhile: 409, read again, still evicted, deleted at its new version."""
    ns, proxy = t.ns(), t.proxy()
    t.run(proxy, evicted=ns)
    pod = t.objects.pod(ns)
    path = pod_path(ns, pod["metadata"]["name"])
    proxy.before("DELETE", exact(pod), lambda _: t.admin.patch(path, {"metadata": {"labels": {"x": "y"}}}) and None)
    t.objects.evict(pod)
    t.wait_write(pod, code=200)
    t.expect(deleted=[pod], failed=[(pod, 409)])


@scenario("evicted/name-reused-before-read")
def reused_before_read(t):
    """Another, healthy pod bears the name when the worker looks."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    pod = t.objects.pod(ns)
    new = []
    hook = proxy.before("GET", exact(pod), lambda _: new.append(replace(t, pod, False)))
    t.objects.evict(pod)
    assert hook.ran.wait(10), "the worker never read the pod"
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="gone")
    gone = t.canary(ns)
    t.expect(deleted=[gone])
    assert t.objects.get(new[0])


@scenario("evicted/name-reused-before-write")
def reused_before_write(t):
    """A new pod takes the name after the read, and is evicted itself: the old uid's DELETE fails, its own succeeds."""
    ns, proxy = t.ns(), t.proxy()
    t.run(proxy, evicted=ns)
    pod = t.objects.pod(ns)
    new = []
    proxy.before("DELETE", exact(pod), lambda _: new.append(replace(t, pod, True)))
    t.objects.evict(pod)
    t.wait_write(pod, code=200)
    t.expect(deleted=new, failed=[(pod, 409)])


@scenario("evicted/forbidden")
def forbidden(t):
    """403 on the write: written down as forbidden, tried a few times with growing pauses, never in a hot loop."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    pod = t.objects.pod(ns)
    hook = proxy.before("DELETE", exact(pod), lambda _: Answer(403, reason="Forbidden"), times=10**6)
    t.objects.evict(pod)
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="forbidden", reason="Forbidden")
    t.never("more than 10 tries in 3 s", lambda: hook.calls > 10 and hook.calls, 3)
    other = t.canary(ns)
    t.expect(deleted=[other])


@scenario("evicted/gone-before-read")
def gone_before_read(t):
    """Somebody else deletes it first: no write, and not an error."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    pod = t.objects.pod(ns)
    proxy.before("GET", exact(pod), lambda _: t.objects.force_delete(pod))
    t.objects.evict(pod)
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="gone")
    t.expect()


@scenario("evicted/gone-before-write")
def gone_before_write(t):
    """Somebody else deletes it between read and write: 404 counts as gone."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    pod = t.objects.pod(ns)
    proxy.before("DELETE", exact(pod), lambda _: t.objects.force_delete(pod))
    t.objects.evict(pod)
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="gone")
    t.expect(failed=[(pod, 404)])


@scenario("evicted/finalizer")
def finalizer(t):
    """An evicted pod with a finalizer is deleted once; it stays, and is neither stripped nor deleted again. The history calls it marked,
    and done when it is gone, also when every process died in between."""
    ns = t.ns()
    program = t.run(evicted=ns, terminating=ns, hours="1s")
    pod = t.objects.evict(t.objects.pod(ns, finalizers=["example.com/keep"]))
    uid = pod["metadata"]["uid"]
    t.wait_write(pod)
    row = t.wait_history(program, uid=uid, outcome="marked", reason="HasFinalizers")
    assert "example.com/keep" in row["found"], row
    t.wait_history(program, uid=uid, reason="HasFinalizers", outcome="refused")     # of deleteTerminatingPod
    t.expect(deleted=[pod])
    assert t.objects.get(pod)["metadata"]["finalizers"] == ["example.com/keep"]
    program.kill_all()
    program.start()
    assert next(r for r in program.history() if r["id"] == row["id"])["outcome"] == "marked"
    t.admin.patch(pod_path(ns, pod["metadata"]["name"]), {"metadata": {"finalizers": None}})
    t.wait_history(program, id=row["id"], outcome="done")
    t.expect(deleted=[pod])


@scenario("evicted/half-deleted")
def half_deleted(t):
    """What a DELETE that was cut off has left marked is finished after finishDeletionsAfter and not before, without deleteTerminatingPod;
    what a finalizer holds is left alone."""
    ns = t.ns()
    pods = [t.objects.half_delete(t.objects.evict(t.objects.pod(ns))) for _ in range(2)]
    held = t.objects.evict(t.objects.pod(ns, finalizers=["example.com/keep"]))
    t.objects.terminate(held, 0)
    program = t.run(evicted=ns, finishDeletionsAfter="4s")
    for pod in pods:
        request, due = t.wait_write(pod), parse_time(pod["metadata"]["deletionTimestamp"]) + 4
        assert request.t >= due, f"acted {request.t - due:+.3f} s from the time"
        t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done", reason="Evicted")
        t.until("the pod to be gone", lambda pod=pod: not t.objects.get(pod), 5)
    t.expect(deleted=pods)
    assert t.objects.get(held)


@scenario("evicted/cut-off-half-way")
def cut_off(t):
    """The server gives up our DELETE after it has marked the pod: unconfirmed, then finished by another DELETE that no budget is charged
    for, and the history says done of both."""
    ns, proxy = t.ns(), t.proxy()
    config = t.config(evicted=ns, finishDeletionsAfter="2s", deleteEvictedPod={"maxPerDay": 2})
    program = t.program(config, t.kubeconfig(proxy=proxy))
    pod = t.objects.pod(ns)

    def half(_):
        t.objects.half_delete(pod)
        return Answer(504, reason="Timeout")

    hook = proxy.before("DELETE", exact(pod), half)
    t.objects.evict(pod)
    assert hook.ran.wait(10), "no DELETE was sent"
    t.wait_write(pod, code=200)
    uid = pod["metadata"]["uid"]
    rows = t.until("two rows that say done", lambda: [r for r in rows_of(program, uid) if r["outcome"] == "done"][1:] and
                   rows_of(program, uid), 20)
    assert len(rows) == 2, rows
    assert sum(r["settledAt"] is not None for r in rows) == 1, rows
    other = t.canary(ns)                # the second and last of the day
    t.objects.evict(t.objects.pod(ns))
    t.until("the budget to be spent", lambda: any(
        r["reason"] == "BudgetSpent" for r in program.history("--refusals") if r["ns"] == ns), 10)
    t.expect(deleted=[pod, other])


def rows_of(program, uid):
    return [r for r in program.history() if r["uid"] == uid]

"""Duty deleteTerminatingPod."""
import time

from harness.objects import condition, conditions, container_status, path_of, running, terminated
from harness.proxy import Answer
from harness.scenario import scenario
from oracle.logs import parse_time

OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}


def stuck(t, ns, grace=1, **how):
    """A pod whose containers have ended and that nobody confirms; (pod, when its grace ends)."""
    pod = t.objects.pod(ns, **how)
    t.objects.stop_containers(pod)
    pod = t.objects.terminate(pod, grace)
    return pod, parse_time(pod["metadata"]["deletionTimestamp"])


def exact(pod):
    return f"/pods/{pod['metadata']['name']}$"


@scenario("terminating/acts-at-the-threshold")
def acts(t):
    """Not one second before deletionTimestamp + hours, and then without any event: the deadline itself wakes it."""
    ns = t.ns()
    program = t.run(terminating=ns, hours="4s")
    pod, deadline = stuck(t, ns)
    long_grace, long_deadline = stuck(t, ns, grace=4)
    t.no_write_before("acted one second before the threshold", deadline + 4 - 1)
    first = t.wait_write(pod)
    second = t.wait_write(long_grace)
    for request, due in ((first, deadline + 4), (second, long_deadline + 4)):
        assert 0 <= request.t - due < 4, f"acted {request.t - due:+.3f} s from the threshold"
    row = t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done", reason="StuckTerminating")
    assert row["duty"] == "deleteTerminatingPod", row
    t.expect(forced=[pod, long_grace])


@scenario("terminating/already-late")
def late(t):
    """Stuck for longer than the threshold before the program starts: it acts at once."""
    ns = t.ns()
    pod, deadline = stuck(t, ns)
    time.sleep(max(0, deadline + 2.1 - time.time()))
    t.run(terminating=ns, hours="1s")
    t.wait_write(pod, 10)
    t.expect(forced=[pod])


def out_of_service(t, put):
    """A pod on such a node, where nobody else collects it."""
    return [] if t.server.has_controllers else [put(t.objects.node("Unknown", [OUT_OF_SERVICE]))]


@scenario("terminating/where-force-is-safe")
def safe(t):
    """Node gone; node out of service, and not Ready again; node Ready and no container running. Everything else is refused, with its
    reason. What is out of service is the control plane's own collector's where there is one."""
    ns = t.ns()
    program = t.run(terminating=ns, hours="1s")
    forced, refused = [], {}

    def put(name, node, run=False, claim=False):
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}] if claim else []
        pod = t.objects.pod(ns, name, node=node, volumes=volumes)
        t.objects.run(pod, ready=False) if run else t.objects.stop_containers(pod)
        return pod

    ready, unknown, gone = t.objects.node("True"), t.objects.node("Unknown"), t.objects.node(None)
    false, back = t.objects.node("False"), t.objects.node("True", [OUT_OF_SERVICE])
    for pod in [put("ready-stopped", ready), put("gone-running", gone, True), *out_of_service(t, lambda node: put("out-running", node, True))]:
        forced.append(t.objects.terminate(pod, 1))
    for pod, reason in ((put("ready-running", ready, True), "ContainerRunning"),
                        (put("back-running", back, True), "ContainerRunning"),
                        (put("unknown-stopped", unknown), "NodeNotReady"),
                        (put("unknown-running", unknown, True), "NodeNotReady"),
                        (put("false-claim", false, claim=True), "NodeNotReady")):
        refused[t.objects.terminate(pod, 1)["metadata"]["uid"]] = reason
    silent = t.objects.terminate(t.objects.pod(ns, "no-status", node=ready), 1)
    refused[silent["metadata"]["uid"]] = "ForceNotSafe"
    half = t.objects.pod(ns, "half-reported", node=ready, containers=("c", "d"))
    t.objects.status(half, phase="Running", conditions=conditions("False"), containerStatuses=[container_status("c", terminated())])
    refused[t.objects.terminate(half, 1)["metadata"]["uid"]] = "ForceNotSafe"
    for pod in forced:
        t.wait_write(pod)
    for uid, reason in refused.items():
        t.wait_history(program, uid=uid, reason=reason)
    t.expect(forced=forced)


@scenario("terminating/stale-ready")
def stale_ready(t):
    """Ready forbids it where the node exists; where it does not, nobody keeps up that condition."""
    ns = t.ns()
    program = t.run(terminating=ns, hours="1s")
    serves, stale = (t.objects.terminate(t.objects.run(t.objects.pod(ns, node=t.objects.node(ready))), 1)
                     for ready in ("True", None))
    t.wait_write(stale)
    row = t.wait_history(program, uid=stale["metadata"]["uid"], outcome="done", reason="StuckTerminating")
    assert "node is gone, nobody keeps up that it is Ready" in row["found"], row
    t.wait_history(program, uid=serves["metadata"]["uid"], outcome="refused", reason="PodReady")
    t.expect(forced=[stale])


@scenario("terminating/unreachable-nodes")
def unreachable(t):
    """unreachableNodes: true forces also where the node does not answer."""
    ns = t.ns()
    config = t.config(terminating=ns, hours="1s")
    config["deleteTerminatingPod"]["unreachableNodes"] = True
    t.program(config)
    pod = t.objects.run(t.objects.pod(ns, node=t.objects.node("Unknown")), ready=False)
    pod = t.objects.terminate(pod, 1)
    t.wait_write(pod)
    t.expect(forced=[pod])


@scenario("terminating/devices", needs=("devices",))
def devices(t):
    """A ResourceClaim is not freed by force while its node is there, answering or not; where that is gone, or out of service and not Ready,
    it is. The admission policy asks for a right then."""
    ns = t.ns()
    if t.server.has_controllers:
        to = [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "cleaner-writer"}]
        rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}"
        t.admin.post(f"{rbac}/roles", {"metadata": {"name": "force"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["force"]}]})
        t.admin.post(f"{rbac}/rolebindings", {"metadata": {"name": "force"}, "subjects": to, "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "force"}})
    config = t.config(terminating=ns, hours="1s")
    config["deleteTerminatingPod"]["unreachableNodes"] = True
    program = t.program(config)
    claim = [{"name": "gpu", "resourceClaimName": "one-gpu"}]

    def put(name, node, generated=False):
        made = [{"name": "gpu", "resourceClaimTemplateName": "gpus"}]
        pod = t.objects.pod(ns, name, node=node, claims=made if generated else claim)
        t.objects.stop_containers(pod)
        if generated:
            t.objects.status(pod, resourceClaimStatuses=[{"name": "gpu", "resourceClaimName": "made-for-it"}])
        return pod

    ready, silent = t.objects.node("True"), t.objects.node("Unknown")
    forced = [put("gone", t.objects.node(None)), *out_of_service(t, lambda node: put("out", node))]
    held = {name: put(name, node, made) for name, node, made in (("ended", ready, False), ("made", ready, True), ("silent", silent, False),
                                                                 ("back", t.objects.node("True", [OUT_OF_SERVICE]), False))}
    forced = [t.objects.terminate(pod, 1) for pod in forced]
    held = {name: t.objects.terminate(pod, 1) for name, pod in held.items()}
    for pod in forced:
        t.wait_write(pod)
    for name, pod in held.items():
        row = t.wait_history(program, uid=pod["metadata"]["uid"], outcome="refused", reason="ResourceClaimHeld")
        assert f"resourceClaim {'made-for-it' if name == 'made' else 'one-gpu'}" in row["found"], row
    t.expect(forced=forced)


@scenario("terminating/finalizers")
def finalizers(t):
    """A pod held by finalizers is reported with their names, never stripped and never forced."""
    ns = t.ns()
    program = t.run(terminating=ns, hours="1s")
    pod, _ = stuck(t, ns, finalizers=["example.com/backup", "example.com/network"])
    other, _ = stuck(t, ns)
    row = t.wait_history(program, uid=pod["metadata"]["uid"], reason="HasFinalizers")
    assert "example.com/backup" in row["found"], row
    t.wait_write(other)
    t.expect(forced=[other])
    assert len(t.objects.get(pod)["metadata"]["finalizers"]) == 2


@scenario("terminating/holds-a-rollout-up")
def holds_up(t):
    """Whose rollout waits for a pod that is stuck: explain, plan and the history say so, of a StatefulSet and of a Deployment that recreates."""
    ns = t.ns()
    node = t.objects.node("Unknown")    # refused, so that they stay
    ordered, recreated = (t.objects.workload(kind, ns, 1, node=node) for kind in ("StatefulSet", "Deployment"))
    path = path_of("Deployment", ns, recreated.name)
    t.admin.patch(path, {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}})
    pods = [workload.pods()[0] for workload in (ordered, recreated)]
    for pod in pods:
        t.objects.stop_containers(pod)
    program = t.run(terminating=ns, hours="2s")
    if t.server.has_controllers:
        t.admin.patch(path, {"spec": {"template": {"metadata": {"annotations": {"example.com/rollout": "2"}}}}})
        t.until("the old pod to be asked to go", lambda: not recreated.pods(), 20)
        t.until("no pod of the new template", lambda: not t.admin.get(path)["status"].get("updatedReplicas"), 20)
    for pod in pods:
        t.objects.terminate(pod, 1)
    waits = {ordered: f"StatefulSet/{ordered.name} makes no other pod before it is gone (the next bears its name)",
             recreated: f"Deployment/{recreated.name} makes no other pod before it is gone (strategy Recreate"}
    for workload, pod in zip((ordered, recreated), pods):
        name = f"{ns}/{pod['metadata']['name']}"
        t.until(f"explain {name}", lambda n=name, w=workload: waits[w] in program.ask("explain", n).stdout, 20)
        rows = str(program.ask_json("plan")["items"])
        assert "'HoldsUp'" in rows and f"'holder': '{workload.kind}/{workload.name}'" in rows, rows
    for workload, pod in zip((ordered, recreated), pods):
        row = t.wait_history(program, uid=pod["metadata"]["uid"], outcome="refused", reason="NodeNotReady")
        assert waits[workload].partition(" (")[0] in row["found"], row
    t.expect()


def eviction(t, pod, *responders):
    """An Eviction of that pod, with (name, state) of each responder."""
    ns, name = pod["metadata"]["namespace"], f"pod-1-{pod['metadata']['name']}"
    t.admin.post(path_of("Eviction", ns), {"apiVersion": "lifecycle.k8s.io/v1alpha1", "kind": "Eviction", "metadata": {"name": name, "namespace": ns},
                                           "spec": {"target": {"pod": {"name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}}}})
    answer = t.admin.patch(path_of("Eviction", ns, name) + "/status", {"status": {"targetResponders": [
        {"name": name, "state": state, "priority": 10000} for name, state in responders]}})
    assert answer["status"]["targetResponders"], answer
    return path_of("Eviction", ns, name)


@scenario("terminating/eviction-at-work")
def eviction_at_work(t):
    """No force while a responder is at work on the eviction of the pod; the one that every Eviction has is none."""
    ns = t.ns()
    last = "imperative-eviction.k8s.io/evictor"
    pods = [t.objects.pod(ns) for _ in range(4)]
    busy, ended, over, other = pods
    held = eviction(t, busy, ("example.com/mover", "Active"), (last, "Inactive"))
    eviction(t, ended, ("example.com/mover", "Completed"), (last, "Active"))
    done = eviction(t, over, ("example.com/mover", "Active"))
    t.admin.patch(done + "/status", {"status": {"conditions": [condition("Failed", "True")]}})
    program = t.run(terminating=ns, hours="1s")
    for pod in pods:
        t.objects.stop_containers(pod)
        t.objects.terminate(pod, 1)
    for pod in (ended, over, other):
        t.wait_write(pod)
    row = t.wait_history(program, uid=busy["metadata"]["uid"], outcome="refused", reason="EvictionAtWork")
    assert "responder example.com/mover is Active" in row["found"], row
    t.admin.patch(held + "/status", {"status": {"targetResponders": [{"name": "example.com/mover", "state": "Interrupted", "priority": 10000}]}})
    t.objects.annotate(busy, "example.com/touched", "yes")      # what is refused is judged anew when it changes
    t.wait_write(busy)
    t.expect(forced=pods)


@scenario("terminating/excluded-namespace")
def excluded(t):
    """excludeNamespaces beats a namespace that is named; one that is not named is not touched either."""
    served, excluded_ns, other = t.ns(), t.ns(), t.ns()
    config = t.config(terminating=[served, excluded_ns], hours="1s", excludeNamespaces=[excluded_ns])
    t.policy.terminating = {served}
    t.program(config)
    for ns in (excluded_ns, other):
        stuck(t, ns)
    pod, _ = stuck(t, served)
    t.wait_write(pod)
    time.sleep(1.5)
    t.expect(forced=[pod])


@scenario("terminating/better-before-read")
def better(t):
    """A container turns out to run when the worker looks: force is not safe any more."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, terminating=ns, hours="1s")
    pod = t.objects.pod(ns)
    t.objects.stop_containers(pod)
    hook = proxy.before("GET", exact(pod), lambda _: t.objects.status(
        pod, containerStatuses=[container_status("main", running(), started=True)]) and None)
    t.objects.terminate(pod, 1)
    assert hook.ran.wait(10), "the worker never read the pod"
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="refused", reason="ContainerRunning")
    t.expect()


@scenario("terminating/node-lost-before-read")
def node_lost(t):
    """The node stops answering between nomination and grant."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, terminating=ns, hours="1s")
    node = t.objects.node("True")
    pod = t.objects.pod(ns, node=node)
    t.objects.stop_containers(pod)
    hook = proxy.before("GET", exact(pod), lambda _: t.server.node(node, "Unknown"))
    t.objects.terminate(pod, 1)
    assert hook.ran.wait(10), "the worker never read the pod"
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="refused", reason="NodeNotReady")
    t.expect()


@scenario("terminating/name-reused")
def reused(t):
    """The pod goes and another takes its name, before the read and before the write: the new one lives."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, terminating=ns, hours="1s")
    new = []

    def replace(pod):
        t.objects.force_delete(pod)
        new.append(t.objects.run(t.objects.pod(ns, pod["metadata"]["name"])))

    before_read, before_write = t.objects.pod(ns), t.objects.pod(ns)
    proxy.before("GET", exact(before_read), lambda _: replace(before_read))
    proxy.before("DELETE", exact(before_write), lambda _: replace(before_write))
    for pod in (before_read, before_write):
        t.objects.stop_containers(pod)
        t.objects.terminate(pod, 1)
    for pod in (before_read, before_write):
        t.wait_history(program, uid=pod["metadata"]["uid"], outcome="gone")
    t.expect(failed=[(before_write, 409)])
    assert len(new) == 2 and all(t.objects.get(p) for p in new)


@scenario("terminating/forbidden")
def forbidden(t):
    """403 on the write: written down as forbidden, never in a hot loop."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, terminating=ns, hours="1s")
    pod = t.objects.pod(ns)
    hook = proxy.before("DELETE", exact(pod), lambda _: Answer(403, reason="Forbidden"), times=10**6)
    t.objects.stop_containers(pod)
    t.objects.terminate(pod, 1)
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="forbidden", reason="Forbidden")
    t.never("more than 10 tries in 2 s", lambda: hook.calls > 10 and hook.calls, 2)
    t.expect()


@scenario("terminating/gone")
def gone(t):
    """The kubelet confirms at last, before the read and before the write."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, terminating=ns, hours="1s")
    before_read, before_write = t.objects.pod(ns), t.objects.pod(ns)
    proxy.before("GET", exact(before_read), lambda _: t.objects.force_delete(before_read))
    proxy.before("DELETE", exact(before_write), lambda _: t.objects.force_delete(before_write))
    for pod in (before_read, before_write):
        t.objects.stop_containers(pod)
        t.objects.terminate(pod, 1)
    for pod in (before_read, before_write):
        t.wait_history(program, uid=pod["metadata"]["uid"], outcome="gone")
    t.expect(failed=[(before_write, 404)])


@scenario("terminating/volumes")
def volumes(t):
    """A claim whose volume is attached to the node is refused; one that is attached nowhere is not."""
    ns = t.ns()
    program = t.run(terminating=ns, hours="1s")
    node = t.objects.node("True")
    pods = {}
    for name in ("attached", "detached"):
        t.admin.post(f"/api/v1/namespaces/{ns}/persistentvolumeclaims", {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": f"{t.prefix}-{name}", "storageClassName": "",
                     "resources": {"requests": {"storage": "1Gi"}}}})
        pods[name] = t.objects.pod(ns, name, node=node,
                                   volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": name}}])
        t.objects.stop_containers(pods[name])
    t.admin.post("/apis/storage.k8s.io/v1/volumeattachments", {
        "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": t.prefix},
        "spec": {"attacher": "csi.example.com", "nodeName": node,
                 "source": {"persistentVolumeName": f"{t.prefix}-attached"}}})
    for pod in pods.values():
        t.objects.terminate(pod, 1)
    t.wait_write(pods["detached"])
    t.wait_history(program, uid=pods["attached"]["metadata"]["uid"], reason="VolumeAttached")
    t.expect(forced=[pods["detached"]])


@scenario("terminating/half-deleted")
def half_deleted(t):
    """Deleted by force and still there: due after finishDeletionsAfter, whatever the hours, where force is safe and only there."""
    ns = t.ns()
    program = t.run(terminating=ns, hours="1h", finishDeletionsAfter="3s")
    gone, unknown = t.objects.node(None), t.objects.node("Unknown")
    pod, refused = (t.objects.pod(ns, node=node) for node in (gone, unknown))
    for one in (pod, refused):
        t.objects.stop_containers(one)
    pod, refused = t.objects.half_delete(pod), t.objects.half_delete(refused)
    request, due = t.wait_write(pod), parse_time(pod["metadata"]["deletionTimestamp"]) + 3
    assert request.t >= due, f"acted {request.t - due:+.3f} s from the time"
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done", reason="StuckTerminating")
    t.wait_history(program, uid=refused["metadata"]["uid"], reason="NodeNotReady")
    t.expect(forced=[pod])
    assert t.objects.get(refused)

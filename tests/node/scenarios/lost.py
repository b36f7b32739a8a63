"""A node that does not answer any more, and comes back, or does not."""
import signal

from harness.scenario import scenario

from kit import pods
from kit.pods import NAME

from .terminating import start

UNREACHABLE = "node.kubernetes.io/unreachable"
OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
SOON = [{"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 2}
        for key in (UNREACHABLE, "node.kubernetes.io/not-ready")]


@scenario("lost/node-stops-answering", servers=("node",), alone=True, timeout=120)
def stops(t):
    """Its pods are asked to go, by a person and by NoExecute, and cannot: refused until the node answers and nothing of them runs."""
    ns = t.ns()
    asked, left = start(t, ns, "asked"), start(t, ns, "left", tolerations=SOON)
    program = t.run(terminating=ns, hours="2s")
    t.server.signal_kubelet(signal.SIGSTOP)
    try:
        t.objects.terminate(asked)
        t.until("the node to be lost", lambda: t.server.condition(NAME, "Ready") == "Unknown", 40, every=0.2)
        t.until("NoExecute", lambda: (UNREACHABLE, "NoExecute") in t.server.taints(NAME), 20, every=0.2)
        t.until("the eviction", lambda: t.objects.get(left)["metadata"].get("deletionTimestamp"), 20, every=0.2)
        for name, pod in (("asked", asked), ("noexecute", left)):
            t.wait_history(program, 30, uid=pod["metadata"]["uid"], outcome="refused", reason="NodeNotReady")
            kept = t.server.keep(f"lost-{name}", pod)
            assert not pods.is_ready(kept) and kept["status"]["phase"] == "Running", kept["status"]
        reasons = [c.get("reason") for c in kept["status"]["conditions"] if c["type"] == "DisruptionTarget"]
        assert reasons == ["DeletionByTaintManager"], kept["status"]["conditions"]
    finally:
        t.server.signal_kubelet(signal.SIGCONT)
    t.until("the pods to be gone", lambda: not any(t.objects.get(pod) for pod in (asked, left)), 30, every=0.2)
    t.until("the node to be Ready", lambda: t.server.ready(NAME), 30, every=0.2)
    pods.expect_late(t, asked, left)


@scenario("lost/node-is-removed", servers=("node",), alone=True, timeout=120)
def removed(t):
    """The kubelet is killed and the node taken out of the cluster: the pod stays Ready for ever, nobody will confirm, force is safe."""
    ns = t.ns()
    pod = start(t, ns, "orphan")
    t.server.stop_kubelet(signal.SIGKILL)
    try:
        t.objects.terminate(pod)
        t.admin.delete(f"/api/v1/nodes/{NAME}")
        assert pods.is_ready(t.server.keep("lost-node-is-removed", pod)), "somebody keeps its condition up"
        program = t.run(terminating=ns, hours="1s")
        row = t.wait_history(program, 30, uid=pod["metadata"]["uid"], outcome="done", reason="StuckTerminating")
        t.note = row["found"]
        t.expect(forced=[pod])
    finally:
        t.server.start_kubelet()
        t.until("the node to be Ready again", lambda: t.server.ready(NAME), 40, every=0.2)


@scenario("lost/out-of-service", servers=("node",), alone=True, timeout=120)
def out_of_service(t):
    """A person has seen to it that a lost machine is off, and says so by the taint: force is safe, as the cluster itself finds."""
    ns = t.ns()
    pod = start(t, ns, "left")
    t.server.signal_kubelet(signal.SIGSTOP)
    try:
        t.objects.terminate(pod)
        t.until("the node to be lost", lambda: t.server.condition(NAME, "Ready") == "Unknown", 40, every=0.2)
        t.until("its pods to be called so", lambda: not pods.is_ready(t.objects.get(pod)), 20, every=0.2)
        t.admin.patch(f"/api/v1/nodes/{NAME}", {"spec": {"taints": [OUT_OF_SERVICE]}})
        program = t.run(terminating=ns, hours="1s")
        t.until("the pod to be gone", lambda: t.objects.get(pod) is None, 30, every=0.1)
        told = [row for row in program.history() if row["outcome"] == "done"]
        # Every 20 s the cluster's own garbage collector of pods does the same.
        assert not told or (told[0]["reason"] == "StuckTerminating" and "out of service" in told[0]["found"]), told
        t.expect(forced=[pod] if told else [])
        t.note = told[0]["found"].split("; ")[-1] if told else "the cluster was first"
    finally:
        t.server.signal_kubelet(signal.SIGCONT)
        t.until("the node to be Ready again", lambda: t.server.ready(NAME), 40, every=0.2)
        t.admin.patch(f"/api/v1/nodes/{NAME}", {"spec": {"taints": []}})

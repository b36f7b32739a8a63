"""Pods that take their time to go, and pods that do not go."""
import os
import signal
import time

from harness.scenario import scenario
from oracle.logs import parse_time

from kit import pods

DEAF = "trap '' TERM; while true; do sleep 1; done"


def start(t, ns, name, *more, command="sleep 3600", **spec):
    pod = pods.pod(t, ns, name, pods.container(command), *more, **spec)
    t.until(f"{name} to run", lambda: pods.is_ready(t.objects.get(pod)), 40, every=0.2)
    return pod


@scenario("terminating/ignores-sigterm", servers=("node",), timeout=150)
def deaf(t):
    """A process that ignores SIGTERM is killed by the kubelet when its grace is over: nothing to do for anybody else."""
    ns = t.ns()
    pod = start(t, ns, "deaf", command=DEAF, terminationGracePeriodSeconds=6)
    program = t.run(terminating=ns, hours="60s")
    deadline = parse_time(t.objects.terminate(pod)["metadata"]["deletionTimestamp"])
    t.server.keep("terminating-ignores-sigterm", pod)
    t.until("it to be judged", lambda: pods.told(program, pod, "deleteTerminatingPod")[1] == "WaitingForThreshold", 5, every=0.2)
    t.until("it to be gone", lambda: t.objects.get(pod) is None, 60, every=0.1)
    assert 0 < time.time() - deadline < 50, f"gone {time.time() - deadline:+.1f} s from its deadline"
    codes = [c["state"]["terminated"]["exitCode"] for c in pods.statuses(t.server.records.last(pod)) if "terminated" in c["state"]]
    assert codes == [137], codes
    t.note = f"gone {time.time() - deadline:+.1f} s from its deadline"
    t.expect()


@scenario("terminating/finalizer", servers=("node",))
def finalizer(t):
    """The kubelet has done its part, a finalizer holds the record: refused by its name, never stripped."""
    ns = t.ns()
    pod = start(t, ns, "held")
    t.admin.patch(f"/api/v1/namespaces/{ns}/pods/held", {"metadata": {"finalizers": ["example.com/hold"]}})
    program = t.run(terminating=ns, hours="1s")
    t.objects.terminate(pod)
    t.wait_history(program, uid=pod["metadata"]["uid"], reason="HasFinalizers")
    t.until("the kubelet's part", lambda: t.objects.get(pod)["status"]["phase"] in ("Succeeded", "Failed"), 20, every=0.2)
    t.server.keep("terminating-held", pod)
    t.expect()


@scenario("terminating/runtime-hangs", servers=("node",))
def hangs(t):
    """The node is Ready, its runtime cannot end the containers: they serve and are left to. The pod goes when the runtime is back."""
    ns = t.ns()
    pod = start(t, ns, "stuck")
    program = t.run(terminating=ns, hours="2s")
    shim = t.server.shim_of(pod)
    os.kill(shim, signal.SIGSTOP)
    try:
        t.objects.terminate(pod)
        t.wait_history(program, 20, uid=pod["metadata"]["uid"], outcome="refused", reason="PodReady")
        t.server.keep("terminating-runtime-hangs", pod)
    finally:
        os.kill(shim, signal.SIGCONT)
    t.until("it to be gone", lambda: t.objects.get(pod) is None, 40, every=0.2)
    pods.expect_late(t, pod)

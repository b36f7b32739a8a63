"""Pods that a real kubelet does not take, or drops for others."""
from harness.scenario import scenario

from kit import pods

TOO_MUCH = {"OutOfcpu": {"cpu": "1000"}, "OutOfmemory": {"memory": "100Ti"}, "OutOfephemeral-storage": {"ephemeral-storage": "900Ti"}}


@scenario("finished/turned-away", servers=("node",), timeout=90)
def turned_away(t):
    """The kubelet's own refusals, word by word the default of `reasons`: their records are removed, and not that of a pod whose own time was over."""
    ns = t.ns()
    found = {reason: pods.pod(t, ns, reason.lower(), pods.container(resources={"requests": much})) for reason, much in TOO_MUCH.items()}
    found["NodeAffinity"] = pods.pod(t, ns, "affinity", pods.container(), nodeSelector={"nobody": "has-this"})
    small = pods.pod(t, ns, "small", pods.container(resources={"requests": {"cpu": "1200m"}}))
    t.until("the small one to run", lambda: pods.is_ready(t.objects.get(small)), 40, every=0.2)
    pods.pod(t, ns, "critical", pods.container(resources={"requests": {"cpu": "1200m"}}), priorityClassName="system-node-critical")
    found["Preempting"] = small
    late = pods.pod(t, ns, "deadline", pods.container(), activeDeadlineSeconds=2)
    for reason, pod in found.items():
        t.until(f"{reason}", lambda: (t.objects.get(pod).get("status") or {}).get("reason") == reason, 40, every=0.2)
        t.server.keep(f"finished-{reason.lower()}", pod)
    t.until("the end of its time", lambda: (t.objects.get(late).get("status") or {}).get("reason") == "DeadlineExceeded", 30, every=0.2)
    t.server.keep("finished-deadlineexceeded", late)
    program = t.run(finished=ns, hours="1s", deleteFinishedPod={"includeBarePods": True})
    for reason, pod in found.items():
        t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done", reason="Finished")
    assert pods.told(program, late, "deleteFinishedPod")[1] == "NotFinished", "DeadlineExceeded is no default"
    t.expect(deleted=list(found.values()))

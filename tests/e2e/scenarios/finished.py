"""Duty deleteFinishedPod."""
import time

from harness.objects import conditions
from harness.scenario import scenario

JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "report", "uid": "0b6a3a44-0000-4000-8000-000000000002"}}


def replica(t, ns):
    """A pod that a ReplicaSet made."""
    return t.objects.workload("ReplicaSet", ns, 1).pods()[0]


def finished(t, ns, reason="NodeShutdown", phase="Failed", at=None):
    return t.objects.finish(replica(t, ns), reason, phase, at)


@scenario("finished/acts")
def acts(t):
    """What a kubelet or a node left behind goes when it ended long enough ago, what is there already and what comes."""
    ns = t.ns()
    early = [finished(t, ns, reason) for reason in ("NodeShutdown", "Terminated", "NodeAffinity")]
    program = t.run(finished=ns, hours="1s")
    late = [finished(t, ns, reason) for reason in ("OutOfcpu", "OutOfnvidia.com/gpu", "TopologyAffinityError")]
    for pod in early + late:
        t.wait_write(pod)
        row = t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done")
        assert row["duty"] == "deleteFinishedPod" and row["ns"] == ns and row["name"] == pod["metadata"]["name"], row
    t.expect(deleted=early + late)


@scenario("finished/stale-ready")
def stale_ready(t):
    """Condition Ready was never taken back: when it ended, the containers tell."""
    ns = t.ns()
    program = t.run(finished=ns, hours="1s")
    pod = finished(t, ns)
    pod = t.objects.status(pod, conditions=conditions("True"))
    t.wait_write(pod)
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done", reason="Finished")
    t.expect(deleted=[pod])


@scenario("finished/nothing-else")
def nothing_else(t):
    """Other reasons and phases, bare pods, Job pods, marked pods and pods that run stay; evicted ones are another duty's."""
    ns = t.ns()
    program = t.run(finished=ns, hours="1s")
    stay = [finished(t, ns, reason) for reason in ("Evicted", "nodeshutdown", "Error", "DeadlineExceeded", None)]
    stay += [finished(t, ns, phase=phase) for phase in ("Succeeded", "Running", "Pending")]
    bare = t.objects.finish(t.objects.pod(ns), "NodeShutdown")
    stay.append(bare)
    if not t.server.has_controllers:    # there the garbage collector takes a pod whose Job never was
        stay.append(t.objects.finish(t.objects.pod(ns, owner=JOB), "NodeShutdown"))
    marked = replica(t, ns)
    t.objects.annotate(marked, "ops-pod-cleaner.io/ignore", "true")
    stay.append(t.objects.finish(marked, "NodeShutdown"))
    gone = finished(t, ns)
    t.wait_write(gone)
    t.wait_history(program, uid=bare["metadata"]["uid"], duty="deleteFinishedPod")
    t.until("settled", lambda: True)
    t.expect(deleted=[gone])
    assert all(t.objects.get(p) for p in stay)


@scenario("finished/everything-asked-for")
def everything(t):
    """With "*", both phases, includeJobs and includeBarePods all that has ended goes, and nothing that runs."""
    ns = t.ns()
    t.run(finished=ns, hours="1s", deleteFinishedPod={"reasons": ["*"], "phases": "Failed,Succeeded", "includeJobs": True,
                                                     "includeBarePods": True})
    gone = [finished(t, ns, None), finished(t, ns, "Completed", "Succeeded"), t.objects.finish(t.objects.pod(ns), "Error")]
    if not t.server.has_controllers:
        gone.append(t.objects.finish(t.objects.pod(ns, owner=JOB), None, "Succeeded"))
    stays = t.objects.run(replica(t, ns))
    for pod in gone:
        t.wait_write(pod)
    t.expect(deleted=gone)
    assert t.objects.get(stays)


@scenario("finished/threshold")
def threshold(t):
    """Not a second before it has been over for `hours`, counted from its end and not from its creation."""
    ns = t.ns()
    t.run(finished=ns, hours="5s")
    pod = replica(t, ns)
    time.sleep(3)
    begin = int(time.time())
    t.objects.finish(pod, "NodeShutdown")
    request = t.wait_write(pod)
    assert 0 <= request.t - begin - 5 < 5, f"acted {request.t - begin - 5:+.3f} s from the threshold"
    t.expect(deleted=[pod])


@scenario("finished/budget")
def budget(t):
    """Its own budget holds: one a minute, the others are blocked and say so."""
    ns = t.ns()
    pods = [finished(t, ns) for _ in range(3)]
    program = t.run(finished=ns, hours="1s", deleteFinishedPod={"maxPerMinute": 1})
    t.until("one deletion", lambda: t.writes(), 30)
    t.wait_history(program, duty="deleteFinishedPod", reason="BudgetSpent")
    time.sleep(1)
    assert len(t.writes()) == 1 and sum(1 for p in pods if t.objects.get(p)) == 2, t.writes()


@scenario("finished/observe")
def observe(t):
    """mode: observe asks the server for a dry run and deletes nothing."""
    ns = t.ns()
    pod = finished(t, ns)
    t.run(finished=ns, hours="1s", mode="observe")
    t.wait_write(pod, dry=True)
    t.expect(deleted=[pod], dry=True)
    assert t.objects.get(pod)


@scenario("finished/half-deleted")
def half_deleted(t):
    """What it has deleted half-way it finishes itself: that the node is not Ready forbids a deletion by force, not this one."""
    ns = t.ns()
    pod = t.objects.half_delete(t.objects.finish(t.objects.pod(ns, node=t.objects.node("Unknown")), "NodeShutdown"))
    program = t.run(finished=ns, terminating=ns, hours="1s", finishDeletionsAfter="2s", deleteFinishedPod={"includeBarePods": True})
    t.wait_write(pod)
    row = t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done", reason="Finished")
    assert row["duty"] == "deleteFinishedPod", row
    t.expect(deleted=[pod])

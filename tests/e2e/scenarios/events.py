"""Kubernetes Events on the objects."""
import re

from harness.objects import path_of
from harness.proxy import Answer
from harness.scenario import scenario


def told(t, ns, **fields):
    """Our Events with these values."""
    items = t.admin.get(f"/api/v1/namespaces/{ns}/events").get("items") or []
    return [e for e in items if (e.get("source") or {}).get("component") == "ops-pod-cleaner"
            and all(e.get(k) == v for k, v in fields.items())]


@scenario("events/done")
def done(t):
    """What was done stands on the object that was written to, once."""
    ns = t.ns()
    t.run(image_pull=ns, evicted=ns, hours="1s")
    workload = t.objects.workload("Deployment", ns, 1)
    workload.fail_to_pull()
    pod = t.objects.evict(t.objects.pod(ns))
    one = t.until("the Event of the workload", lambda: told(t, ns, reason="ScaledToZero"), 30)
    assert len(one) == 1 and one[0]["count"] == 1 and one[0]["type"] == "Warning", one
    about = one[0]["involvedObject"]
    assert (about["kind"], about["name"], about["uid"]) == ("Deployment", workload.name, workload.uid), about
    assert one[0]["message"].startswith("scaled from 1 to 0") and "undo: ops-pod-cleaner restore" in one[0]["message"], one
    other = t.until("the Event of the pod", lambda: told(t, ns, reason="PodDeleted"), 30)
    assert other[0]["involvedObject"]["uid"] == pod["metadata"]["uid"] and other[0]["type"] == "Normal", other
    t.expect(deleted=[pod], scaled=[workload])


@scenario("events/announced")
def announced(t):
    """What will happen, when, and the command that refuses it."""
    ns = t.ns()
    config = t.config(image_pull=ns, hours="1s")
    config["errImagePull"]["announce"] = "1h"
    program = t.program(config)
    workload = t.objects.workload("Deployment", ns, 1)
    workload.fail_to_pull()
    one = t.until("the Event", lambda: told(t, ns, reason="WillScaleToZero"), 30)
    assert len(one) == 1 and one[0]["type"] == "Warning" and one[0]["involvedObject"]["uid"] == workload.uid, one
    said = re.match(r"will be scaled to 0 after 20\S+Z: .*; to refuse it: (kubectl .*?) \(", one[0]["message"])
    assert said and said[1] == f"kubectl -n {ns} annotate deployments.apps {workload.name} ops-pod-cleaner.io/skip=errImagePull", one
    t.expect(patched=[workload])


@scenario("events/refused")
def refused(t):
    """What a person must look at, and what to do."""
    ns = t.ns()
    config = t.config(image_pull=ns, hours="1s")
    config["errImagePull"]["causes"] = ["permanent"]
    program = t.program(config)
    workload = t.objects.workload("StatefulSet", ns, 1)
    workload.fail_to_pull(message="Back-off pulling image")
    t.wait_history(program, reason="CauseUnknown", timeout=30)
    one = t.until("the Event", lambda: told(t, ns, reason="CauseUnknown"), 30)
    assert len(one) == 1 and one[0]["type"] == "Warning" and "to do:" in one[0]["message"], one
    assert one[0]["involvedObject"]["kind"] == "StatefulSet", one
    t.expect()


@scenario("events/again")
def again(t):
    """The same thing again, by a program that knows nothing of the first time, raises the count of that Event."""
    ns = t.ns()
    config = t.config(image_pull=ns, hours="1s")
    config["errImagePull"]["causes"] = ["permanent"]
    program = t.program(config)
    workload = t.objects.workload("Deployment", ns, 1)
    workload.fail_to_pull(message="Back-off pulling image")
    t.until("the first Event", lambda: told(t, ns, reason="CauseUnknown"), 30)
    program.kill_all()
    program.start()
    t.until("its count", lambda: [e for e in told(t, ns, reason="CauseUnknown") if e["count"] >= 2], 30)
    assert len(told(t, ns, reason="CauseUnknown")) == 1
    t.expect()


def refusal(why):
    """403, as kube-apiserver says it."""
    return Answer(403, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 403, "reason": "Forbidden",
                        "message": f"events is forbidden: {why}"})


@scenario("events/forbidden")
def forbidden(t):
    """Without the right to write Events all duties work; it is said once."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    hook = proxy.before("POST", "/events$", lambda _: refusal('User "writer" cannot create resource "events" in API group ""'), times=10**6)
    pods = [t.objects.evict(t.objects.pod(ns)) for _ in range(4)]
    for pod in pods:
        t.wait_write(pod)
    t.until("the line of the log", lambda: "forbids writing Events" in program.log(), 10)
    assert hook.calls <= 2, f"{hook.calls} tries by two workers"
    t.expect(deleted=pods)


@scenario("events/terminating-namespace")
def terminating_namespace(t):
    """A namespace that is being deleted takes no Events: those of others are written, and nobody is told to give a right."""
    gone, ns, proxy = t.ns(), t.ns(), t.proxy()
    program = t.run(proxy, evicted=[gone, ns])
    why = f"unable to create new content in namespace {gone} because it is being terminated"
    hook = proxy.before("POST", f"/{gone}/events$", lambda _: refusal(why), times=10**6)
    pods = [t.objects.evict(t.objects.pod(gone))]
    t.wait_write(pods[0])
    t.until("the first Event", lambda: hook.calls, 10)
    pods.append(t.objects.evict(t.objects.pod(ns)))
    t.wait_write(pods[1])
    t.until("its Event", lambda: told(t, ns), 10)
    assert "forbids writing Events" not in program.log()
    t.expect(deleted=pods)


@scenario("events/observe")
def observe(t):
    """Mode observe writes none."""
    ns = t.ns()
    program = t.run(evicted=ns, mode="observe")
    t.objects.evict(t.objects.pod(ns))
    t.wait_history(program, outcome="would", reason="Evicted", timeout=30)
    t.never("an Event in mode observe", lambda: told(t, ns), 1.5)

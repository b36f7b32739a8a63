"""What the worker asks and heeds right before a write: announcements, marks, causes, autoscalers, Jobs, fresh attempts."""
import re
import time
import uuid

from harness.objects import owner_ref, path_of, pod_path, stamp
from harness.scenario import judge, scenario

MARK = "ops-pod-cleaner.io/"
OLD_KUBELET = "Back-off pulling image"      # says nothing of the cause


def annotations(t, kind, ns, name):
    return t.admin.get(path_of(kind, ns, name))["metadata"].get("annotations") or {}


def configured(t, ns, **keys):
    config = t.config(image_pull=ns, hours="1s")
    config["errImagePull"].update(keys)
    return config


# --- announcements ---

@scenario("worker/announce-pod")
def announce_pod(t):
    """The annotation first, with an Event; the act when its grace is over, and not before."""
    ns = t.ns()
    config = t.config(evicted=ns)
    config["deleteEvictedPod"]["announce"] = "5s"
    program = t.program(config)
    pod = t.objects.evict(t.objects.pod(ns))
    t.wait_history(program, outcome="announced", reason="Announced")
    announced = t.objects.get(pod)["metadata"]["annotations"][MARK + "announced"]
    assert announced.startswith("deleteEvictedPod="), announced
    first = next(r for r in t.writes() if r.verb == "patch")
    deleted = t.until("the delete", lambda: next((r for r in t.writes() if r.verb == "delete"), None), 30)
    assert deleted.t - first.t >= 4, f"acted {deleted.t - first.t:.3f} s after the announcement"
    t.expect(deleted=[pod], patched=[pod])


@scenario("worker/announce-terminating")
def announce_terminating(t):
    """A pod that is stuck bears the annotation as well; it is forced when the grace is over."""
    ns = t.ns()
    config = t.config(terminating=ns, hours="1s")
    config["deleteTerminatingPod"]["announce"] = "2s"
    program = t.program(config)
    pod = t.objects.pod(ns, node=t.objects.node(None))
    t.objects.run(pod, ready=False)
    pod = t.objects.terminate(pod, 1)
    t.wait_history(program, outcome="announced", timeout=30)
    first = next(r for r in t.writes() if r.verb == "patch")
    forced = t.until("the delete", lambda: next((r for r in t.writes() if r.verb == "delete"), None), 30)
    assert forced.t - first.t >= 1, f"acted {forced.t - first.t:.3f} s after the announcement"
    t.expect(forced=[pod], patched=[pod])


@scenario("worker/announce-workload")
def announce_workload(t):
    """It stands on the workload, and its owner can prolong it."""
    ns = t.ns()
    program = t.program(configured(t, ns, announce="6s"))
    workload = t.objects.workload("Deployment", ns, 1)
    workload.fail_to_pull()
    row = t.wait_history(program, outcome="announced")
    t.admin.patch(path_of("Deployment", ns, workload.name), {"metadata": {"annotations": {MARK + "extend": "3s"}}})
    first = next(r for r in t.writes() if r.verb == "patch" and not r.subresource)
    assert workload.name in row["target"], row
    scaled = t.until("the scale", lambda: next((r for r in t.writes() if judge.kind_of(r) == "scale"), None), 30)
    assert scaled.t - first.t >= 8, f"acted {scaled.t - first.t:.3f} s after the announcement"
    t.expect(scaled=[workload], patched=[workload])


@scenario("worker/announced-and-refused")
def announced_and_refused(t):
    """The owner reads the announcement and refuses."""
    ns = t.ns()
    program = t.program(configured(t, ns, announce="6s"))
    workload = t.objects.workload("StatefulSet", ns, 1)
    workload.fail_to_pull()
    t.wait_history(program, outcome="announced")
    t.admin.patch(path_of("StatefulSet", ns, workload.name), {"metadata": {"annotations": {MARK + "skip": "errImagePull"}}})
    t.wait_history(program, outcome="refused", reason="SkipAnnotation", timeout=30)
    assert workload.wanted() == 1
    t.expect(patched=[workload])


@scenario("worker/announcement-forbidden")
def announcement_forbidden(t):
    """What cannot be announced is not done."""
    from harness.proxy import Answer
    ns, proxy = t.ns(), t.proxy()
    config = t.config(evicted=ns)
    config["deleteEvictedPod"]["announce"] = "1s"
    program = t.program(config, t.kubeconfig(proxy=proxy))
    proxy.before("PATCH", "/pods/[^/]+$", lambda _: Answer(403, reason="Forbidden"), times=10**6)
    t.objects.evict(t.objects.pod(ns))
    t.wait_history(program, outcome="forbidden", reason="Forbidden")
    t.never("acted although it was not announced", t.writes, 3)


# --- marks ---

@scenario("worker/marks")
def marks(t):
    """skip and ignore on a workload are read right before the write; those of another duty do not count."""
    ns = t.ns()
    program = t.program(configured(t, ns))
    refused = {}
    for mark, value, reason in (("skip", "all", "SkipAnnotation"), ("skip", "errImagePull", "SkipAnnotation"),
                                ("ignore", "true", "IgnoreAnnotation")):
        workload = t.objects.workload("Deployment", ns, 1)
        t.admin.patch(path_of("Deployment", ns, workload.name), {"metadata": {"annotations": {MARK + mark: value}}})
        workload.fail_to_pull()
        refused[workload.pods()[0]["metadata"]["uid"]] = reason
    other = t.objects.workload("Deployment", ns, 1)
    t.admin.patch(path_of("Deployment", ns, other.name), {"metadata": {"annotations": {MARK + "skip": "deleteEvictedPod"}}})
    other.fail_to_pull()
    for uid, reason in refused.items():
        t.wait_history(program, uid=uid, reason=reason, timeout=30)
    t.wait_write(other)
    t.expect(scaled=[other])


# --- causes ---

def event(t, pod, message, reason="Failed", container="main"):
    """As a kubelet writes it."""
    meta = pod["metadata"]
    t.admin.post(f"/api/v1/namespaces/{meta['namespace']}/events", {
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": f"{meta['name']}.{uuid.uuid4().hex[:12]}", "namespace": meta["namespace"]},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"],
                           "fieldPath": f"spec.containers{{{container}}}"},
        "reason": reason, "message": message, "type": "Warning", "count": 1, "firstTimestamp": stamp(), "lastTimestamp": stamp(),
        "source": {"component": "kubelet", "host": "node-1"}})


@scenario("worker/cause-by-event")
def cause_by_event(t):
    """The pod says only "Back-off pulling image": its Events decide, and without them nothing is done."""
    ns = t.ns()
    program = t.program(configured(t, ns, causes=["permanent"]))
    refused = {}
    said = (("rpc error: code = NotFound desc = manifest unknown", None),
            ("rpc error: pull access denied, repository does not exist or may require authorization", "CauseAuth"),
            ("rpc error: dial tcp 10.0.0.1:443: i/o timeout", "CauseTransient"),
            (None, "CauseUnknown"))
    for message, reason in said:
        workload = t.objects.workload("ReplicaSet", ns, 1)
        pod = workload.pods()[0]
        if message:
            event(t, pod, f'Failed to pull image "x": {message}')
            event(t, pod, "Error: ImagePullBackOff")
        workload.fail_to_pull(message=OLD_KUBELET)
        if reason:
            refused[pod["metadata"]["uid"]] = reason
        else:
            acted = workload
    t.wait_write(acted)
    for uid, reason in refused.items():
        t.wait_history(program, uid=uid, reason=reason, timeout=30)
    t.expect(scaled=[acted])


# --- autoscalers ---

def hpa(t, workload, least, scaled_to_zero=None):
    t.admin.post(path_of("HorizontalPodAutoscaler", workload.ns), {
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": workload.name, "namespace": workload.ns},
        "spec": {"minReplicas": least, "maxReplicas": 5, "metrics": [{"type": "External", "external": {
            "metric": {"name": "queue"}, "target": {"type": "Value", "value": "1"}}}],
                 "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": workload.name}}})
    if scaled_to_zero:
        t.admin.patch(path_of("HorizontalPodAutoscaler", workload.ns, workload.name) + "/status",
                      {"status": {"conditions": [{"type": "ScaledToZero", "status": scaled_to_zero}]}})


@scenario("worker/hpa")
def autoscaled(t):
    """An HPA whose minReplicas is above 0 is switched off by 0 replicas: scaled, and the proof says so."""
    ns = t.ns()
    program = t.program(configured(t, ns))
    workload = t.objects.workload("Deployment", ns, 1)
    hpa(t, workload, 1)
    workload.fail_to_pull()
    t.wait_write(workload)
    row = t.wait_history(program, outcome="done")
    assert "'minReplicas': 1" in str(program.ask_json("show", str(row["id"]))), program.ask_json("show", str(row["id"]))
    t.expect(scaled=[workload])


@scenario("worker/hpa-from-zero", needs=("scale-to-zero",))
def autoscaled_from_zero(t):
    """An HPA with minReplicas 0 may scale it up again: refused, unless it says that it made no 0 itself, or, saying nothing, is of a version
    that leaves such a 0 alone, which the real one does."""
    ns = t.ns()
    program = t.program(configured(t, ns))
    silent, own, another = (t.objects.workload("Deployment", ns, 1) for _ in range(3))
    leaves_it = t.policy.leaves_zero = int(re.match(r"\d+", t.admin.get("/version")["minor"])[0]) >= 37
    scaled, refused = ([silent, another], [own]) if leaves_it else ([another], [silent, own])
    for workload, condition in ((silent, None), (own, "True"), (another, "False")):
        hpa(t, workload, 0, condition)
        workload.fail_to_pull()
    for workload in scaled:
        t.wait_write(workload)
    for workload in refused:
        t.wait_history(program, uid=workload.pods()[0]["metadata"]["uid"], outcome="refused", reason="HasHpa", timeout=30)
    if leaves_it and t.server.has_controllers:
        def seen(workload):
            found = t.admin.get(path_of("HorizontalPodAutoscaler", ns, workload.name))["status"].get("conditions") or []
            return any(c["type"] == "ScalingActive" and c["reason"] == "ScalingDisabled" for c in found)
        for workload in scaled:
            t.until("its autoscaler to leave the 0 alone", lambda: seen(workload), 60)
            assert workload.wanted() == 0, workload.name
    t.expect(scaled=scaled)


@scenario("worker/keda")
def keda(t):
    """A ScaledObject scales it: refused until it is paused at 0."""
    ns = t.ns()
    program = t.program(configured(t, ns))
    busy, paused = t.objects.workload("Deployment", ns, 1), t.objects.workload("Deployment", ns, 1)
    for workload, marked in ((busy, {}), (paused, {"autoscaling.keda.sh/paused-replicas": "0"})):
        t.admin.post(path_of("ScaledObject", ns), {
            "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject",
            "metadata": {"name": workload.name, "namespace": ns, "annotations": marked},
            "spec": {"scaleTargetRef": {"name": workload.name}, "triggers": []}})
        workload.fail_to_pull()
    t.wait_history(program, outcome="refused", reason="HasKeda", timeout=30)
    t.wait_write(paused)
    t.expect(scaled=[paused])


# --- Jobs ---

def job(t, ns, owner=None):
    """A Job with one pod that cannot pull its image; the Job as the server has it."""
    name = f"job-{uuid.uuid4().hex[:6]}"
    template = t.objects.template(labels={"app": name})
    template["spec"]["restartPolicy"] = "Never"
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": ns}, "spec": {"template": template}}
    if owner:
        body["metadata"]["ownerReferences"] = [owner_ref(owner)]
    if not t.server.has_controllers:        # what the server itself would set
        body["spec"]["selector"] = {"matchLabels": {"app": name}}
    top = {**t.admin.post(path_of("Job", ns), body), "apiVersion": "batch/v1", "kind": "Job"}

    def pods():
        found = t.admin.get(pod_path(ns), labelSelector=f"app={name}").get("items") or []
        return [{**p, "apiVersion": "v1", "kind": "Pod"} for p in found]
    if t.server.has_controllers:
        t.until("the Job's pod", pods, 15)
    else:
        t.objects.pod(ns, f"{name}-0", owner=top, labels={"app": name})
    t.objects.fail_to_pull(pods()[0])
    return top


@scenario("worker/suspend-job")
def suspend_job(t):
    """suspendJobs: a Job has no replicas; it is suspended, once."""
    ns = t.ns()
    program = t.program(configured(t, ns, suspendJobs=True))
    top = job(t, ns)
    t.wait_history(program, outcome="done", reason="Suspended", timeout=30)
    assert t.admin.get(path_of("Job", ns, top["metadata"]["name"]))["spec"]["suspend"] is True
    time.sleep(1)
    t.expect(patched=[top])


@scenario("worker/job-of-a-queue")
def job_of_a_queue(t):
    """suspendJobs: a Job that Kueue has admitted is Kueue's to suspend."""
    ns = t.ns()
    program = t.program(configured(t, ns, suspendJobs=True))
    top = job(t, ns)
    t.admin.patch(path_of("Job", ns, top["metadata"]["name"]), {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "gpu"}}})
    t.wait_history(program, outcome="refused", reason="LeftToQueue", timeout=30)
    time.sleep(1)
    t.expect(patched=[])


def cron_job(t, ns):
    """A CronJob that never makes a Job by itself."""
    template = t.objects.template()
    template["spec"]["restartPolicy"] = "Never"
    cron = t.admin.post(path_of("CronJob", ns), {
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly", "namespace": ns},
        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": template}}}})
    return {**cron, "apiVersion": "batch/v1", "kind": "CronJob"}


def count_active(t, cron, top):
    """What the controller notes of a Job that it has made, and that has not ended."""
    meta = top["metadata"]
    ref = {"apiVersion": "batch/v1", "kind": "Job", "namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"]}
    t.admin.patch(path_of("CronJob", meta["namespace"], cron["metadata"]["name"]) + "/status",
                  {"status": {"active": [ref], "lastScheduleTime": meta["creationTimestamp"]}})


def is_suspended(t, kind, obj):
    return bool(t.admin.get(path_of(kind, obj["metadata"]["namespace"], obj["metadata"]["name"]))["spec"].get("suspend"))


@scenario("worker/suspend-cronjob")
def suspend_cronjob(t):
    """The CronJob above the Job as well, and first."""
    ns = t.ns()
    cron = cron_job(t, ns)
    top = job(t, ns, cron)
    count_active(t, cron, top)
    program = t.program(configured(t, ns, suspendJobs=True, suspendCronJobs=True))
    t.wait_history(program, outcome="done", reason="Suspended", timeout=30)
    for kind, obj in (("CronJob", cron), ("Job", top)):
        now = t.admin.get(path_of(kind, ns, obj["metadata"]["name"]))
        said = now["metadata"].get("annotations") or {}
        assert now["spec"]["suspend"] is True, kind
        assert said.get("ops-pod-cleaner.io/scaled-down-by") == "ops-pod-cleaner", f"{kind}: {said}"
        assert f"patch {kind.lower()}s.batch {obj['metadata']['name']}" in said["ops-pod-cleaner.io/scaled-down-undo"], f"{kind}: {said}"
    assert [r.resource for r in t.writes() if r.ok] == ["cronjobs", "jobs"], [str(r) for r in t.writes()]
    t.expect(patched=[top, cron])


@scenario("worker/cronjob-that-nobody-named")
def cron_left_alone(t):
    """Without suspendCronJobs its Job alone is suspended."""
    ns = t.ns()
    cron = cron_job(t, ns)
    top = job(t, ns, cron)
    count_active(t, cron, top)
    program = t.program(configured(t, ns, suspendJobs=True))
    t.wait_history(program, outcome="done", reason="Suspended", timeout=30)
    assert is_suspended(t, "Job", top) and not is_suspended(t, "CronJob", cron)
    t.expect(patched=[top])


@scenario("worker/jobs-are-left-alone")
def no_suspend(t):
    """Without suspendJobs they are reported."""
    ns = t.ns()
    program = t.program(configured(t, ns))
    job(t, ns)
    t.wait_history(program, outcome="refused", reason="KindNotScalable", timeout=30)
    t.expect()


# --- the fresh attempt ---

@scenario("worker/fresh-attempt")
def fresh_attempt(t):
    """First one failing pod is deleted; when the new one fails as well, the workload is scaled."""
    ns = t.ns()
    program = t.program(configured(t, ns, freshAttempt="3s"))
    workload = t.objects.workload("ReplicaSet", ns, 1)
    old = workload.pods()[0]
    workload.fail_to_pull()
    deleted = t.wait_write(old)
    assert deleted.verb == "delete" and deleted.grace is None, str(deleted)
    t.wait_history(program, outcome="done", reason="FreshAttempt")
    t.objects.force_delete(old)
    if not t.server.has_controllers:
        workload.add_pod()
    t.until("the new pod", lambda: [p for p in workload.pods() if p["metadata"]["uid"] != old["metadata"]["uid"]], 15)
    workload.fail_to_pull()
    scaled = t.wait_write(workload, 30)
    assert scaled.t - deleted.t >= 2.5, f"scaled {scaled.t - deleted.t:.3f} s after the fresh attempt"
    t.expect(deleted=[old], scaled=[workload])


# --- the certificate ---

@scenario("worker/certificate")
def certificate(t):
    """A force delete leaves in the history which condition held, as it was read."""
    ns = t.ns()
    program = t.run(terminating=ns, hours="1s")
    gone = t.objects.node(None)
    pod = t.objects.pod(ns, node=gone)
    t.objects.run(pod, ready=False)
    pod = t.objects.terminate(pod, 1)
    t.wait_write(pod)
    row = t.wait_history(program, outcome="done", reason="StuckTerminating")
    shown = str(program.ask_json("show", str(row["id"])))
    for text in ("'finalizers': 0", "'NodeAbsent'", f"'node': '{gone}'", "gracePeriodSeconds", pod["metadata"]["uid"]):
        assert text in shown, f"{text} is not in {shown}"
    t.expect(forced=[pod])

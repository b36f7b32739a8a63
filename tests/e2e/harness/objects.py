"""Pods and workloads in any state, on a server with controllers and on one without.

On the real server the controllers make the pods. On apisim this module plays them: it creates the ReplicaSet and the
pods with the ownerReferences and hash labels that the controllers would give them.
"""
import itertools
import time
import uuid

from oracle.logs import parse_time

from .client import MERGE
from .etcd import Etcd
from .wait import until

NODE = "node-1"
IMAGE = "registry.example.com/shop/web:1.2.3"
PULL_MESSAGE = f'Back-off pulling image "{IMAGE}": ErrImagePull: rpc error: code = NotFound desc = manifest unknown'

# kind: (apiVersion, plural, label that carries the revision)
KINDS = {
    "Deployment": ("apps/v1", "deployments", "pod-template-hash"),
    "StatefulSet": ("apps/v1", "statefulsets", "controller-revision-hash"),
    "DaemonSet": ("apps/v1", "daemonsets", "controller-revision-hash"),
    "ReplicaSet": ("apps/v1", "replicasets", "pod-template-hash"),
    "ReplicationController": ("v1", "replicationcontrollers", None),
    "Rollout": ("argoproj.io/v1alpha1", "rollouts", "rollouts-pod-template-hash"),
    "Fleet": ("example.com/v1", "fleets", None),
    "Widget": ("example.com/v1", "widgets", None),
    "CronJob": ("batch/v1", "cronjobs", None),
    "Job": ("batch/v1", "jobs", None),
    "HorizontalPodAutoscaler": ("autoscaling/v2", "horizontalpodautoscalers", None),
    "Eviction": ("lifecycle.k8s.io/v1alpha1", "evictions", None),
    "ScaledObject": ("keda.sh/v1alpha1", "scaledobjects", None),
}
REVISION = {"Deployment": "deployment.kubernetes.io/revision", "Rollout": "rollout.argoproj.io/revision"}
NATIVE = {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController"}


def stamp(t=None):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(t if t is not None else time.time()))


def path_of(kind, ns, name=""):
    api, plural, _ = KINDS[kind]
    root = f"/api/{api}" if api == "v1" else f"/apis/{api}"
    return f"{root}/namespaces/{ns}/{plural}" + (f"/{name}" if name else "")


def pod_path(ns, name="", sub=""):
    return f"/api/v1/namespaces/{ns}/pods" + (f"/{name}" if name else "") + (f"/{sub}" if sub else "")


def owner_ref(owner):
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}


def container_status(name, state, ready=False, restarts=0, last=None, started=None, image=IMAGE):
    status = {"name": name, "image": image, "imageID": "", "ready": ready, "restartCount": restarts, "state": state,
              "lastState": last or {}}
    if started is not None:
        status["started"] = started
    return status


def waiting(reason, message=""):
    return {"waiting": {"reason": reason, "message": message}}


def running(since=None):
    return {"running": {"startedAt": stamp(since)}}


def terminated(reason="Completed", code=0, at=None, ran=0):
    begin = at if not ran else (at or time.time()) - ran
    return {"terminated": {"reason": reason, "exitCode": code, "startedAt": stamp(begin), "finishedAt": stamp(at)}}


def condition(kind, value, at=None):
    return {"type": kind, "status": value, "lastTransitionTime": stamp(at)}


def conditions(ready):
    return [condition("Initialized", "True"), condition("Ready", ready), condition("ContainersReady", ready),
            condition("PodScheduled", "True")]


class Objects:
    """Everything a scenario creates, in namespaces of its own."""

    def __init__(self, server, prefix):
        self.server = server
        self.admin = server.admin
        self.prefix = prefix
        self.namespaces = []
        self.nodes = []
        self._count = itertools.count(1)

    # --- namespaces, nodes ---

    def ns(self, name=None, create=True):
        """A new namespace; `name` is exact (and may exist already)."""
        ns = name or f"{self.prefix}-{next(self._count)}"
        if create:
            self.admin.request("POST", "/api/v1/namespaces",
                               {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns}})
        self.namespaces.append(ns)
        return ns

    def node(self, ready="True", taints=()):
        name = f"{self.prefix}-node-{next(self._count)}"
        self.server.node(name, ready, taints)
        self.nodes.append(name)
        return name

    def cleanup(self):
        """Take everything away, so that nothing of this scenario can be met by another."""
        for ns in self.namespaces:
            for kind in KINDS:
                answer = self.admin.request("GET", path_of(kind, ns))
                for item in (answer[1].get("items") or []) if answer[0] == 200 else []:
                    self.admin.request("DELETE", path_of(kind, ns, item["metadata"]["name"]), propagationPolicy="Orphan")
            answer = self.admin.request("GET", pod_path(ns))
            for item in (answer[1].get("items") or []) if answer[0] == 200 else []:
                name = item["metadata"]["name"]
                if item["metadata"].get("finalizers"):
                    self.admin.request("PATCH", pod_path(ns, name), {"metadata": {"finalizers": None}}, MERGE)
                self.admin.request("DELETE", pod_path(ns, name),
                                   {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})
            if ns not in ("default", "kube-system", "only-here"):
                self.admin.request("DELETE", f"/api/v1/namespaces/{ns}")
        for name in self.nodes:
            self.admin.request("DELETE", f"/api/v1/nodes/{name}")

    # --- pods ---

    def template(self, node=NODE, containers=("main",), init=(), labels=None, grace=30, volumes=(), memory=None, claims=(), rules=(),
                 group=None):
        limits = {"resources": {"limits": {"memory": memory}}} if memory else {}
        if rules:
            limits.update(restartPolicy="Always", restartPolicyRules=list(rules))
        spec = {"containers": [{"name": c, "image": IMAGE, **limits} for c in containers],
                "terminationGracePeriodSeconds": grace, "tolerations": [{"operator": "Exists"}]}
        if init:
            spec["initContainers"] = [{"name": c, "image": IMAGE} for c in init]
        if node:
            spec["nodeName"] = node
        if volumes:
            spec["volumes"] = list(volumes)
        if group:
            spec["schedulingGroup"] = {"podGroupName": group}
        if claims:
            spec["resourceClaims"] = list(claims)
        return {"metadata": {"labels": dict(labels or {})}, "spec": spec}

    def pod(self, ns, name=None, node=NODE, owner=None, labels=None, finalizers=(), annotations=None, **spec):
        template = self.template(node, labels=labels, **spec)
        body = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
                "metadata": {"name": name or f"pod-{next(self._count)}", "namespace": ns, "labels": dict(labels or {}),
                             "annotations": dict(annotations or {}), "finalizers": list(finalizers)}}
        if owner:
            body["metadata"]["ownerReferences"] = [owner_ref(owner)]
        return self.admin.post(pod_path(ns), body)

    def get(self, pod):
        """The pod as it is now, or None when that uid is gone."""
        found = self.admin.find(pod_path(pod["metadata"]["namespace"], pod["metadata"]["name"]))
        return found if found and found["metadata"]["uid"] == pod["metadata"]["uid"] else None

    def all_pods(self, ns):
        return self.admin.get(pod_path(ns)).get("items") or []

    def status(self, pod, **status):
        return self.admin.patch(pod_path(pod["metadata"]["namespace"], pod["metadata"]["name"], "status"),
                                {"status": status})

    def names(self, pod, kind="containers"):
        return [c["name"] for c in pod["spec"].get(kind) or []]

    def evict(self, pod, reason="Evicted", phase="Failed", ready="False"):
        return self.status(pod, phase=phase, reason=reason, conditions=conditions(ready),
                           message="The node was low on resource: ephemeral-storage.")

    def finish(self, pod, reason, phase="Failed", at=None):
        """It is over since `at` (default now), for that reason, as the kubelet would report it."""
        return self.status(pod, phase=phase, reason=reason, message="Pod was terminated", startTime=stamp(at),
                           conditions=[condition(c["type"], c["status"], at) for c in conditions("False")],
                           containerStatuses=[container_status(c, terminated("Error", 137, at)) for c in self.names(pod)])

    def annotate(self, pod, key, value):
        meta = pod["metadata"]
        return self.admin.patch(pod_path(meta["namespace"], meta["name"]), {"metadata": {"annotations": {key: value}}})

    stamp = staticmethod(stamp)

    def run(self, pod, ready=True, restarts=0, last=None):
        value = "True" if ready else "False"
        return self.status(
            pod, phase="Running", reason=None, message=None, conditions=conditions(value), startTime=stamp(),
            initContainerStatuses=[container_status(c, terminated(), True) for c in self.names(pod, "initContainers")],
            containerStatuses=[container_status(c, running(), ready, restarts, last, True) for c in self.names(pod)])

    def fail_to_pull(self, pod, reason="ImagePullBackOff", container=None, message=PULL_MESSAGE, image=IMAGE):
        """`container` (default: the first) waits for its image, the others run."""
        names = self.names(pod)
        bad = container or names[0]
        inits = []
        if bad in self.names(pod, "initContainers"):
            inits = [container_status(c, waiting(reason, message) if c == bad else waiting("PodInitializing"))
                     for c in self.names(pod, "initContainers")]
            mains = [container_status(c, waiting("PodInitializing")) for c in names]
        else:
            inits = [container_status(c, terminated(), True) for c in self.names(pod, "initContainers")]
            mains = [container_status(c, waiting(reason, message), image=image) if c == bad else
                     container_status(c, running(), True, started=True) for c in names]
        return self.status(pod, phase="Pending", conditions=conditions("False"), startTime=stamp(),
                           initContainerStatuses=inits, containerStatuses=mains)

    def crash(self, pod, restarts, reason="CrashLoopBackOff", code=1, more=(), ran=0, **container):
        """more: further conditions; ran: seconds of its last run; container: of its status, what else stands there."""
        return self.status(
            pod, phase="Running", conditions=[*conditions("False"), *more], startTime=stamp(),
            containerStatuses=[{**container_status(c, waiting(reason, "back-off 5m0s restarting failed container"), False,
                                                   restarts, terminated("Error", code, ran=ran)), **container} for c in self.names(pod)])

    def loop(self, pods, restarts, **how):
        """They crash in a loop from now on, and have restarted so often since. When that began, at the earliest; the pods."""
        begin = time.time()     # a busy machine answers late
        pods = [self.crash(pod, 1, **how) for pod in pods]
        time.sleep(0.7)
        return begin, [self.crash(pod, 1 + restarts, **how) for pod in pods]

    def stop_containers(self, pod):
        """No container of it runs any more, as when only the unmount hangs."""
        return self.status(pod, phase="Running", conditions=conditions("False"), startTime=stamp(),
                           containerStatuses=[container_status(c, terminated("Error", 137)) for c in self.names(pod)])

    def terminate(self, pod, grace=None):
        """Ask for its deletion as a person would; nobody confirms it, so it stays. The pod with its deletionTimestamp."""
        answer = self.admin.delete(pod_path(pod["metadata"]["namespace"], pod["metadata"]["name"]), grace)
        if answer.get("kind") != "Pod" or not answer["metadata"].get("deletionTimestamp"):
            answer = self.get(pod)
        assert answer and answer["metadata"].get("deletionTimestamp"), f"the pod did not stay Terminating: {answer}"
        return answer

    def half_delete(self, pod):
        """Leave it as a DELETE that was cut off half-way does: marked with grace 0, held by nothing, and there. The pod as it is then.
        On a real server the mark is one that waits for a finalizer; then its field is given, in etcd, a number that means nothing."""
        ns, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        if self.server.has_controllers:
            hold = "example.com/half"
            self.admin.patch(pod_path(ns, name), {"metadata": {"finalizers": [hold]}})
            self.admin.delete(pod_path(ns, name), 0)
            etcd, key = Etcd(self.server.etcd_url), f"/registry/pods/{ns}/{name}"
            field, form = bytes([len(hold)]) + hold.encode(), etcd.get(key)
            assert form.count(b"\x72" + field) == 1, "where the finalizer stands"
            etcd.put([(key, form.replace(b"\x72" + field, b"\x7a" + field))])
        else:
            self.admin.post("/_sim/half-delete", None, namespace=ns, name=name)
        return until("the pod to be half-deleted", lambda: next((p for p in [self.get(pod)] if p and p["metadata"].get(
            "deletionTimestamp") and not p["metadata"].get("finalizers")), None), 5)

    def force_delete(self, pod):
        self.admin.delete(pod_path(pod["metadata"]["namespace"], pod["metadata"]["name"]), 0)

    # --- workloads ---

    def workload(self, kind, ns, replicas=2, name=None, **spec):
        return Workload(self, kind, ns, replicas, name or f"{kind.lower()}-{next(self._count)}", spec)


class Workload:
    """One scalable thing and its pods."""

    def __init__(self, objects, kind, ns, replicas, name, spec):
        self.objects, self.kind, self.ns, self.name, self.replicas = objects, kind, ns, name, replicas
        self.labels = {"app": name}
        self.ordered = spec.pop("ordered", False)   # of a StatefulSet: one pod after the other, each once the one before is Ready
        self.spec = spec
        self.revision = uuid.uuid4().hex[:9]
        self.top = objects.admin.post(path_of(kind, ns), self._body())
        if kind in ("Fleet", "Rollout"):    # what their own controllers would report
            objects.admin.patch(path_of(kind, ns, name) + "/status", {"status": {"selector": f"app={name}"}})
        self.replica_set = None
        self._make_pods()

    @property
    def uid(self):
        return self.top["metadata"]["uid"]

    def _template(self):
        template = self.objects.template(labels=self.labels, **self.spec)
        if self.kind in NATIVE:
            template["spec"]["restartPolicy"] = "Always"
        return template

    def _body(self):
        api = KINDS[self.kind][0]
        spec = {"replicas": self.replicas, "selector": {"matchLabels": self.labels}, "template": self._template()}
        if self.kind == "ReplicationController":
            spec["selector"] = self.labels
        elif self.kind == "StatefulSet":
            spec.update(serviceName=self.name, podManagementPolicy="OrderedReady" if self.ordered else "Parallel")
        elif self.kind == "DaemonSet":
            del spec["replicas"]
        elif self.kind in ("Fleet", "Widget"):
            spec = {"size": self.replicas}
        return {"apiVersion": api, "kind": self.kind, "metadata": {"name": self.name, "namespace": self.ns,
                                                                  "labels": self.labels}, "spec": spec}

    def _controllers_make_pods(self):
        return self.objects.server.has_controllers and self.kind in NATIVE | {"Rollout"}

    def _make_pods(self):
        if self.kind == "Rollout" or (self.kind == "Deployment" and not self.objects.server.has_controllers):
            self.replica_set = self._make_replica_set(self.revision, self.replicas)
        if self._controllers_make_pods():
            first = min(1, self.replicas) if self.ordered else self.replicas
            until(f"{first} pods of {self.kind} {self.name}", lambda: len(self.pods()) >= first, 60)
            return
        if self.kind in ("StatefulSet", "DaemonSet"):
            self._make_revision()
        for i in range(self.replicas):
            self.add_pod(i)

    def _make_revision(self):
        """What the controller of a StatefulSet or DaemonSet would make; the one names it to its pods, the other its hash."""
        name = f"{self.name}-{self.revision}"
        self.objects.admin.post(f"/apis/apps/v1/namespaces/{self.ns}/controllerrevisions", {
            "apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": 1,
            "metadata": {"name": name, "namespace": self.ns, "labels": {**self.labels, "controller.kubernetes.io/hash": self.revision},
                         "ownerReferences": [owner_ref(self.top)]},
            "data": {"spec": {"template": {**self._template(), "$patch": "replace"}}}})
        self.revision = name if self.kind == "StatefulSet" else self.revision

    def _make_replica_set(self, revision, replicas, number=1):
        """What the Deployment controller, or Argo's, would make."""
        label = KINDS[self.kind][2]
        labels = {**self.labels, label: revision}
        template = self._template()
        template["metadata"]["labels"] = labels
        return self.objects.admin.post(path_of("ReplicaSet", self.ns), {
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {"name": f"{self.name}-{revision}", "namespace": self.ns, "labels": labels,
                         "annotations": {REVISION[self.kind]: str(number)},
                         "ownerReferences": [owner_ref(self.top)]},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}})

    def add_pod(self, index=0, replica_set=None):
        """One pod of it, as its controller would make it; only where no controller does."""
        owner = replica_set or self.replica_set or self.top
        label = KINDS[self.kind][2]
        labels = dict(self.labels)
        if label:
            labels[label] = (owner["metadata"].get("labels") or {}).get(label) or self.revision
        base = owner["metadata"]["name"]
        name = f"{base}-{index}" if self.kind == "StatefulSet" else f"{base}-{uuid.uuid4().hex[:5]}"
        return self.objects.pod(self.ns, name, owner=owner, labels=labels, **self.spec)

    def pods(self):
        answer = self.objects.admin.get(pod_path(self.ns), labelSelector=f"app={self.name}")
        return [dict(p, apiVersion="v1", kind="Pod") for p in answer.get("items") or []
                if not p["metadata"].get("deletionTimestamp")
                and (p["metadata"].get("labels") or {}).get("app") == self.name]

    def leave(self):
        """Ends those of its pods that were asked to go, as a kubelet does; where there is no controller all of them were. Nothing is left
        of it that the program could look at while somebody restores it."""
        def left():
            answer = self.objects.admin.get(pod_path(self.ns), labelSelector=f"app={self.name}").get("items") or []
            for pod in answer:
                if pod["metadata"].get("deletionTimestamp"):
                    self.objects.force_delete(pod)
            return not answer
        for pod in self.pods() if not self._controllers_make_pods() else ():
            self.objects.force_delete(pod)
        until(f"the pods of {self.name} to leave", left, 20)

    def becomes_available(self, value):
        """Its condition Available is that; since when, Unix seconds. Where there is no controller, it is written here."""
        path, status = path_of(self.kind, self.ns, self.name), str(value)
        if not self.objects.server.has_controllers:
            self.objects.admin.patch(path + "/status", {"status": {"conditions": [condition("Available", status)]}})

        def now_so():
            for c in (self.objects.admin.get(path).get("status") or {}).get("conditions") or []:
                if c["type"] == "Available" and c["status"] == status:
                    return parse_time(c["lastTransitionTime"])
            return None
        return until(f"{self.name} to be Available: {status}", now_so, 30)

    def fail_to_pull(self, **how):
        """All its pods. Returns when the last status was written."""
        for pod in self.pods():
            self.objects.fail_to_pull(pod, **how)
        return time.time()

    def new_revision(self):
        """A new template, as by a person who corrects the image: a ReplicaSet of its own, beside the old one."""
        assert self.kind == "Deployment"
        old = {p["metadata"]["uid"] for p in self.pods()}
        if self.objects.server.has_controllers:
            env = [{"name": "REVISION", "value": uuid.uuid4().hex}]
            containers = [{**c, "env": env} for c in self._template()["spec"]["containers"]]
            self.objects.admin.patch(path_of(self.kind, self.ns, self.name),
                                     {"spec": {"template": {"spec": {"containers": containers}}}})
            until("pods of the new revision", lambda: [p for p in self.pods() if p["metadata"]["uid"] not in old], 60)
        else:
            self.revision = uuid.uuid4().hex[:9]
            self.objects.admin.patch(path_of(self.kind, self.ns, self.name),
                                     {"metadata": {"annotations": {"deployment.kubernetes.io/revision": "2"}}})
            self.replica_set = self._make_replica_set(self.revision, 1, 2)
            self.add_pod()
        return [p for p in self.pods() if p["metadata"]["uid"] not in old]

    def correct(self):
        """Another template of a StatefulSet, as by a person who corrects the image, of which its controller has taken note."""
        path = path_of(self.kind, self.ns, self.name)
        status = self.objects.admin.get(path).get("status") or {}
        if not self._controllers_make_pods():
            self.revision = f"{self.name}-{uuid.uuid4().hex[:9]}"
            self.objects.admin.patch(path + "/status", {"status": {"updateRevision": self.revision}})
            return
        containers = [{**c, "env": [{"name": "REVISION", "value": uuid.uuid4().hex}]} for c in self._template()["spec"]["containers"]]
        generation = self.objects.admin.patch(path, {"spec": {"template": {"spec": {"containers": containers}}}})["metadata"]["generation"]

        def noted():
            now = self.objects.admin.get(path)["status"]
            return now["observedGeneration"] >= generation and now["updateRevision"] != status.get("updateRevision") and now["updateRevision"]
        self.revision = until(f"the new revision of {self.name}", noted, 30)

    def delete(self):
        """Delete it; returns when it is gone. Its pods stay for the garbage collector, if there is one."""
        path = path_of(self.kind, self.ns, self.name)
        self.objects.admin.delete(path, propagationPolicy="Background")
        until(f"{self.name} to be gone", lambda: self.objects.admin.find(path) is None, 10)

    def replace(self):
        """Another one of the same name and content."""
        self.delete()
        return self.objects.admin.post(path_of(self.kind, self.ns), self._body())

    def scale_path(self):
        return path_of(self.kind, self.ns, self.name) + "/scale"

    def wanted(self):
        """Replicas it asks for now (absent means 0)."""
        top = self.objects.admin.get(path_of(self.kind, self.ns, self.name))
        return (top.get("spec") or {}).get("size" if self.kind == "Fleet" else "replicas", 0)

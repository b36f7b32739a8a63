"""Pods that do something, and what their status says."""
from harness.objects import owner_ref, path_of, pod_path  # noqa: F401
from harness.program import found

NAME = "node-1"
IMAGE = "localhost/tools:1"

# They have the network of the room: the node has none for pods.
SPEC = {"hostNetwork": True, "automountServiceAccountToken": False, "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 2}


def container(command="sleep 3600", image=IMAGE, name="main", **more):
    """`command` is a line of busybox's shell; None: what the image says."""
    return {"name": name, "image": image, "imagePullPolicy": "IfNotPresent",
            **({"command": ["sh", "-c", command]} if command else {}), **more}


def spec(*containers, **more):
    return {**SPEC, "containers": list(containers), **more}


def pod(t, ns, name, *containers, labels=None, finalizers=(), **more):
    return t.admin.post(pod_path(ns), {"apiVersion": "v1", "kind": "Pod", "spec": spec(*containers, **more),
                                       "metadata": {"name": name, "labels": labels or {}, "finalizers": list(finalizers)}})


class Deployment:
    """As the scenarios' harness wants a workload: name, uid, top."""

    def __init__(self, t, ns, name, *containers, replicas=1, **more):
        self.t, self.ns, self.name = t, ns, name
        labels = {"app": name}
        self.top = t.admin.post(path_of("Deployment", ns), {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": ns},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels}, "spec": spec(*containers, **more)}}})

    @property
    def uid(self):
        return self.top["metadata"]["uid"]

    def wanted(self):
        return self.t.admin.get(path_of("Deployment", self.ns, self.name))["spec"].get("replicas", 0)

    def pods(self):
        return self.t.admin.get(pod_path(self.ns), labelSelector=f"app={self.name}").get("items") or []


def statuses(found):
    status = (found or {}).get("status") or {}
    return (status.get("initContainerStatuses") or []) + (status.get("containerStatuses") or [])


def waits(found):
    """(reason, message) of the containers that wait for more than their turn."""
    states = [(c.get("state") or {}).get("waiting") for c in statuses(found)]
    return [(s.get("reason", ""), s.get("message", "")) for s in states if s and s.get("reason") not in ("ContainerCreating", "PodInitializing")]


def ends(found):
    """(reason, message) of the containers that have ended, now or before."""
    states = [(c.get(key) or {}).get("terminated") for c in statuses(found) for key in ("state", "lastState")]
    return [(s.get("reason", ""), s.get("message", "")) for s in states if s]


def is_ready(found):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in ((found or {}).get("status") or {}).get("conditions") or [])


def told(program, pod, duty):
    """What `explain` says of that pod and duty: (verdict, reason, why)."""
    meta = pod["metadata"]
    row = next(r for r in program.ask_json("explain", f"{meta['namespace']}/{meta['name']}") if r["duty"] == duty)
    return row["verdict"], row["reason"], found({"evidence": row["evidence"]})


def expect_late(t, *pods):
    """Only force deletes of those pods, and of none before it had been said that all its containers have ended.

    Long after its threshold the program may be the first to see that, before the kubelet is done with the pod."""
    names = {pod["metadata"]["uid"] for pod in pods}
    for request in t.writes():
        states = [c["state"] for c in statuses(t.server.states.at(request.uid, request.rv))]
        assert request.verb == "delete" and request.grace == 0 and request.uid in names, str(request)
        assert states and all("terminated" in state for state in states), (str(request), states)
    t.note = f"{len(t.writes())} of {len(pods)} removed by the program, when its containers had ended"

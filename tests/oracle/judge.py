"""The oracle: was every write of this run allowed, and was none of them done twice?

It knows nothing of the program's code. Its rules are read from the documented contract, its facts are the objects as
the server answered them. What it checks of every write that was not a dry run:

  bound     it names the uid and the resourceVersion it was decided on
  once      at most one DELETE per uid succeeds, and none is even sent after that one has been answered
  right     the object with that uid at that resourceVersion deserved it (where the log shows that version)
  kind      it is a DELETE of one pod or a PATCH of one scale subresource; nothing else is ever written
"""
import re
from dataclasses import dataclass, field

from .logs import parse_time

PULL = ("ErrImagePull", "ImagePullBackOff")


@dataclass
class Policy:
    """What the run was configured to do. namespaces: a set, or None for every one. hours: seconds."""
    evicted: object = None
    terminating: object = None
    image_pull: object = None
    terminating_hours: float = 0.0
    image_pull_hours: float = 0.0
    observe: bool = False
    unreachable_nodes: bool = False
    restores: dict = field(default_factory=dict)    # (namespace, name) -> replicas that a person asked to put back

    def covers(self, duty, ns):
        namespaces = getattr(self, duty)
        if namespaces is None:
            return False
        return "*" in namespaces or ns in namespaces


@dataclass
class Finding:
    rule: str
    text: str
    request: object = None

    def __str__(self):
        return f"{self.rule}: {self.text}" + (f"\n      {self.request}" if self.request else "")


@dataclass
class States:
    """Every version of every object that anybody has seen: uid -> resourceVersion -> object."""
    by_uid: dict = field(default_factory=dict)

    def add(self, obj):
        meta = (obj or {}).get("metadata") or {}
        if obj.get("kind") == "Scale" or not meta.get("uid") or not meta.get("resourceVersion"):
            return
        self.by_uid.setdefault(meta["uid"], {})[meta["resourceVersion"]] = obj

    def at(self, uid, rv):
        return self.by_uid.get(uid, {}).get(rv)

    def add_log(self, requests):
        for r in requests:
            if isinstance(r.before, dict):
                self.add(r.before)
            if r.ok and isinstance(r.answer, dict) and not r.dry_run:
                self.add(r.answer)
                for item in r.answer.get("items") or []:
                    self.add(item)


def is_mirror(pod):
    meta = pod["metadata"]
    return "kubernetes.io/config.mirror" in (meta.get("annotations") or {}) or any(
        o.get("kind") == "Node" for o in meta.get("ownerReferences") or [])


def waiting_reasons(pod):
    status = pod.get("status") or {}
    containers = (status.get("initContainerStatuses") or []) + (status.get("containerStatuses") or [])
    return [((c.get("state") or {}).get("waiting") or {}).get("reason") for c in containers]


def is_ready(pod):
    return any(c.get("type") == "Ready" and c.get("status") == "True"
               for c in (pod.get("status") or {}).get("conditions") or [])


def why_not_evicted(pod, request, policy):
    status = pod.get("status") or {}
    if status.get("phase") != "Failed" or status.get("reason") != "Evicted":
        return f"phase {status.get('phase')}, reason {status.get('reason')}: not evicted"
    if not policy.covers("evicted", request.ns):
        return f"namespace {request.ns} is not covered by deleteEvictedPod"
    return None


def why_not_terminating(pod, request, policy):
    meta = pod["metadata"]
    deadline = parse_time(meta.get("deletionTimestamp"))
    if not deadline:
        return "not being deleted"
    if not policy.covers("terminating", request.ns):
        return f"namespace {request.ns} is not covered by deleteTerminatingPod"
    if request.t < deadline + policy.terminating_hours:
        return f"{deadline + policy.terminating_hours - request.t:.3f} s too early"
    if meta.get("finalizers"):
        return f"finalizers {meta['finalizers']}"
    if meta.get("deletionGracePeriodSeconds") == 0:
        return "already deleted by force"
    if is_ready(pod):
        return "it is Ready"
    return None


def judge_delete(request, states, policy):
    pod = states.at(request.uid, request.rv)
    if pod is None:
        return None
    if pod["metadata"].get("name") != request.name or pod["metadata"].get("namespace") != request.ns:
        return f"uid {request.uid} is {pod['metadata'].get('namespace')}/{pod['metadata'].get('name')}"
    if is_mirror(pod):
        return "a mirror pod"
    reasons = [why_not_terminating(pod, request, policy)] if request.grace == 0 else []
    if not reasons or reasons[0]:
        reasons.append(why_not_evicted(pod, request, policy))
    if None in reasons:
        return None
    return "; ".join(reasons)


SCALABLE = re.compile(r"^(deployments|statefulsets|replicasets|replicationcontrollers|rollouts|fleets)$")


class World:
    """What exists at this point of the log: the newest object of every uid."""

    def __init__(self):
        self.objects = {}

    def apply(self, r):
        obj = r.answer
        if not r.ok or not r.is_write or r.dry_run or not isinstance(obj, dict) or obj.get("kind") == "Scale":
            return
        meta = obj.get("metadata") or {}
        if not meta.get("uid"):
            return
        if r.verb == "delete" and not (meta.get("deletionGracePeriodSeconds") or meta.get("finalizers")):
            self.objects.pop(meta["uid"], None)
        else:
            self.objects[meta["uid"]] = obj

    def owner(self, obj):
        for ref in obj["metadata"].get("ownerReferences") or []:
            if ref.get("controller"):
                return ref["uid"]
        return None

    def pods_of(self, uid):
        """Every pod that hangs below uid, directly or through one other owner."""
        pods = []
        for obj in self.objects.values():
            if obj.get("kind") != "Pod":
                continue
            above = self.owner(obj)
            if uid == above or (above in self.objects and uid == self.owner(self.objects[above])):
                pods.append(obj)
        return pods


def judge_scale(request, world, policy):
    if request.replicas != 0 and request.replicas == policy.restores.get((request.ns, request.name)):
        return None
    if request.replicas != 0:
        return f"asks for {request.replicas} replicas"
    if not SCALABLE.match(request.resource):
        return f"{request.resource} are not scaled by this program"
    if not policy.covers("image_pull", request.ns):
        return f"namespace {request.ns} is not covered by errImagePull"
    pods = world.pods_of(request.uid)
    ready = [p["metadata"]["name"] for p in pods if is_ready(p)]
    if ready:
        return f"pods of it are Ready: {', '.join(ready)}"
    if pods and not any(reason in PULL for p in pods for reason in waiting_reasons(p)):
        return "none of its pods fails to pull"
    return None


@dataclass
class Report:
    findings: list = field(default_factory=list)
    deletes: int = 0
    scales: int = 0
    dry_runs: int = 0
    checked: int = 0        # writes whose object is known at the version they named

    def add(self, *a):
        self.findings.append(Finding(*a))

    @property
    def ok(self):
        return not self.findings


def check(requests, policy, states=None, is_program=None):
    """All requests of one server log, in order. is_program(request) tells whose they are; default: all of them."""
    states = states or States()
    states.add_log(requests)
    report = Report()
    world = World()
    deleted = {}                # uid -> when its successful DELETE had been answered
    for r in sorted(requests, key=lambda r: r.t_end or r.t):
        world.apply(r)
        if (is_program and not is_program(r)) or not r.is_write:
            continue
        if r.resource in ("leases", "events"):
            continue
        if r.dry_run:
            report.dry_runs += 1
        elif policy.observe:
            report.add("observe", "a real write in mode observe", r)
        check_write(r, policy, states, world, deleted, report)
    return report


def check_write(r, policy, states, world, deleted, report):
    is_delete = r.verb == "delete" and r.resource == "pods" and not r.subresource
    is_scale = r.verb == "patch" and r.subresource == "scale"
    if not is_delete and not is_scale:
        report.add("kind", "neither a DELETE of a pod nor a PATCH of a scale", r)
        return
    if r.code in (401, 403) and r.body is None:
        return          # refused before its body was looked at: an audit log does not hold it
    if not r.uid or not r.rv:
        report.add("bound", "a write without uid or resourceVersion", r)
        return
    if is_delete and r.uid in deleted and r.t > deleted[r.uid] and not r.dry_run:
        report.add("once", "another DELETE of a uid that is deleted already", r)
    if not r.ok:
        return
    why = judge_delete(r, states, policy) if is_delete else judge_scale(r, world, policy)
    if why:
        report.add("right", why, r)
    report.checked += 1 if states.at(r.uid, r.rv) else 0
    if r.dry_run:
        return
    if is_scale:
        report.scales += 1
        return
    if r.uid in deleted:
        report.add("once", "a second successful DELETE of the same uid", r)
    deleted[r.uid] = max(r.t, r.t_end)
    report.deletes += 1

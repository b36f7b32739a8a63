"""The oracle: was every write of this run allowed, and was none of them done twice?

It knows nothing of the program's code. Its rules are read from the documented contract, its facts are the objects as
the server answered them. What it checks of every write that was not a dry run:

  bound     it names the uid and the resourceVersion it was decided on
  once      at most one DELETE per uid succeeds, and none is even sent after that one has been answered, but by a worker that
            read the pod before: of another, killed as it sent it, the server carries it out when it comes to it
  right     the object with that uid at that resourceVersion deserved it (where the log shows that version)
  kind      it is a DELETE of one pod, a PATCH of replicas (of a scale, or of a workload with its mark), an announcement (one
            annotation), the suspension of a Job, or the mark of what was scaled, each of nothing else; Leases and Events apart
  grace     where a grace is announced, the act comes after it
  budget    no sliding minute, hour or day holds more acts than allowed
  window    it came while a window was open
  marked    only what this program has scaled to 0 says so, by whom, when, why, from how many; a restore takes that away
  restored  replicas come back only where this program had taken them, to what they had been, once, when a person asked for it
            or, where `restore` says so, has corrected the workload
"""
import fnmatch
import re
from dataclasses import dataclass, field

from .crashes import Loops, pulled_it, why_not_crash_loop
from .kept import evicted_at, is_kept
from .logs import parse_time
from .memory import Memory
from .ordinals import why_not_stuck_ordinal
from .others import at_work_on, scaler_from_zero
from .pods import (PULL, cause_in, causes_of, claims_of, controller_of, finished_at, hosts_of, is_half_deleted, is_mirror, is_ready, refused_images,
                   runs, waiting_reasons)
from .settings import BUDGETS, KNOWN_SLACK, Policy, window_open  # noqa: F401

ANNOUNCED = "ops-pod-cleaner.io/announced"
MARK = "ops-pod-cleaner.io/scaled-down-"
RESTORE = "ops-pod-cleaner.io/restore"              # a person's wish; this program only takes it away
MARKS = {MARK + part for part in ("by", "action", "history", "at", "why", "from", "undo", "template")} | {RESTORE}
DUTY_KEYS = {"evicted": "deleteEvictedPod", "terminating": "deleteTerminatingPod", "image_pull": "errImagePull",
             "finished": "deleteFinishedPod", "crash_loop": "crashLoop"}

SKEW = 300      # seconds by which clocks may differ: what began later than so much after now did not begin


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


def announced_at(obj, duty):
    """When the act was announced on the object, Unix seconds; None = it was not."""
    text = (((obj or {}).get("metadata") or {}).get("annotations") or {}).get(ANNOUNCED, "")
    for part in text.split(","):
        key, _, at = part.partition("=")
        if key.strip() == DUTY_KEYS[duty]:
            return parse_time(at.strip())
    return None


def why_held(pod, world):
    """A device is given back by the kubelet, after the last container and before a phase that is over; a node that is gone, or out
    of service and not Ready again, has none to give back."""
    node = (pod.get("spec") or {}).get("nodeName")
    over = (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded")
    if not claims_of(pod) or not node or over or node in world.absent_nodes | world.out_of_service:
        return None
    return f"it holds {', '.join(map(str, claims_of(pod)))}, and node {node} is there"


def why_not_finish(pod, request, policy):
    """Of a plain DELETE: why this pod, which somebody has deleted already, is left to whoever is at it."""
    deadline = parse_time(pod["metadata"].get("deletionTimestamp"))
    if not deadline:
        return None
    if not is_half_deleted(pod):
        return "it is being deleted"
    if request.t < deadline + policy.finish:
        return f"half-deleted, but {deadline + policy.finish - request.t:.3f} s too early"
    return None


# Kinds whose pods tell how they ended: of Kubernetes, of the trade, and Widget, which tests/cluster makes without a scale.
TO_COMPLETION = {"Job", "Workflow", "TaskRun", "SparkApplication", "PyTorchJob", "TFJob", "MPIJob", "RayJob", "JobSet", "Widget"}


def runs_to_completion(pod):
    owner = controller_of(pod)
    return owner["kind"] if owner and owner.get("kind") in TO_COMPLETION else None


IGNORE = "ops-pod-cleaner.io/ignore"


def is_marked(obj):
    meta = (obj or {}).get("metadata") or {}
    return "true" in ((meta.get("annotations") or {}).get(IGNORE), (meta.get("labels") or {}).get(IGNORE))


def marked_above(pod, ns, world):
    """Which owner of the pod, or its namespace, people have marked to be left alone, so far as the log shows it."""
    for obj in world.objects.values():
        if obj.get("kind") == "Namespace" and obj["metadata"].get("name") == ns and is_marked(obj):
            return f"namespace {ns} is marked {IGNORE}"
    seen, at = set(), controller_of(pod)
    while at and at.get("uid") in world.objects and at["uid"] not in seen:
        seen.add(at["uid"])
        obj = world.objects[at["uid"]]
        above = controller_of(obj)
        if is_marked(obj) and not (obj.get("kind") == "ReplicaSet" and above):
            return f"{obj.get('kind')} {obj['metadata'].get('name')} is marked {IGNORE}"
        at = above
    return None


def why_not_evicted(pod, request, policy):
    status = pod.get("status") or {}
    if status.get("phase") != "Failed" or status.get("reason") != "Evicted":
        return f"phase {status.get('phase')}, reason {status.get('reason')}: not evicted"
    if not policy.covers("evicted", request.ns, request.t):
        return f"namespace {request.ns} is not covered by deleteEvictedPod"
    if runs_to_completion(pod) and not policy.evicted_jobs:
        return f"it is of {runs_to_completion(pod)}, and includeJobs is not set"
    at = evicted_at(pod)
    if policy.evicted_hours and at is None:
        return "nothing tells when it was evicted"
    if policy.evicted_hours and request.t < at + policy.evicted_hours:
        return f"{at + policy.evicted_hours - request.t:.3f} s too early"
    return why_not_finish(pod, request, policy)


def why_not_terminating(pod, request, policy, world):
    meta = pod["metadata"]
    deadline = parse_time(meta.get("deletionTimestamp"))
    if not deadline:
        return "not being deleted"
    if not policy.covers("terminating", request.ns, request.t):
        return f"namespace {request.ns} is not covered by deleteTerminatingPod"
    due = deadline + (policy.finish if is_half_deleted(pod) else policy.terminating_hours)
    if request.t < due:
        return f"{due - request.t:.3f} s too early"
    if meta.get("finalizers"):
        return f"finalizers {meta['finalizers']}"
    if is_ready(pod) and (pod.get("spec") or {}).get("nodeName") not in world.absent_nodes:
        return "it is Ready, and its node is there"
    return at_work_on(pod, world) or why_held(pod, world)


def why_not_finished(pod, request, policy):
    status, owner = pod.get("status") or {}, controller_of(pod)
    if status.get("phase") not in policy.finished_phases:
        return f"phase {status.get('phase')} is not one of {policy.finished_phases}"
    if not any(fnmatch.fnmatchcase(status.get("reason") or "", pattern) for pattern in policy.finished_reasons):
        return f"reason {status.get('reason')} is not one of {policy.finished_reasons}"
    if not policy.covers("finished", request.ns, request.t):
        return f"namespace {request.ns} is not covered by deleteFinishedPod"
    if not owner and not policy.include_bare_pods:
        return "no controller made it, and includeBarePods is not set"
    if runs_to_completion(pod) and not policy.include_jobs:
        return f"it is of {runs_to_completion(pod)}, and includeJobs is not set"
    at = finished_at(pod)
    if at is None:
        return "nothing tells when it ended"
    if request.t < at + policy.finished_hours:
        return f"{at + policy.finished_hours - request.t:.3f} s too early"
    return why_not_finish(pod, request, policy)


def judge_delete(request, states, policy, world):
    pod = states.at(request.uid, request.rv)
    if pod is None:
        return None
    if pod["metadata"].get("name") != request.name or pod["metadata"].get("namespace") != request.ns:
        return f"uid {request.uid} is {pod['metadata'].get('namespace')}/{pod['metadata'].get('name')}"
    if is_mirror(pod):
        return "a mirror pod"
    created = parse_time(pod["metadata"].get("creationTimestamp"))
    if created and created > request.t + SKEW:
        return f"created {created - request.t:.0f} s in the future: whose clock is right is not known"
    if marked_above(pod, request.ns, world):
        return marked_above(pod, request.ns, world)
    reasons = [why_not_terminating(pod, request, policy, world)] if request.grace == 0 else []
    if not reasons or reasons[0]:
        reasons += [why_not_evicted(pod, request, policy), why_not_finished(pod, request, policy)]
    if None in reasons or is_fresh_attempt(pod, request, policy):
        return None
    if policy.ordinal_stuck and request.grace is None and policy.covers("image_pull", request.ns, request.t):
        reasons.append(why_not_stuck_ordinal(pod, request, policy, world))
    return None if None in reasons else "; ".join(reasons)


def is_fresh_attempt(pod, request, policy):
    """Deleted so that its controller makes another one, which pulls afresh."""
    return (policy.fresh_attempt and request.grace is None and policy.covers("image_pull", request.ns, request.t) and not is_ready(pod)
            and any(reason in PULL for reason in waiting_reasons(pod)))


def duty_of_delete(request, states, policy):
    if request.grace == 0:
        return "terminating"
    pod = states.at(request.uid, request.rv)
    if pod and (is_fresh_attempt(pod, request, policy) or (policy.ordinal_stuck and any(r in PULL for r in waiting_reasons(pod)))):
        return "image_pull"
    return "finished" if pod and why_not_evicted(pod, request, policy) else "evicted"


SCALABLE = re.compile(r"^(deployments|statefulsets|replicasets|replicationcontrollers|rollouts|fleets)$")


class World:
    """What exists at this point of the log: the newest object of every uid."""

    def __init__(self):
        self.objects = {}
        self.absent_nodes = set()   # that the server said do not exist, and nobody has made since
        self.out_of_service = set() # by their taint, and not Ready, when they were last read or written
        self.failing_since = {}     # uid of a pod that waits for its image -> when that was first seen
        self.began = {}             # uid of the owner of such pods -> when the first of them was
        self.loops = Loops()
        self.started = {}           # (host of an image, uid of the pod's owner) -> when a pod was last seen to start with it

    def apply_node(self, r):
        if r.code == 404 or (r.ok and r.verb == "delete"):
            self.absent_nodes.add(r.name)
        elif r.ok:
            name = r.name or ((r.answer or {}).get("metadata") or {}).get("name")
            self.absent_nodes.discard(name)
            if isinstance(r.answer, dict) and r.answer.get("kind") == "Node":
                taints = (r.answer.get("spec") or {}).get("taints") or []
                ready = any(c.get("type") == "Ready" and c.get("status") == "True" for c in (r.answer.get("status") or {}).get("conditions") or [])
                out = not ready and any(t.get("key") == "node.kubernetes.io/out-of-service" for t in taints)
                (self.out_of_service.add if out else self.out_of_service.discard)(name)

    def apply(self, r):
        if r.resource == "nodes" and not r.subresource:
            self.apply_node(r)
        obj = r.answer
        if not r.ok or not r.is_write or r.dry_run or not isinstance(obj, dict) or obj.get("kind") == "Scale":
            return
        meta = obj.get("metadata") or {}
        if not meta.get("uid"):
            return
        self.note_pulls(obj, r.t)
        self.loops.note(obj, self, r.t)
        if r.verb == "delete" and not (meta.get("deletionGracePeriodSeconds") or meta.get("finalizers")):
            self.objects.pop(meta["uid"], None)
        else:
            self.objects[meta["uid"]] = obj

    def note_pulls(self, obj, t):
        if obj.get("kind") != "Pod":
            return
        uid = obj["metadata"]["uid"]
        if any(reason in PULL for reason in waiting_reasons(obj)):
            self.failing_since.setdefault(uid, t)
            self.began.setdefault(self.owner(obj) or uid, t)
        else:
            self.failing_since.pop(uid, None)
        if runs(obj) and not runs(self.objects.get(uid) or {}):
            for host in hosts_of(obj):
                self.started[host, self.owner(obj) or uid] = t

    def others_pulled(self, pods):
        """Since these pods fail, has a pod of another workload started with an image of every host they pull from?"""
        owners = {self.owner(p) or p["metadata"]["uid"] for p in pods}
        since = min((self.failing_since.get(p["metadata"]["uid"], float("inf")) for p in pods), default=float("inf"))
        return all(any(at >= since for (of, owner), at in self.started.items() if of == host and owner not in owners)
                   for p in pods for host in hosts_of(p))

    def others_refused(self, pods):
        """Is another image of the same registry refused in their namespace, with the same pull secrets?"""
        ours = set().union(*map(refused_images, pods))
        near = [o for o in self.objects.values() if o.get("kind") == "Pod"
                and o["metadata"].get("namespace") == pods[0]["metadata"].get("namespace")]
        return any(host == of and secrets == by and repository != other
                   for of, other, by in ours for p in near for host, repository, secrets in refused_images(p))

    def owner(self, obj):
        for ref in obj["metadata"].get("ownerReferences") or []:
            if ref.get("controller"):
                return ref["uid"]
        return None

    def events_of(self, pods):
        uids = {p["metadata"]["uid"] for p in pods}
        return [e for e in self.objects.values() if e.get("kind") == "Event" and e.get("reason") in ("Failed", "BackOff")
                and (e.get("involvedObject") or {}).get("uid") in uids]

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
    if request.replicas != 0:
        return f"asks for {request.replicas} replicas"
    if not SCALABLE.match(request.resource):
        return f"{request.resource} are not scaled by this program"
    pods = world.pods_of(request.uid)
    ready = [p["metadata"]["name"] for p in pods if is_ready(p)]
    if ready:
        return f"pods of it are Ready: {', '.join(ready)}"
    crash_loop = why_not_crash_loop(request, world, pods, policy)
    image_pull = why_not_image_pull(request, world, pods, policy)
    return scaler_from_zero(request.uid, world, policy.leaves_zero) or (f"{image_pull}; {crash_loop}" if image_pull and crash_loop else None)


def duty_of_scale(request, world, policy):
    pods = world.pods_of(request.uid)
    return "image_pull" if why_not_crash_loop(request, world, pods, policy) else "crash_loop"


def why_not_image_pull(request, world, pods, policy):
    if not policy.covers("image_pull", request.ns, request.t):
        return f"namespace {request.ns} is not covered by errImagePull"
    since = unavailable_since(world.objects.get(request.uid))
    if since is not None and request.t < since + policy.image_pull_hours:
        return f"it served until lately: {since + policy.image_pull_hours - request.t:.3f} s too early"
    began = min((world.began[of] for of in map(world.owner, pods) if of in world.began), default=None)
    if began is not None and request.t < began + policy.image_pull_hours - KNOWN_SLACK:
        return f"it has not failed for so long: {began + policy.image_pull_hours - request.t:.3f} s too early"
    if pods and not any(reason in PULL for p in pods for reason in waiting_reasons(p)):
        return "none of its pods fails to pull"
    can = pulled_it(pods)
    if can:
        return f"pods of it have pulled what others cannot: {', '.join(can)}"
    causes = set().union(*(causes_of(p) for p in pods)) if pods else set()
    if "unknown" in causes:     # an old kubelet: the cause stands in the Events
        causes |= {cause_in(e.get("message")) for e in world.events_of(pods)}
    if "node" in causes:
        if len({(p.get("spec") or {}).get("nodeName") for p in pods}) < 2:
            return "its one node cannot pull: another could"
        causes = causes - {"node"} | {"transient"}
    if "auth" in causes and request.t < (began or 0) + max(86400, policy.image_pull_hours) and world.others_refused(pods):
        return "other images are refused with the same pull secrets"
    if "transient" in causes and "misconfigured" in policy.causes and world.others_pulled(pods):
        return None     # not the registry: something of the workload's own
    if causes and not causes & policy.causes:
        return f"its pods fail for causes {sorted(causes)}, which may not act"
    return None


def unavailable_since(obj):
    """Since when a workload says that it does not serve any more, Unix seconds; None when it does not say so."""
    for c in ((obj or {}).get("status") or {}).get("conditions") or []:
        if c.get("type") == "Available" and c.get("status") == "False":
            return parse_time(c.get("lastTransitionTime"))
    return None


def template_of(obj):
    return ((obj or {}).get("spec") or {}).get("template")


def workload_at(request, states):
    """The workload whose scale is written, as it was then; None when the log does not hold it. (The log may hold the Scale.)"""
    obj = states.at(request.uid, request.rv) or request.before
    return obj if (obj or {}).get("kind") != "Scale" else None


def is_corrected(request, was, states, policy):
    """Did somebody change its pod template since, or ask for it on the object, where the settings allow that? was: the object when
    it was scaled down."""
    now = workload_at(request, states)
    asked = ((now or {}).get("metadata") or {}).get("annotations") or {}
    duties = [d for d in ("image_pull", "crash_loop") if d in policy.corrected and policy.covers(d, request.ns, request.t)]
    if not duties or policy.observe:
        return False
    return asked.get(RESTORE) == "now" or not now or not was or template_of(now) != template_of(was)


def judge_restore(request, scaled, policy, corrected=False):
    """Replicas that come back: a person asked for it or corrected it, this program had taken them, and so many."""
    if not corrected and not policy.restore and policy.restores.get((request.ns, request.name)) != request.replicas:
        return f"nobody asked to put {request.replicas} replicas back"
    if policy.excludes(request.ns, request.t):
        return f"namespace {request.ns} is excluded"
    if request.uid not in scaled:
        return f"asks for {request.replicas} replicas of what this program had not scaled down"
    before = scaled[request.uid]
    if before is not None and before != request.replicas:
        return f"asks for {request.replicas} replicas, it had {before}"
    return None


def is_announcement(request):
    """A patch of one annotation of ours, bound to uid and resourceVersion, and of nothing else."""
    body = request.body if isinstance(request.body, dict) else {}
    meta = body.get("metadata") or {}
    return (request.verb == "patch" and not request.subresource and set(body) <= {"metadata", "apiVersion", "kind"}
            and set(meta) <= {"uid", "resourceVersion", "annotations"} and set(meta.get("annotations") or {}) == {ANNOUNCED})


def annotations_of(request):
    body = request.body if isinstance(request.body, dict) else {}
    return (body.get("metadata") or {}).get("annotations") or {}


def is_mark(request):
    """A patch of nothing but the annotations that say what was scaled to 0, bound to uid and resourceVersion. An audit log
    does not hold the body of what is refused before it is looked at."""
    if request.verb != "patch" or request.subresource or not SCALABLE.match(request.resource):
        return False
    if request.body is None:
        return request.code in (401, 403)
    body = request.body if isinstance(request.body, dict) else {}
    return (set(body) <= {"metadata", "apiVersion", "kind"} and bool(annotations_of(request)) and set(annotations_of(request)) <= MARKS
            and set(body["metadata"]) <= {"uid", "resourceVersion", "annotations"})


def patches_with_mark(request, field):
    """A patch of that field of an object's spec and the annotations of a mark, and of nothing else."""
    body = request.body if isinstance(request.body, dict) else {}
    return (request.verb == "patch" and not request.subresource and set(body.get("spec") or {}) == {field}
            and set(body) <= {"metadata", "spec", "apiVersion", "kind"} and set(annotations_of(request)) <= MARKS
            and set(body.get("metadata") or {}) <= {"uid", "resourceVersion", "annotations"})


def is_whole(request):
    """Replicas and the mark that notes them in one write."""
    return SCALABLE.match(request.resource) and patches_with_mark(request, "replicas")


def is_suspension(request):
    return (request.resource in ("jobs", "cronjobs") and patches_with_mark(request, "suspend")
            and request.body["spec"]["suspend"] is True)


def why_not_marked(said, before):
    """said: the annotations; before: replicas before, None unknown."""
    if said.get(MARK + "by") != "ops-pod-cleaner":
        return f"by {said.get(MARK + 'by')}"
    missing = [part for part in ("action", "at", "why", "undo") if not said.get(MARK + part)]
    if missing:
        return f"does not say {', '.join(missing)}"
    if before is not None and said.get(MARK + "from") not in (None, str(before)):
        return f"from {said[MARK + 'from']}, it had {before}"
    return None


def kind_of(request):
    """delete, scale, announce, mark or suspend; None for anything else."""
    if request.verb == "delete" and request.resource == "pods" and not request.subresource:
        return "delete"
    if request.verb == "patch" and request.subresource == "scale" or is_whole(request):
        return "scale"
    if is_mark(request):
        return "mark"
    return "announce" if is_announcement(request) else "suspend" if is_suspension(request) else None


def check_limits(r, duty, policy, acts, report):
    """Budgets and windows of one act that succeeded. acts: (duty, namespace, time) of those before it."""
    acts.append((duty, r.ns, r.t))
    for key, limit in policy.budgets.get(duty, {}).items():
        begin = r.t - BUDGETS[key]
        same = [a for a in acts if a[0] == duty and a[2] > begin and (key != "maxPerNamespaceHour" or a[1] == r.ns)]
        if len(same) > limit:
            report.add("budget", f"{len(same)} acts of {DUTY_KEYS[duty]} within {BUDGETS[key]} s, {key} is {limit}", r)
    windows = policy.windows.get(duty)
    if windows and not any(window_open(w, r.t, policy.zone) for w in windows):
        report.add("window", f"no window of {DUTY_KEYS[duty]} is open", r)


def check_grace(r, duty, obj, policy, report):
    grace = policy.announce.get(duty, 0)
    at = announced_at(obj, duty)
    if grace and obj is not None and (at is None or r.t < at + grace):
        report.add("grace", f"{DUTY_KEYS[duty]} acts before its announced grace of {grace:g} s has passed", r)


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
    report, world, memory = Report(), World(), Memory()
    for r in sorted(requests, key=lambda r: r.t_end or r.t):
        world.apply(r)
        if is_program and not is_program(r):
            continue
        if not r.is_write:
            memory.look(r)
            continue
        if r.resource in ("leases", "events", "selfsubjectaccessreviews"):
            continue
        if r.dry_run:
            report.dry_runs += 1
        elif policy.observe and not (r.code == 403 and r.body is None):    # forbidden before anybody read what it was
            report.add("observe", "a real write in mode observe", r)
        check_write(r, policy, states, world, memory, report)
    return report


def check_write(r, policy, states, world, memory, report):
    kind = kind_of(r)
    if not kind:
        report.add("kind", "neither a DELETE of a pod nor a PATCH of a scale, an announcement or a suspension", r)
        return
    if r.code in (401, 403, 429) and r.body is None:
        return          # refused before its body was looked at: an audit log does not hold it
    if not r.uid or not r.rv:
        report.add("bound", "a write without uid or resourceVersion", r)
        return
    looked = kind != "delete" or r.dry_run or memory.send(r)
    if not looked and r.uid in memory.deleted and r.t > memory.deleted[r.uid]:
        report.add("once", "another DELETE of a uid that is deleted already", r)
    if r.ok:
        CHECKS[kind](r, policy, states, world, memory, report)
        report.checked += 1 if states.at(r.uid, r.rv) else 0


def check_delete(r, policy, states, world, memory, report):
    why = judge_delete(r, states, policy, world)
    if why:
        report.add("right", why, r)
    if r.dry_run:
        return
    if r.uid in memory.deleted:
        report.add("once", "a second successful DELETE of the same uid", r)
    duty = duty_of_delete(r, states, policy)
    memory.deleted[r.uid] = max(r.t, r.t_end)
    report.deletes += 1
    pod = states.at(r.uid, r.rv)
    if not pod or not is_half_deleted(pod):     # the rest of a deletion is no second act
        check_limits(r, duty, policy, memory.acts, report)
    if duty != "image_pull":
        check_grace(r, duty, pod, policy, report)
    elif not is_fresh_attempt(pod, r, policy):      # announced on its StatefulSet
        check_grace(r, duty, world.objects.get((controller_of(pod) or {}).get("uid")), policy, report)


def replicas_of(obj):
    spec = (obj or {}).get("spec") or {}
    return spec.get("replicas", spec.get("size"))


def check_mark_within(r, before, report):
    """The mark that is written with the replicas."""
    said = {key: value for key, value in annotations_of(r).items() if value is not None}
    why = f"a restore says {', '.join(said)}" if r.replicas and said else None if r.replicas else why_not_marked(said, before)
    if RESTORE in said or not (r.replicas or said.get(MARK + "from")):
        why = "asks itself to put replicas back, or does not say from how many"
    if why:
        report.add("marked", why, r)


def check_scale(r, policy, states, world, memory, report):
    restores = bool(r.replicas)
    before = replicas_of(r.before) if r.before else replicas_of(states.at(r.uid, r.rv))
    if is_whole(r) and (annotations_of(r) or not policy.objected):
        check_mark_within(r, before, report)
    if restores:
        why = judge_restore(r, memory.scaled, policy, is_corrected(r, memory.were.get(r.uid), states, policy))
    else:
        why = judge_scale(r, world, policy)
    if why:
        report.add("restored" if restores else "right", why, r)
    if r.dry_run:
        return
    report.scales += 1
    if restores:
        memory.scaled.pop(r.uid, None)
        memory.restored.add(r.uid)
        return
    memory.were[r.uid] = workload_at(r, states)
    memory.scaled[r.uid] = before
    duty = duty_of_scale(r, world, policy)
    check_limits(r, duty, policy, memory.acts, report)
    check_grace(r, duty, states.at(r.uid, r.rv), policy, report)


def check_announce(r, policy, states, world, memory, report):
    if not any(policy.announce.values()):
        report.add("right", "an announcement that nobody asked for", r)


def check_mark(r, policy, states, world, memory, report):
    said = {key: value for key, value in annotations_of(r).items() if value is not None}
    if RESTORE in said:
        report.add("marked", "asks itself to put replicas back", r)
    if not said:
        why = None if r.uid in memory.restored else "a mark is taken away of what was not put back"
    elif r.uid not in memory.scaled:
        why = "marks what this program had not scaled down"
    else:
        why = why_not_marked(said, memory.scaled[r.uid])
    if why:
        report.add("marked", why, r)


def check_suspend(r, policy, states, world, memory, report):
    why = why_not_marked(annotations_of(r), None)
    if why:
        report.add("marked", why, r)
    if not policy.suspend_jobs:
        report.add("right", "a Job is suspended although suspendJobs is not set", r)
    elif r.resource == "cronjobs" and not policy.suspend_cron_jobs:
        report.add("right", "a CronJob is suspended although suspendCronJobs is not set", r)
    elif not policy.covers("image_pull", r.ns, r.t):
        report.add("right", f"namespace {r.ns} is not covered by errImagePull", r)
    elif not r.dry_run:
        check_limits(r, "image_pull", policy, memory.acts, report)


CHECKS = {"delete": check_delete, "scale": check_scale, "announce": check_announce, "suspend": check_suspend, "mark": check_mark}


@dataclass
class Due:
    """When and where somebody asks whether a pod may go."""
    ns: str
    t: float


def left_undone(states_now, policy, told, now, patience=5.0):
    """Pods that are due and were neither acted on nor refused. states_now: the pods as they are; told: uids of pods (or of
    their owners) in the program's history, refusals included. A plain DELETE that was cut off half-way is in the history, and yet
    not done. Yields (pod, why it is due)."""
    for pod in states_now:
        meta = pod["metadata"]
        ns, due = meta.get("namespace"), None
        times = [Due(ns, now - patience), Due(ns, now)]     # a namespace may have lost its label in between
        if not is_mirror(pod) and not any(why_not_finished(pod, at, policy) for at in times):
            due = "finished"
        if not any(why_not_evicted(pod, at, policy) for at in times) and not is_kept(pod, states_now, policy):
            due = "evicted"
        if due and is_half_deleted(pod):
            yield pod, f"{due}, half-deleted"
            continue
        deadline = parse_time(meta.get("deletionTimestamp"))
        if deadline and not is_half_deleted(pod) and policy.covers("terminating", ns):
            if meta.get("deletionGracePeriodSeconds") != 0 and now > deadline + policy.terminating_hours + patience:
                due = "stuck in Terminating"
        if is_half_deleted(pod) and policy.covers("terminating", ns) and now > deadline + policy.finish + patience:
            due = "stuck in Terminating, half-deleted"
        if due and meta["uid"] not in told:
            yield pod, due

"""Crash loops, and which pods speak for their workload: since when one lasts, how often a pod restarted since, for how long one was Ready."""
from .logs import parse_time
from .pods import (PULL, controller_of, has_pulled, is_asked, is_live, is_ready, is_sick, long_run, proves_nothing, revision_of, statuses,
                   waiting_reasons)


class Loops:
    """What the log tells of the pods of each owner, by its uid."""

    def __init__(self):
        self.began = {}     # since when they crash, and the restarts of the worst of them then
        self.ready = {}     # [(from, to)]: times in which one of them was Ready

    def note(self, obj, world, t):
        if obj.get("kind") != "Pod":
            return
        of = world.owner(obj) or obj["metadata"]["uid"]
        pods = [p for p in world.pods_of(of) if p["metadata"]["uid"] != obj["metadata"]["uid"]] + [obj]
        worst = max((c.get("restartCount") or 0 for p in pods for c in statuses(p)), default=0)
        ended = [c for c in statuses(obj) if c.get("restartCount") and not is_asked(obj, c)]
        if of in self.began and ended and all((long_run(c, t) or 0) > self.began[of][0] for c in ended):
            self.began.pop(of)
        if any(is_down(c) for c in ended):
            self.began.setdefault(of, (t, worst))
        ready = any(map(is_ready, pods))
        times = self.ready.setdefault(of, [])
        if times and times[-1][1] is None and not ready:
            times[-1] = (times[-1][0], t)
        elif ready and not (times and times[-1][1] is None):
            times.append((t, None))

    def ready_for(self, of, begin, end):
        return sum(max(0, min(to or end, end) - max(at, begin)) for at, to in self.ready.get(of, []))


def is_down(container):
    state = container.get("state") or {}
    return (state.get("waiting") or {}).get("reason") == "CrashLoopBackOff" or "terminated" in state


def crashes(pod, policy, now):
    """Does one of its containers, main or init, crash in a loop, as often as is too much, and by its own fault? While it runs again,
    for less than ten minutes, it does still."""
    status = pod.get("status") or {}
    failed = [c for c in status.get("initContainerStatuses") or []
              if ((c.get("state") or {}).get("terminated") or {}).get("exitCode") != 0]
    for c in failed + (status.get("containerStatuses") or []):
        began = parse_time(((c.get("state") or {}).get("running") or {}).get("startedAt"))
        again = began is not None and now - began < 600 and not is_ready(pod)
        if ((is_down(c) or again) and c.get("restartCount", 0) >= policy.crash_loop_counts and not is_asked(pod, c)
                and not is_sick(c)):
            return True
    return False


def why_not_crash_loop(request, world, pods, policy):
    if not policy.covers("crash_loop", request.ns, request.t):
        return f"namespace {request.ns} is not covered by crashLoop"
    speak = [p for p in pods if is_live(p) and not (proves_nothing(p) and not any(reason in PULL for reason in waiting_reasons(p)))]
    calm = [p["metadata"]["name"] for p in speak or pods if not crashes(p, policy, request.t)]
    loops = {world.owner(p) or p["metadata"]["uid"] for p in pods} & set(world.loops.began)
    if calm or not loops:       # without one the log does not tell since when
        return f"pods of it do not crash in a loop: {', '.join(calm)}" if calm else None
    since, before = min(world.loops.began[of] for of in loops)
    most = max(c.get("restartCount", 0) - (before if (parse_time(p["metadata"].get("creationTimestamp")) or 0) <= since else 0)
               for p in pods for c in statuses(p))
    if most < policy.crash_loop_counts:
        return f"restarted {most} times since it began"
    ready = max(world.loops.ready_for(of, request.t - policy.crash_loop_hours, request.t) for of in loops)
    if ready > 0.12 * policy.crash_loop_hours:
        return f"a pod of it was Ready for {ready:.3f} s of the last {policy.crash_loop_hours:g} s"
    return None


def pulled_it(pods):
    """Names of the live pods, of the revision of one that fails, that have the image which that one has not."""
    live, found = [p for p in pods if is_live(p)], set()
    for bad in live:
        names = {c.get("name") for c in statuses(bad) if ((c.get("state") or {}).get("waiting") or {}).get("reason") in PULL}
        found |= {p["metadata"]["name"] for p in live if names and revision_of(p) == revision_of(bad)
                  and controller_of(p) == controller_of(bad) and not any(reason in PULL for reason in waiting_reasons(p))
                  and any(c.get("name") in names and has_pulled(c) for c in statuses(p))}
    return sorted(found)

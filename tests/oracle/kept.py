"""Which evicted pods are kept, and since when they are evicted."""
from .logs import parse_time


def evicted_at(pod):
    """When it was evicted: its condition, else what ended last, else its start."""
    status = pod.get("status") or {}
    for c in status.get("conditions") or []:
        if c.get("type") == "DisruptionTarget" and c.get("status") == "True" and c.get("lastTransitionTime"):
            return parse_time(c["lastTransitionTime"])
    ends = [parse_time(c["state"]["terminated"]["finishedAt"]) for c in status.get("containerStatuses") or []
            if (c.get("state") or {}).get("terminated", {}).get("finishedAt")]
    return max(ends) if ends else parse_time(status["startTime"]) if status.get("startTime") else None


def is_kept(pod, pods, policy):
    """Is it among the last pods of its owner to be evicted, of which some are kept?"""
    def owner(p):
        return next((o["uid"] for o in p["metadata"].get("ownerReferences") or [] if o.get("controller")), None)

    later = [p for p in pods if owner(p) == owner(pod) and (p.get("status") or {}).get("reason") == "Evicted"
             and (evicted_at(p) or 0) > (evicted_at(pod) or 0)]
    return owner(pod) is not None and len(later) < policy.evicted_keep

"""A pod that holds up the order of its StatefulSet (kubernetes/kubernetes#67250)."""
from .pods import PULL, causes_of, controller_of, is_ready, waiting_reasons
from .settings import KNOWN_SLACK


def why_not_stuck_ordinal(pod, request, policy, world):
    """Its StatefulSet makes another revision by now, in order, and waits for this pod, which cannot pull its image."""
    meta, top = pod["metadata"], world.objects.get((controller_of(pod) or {}).get("uid"))
    spec, status = (top or {}).get("spec") or {}, (top or {}).get("status") or {}
    strategy = spec.get("updateStrategy") or {}
    revision = (meta.get("labels") or {}).get("controller-revision-hash")
    if not top or top.get("kind") != "StatefulSet" or spec.get("podManagementPolicy", "OrderedReady") != "OrderedReady":
        return "no StatefulSet that replaces its pods in order is known to own it"
    if strategy.get("type", "RollingUpdate") != "RollingUpdate" or (strategy.get("rollingUpdate") or {}).get("partition"):
        return "its StatefulSet keeps the older revision there"
    if status.get("observedGeneration", float("inf")) < top["metadata"].get("generation", 0):
        return "its StatefulSet was changed, and its controller has not looked"
    if not revision or not status.get("updateRevision") or status["updateRevision"] == revision:
        return f"revision {revision} is the one that its StatefulSet makes"
    if is_ready(pod) or meta.get("deletionTimestamp") or not any(reason in PULL for reason in waiting_reasons(pod)):
        return "it does not wait for its image"
    began = world.began.get(top["metadata"]["uid"])
    if began is not None and request.t < began + policy.image_pull_hours - KNOWN_SLACK:
        return f"it has not failed for so long: {began + policy.image_pull_hours - request.t:.3f} s too early"
    causes = causes_of(pod)
    return f"it fails for causes {sorted(causes)}, which may not act" if causes and not causes & policy.causes else None

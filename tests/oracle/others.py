"""Who else is at work on an object: responders of an Eviction, autoscalers."""


def is_true(obj, condition):
    return any(c.get("type") == condition and c.get("status") == "True" for c in (obj.get("status") or {}).get("conditions") or [])


def at_work_on(pod, world):
    """Why an Eviction of this pod forbids force. The responder that every Eviction has only asks for what was asked for."""
    for obj in world.objects.values():
        target = ((obj.get("spec") or {}).get("target") or {}).get("pod") or {}
        if obj.get("kind") != "Eviction" or target.get("uid") != pod["metadata"]["uid"] or is_true(obj, "Failed") or is_true(obj, "TargetEvicted"):
            continue
        for responder in (obj.get("status") or {}).get("targetResponders") or []:
            if responder["state"] in ("Active", "Inactive") and responder["name"] != "imperative-eviction.k8s.io/evictor":
                return f"{responder['name']} is at work on its eviction"
    return None


def scaler_from_zero(uid, world, leaves_zero):
    """Why an autoscaler may scale this workload up from a 0 that it did not make. leaves_zero: no autoscaler of that server does."""
    target = world.objects.get(uid) or {"metadata": {}}
    for obj in world.objects.values():
        spec = obj.get("spec") or {}
        of = spec.get("scaleTargetRef") or {}
        if obj.get("kind") != "HorizontalPodAutoscaler" or obj["metadata"]["namespace"] != target["metadata"].get("namespace") or \
                (of.get("kind"), of.get("name")) != (target.get("kind"), target["metadata"].get("name")):
            continue
        said = [c.get("status") for c in (obj.get("status") or {}).get("conditions") or [] if c.get("type") == "ScaledToZero"]
        if "True" in said or (spec.get("minReplicas") == 0 and "False" not in said and not leaves_zero):
            return f"{obj['metadata']['name']} may scale it up again"
    return None

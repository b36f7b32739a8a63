"""What a pod says of itself, read from the object as the server answers it: the oracle's own facts."""
import re

from .logs import parse_time

PULL = ("ErrImagePull", "ImagePullBackOff")

# What a kubelet says when its node is sick, when it may heal by itself, when what is asked is no registry or asked wrongly, when it may not have the
# image, and when there is none.
CAUSES = (("node", r"no space left|disk quota exceeded|read-only file system|input/output error|locked for|content digest .*not found|"
                   r"code = unavailable|connection error: desc"),
          ("transient", r"timeout|timed out|toomanyrequests|too many requests|\b429\b|\b50[0234]\b|refused|reset|"
                        r"qps exceeded|unreachable|deadline exceeded|server misbehaving|\beof\b|i/o"),
          ("misconfigured", r"x509|no such host|http response to https|does not look like a tls|invalid reference|text/html"),
          ("transient", r"dial tcp|failed to do request"),
          ("auth", r"unauthorized|denied|forbidden|\b401\b|\b403\b|no basic auth|policy of never"),
          ("permanent", r": not found|manifest unknown|name unknown|does not exist|invalid|no match"))


def is_mirror(pod):
    meta = pod["metadata"]
    return "kubernetes.io/config.mirror" in (meta.get("annotations") or {}) or any(
        o.get("kind") == "Node" for o in meta.get("ownerReferences") or [])


def waiting_reasons(pod):
    status = pod.get("status") or {}
    containers = (status.get("initContainerStatuses") or []) + (status.get("containerStatuses") or [])
    return [((c.get("state") or {}).get("waiting") or {}).get("reason") for c in containers]


def causes_of(pod):
    """Causes of the containers that fail to pull: permanent, auth, misconfigured, transient, node, unknown."""
    status = pod.get("status") or {}
    found = set()
    for c in (status.get("initContainerStatuses") or []) + (status.get("containerStatuses") or []):
        waiting = (c.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") not in PULL:
            continue
        found.add(cause_in(waiting.get("message")))
    return found


def cause_in(message):
    text = re.sub(r'"[^"]*"', "", message or "").lower()
    return next((name for name, signs in CAUSES if re.search(signs, text)), "unknown")


def refused_images(pod):
    """(host, repository, pull secrets) of each image that it is refused, or may be: nothing tells why it has none."""
    secrets = tuple(s.get("name") for s in (pod.get("spec") or {}).get("imagePullSecrets") or [])
    status = pod.get("status") or {}
    found = set()
    for c in (status.get("initContainerStatuses") or []) + (status.get("containerStatuses") or []):
        waiting = (c.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") in PULL and cause_in(waiting.get("message")) in ("auth", "unknown"):
            repository = re.sub(r"(@.*|:[^/]*)$", "", c.get("image", ""))
            host = repository.partition("/")[0]
            found.add((host if re.search(r"[.:]|^localhost$", host) else "docker.io", repository, secrets))
    return found


def hosts_of(pod):
    """Where its images come from: what stands before the first slash when that looks like a host, else Docker Hub."""
    first = [c.get("image", "").partition("/") for c in (pod.get("status") or {}).get("containerStatuses") or []]
    return {host if rest and re.search(r"[.:]|^localhost$", host) else "docker.io" for host, _, rest in first}


def runs(pod):
    containers = (pod.get("status") or {}).get("containerStatuses") or []
    return bool(containers) and all("running" in (c.get("state") or {}) for c in containers)


def statuses(pod):
    """Those of its main and init containers."""
    status = pod.get("status") or {}
    return (status.get("containerStatuses") or []) + (status.get("initContainerStatuses") or [])


def is_live(pod):
    return not pod["metadata"].get("deletionTimestamp") and (pod.get("status") or {}).get("phase") not in ("Failed", "Succeeded")


def has_pulled(container):
    """It ran, or the kubelet complains of what comes after its image."""
    state = container.get("state") or {}
    reason = (state.get("waiting") or {}).get("reason") or ""
    return (bool(container.get("restartCount")) or "running" in state or "terminated" in state
            or reason not in ("", "ContainerCreating", "PodInitializing", "InvalidImageName", "ErrImageNeverPull", *PULL))


def proves_nothing(pod):
    """Nothing of it was ever started."""
    return not is_ready(pod) and not any(has_pulled(c) for c in statuses(pod))


def long_run(container, now):
    """A run of ten minutes or more, that lasts or was its last: its end, Unix seconds; None: there is none."""
    for state in (container.get("state") or {}, container.get("lastState") or {}):
        running, ended = state.get("running"), state.get("terminated")
        begin = parse_time((running or ended or {}).get("startedAt"))
        end = now if running else parse_time((ended or {}).get("finishedAt"))
        if begin and end and end - begin >= 600:
            return end
        if ended:
            return None
    return None


def revision_of(pod):
    labels = pod["metadata"].get("labels") or {}
    return labels.get("pod-template-hash") or labels.get("controller-revision-hash") or labels.get("rollouts-pod-template-hash")


def is_ready(pod):
    """It serves. What is Failed or Succeeded does not, whatever its condition Ready says."""
    status = pod.get("status") or {}
    return status.get("phase") not in ("Failed", "Succeeded") and any(
        c.get("type") == "Ready" and c.get("status") == "True" for c in status.get("conditions") or [])


def is_half_deleted(pod):
    """The API server has marked it for deletion at once, nothing holds it, and yet it is there."""
    meta = pod["metadata"]
    return bool(meta.get("deletionTimestamp")) and meta.get("deletionGracePeriodSeconds") == 0 and not meta.get("finalizers")


def claims_of(pod):
    """Names of the ResourceClaims by which it holds devices, as near to the objects as the pod tells them."""
    status = pod.get("status") or {}
    extended = status.get("extendedResourceClaimStatus")
    listed = ((pod.get("spec") or {}).get("resourceClaims") or []) + (status.get("resourceClaimStatuses") or [])
    return [c.get("resourceClaimName") or c.get("name") for c in listed + ([extended] if extended else [])]


def controller_of(obj):
    return next((o for o in obj["metadata"].get("ownerReferences") or [] if o.get("controller")), None)


def finished_at(pod):
    """The latest time that the pod's status tells of its end, Unix seconds; None = it tells none. Ready that was never taken
    back tells nothing of it, nor does when the pod was scheduled."""
    status = pod.get("status") or {}
    times = [c.get("lastTransitionTime") for c in status.get("conditions") or []
             if c.get("type") == "Ready" and c.get("status") != "True" or (c.get("type"), c.get("status")) == ("DisruptionTarget", "True")]
    if not status.get("containerStatuses"):     # turned away as soon as the kubelet saw it
        times.append(status.get("startTime"))
    for c in (status.get("initContainerStatuses") or []) + (status.get("containerStatuses") or []):
        times.append(((c.get("state") or {}).get("terminated") or {}).get("finishedAt"))
    return max((parse_time(t) for t in times if t), default=None)


def last_code(container):
    """The exit code it ended with last; None = that is not known."""
    for state in ("state", "lastState"):
        ended = (container.get(state) or {}).get("terminated")
        if ended:
            return ended.get("exitCode")
    return None


def is_asked(pod, container):
    """Was the restart of this container asked for, by a rule of its own or with that of all containers?"""
    together = [c for c in (pod.get("status") or {}).get("conditions") or [] if c.get("type") == "AllContainersRestarting"]
    if any(c.get("status") == "True" for c in together):
        return True
    spec = pod.get("spec") or {}
    for rule in [rule for of in (spec.get("initContainers") or []) + (spec.get("containers") or [])
                 if of.get("name") == container.get("name") for rule in of.get("restartPolicyRules") or []]:
        codes = rule.get("exitCodes") or {}
        known = last_code(container) in (codes.get("values") or [])
        if last_code(container) is None or known == (codes.get("operator") == "In"):
            return True
    return False


def is_sick(container):
    """Has the node said of a device of it that it is Unhealthy?"""
    return any(r.get("health") == "Unhealthy" for s in container.get("allocatedResourcesStatus") or [] for r in s.get("resources") or [])

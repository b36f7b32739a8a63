"""What the versions of an API server differ in, as far as this program makes use of it, measured by asking the server."""
import dataclasses
import re
from collections.abc import Callable

YES, OFF, NO = "yes", "off", "no"   # off: the server knows of it, and does not do it by default


@dataclasses.dataclass(frozen=True)
class Capability:
    says: str           # what such a server can do
    without: str        # what the program does where it cannot
    probe: Callable     # the client of an administrator -> YES, OFF or NO


def served(group_version, resource):
    """Is that resource in the server's discovery?"""
    def probe(client):
        code, answer = client.request("GET", f"/apis/{group_version}" if "/" in group_version else f"/api/{group_version}")
        return YES if code == 200 and any(r["name"] == resource for r in answer["resources"]) else NO
    return probe


def gate(name):
    """Is that feature gate on? The server's own metrics tell it."""
    def probe(client):
        found = re.search(rf'^kubernetes_feature_enabled\{{name="{name}",.*}} (\d)$', str(client.request("GET", "/metrics")[1]), re.M)
        return NO if not found else YES if found[1] == "1" else OFF
    return probe


def streams_lists(client):
    code, _ = client.request("GET", "/api/v1/pods", watch="true", sendInitialEvents="true", allowWatchBookmarks="true",
                             resourceVersionMatch="NotOlderThan", timeoutSeconds="1", labelSelector="none=such")
    return YES if code == 200 else gate("WatchList")(client)


def takes_no_replicas(client):
    """A HorizontalPodAutoscaler with minReplicas 0."""
    hpa = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "probe"},
           "spec": {"minReplicas": 0, "maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "probe"},
                    "metrics": [{"type": "External", "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "1"}}}]}}
    code, _ = client.request("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", hpa, dryRun="All")
    return YES if code == 201 else gate("HPAScaleToZero")(client)


CAPABILITIES = {
    "watch-list": Capability("lists that are streamed as a watch (WatchList)", "lists are read in pages: more memory of the API server, nothing else", streams_lists),
    "admission": Capability("ValidatingAdmissionPolicy v1", "what `rbac --admission` prints cannot be applied",
                            served("admissionregistration.k8s.io/v1", "validatingadmissionpolicies")),
    "mutating-admission": Capability("MutatingAdmissionPolicy v1", "nothing: it makes no use of them",
                                     served("admissionregistration.k8s.io/v1", "mutatingadmissionpolicies")),
    "devices": Capability("Dynamic Resource Allocation v1 (ResourceClaims)", "pods have no claims of this version",
                          served("resource.k8s.io/v1", "resourceclaims")),
    "resize": Capability("pods/resize", "nothing: a resize is no change that is judged", served("v1", "pods/resize")),
    "evictions": Capability("Eviction v1alpha1 of `lifecycle.k8s.io` (EvictionRequestAPI)",
                            "nobody is at work on an eviction: the step that asks for one is left out", gate("EvictionRequestAPI")),
    "scale-to-zero": Capability("HorizontalPodAutoscaler with minReplicas 0", "the server refuses such an autoscaler: there is none",
                                takes_no_replicas),
}


def measure(client):
    """{name: YES, OFF or NO}."""
    return {name: one.probe(client) for name, one in CAPABILITIES.items()}

"""Lists: pages, selectors, resource versions."""
from .common import PODS, names, pod, status_is, test
from simlib import at


@test()
def json_list(s):
    for ns, name in (("b", "x"), ("a", "z"), ("a", "y"), ("a-b", "w")):
        s.post(f"/api/v1/namespaces/{ns}/pods", pod(name))
    everything = s.get("/api/v1/pods")
    assert everything["kind"] == "PodList" and names(everything) == ["w", "y", "z", "x"], names(everything)
    assert "kind" not in everything["items"][0] and everything["items"][0]["metadata"]["namespace"] == "a-b"
    assert names(s.get("/api/v1/namespaces/a/pods")) == ["y", "z"]
    s.post("/apis/example.com/v1/namespaces/a/fleets", {"metadata": {"name": "f"}, "spec": {}})
    assert s.get("/apis/example.com/v1/fleets")["items"][0]["kind"] == "Fleet", "custom resources keep their kind in lists"
    assert names(s.get("/api/v1/namespaces")) == ["default", "kube-node-lease", "kube-public", "kube-system"]
    assert s.get("/apis/apps/v1/deployments")["items"] == []


@test()
def selectors(s):
    s.post(PODS, pod("a", labels={"app": "x", "t": "1"}))
    s.post(PODS, pod("b", "node-2", labels={"app": "y"}))
    s.patch(PODS + "/b/status", {"status": {"phase": "Failed"}})

    def select(**q):
        return names(s.get("/api/v1/pods", **q))
    assert select(labelSelector="app=x") == ["a"] and select(labelSelector="app!=x") == ["b"]
    assert select(labelSelector="app in (x,y),!t") == ["b"] and select(labelSelector="t") == ["a"]
    assert select(labelSelector="app notin (x)") == ["b"]
    assert select(fieldSelector="status.phase=Failed") == ["b"] and select(fieldSelector="spec.nodeName=node-1") == ["a"]
    assert select(fieldSelector="metadata.name=a,metadata.namespace=default") == ["a"]
    assert select(fieldSelector="status.phase!=Failed", labelSelector="app") == ["a"]
    status_is(s.get("/api/v1/pods", 400, labelSelector="a in"), 400, "BadRequest", "unable to parse requirement")
    status_is(s.get("/api/v1/pods", 400, fieldSelector="spec.x=1"), 400, "BadRequest", "field label not supported: spec.x")


@test()
def pages(s):
    for i in range(7):
        s.post(PODS, pod(f"p{i}"))
    one = s.get("/api/v1/pods", limit=3)
    assert names(one) == ["p0", "p1", "p2"] and one["metadata"]["remainingItemCount"] == 4
    s.delete(PODS + "/p3", {"gracePeriodSeconds": 0})
    s.post(PODS, pod("p4a"))
    two = s.get("/api/v1/pods", limit=3, **{"continue": one["metadata"]["continue"]})
    assert names(two) == ["p3", "p4", "p5"], "a list is consistent over its pages"
    assert two["metadata"]["resourceVersion"] == one["metadata"]["resourceVersion"]
    three = s.get("/api/v1/pods", limit=3, **{"continue": two["metadata"]["continue"]})
    assert names(three) == ["p6"] and "continue" not in three["metadata"]
    selected = s.get("/api/v1/pods", limit=1, labelSelector="!x")
    assert "remainingItemCount" not in selected["metadata"] and selected["metadata"]["continue"]
    assert len(names(s.get("/api/v1/pods", limit=1, resourceVersion=0))) == 7, "a list at 0 does not page"
    status_is(s.get("/api/v1/pods", 400, **{"continue": "xx"}), 400, "BadRequest", "continue key is not valid")
    status_is(s.get("/api/v1/pods", 400, resourceVersion=5, **{"continue": one["metadata"]["continue"]}), 400, "BadRequest")
    s.admin("compact")
    late = s.get("/api/v1/pods", 410, limit=3, **{"continue": one["metadata"]["continue"]})
    status_is(late, 410, "Expired", "The provided continue parameter is too old")
    rest = s.get("/api/v1/pods", **{"continue": late["metadata"]["continue"]})
    assert names(rest) == ["p4", "p4a", "p5", "p6"]


@test()
def resource_versions_of_lists(s):
    s.post(PODS, pod("a"))
    rv = int(s.get(PODS)["metadata"]["resourceVersion"])
    s.post(PODS, pod("b"))
    assert names(s.get("/api/v1/pods", resourceVersion=rv, resourceVersionMatch="Exact")) == ["a"]
    assert names(s.get("/api/v1/pods", resourceVersion=rv, limit=9)) == ["a"], "with a limit it is the very version"
    assert names(s.get("/api/v1/pods", resourceVersion=rv)) == ["a", "b"]
    assert names(s.get("/api/v1/pods", resourceVersion=rv, resourceVersionMatch="NotOlderThan", limit=9)) == ["a", "b"]
    late = s.get("/api/v1/pods", 504, resourceVersion=rv + 100)
    status_is(late, 504, "Timeout", f"Too large resource version: {rv + 100}, current: {rv + 1}")
    assert late["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge" and late["details"]["retryAfterSeconds"] == 1
    status_is(s.get("/api/v1/pods", 422, resourceVersionMatch="Exact"), 422, "Invalid")
    status_is(s.get("/api/v1/pods", 422, resourceVersion=0, resourceVersionMatch="Exact"), 422, "Invalid")
    status_is(s.get("/api/v1/pods", 422, sendInitialEvents="true"), 422, "Invalid", "forbidden for list")
    status_is(s.get("/api/v1/pods", 400, resourceVersion="x"), 400, "BadRequest")
    s.admin("compact")
    status_is(s.get("/api/v1/pods", 410, resourceVersion=rv, resourceVersionMatch="Exact"), 410, "Expired")

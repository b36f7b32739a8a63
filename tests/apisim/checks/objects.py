"""Create, read, update, patch."""
import json
import random

from .common import DEPLOYMENTS, PODS, pod, status_is, test
from simlib import JSON_PATCH, MERGE, PROTOBUF, Watch, at, envelope, every, fields


@test()
def create_get_update_delete(s):
    a = s.post(PODS, pod("a", labels={"app": "x"}))
    assert a["kind"] == "Pod" and a["apiVersion"] == "v1" and a["metadata"]["namespace"] == "default"
    assert len(a["metadata"]["uid"]) == 36 and a["metadata"]["uid"][14] == "4" and a["metadata"]["creationTimestamp"].endswith("Z")
    assert a["status"]["phase"] == "Pending" and a["spec"]["terminationGracePeriodSeconds"] == 30
    status_is(s.post(PODS, pod("a"), 409), 409, "AlreadyExists", 'pods "a" already exists')
    b = s.post(PODS, {"metadata": {"generateName": "b-"}, "spec": {"containers": []}})
    assert b["metadata"]["name"].startswith("b-") and len(b["metadata"]["name"]) == 7
    assert s.get(PODS + "/a") == a
    rv = int(a["metadata"]["resourceVersion"])
    assert int(b["metadata"]["resourceVersion"]) == rv + 1
    changed = s.call("PUT", PODS + "/a", {**a, "metadata": {**a["metadata"], "labels": {"app": "y"}}})
    assert changed["metadata"]["labels"] == {"app": "y"} and int(changed["metadata"]["resourceVersion"]) == rv + 2
    status_is(s.call("PUT", PODS + "/a", a, 409), 409, "Conflict", "the object has been modified; please apply your changes")
    same = s.patch(PODS + "/a", {"metadata": {"labels": {"app": "y"}}})
    assert same == changed, "a change that is none moves nothing"
    status_is(s.get(PODS + "/zz", 404), 404, "NotFound", 'pods "zz" not found')
    assert s.get(PODS + "/zz", 404)["details"] == {"name": "zz", "kind": "pods"}
    status_is(s.delete(DEPLOYMENTS + "/zz", expect=404), 404, "NotFound", 'deployments.apps "zz" not found')
    gone = s.delete(PODS + "/" + b["metadata"]["name"])
    assert gone["metadata"]["uid"] == b["metadata"]["uid"]
    s.get(PODS + "/" + b["metadata"]["name"], 404)


@test()
def what_a_create_refuses(s):
    status_is(s.post(PODS, {"metadata": {}, "spec": {}}, 422), 422, "Invalid", "name or generateName is required")
    status_is(s.post(PODS, {"spec": {}}, 400), 400, "BadRequest", "no metadata")
    status_is(s.post(PODS, pod("a", namespace="other"), 400), 400, "BadRequest", "does not match the namespace")
    assert s.post(PODS, pod("a", resourceVersion="3"), 500)["message"] == "resourceVersion should not be set on objects to be created"
    status_is(s.post(PODS, pod("A_b"), 422), 422, "Invalid", 'metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain')
    status_is(s.post(PODS, "{", 400), 400, "BadRequest")
    status_is(s.post(PODS, "[1]", 400), 400, "BadRequest")
    for method, path in (("POST", "/api/v1/pods"), ("POST", PODS + "/a"), ("PUT", PODS), ("PATCH", PODS), ("DELETE", PODS)):
        status_is(s.call(method, path, pod("a"), 405), 405, "MethodNotAllowed", "does not allow this method")
    status_is(s.post(PODS, b"k8s\x00", 415, type=PROTOBUF), 415, "UnsupportedMediaType")
    big = s.raw(f"POST {PODS} HTTP/1.1\r\nHost: x\r\nContent-Length: {(3 << 20) + 1}\r\n\r\n".encode(), enough=lambda out: b"\r\n\r\n" in out)
    assert big.startswith(b"HTTP/1.1 413 "), big


@test()
def patches(s):
    a = s.post(PODS, pod("a"))
    p = s.patch(PODS + "/a", {"metadata": {"annotations": {"k": "v", "l": "w"}}})
    p = s.patch(PODS + "/a", {"metadata": {"annotations": {"k": None}}})
    assert p["metadata"]["annotations"] == {"l": "w"}
    p = s.patch(PODS + "/a", [{"op": "add", "path": "/metadata/labels", "value": {"x": "1"}},
                              {"op": "test", "path": "/metadata/uid", "value": a["metadata"]["uid"]}], type=JSON_PATCH)
    assert p["metadata"]["labels"] == {"x": "1"}
    failed = s.patch(PODS + "/a", [{"op": "test", "path": "/metadata/uid", "value": "no"}], 422, type=JSON_PATCH)
    status_is(failed, 422, "Invalid", "the server rejected our request due to an error in our request")
    status_is(s.patch(PODS + "/a", {}, 400, type=JSON_PATCH), 400, "BadRequest")
    status_is(s.patch(PODS + "/a", {}, 415, type="text/plain"), 415, "UnsupportedMediaType", MERGE)
    status_is(s.patch(PODS + "/a", {"metadata": {"uid": "no"}}, 422), 422, "Invalid", "field is immutable")
    status_is(s.patch(PODS + "/a", {"metadata": {"resourceVersion": "1"}}, 409), 409, "Conflict", "object has been modified")
    status_is(s.patch(PODS + "/b", {}, 404), 404, "NotFound")
    s.patch(PODS + "/a", {"spec": {"priority": 5}}, dryRun="All")
    assert s.get(PODS + "/a")["spec"]["priority"] == 0
    before = s.get(PODS + "/a")["metadata"]
    p = s.patch(PODS + "/a", {"spec": {"priority": 6}, "status": {"phase": "Failed"}, "metadata": {"name": "z"}})
    assert p["status"]["phase"] == "Pending" and p["metadata"]["name"] == "a", "what the main resource does not write"
    assert p["metadata"]["generation"] == before["generation"] + 1
    p = s.patch(PODS + "/a", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}, "metadata": {"labels": {}}},
                type="application/strategic-merge-patch+json", expect=200)
    w = {"metadata": {"name": "w"}, "spec": {"size": 1}}
    s.post("/apis/example.com/v1/namespaces/default/widgets", w)
    s.patch("/apis/example.com/v1/namespaces/default/widgets/w", {}, 415, type="application/strategic-merge-patch+json")


@test()
def status_subresource(s):
    s.post(PODS, pod("a"))
    p = s.patch(PODS + "/a/status", {"status": {"phase": "Failed", "reason": "Evicted"}, "spec": {"priority": 9}})
    assert p["status"]["phase"] == "Failed" and p["status"]["reason"] == "Evicted" and p["spec"]["priority"] == 0
    assert s.get(PODS + "/a/status") == p
    p["status"] = {"phase": "Running"}
    p = s.call("PUT", PODS + "/a/status", p)
    assert p["status"] == {"phase": "Running"}
    s.patch(PODS + "/a/status", {"status": {"phase": "Failed"}, "metadata": {"resourceVersion": "1"}}, 409)
    d = s.post(DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": {}, "status": {"replicas": 3}})
    assert d["status"] == {} and d["spec"]["replicas"] == 1
    n = s.post("/api/v1/nodes", {"metadata": {"name": "n"}, "status": {"capacity": {"pods": "1"}}})
    assert n["status"]["capacity"] == {"pods": "1"} and "namespace" not in n["metadata"]
    s.get("/apis/batch/v1/namespaces/default/jobs/x/scale", 404)
    s.get("/api/v1/namespaces/default/configmaps/x/status", 404)


ODD = (None, True, 0, -1, 1e300, "", "x", "a" * 3000, [], {}, [None], {"a": None}, [[[]]], "\u0000", "2026-01-01", [{"name": 1}])


def mutate(dice, value):
    """The value with one part, somewhere in it, made odd."""
    if dice.random() < 0.25 or not isinstance(value, (dict, list)) or not value:
        return dice.choice(ODD)
    copy = value.copy()
    key = dice.choice(list(copy)) if isinstance(copy, dict) else dice.randrange(len(copy))
    copy[key] = mutate(dice, copy[key])
    return copy


@test()
def odd_bodies(s):
    """Whatever is sent is answered, and the server and its lists stay whole."""
    dice = random.Random(7)
    good = s.post(PODS, pod("base", labels={"a": "b"}, ownerReferences=[{"kind": "K", "name": "n", "uid": "u"}], finalizers=["f"]))
    w = Watch(s, "/api/v1/pods", protobuf=True, timeoutSeconds=30)
    bodies = [good, pod("base"), {"preconditions": {"uid": "u"}, "gracePeriodSeconds": 3, "dryRun": ["All"]},
              [{"op": "add", "path": "/metadata/labels/x", "value": "y"}], {"metadata": {"labels": {"k": "v"}}, "status": {"phase": "x"}}]
    for i in range(600):
        method = dice.choice(("POST", "PUT", "PATCH", "PATCH", "DELETE"))
        path = PODS if method == "POST" else f"{PODS}/base{dice.choice(('', '/status'))}"
        kind = dice.choice((MERGE, JSON_PATCH, "application/strategic-merge-patch+json"))
        body = mutate(dice, dice.choice(bodies))
        code, _, raw = s.request(method, path, json.dumps(body), type=kind)
        odd = code == 500 and b"resourceVersion should not be set" in raw      # as the real one has it
        assert odd or code in (200, 201, 400, 404, 405, 409, 415, 422), (code, method, path, body, raw)
        json.loads(raw)
        if s.request("GET", PODS + "/base")[0] == 404:
            s.request("POST", PODS, pod("base", finalizers=["f"]))
    listed = s.get("/api/v1/pods")["items"]
    _, raw = envelope(s.request("GET", "/api/v1/pods", accept=PROTOBUF)[2])
    assert [at(i, 1, 1).decode() for i in every(fields(raw), 2)] == [i["metadata"]["name"] for i in listed]
    s.admin("close-watches")
    assert all(e[1] == "Pod" for e in w.rest())

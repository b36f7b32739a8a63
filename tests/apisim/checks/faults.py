"""Scripted faults and hooks."""
import json
import time

from .common import PODS, pod, status_is, test
from simlib import PROTOBUF, Watch, at, envelope


@test()
def faults(s):
    s.post(PODS, pod("a"))
    s.admin("faults", [{"verb": "get", "resource": "pods", "name": "a", "after": 1, "count": 2, "status": 429, "reason": "TooManyRequests",
                        "message": "slow down", "retryAfter": "1"}])
    s.get(PODS + "/a")
    code, headers, body = s.request("GET", PODS + "/a")
    assert code == 429 and headers["Retry-After"] == "1"
    status_is(json.loads(body), 429, "TooManyRequests", "slow down")
    s.get(PODS + "/a", 429)
    s.get(PODS + "/a")
    assert s.admin("faults", method="GET")[0]["hits"] == 2
    s.admin("faults", method="DELETE")
    s.admin("faults", {"verb": "*", "resource": "pods", "count": -1, "status": 503, "bodyText": "<html>", "contentType": "text/html"})
    code, headers, body = s.request("DELETE", PODS + "/a")
    assert (code, headers["Content-Type"], body) == (503, "text/html", b"<html>")
    s.get(PODS + "/a/status")
    s.get("/api/v1/nodes")
    s.admin("faults", method="DELETE")
    s.admin("faults", [{"verb": "get", "resource": "pods", "subresource": "status", "status": 500}, {"path": "/apis", "status": 503}])
    s.get(PODS + "/a")
    s.get(PODS + "/a/status", 500)
    s.get("/apis", 503)
    s.admin("faults", [{"verb": "get", "nonsense": 1}], expect=400)
    s.admin("faults", "[", expect=400)
    code, _, body = s.request("GET", PODS + "/a", accept=PROTOBUF)
    s.admin("faults", {"verb": "list", "resource": "pods", "status": 500, "message": "m"})
    code, headers, body = s.request("GET", PODS, accept=PROTOBUF)
    kind, raw = envelope(body)
    assert code == 500 and kind == "Status" and at(raw, 3) == b"m"


@test()
def faults_of_the_connection(s):
    import http.client
    s.post(PODS, pod("a"))

    def broken(rule, *more):
        s.admin("faults", method="DELETE")
        s.admin("faults", {"verb": "get", "resource": "pods", **rule})
        try:
            return s.request("GET", PODS + "/a", *more)
        except (http.client.HTTPException, OSError) as e:
            return e
    assert isinstance(broken({"cutAfterBytes": 0}), http.client.IncompleteRead)
    cut = broken({"cutAfterBytes": 50})
    assert isinstance(cut, http.client.IncompleteRead) and len(cut.partial) == 50
    assert isinstance(broken({"dropResponse": True}), http.client.RemoteDisconnected)
    assert isinstance(broken({"wrongLength": True}), http.client.IncompleteRead)
    assert isinstance(broken({"headerBytes": 1 << 20}), http.client.LineTooLong)
    code, _, body = broken({"garbage": True})
    assert code == 200 and len(body) == 4096 and not body.startswith(b"{")
    code, headers, _ = broken({"status": 301, "bodyText": "", "headers": {"Location": "http://127.0.0.1:1/"}})
    assert code == 301 and headers["Location"] == "http://127.0.0.1:1/"
    start = time.monotonic()
    assert broken({"bytesPerSecond": 1000})[0] == 200 and time.monotonic() - start > 0.9
    start = time.monotonic()
    assert broken({"delayAnswerMs": 300})[0] == 200 and time.monotonic() - start >= 0.3
    start = time.monotonic()
    assert broken({"delayMs": 300})[0] == 200 and time.monotonic() - start >= 0.3
    s.admin("faults", method="DELETE")
    s.admin("faults", {"verb": "list", "resource": "pods", "hang": True})
    raw = s.raw(b"GET /api/v1/pods HTTP/1.1\r\nHost: x\r\n\r\n", timeout=0.5)
    assert raw == b"", raw
    assert s.request("GET", "/api/v1/pods")[0] == 200
    s.admin("faults", {"verb": "watch", "resource": "pods", "cutAfterBytes": 10})
    w = Watch(s, "/api/v1/pods")
    try:
        w.rest()
        raise AssertionError("the stream ended as if nothing were wrong")
    except (http.client.HTTPException, ValueError, OSError):
        pass
    s.admin("faults", {"verb": "delete", "resource": "pods", "dropResponse": True})
    try:
        s.request("DELETE", PODS + "/a")
    except (http.client.HTTPException, OSError):
        pass
    assert s.get(PODS + "/a")["metadata"]["deletionTimestamp"], "the write was made although its answer was lost"


@test()
def hooks(s):
    s.post(PODS, pod("a"))
    s.admin("hook", {"on": "get", "resource": "pods", "name": "a",
                     "do": [{"method": "PATCH", "path": PODS + "/a/status", "body": {"status": {"phase": "Running"}}}]})
    seen = s.get(PODS + "/a")
    assert seen["status"]["phase"] == "Pending", "the answer is from before"
    now = s.get(PODS + "/a")
    assert now["status"]["phase"] == "Running" and now["metadata"]["resourceVersion"] != seen["metadata"]["resourceVersion"]
    uid = now["metadata"]["uid"]
    s.admin("hook", {"on": "delete", "resource": "pods", "name": "a", "before": True,
                     "do": [{"method": "DELETE", "path": PODS + "/a", "body": {"gracePeriodSeconds": 0}},
                            {"method": "POST", "path": PODS, "body": pod("a")}]})
    status_is(s.delete(PODS + "/a", {"preconditions": {"uid": uid}}, 409), 409, "Conflict", "deleted and then recreated")
    assert s.get(PODS + "/a")["metadata"]["uid"] != uid
    assert [h["runs"] for h in s.admin("hook", method="GET")] == [1, 1]
    s.admin("hook", {"on": "get"}, expect=400)
    assert len([e for e in s.log() if e.get("internal")]) == 3
    s.admin("hook", method="DELETE")
    assert s.admin("hook", method="GET") == []

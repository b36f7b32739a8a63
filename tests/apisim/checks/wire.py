"""Discovery, content negotiation, protobuf."""
from .common import PODS, pod, status_is, test
from simlib import PROTOBUF, Watch, at, envelope, every, fields, first


@test()
def discovery(s):
    assert s.get("/api")["versions"] == ["v1"]
    groups = {g["name"]: g["preferredVersion"]["groupVersion"] for g in s.get("/apis")["groups"]}
    assert groups["apps"] == "apps/v1" and groups["argoproj.io"] == "argoproj.io/v1alpha1" and "" not in groups
    rows = {r["name"]: r for r in s.get("/apis/apps/v1")["resources"]}
    assert rows["deployments/scale"]["kind"] == "Scale" and rows["deployments"]["namespaced"] is True
    assert rows["deployments/scale"]["group"] == "autoscaling" and "daemonsets/scale" not in rows
    core = {r["name"]: r for r in s.get("/api/v1")["resources"]}
    assert core["nodes"]["namespaced"] is False and "watch" in core["pods"]["verbs"] and core["pods"]["singularName"] == "pod"
    custom = {r["name"] for r in s.get("/apis/example.com/v1")["resources"]}
    assert "fleets/scale" in custom and "widgets/scale" not in custom
    assert s.get("/apis/apps")["kind"] == "APIGroup"
    assert s.get("/version")["gitVersion"].startswith("v1.")
    for path in ("/readyz", "/livez", "/healthz"):
        assert s.request("GET", path)[2] == b"ok"
    assert s.request("GET", "/apis/nothing/v1")[::2] == (404, b"404 page not found\n")
    status_is(s.get("/api/v1/gadgets", 404), 404, "NotFound")
    status_is(s.get("/api/v1/namespaces/default/nodes", 404), 404, "NotFound")
    assert s.request("GET", "/nothing")[0] == 404


@test()
def negotiation(s):
    s.post(PODS, pod("a"))

    def kind(accept, path=PODS):
        code, headers, _ = s.request("GET", path, accept=accept)
        return code, headers["Content-Type"]
    assert kind(PROTOBUF + ",application/json") == (200, PROTOBUF)
    assert kind("application/json," + PROTOBUF) == (200, "application/json")
    assert kind("application/json;q=0.5," + PROTOBUF + ";q=0.9") == (200, PROTOBUF)
    assert kind("application/json;as=Table;v=v1;g=meta.k8s.io,application/json") == (200, "application/json")
    assert kind("*/*")[1] == "application/json" and kind("")[1] == "application/json"
    assert kind(PROTOBUF + ",application/json", "/api/v1/nodes") == (200, "application/json")
    assert kind(PROTOBUF, "/api/v1/nodes") == (406, "application/json")
    assert kind("text/html")[0] == 406
    code, headers, body = s.request("GET", PODS + "/zz", accept=PROTOBUF)
    k, raw = envelope(body)
    assert code == 404 and k == "Status" and headers["Content-Type"] == PROTOBUF and at(raw, 6) == 404 and at(raw, 4) == b"NotFound"


@test()
def protobuf_of_a_pod(s):
    p = s.post(PODS, pod("a", labels={"b": "2", "a": "1"}, annotations={"k": "v"}, finalizers=["f"]))
    s.patch(PODS + "/a/status", {"status": {
        "phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z"}],
        "containerStatuses": [{"name": "c", "ready": False, "restartCount": 300, "image": "i", "imageID": "",
                               "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "m"}},
                               "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}]}})
    kind, raw = envelope(s.request("GET", PODS + "/a", accept=PROTOBUF)[2])
    assert kind == "Pod" and [n for n, _ in fields(raw)] == [1, 2, 3]
    meta = fields(first(fields(raw), 1))
    assert first(meta, 1) == b"a" and first(meta, 3) == b"default" and first(meta, 5).decode() == p["metadata"]["uid"]
    assert [n for n, _ in meta] == sorted(n for n, _ in meta) and (2, b"") in meta and (4, b"") in meta
    assert [(at(m, 1), at(m, 2)) for m in every(meta, 11)] == [(b"a", b"1"), (b"b", b"2")]
    assert first(meta, 14) == b"f" and first(meta, 9) is None and at(first(meta, 8), 1) > 1.7e9
    spec, status = first(fields(raw), 2), first(fields(raw), 3)
    assert at(spec, 10) == b"node-1" and at(spec, 2, 1) == b"c" and at(spec, 4) == 30
    assert at(status, 1) == b"Running" and at(status, 2, 1) == b"Ready" and at(status, 2, 4, 1) == 1767323045
    box = at(status, 8)
    assert at(box, 2, 1, 1) == b"CrashLoopBackOff" and at(box, 5) == 300 and at(box, 4) == 0 and at(box, 3, 3, 1) == 1
    assert s.request("DELETE", PODS + "/a", accept=PROTOBUF)[2][:4] == b"k8s\x00"


@test()
def protobuf_list(s):
    for name in "abc":
        s.post(PODS, pod(name))
    code, headers, body = s.request("GET", "/api/v1/pods", accept=PROTOBUF)
    kind, raw = envelope(body)
    assert code == 200 and headers["Content-Type"] == PROTOBUF and int(headers["Content-Length"]) == len(body)
    assert kind == "PodList" and [n for n, _ in fields(raw)] == [1, 2, 2, 2]
    meta = fields(first(fields(raw), 1))
    assert first(meta, 1) == b"" and first(meta, 2).decode() == s.get("/api/v1/pods")["metadata"]["resourceVersion"]
    assert first(meta, 3) == b"" and first(meta, 4) is None
    assert [at(i, 1, 1) for i in every(fields(raw), 2)] == [b"a", b"b", b"c"]
    single = envelope(s.request("GET", PODS + "/b", accept=PROTOBUF)[2])[1]
    assert every(fields(raw), 2)[1] == single, "an item of a list is the bare object"
    kind, raw = envelope(s.request("GET", "/api/v1/pods", accept=PROTOBUF, limit=1)[2])
    assert at(raw, 1, 3) and at(raw, 1, 4) == 2
    empty = envelope(s.request("GET", "/api/v1/namespaces/none/pods", accept=PROTOBUF)[2])[1]
    assert [n for n, _ in fields(empty)] == [1]


@test("--bookmark-period", 100)
def protobuf_watch(s):
    s.post(PODS, pod("a"))
    w = Watch(s, "/api/v1/pods", protobuf=True, sendInitialEvents="true", resourceVersionMatch="NotOlderThan",
              allowWatchBookmarks="true")
    assert w.answer.headers["Content-Type"] == PROTOBUF + ";stream=watch"
    kind, object_kind, raw = w.next()
    assert (kind, object_kind, at(raw, 1, 1)) == ("ADDED", "Pod", b"a")
    kind, object_kind, raw = w.next()
    assert (kind, object_kind) == ("BOOKMARK", "Pod") and at(raw, 1, 12, 1) == b"k8s.io/initial-events-end"
    assert at(raw, 1, 12, 2) == b"true" and at(raw, 1, 6).decode() == s.get(PODS)["metadata"]["resourceVersion"]
    s.patch(PODS + "/a/status", {"status": {"phase": "Failed"}})
    s.delete(PODS + "/a")
    seen = []
    while seen[-3:] != ["MODIFIED", "MODIFIED", "DELETED"]:
        event = w.next()
        if event[0] != "BOOKMARK":
            seen.append(event[0])
    assert w.next()[0] == "BOOKMARK"
    s.admin("close-watches?error=410")
    last = w.rest()[-1]
    assert last[:2] == ("ERROR", "Status") and at(last[2], 4) == b"Expired" and at(last[2], 6) == 410

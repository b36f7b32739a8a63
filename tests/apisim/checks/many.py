"""Filled servers."""
import json
import threading

from .common import names, test
from simlib import PROTOBUF, Watch, at, envelope, every, fields


FILL = ("--fill", 2000, "--fill-seed", 3, "--namespaces", 4, "--nodes", 7, "--fill-evicted", 11, "--fill-terminating", 12,
        "--fill-crashloop", 13, "--fill-pullfail", 2)


@test(*FILL)
def filled_pods(s):
    items = s.get("/api/v1/pods")["items"]
    assert len(items) == 2000 and len({i["metadata"]["uid"] for i in items}) == 2000
    _, raw = envelope(s.request("GET", "/api/v1/pods", accept=PROTOBUF)[2])
    encoded = every(fields(raw), 2)
    for item, data in zip(items, encoded):
        assert at(data, 1, 5).decode() == item["metadata"]["uid"] and at(data, 1, 6).decode() == item["metadata"]["resourceVersion"]
        assert at(data, 2, 10).decode() == item["spec"]["nodeName"] and at(data, 3, 1).decode() == item["status"]["phase"]
    size = sum(map(len, encoded)) / len(encoded)
    assert 7000 < size < 10000, size
    evicted = [i for i in items if i["status"].get("reason") == "Evicted"]
    terminating = [i for i in items if i["metadata"].get("deletionTimestamp")]
    assert len(evicted) == 11 and len(terminating) == 12
    assert names(s.get("/api/v1/pods", fieldSelector="status.phase=Failed")) == [i["metadata"]["name"] for i in evicted]
    app = items[0]["metadata"]["labels"]["app"]
    assert len(names(s.get("/api/v1/pods", labelSelector="app=" + app))) == len([i for i in items if i["metadata"]["labels"]["app"] == app])
    nodes = {n["metadata"]["name"] for n in s.get("/api/v1/nodes")["items"]}
    assert len(nodes) == 8
    missing = [i for i in terminating if i["spec"]["nodeName"] not in nodes]
    assert 0 < len(missing) < 12 and all(i["spec"]["nodeName"] in nodes for i in items if i not in terminating)
    waiting = [i["status"]["containerStatuses"][0]["state"].get("waiting", {}).get("reason") for i in items]
    assert waiting.count("CrashLoopBackOff") == 13 and 6 <= waiting.count("ImagePullBackOff") <= 20
    owner = items[0]["metadata"]["ownerReferences"][0]
    ns = items[0]["metadata"]["namespace"]
    rs = s.get(f"/apis/apps/v1/namespaces/{ns}/replicasets/{owner['name']}")
    assert rs["metadata"]["uid"] == owner["uid"]
    top = rs["metadata"]["ownerReferences"][0]
    deployment = s.get(f"/apis/apps/v1/namespaces/{ns}/deployments/{top['name']}")
    assert deployment["metadata"]["uid"] == top["uid"] and s.get(
        f"/apis/apps/v1/namespaces/{ns}/deployments/{top['name']}/scale")["spec"]["replicas"] == deployment["spec"]["replicas"]


@test(*FILL)
def filled_pods_change_like_others(s):
    items = s.get("/api/v1/pods")["items"]
    rv = s.get("/api/v1/pods", limit=1)["metadata"]["resourceVersion"]
    a, b = [i for i in items if i["status"]["phase"] == "Running" and not i["metadata"].get("deletionTimestamp")][:2]

    def path(i):
        return f"/api/v1/namespaces/{i['metadata']['namespace']}/pods/{i['metadata']['name']}"
    got = s.get(path(a))
    assert {k: got[k] for k in ("metadata", "spec", "status")} == {k: a[k] for k in ("metadata", "spec", "status")}
    s.patch(path(a) + "/status", {"status": {"phase": "Failed", "reason": "Evicted"}})
    _, raw = envelope(s.request("GET", path(a), accept=PROTOBUF)[2])
    assert at(raw, 3, 1) == b"Failed" and at(raw, 3, 4) == b"Evicted" and at(raw, 1, 1).decode() == a["metadata"]["name"]
    s.delete(path(a), {"preconditions": {"uid": a["metadata"]["uid"]}})
    s.get(path(a), 404)
    assert s.delete(path(b))["metadata"]["deletionGracePeriodSeconds"] == 30
    w = Watch(s, "/api/v1/pods", protobuf=True, resourceVersion=rv)
    assert [e[0] for e in w.take(4)] == ["MODIFIED", "MODIFIED", "DELETED", "MODIFIED"]
    s.admin("storm", {"pods": 100, "ratePerSecond": 2000, "seconds": 0.25})
    seen = [at(w.next()[2], 1, 6) for _ in range(500)]
    assert [int(x) for x in seen] == sorted(int(x) for x in seen)
    top = s.get("/apis/apps/v1/deployments", limit=1)["items"][0]["metadata"]
    base = f"/apis/apps/v1/namespaces/{top['namespace']}/deployments/{top['name']}"
    assert s.patch(base + "/scale", {"metadata": {"uid": top["uid"]}, "spec": {"replicas": 0}})["spec"] == {}
    assert s.get(base)["spec"]["replicas"] == 0 and s.delete(base)["status"] == "Success"


@test("--fill", 4000)
def many_readers_at_once(s):
    results = []

    def read(accept):
        code, _, body = s.request("GET", "/api/v1/pods", accept=accept)
        results.append((accept, code, len(every(fields(envelope(body)[1]), 2)) if accept == PROTOBUF else len(json.loads(body)["items"])))
    threads = [threading.Thread(target=read, args=(a,)) for a in (PROTOBUF, "application/json") * 3]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 6 and all(code == 200 and n == 4000 for _, code, n in results), results

"""Deletion as the real server does it."""
import time

from .common import DEPLOYMENTS, PODS, pod, status_is, test
from simlib import JSON_PATCH, Watch


@test()
def graceful_deletion(s):
    s.post(PODS, pod("a"))
    w = Watch(s, PODS, resourceVersion=s.get(PODS)["metadata"]["resourceVersion"])
    now = time.time()
    d = s.delete(PODS + "/a", {"gracePeriodSeconds": 40})
    stamp = time.mktime(time.strptime(d["metadata"]["deletionTimestamp"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
    assert d["metadata"]["deletionGracePeriodSeconds"] == 40 and abs(stamp - now - 40) < 3, d["metadata"]
    again = s.delete(PODS + "/a")
    assert again == d and s.delete(PODS + "/a", {"gracePeriodSeconds": 50}) == d, "only shorter"
    shorter = s.delete(PODS + "/a", {"gracePeriodSeconds": 10})
    assert shorter["metadata"]["deletionGracePeriodSeconds"] == 10
    gone = s.delete(PODS + "/a", {"gracePeriodSeconds": 0})
    assert gone["metadata"]["deletionGracePeriodSeconds"] == 0 and gone["kind"] == "Pod"
    s.get(PODS + "/a", 404)
    events = w.take(4)
    assert [e["type"] for e in events] == ["MODIFIED"] * 3 + ["DELETED"], events
    versions = [int(e["object"]["metadata"]["resourceVersion"]) for e in events]
    assert versions == list(range(versions[0], versions[0] + 4)), versions
    w.close()


@test()
def force_deletion_is_two_events(s):
    s.post(PODS, pod("a"))
    rv = s.get(PODS)["metadata"]["resourceVersion"]
    s.delete(PODS + "/a", {"gracePeriodSeconds": 0})
    modified, deleted = Watch(s, "/api/v1/pods", resourceVersion=rv).take(2)
    assert modified["type"] == "MODIFIED" and modified["object"]["metadata"]["deletionGracePeriodSeconds"] == 0
    assert modified["object"]["metadata"]["deletionTimestamp"] and deleted["type"] == "DELETED"
    assert int(deleted["object"]["metadata"]["resourceVersion"]) == int(modified["object"]["metadata"]["resourceVersion"]) + 1


@test()
def pods_that_go_at_once(s):
    for name, node, phase in (("failed", "n", "Failed"), ("done", "n", "Succeeded"), ("unbound", None, None)):
        s.post(PODS, pod(name, node))
        if phase:
            s.patch(f"{PODS}/{name}/status", {"status": {"phase": phase}})
        d = s.delete(f"{PODS}/{name}", {"gracePeriodSeconds": 30})
        assert d["metadata"]["deletionGracePeriodSeconds"] == 0
        s.get(f"{PODS}/{name}", 404)
    s.post(PODS, pod("stays"))
    assert s.delete(PODS + "/stays")["metadata"]["deletionGracePeriodSeconds"] == 30
    s.get(PODS + "/stays")
    s.post(PODS, pod("negative"))
    assert s.delete(PODS + "/negative", {"gracePeriodSeconds": -5})["metadata"]["deletionGracePeriodSeconds"] == 1
    s.post(PODS, pod("query"))
    assert s.delete(PODS + "/query", gracePeriodSeconds=7)["metadata"]["deletionGracePeriodSeconds"] == 7


@test()
def finalizers_hold(s):
    s.post(PODS, pod("a", finalizers=["x.io/y"]))
    d = s.delete(PODS + "/a", {"gracePeriodSeconds": 0})
    assert d["metadata"]["deletionTimestamp"] and s.get(PODS + "/a")["metadata"]["finalizers"] == ["x.io/y"]
    s.delete(PODS + "/a", {"gracePeriodSeconds": 0})
    s.get(PODS + "/a")
    rv = s.get(PODS)["metadata"]["resourceVersion"]
    s.patch(PODS + "/a", {"metadata": {"finalizers": None}})
    s.get(PODS + "/a", 404)
    assert Watch(s, PODS, resourceVersion=rv).next()["type"] == "DELETED"
    s.post(DEPLOYMENTS, {"metadata": {"name": "d", "finalizers": ["f"]}, "spec": {}})
    assert s.delete(DEPLOYMENTS + "/d")["metadata"]["deletionTimestamp"]
    s.patch(DEPLOYMENTS + "/d", [{"op": "remove", "path": "/metadata/finalizers"}], type=JSON_PATCH)
    s.get(DEPLOYMENTS + "/d", 404)
    s.post(DEPLOYMENTS, {"metadata": {"name": "e"}, "spec": {}})
    answer = s.delete(DEPLOYMENTS + "/e")
    assert answer["kind"] == "Status" and answer["status"] == "Success" and answer["details"]["name"] == "e", answer


@test()
def preconditions_and_dry_run(s):
    a = s.post(PODS, pod("a"))["metadata"]
    answer = s.delete(PODS + "/a", {"preconditions": {"uid": "u"}}, 409)
    status_is(answer, 409, "Conflict", f"the UID in the precondition (u) does not match the UID in record ({a['uid']})",
              "The object might have been deleted and then recreated")
    answer = s.delete(PODS + "/a", {"preconditions": {"uid": a["uid"], "resourceVersion": "1"}}, 409)
    status_is(answer, 409, "Conflict", f"the ResourceVersion in the precondition (1) does not match the ResourceVersion "
              f"in record ({a['resourceVersion']}). The object might have been modified")
    s.delete(PODS + "/a", {"preconditions": {"uid": "u"}, "dryRun": ["All"]}, 409)
    good = {"preconditions": {"uid": a["uid"], "resourceVersion": a["resourceVersion"]}, "gracePeriodSeconds": 0}
    d = s.delete(PODS + "/a", {**good, "dryRun": ["All"]})
    assert d["metadata"]["uid"] == a["uid"]
    s.delete(PODS + "/a", good, dryRun="All")
    assert s.get(PODS + "/a")["metadata"] == a, "a dry run changes nothing"
    status_is(s.delete(PODS + "/a", {**good, "dryRun": ["Some"]}, 422), 422, "Invalid")
    s.post(PODS, pod("b"), dryRun="All")
    s.get(PODS + "/b", 404)
    s.delete(PODS + "/a", good)
    s.get(PODS + "/a", 404)

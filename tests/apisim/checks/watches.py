"""Watches."""
import http.client
import json
import time

from .common import PODS, pod, status_is, test, until
from simlib import Watch, at


@test()
def watch_follows(s):
    rv = s.get(PODS)["metadata"]["resourceVersion"]
    w = Watch(s, "/api/v1/pods", resourceVersion=rv)
    other = Watch(s, "/api/v1/namespaces/other/pods", resourceVersion=rv)
    s.post(PODS, pod("a"))
    s.post("/api/v1/nodes", {"metadata": {"name": "n"}})
    s.patch(PODS + "/a/status", {"status": {"phase": "Running"}})
    s.post("/api/v1/namespaces/other/pods", pod("o"))
    s.delete(PODS + "/a", {"gracePeriodSeconds": 0})
    assert [(e["type"], e["object"]["metadata"]["name"]) for e in w.take(5)] == [
        ("ADDED", "a"), ("MODIFIED", "a"), ("ADDED", "o"), ("MODIFIED", "a"), ("DELETED", "a")]
    e = other.next()
    assert e["type"] == "ADDED" and e["object"]["kind"] == "Pod" and e["object"]["metadata"]["name"] == "o"
    replay = Watch(s, "/api/v1/pods", resourceVersion=rv, timeoutSeconds=1)
    start = time.time()
    assert len(replay.rest()) == 5 and time.time() - start < 15, "the stream ends at its timeout"
    assert s.admin("stats", method="GET")["watches"] == 2


@test()
def watch_with_selectors(s):
    w = Watch(s, "/api/v1/pods", resourceVersion=s.get(PODS)["metadata"]["resourceVersion"], fieldSelector="status.phase=Failed")
    s.post(PODS, pod("a"))
    s.patch(PODS + "/a/status", {"status": {"phase": "Failed"}})
    s.patch(PODS + "/a/status", {"status": {"reason": "x"}})
    last = s.patch(PODS + "/a/status", {"status": {"phase": "Running"}})
    s.patch(PODS + "/a/status", {"status": {"phase": "Failed"}})
    events = w.take(4)
    assert [e["type"] for e in events] == ["ADDED", "MODIFIED", "DELETED", "ADDED"]
    assert events[2]["object"]["status"]["phase"] == "Failed", "what leaves is shown as it was"
    assert events[2]["object"]["metadata"]["resourceVersion"] == last["metadata"]["resourceVersion"]


@test("--bookmark-period", 50)
def watch_list(s):
    for name in "ab":
        s.post(PODS, pod(name))
    q = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    w = Watch(s, "/api/v1/pods", **q)
    events = w.take(3)
    assert [e["type"] for e in events] == ["ADDED", "ADDED", "BOOKMARK"]
    assert events[2]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    s.post(PODS, pod("c"))
    events = w.take(4)
    assert "ADDED" in [e["type"] for e in events] and "BOOKMARK" in [e["type"] for e in events]
    assert all("annotations" not in e["object"]["metadata"] for e in events if e["type"] == "BOOKMARK")
    promoted = Watch(s, "/api/v1/pods", allowWatchBookmarks="true").take(4)
    assert [e["type"] for e in promoted] == ["ADDED"] * 3 + ["BOOKMARK"] and promoted[3]["object"]["metadata"]["annotations"]
    late = Watch(s, "/api/v1/pods", resourceVersion=10 ** 6, **q)
    assert late.status == 504
    assert Watch(s, "/api/v1/pods", sendInitialEvents="true").status == 422
    assert Watch(s, "/api/v1/pods", resourceVersionMatch="NotOlderThan").status == 422
    assert Watch(s, "/api/v1/pods", resourceVersion="x").status == 500


@test("--no-watchlist")
def no_watch_list(s):
    code, _, body = s.request("GET", "/api/v1/pods", watch="true", sendInitialEvents="true", resourceVersionMatch="NotOlderThan",
                              allowWatchBookmarks="true")
    assert code == 422
    status_is(json.loads(body), 422, "Invalid", "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
    s.post(PODS, pod("a"))
    w = Watch(s, "/api/v1/pods", allowWatchBookmarks="true", timeoutSeconds=1)
    assert [e["type"] for e in w.rest()] == ["ADDED"], "no bookmark is promised"


@test("--history", 100, "--watch-backlog", 20)
def old_versions_are_gone(s):
    rv = int(s.get(PODS)["metadata"]["resourceVersion"])
    for i in range(130):
        s.post("/api/v1/namespaces/default/configmaps", {"metadata": {"name": f"c{i}"}})
    w = Watch(s, "/api/v1/pods", resourceVersion=rv)
    assert w.status == 200
    events = w.rest()
    assert len(events) == 1 and events[0]["type"] == "ERROR"
    status_is(events[0]["object"], 410, "Expired", f"too old resource version: {rv} (")
    s.admin("compact")
    now = s.get(PODS)["metadata"]["resourceVersion"]
    s.post(PODS, pod("a"))
    assert Watch(s, "/api/v1/pods", resourceVersion=now).next()["type"] == "ADDED"
    kind, object_kind, raw = Watch(s, "/api/v1/pods", protobuf=True, resourceVersion=rv).next()
    assert (kind, object_kind, at(raw, 4), at(raw, 6)) == ("ERROR", "Status", b"Expired", 410)


@test("--history", 8, "--watch-backlog", 3)
def behind_is_no_backlog(s):
    """What a watch begins with may be more than it may lag behind later: it is told, not cut off for ever."""
    rv = s.get(PODS)["metadata"]["resourceVersion"]
    for i in range(5):
        s.post(PODS, pod(f"p{i}"))
    w = Watch(s, "/api/v1/pods", resourceVersion=rv)
    assert [e["object"]["metadata"]["name"] for e in w.take(5)] == [f"p{i}" for i in range(5)]
    s.post(PODS, pod("later"))
    assert w.next()["object"]["metadata"]["name"] == "later"


@test()
def events_again_and_old_bookmarks(s):
    rv = s.get(PODS)["metadata"]["resourceVersion"]
    w = Watch(s, "/api/v1/pods", resourceVersion=rv, allowWatchBookmarks="true")
    for name in "abc":
        s.post(PODS, pod(name))
    first = w.take(3)
    s.admin("repeat-events?count=2")
    assert w.take(2) == first[1:]
    s.admin("bookmarks?count=1&behind=2")
    old = w.next()
    assert old["type"] == "BOOKMARK" and old["object"]["metadata"]["resourceVersion"] == first[0]["object"]["metadata"]["resourceVersion"]
    s.admin("compact")
    s.admin("repeat-events?count=2")
    s.post(PODS, pod("d"))
    assert w.next()["object"]["metadata"]["name"] == "d", "what is forgotten is not told again"


@test("--fill", 3000, "--watch-backlog", 500)
def slow_watchers_are_cut(s):
    rv = s.get(PODS)["metadata"]["resourceVersion"]
    slow = Watch(s, "/api/v1/pods", timeout=20, resourceVersion=rv)
    made = 0
    while made <= 5000:     # a busy machine needs more than one for them
        s.admin("storm", {"pods": 3000, "ratePerSecond": 40000, "seconds": 0.5})
        until(lambda: not s.admin("stats", method="GET")["stormRunning"], 20)
        made = s.admin("stats", method="GET")["stormUpdates"]
    got = len(slow.rest())
    assert 0 < got < made, (got, made)


@test()
def watches_closed_and_paused(s):
    rv = s.get(PODS)["metadata"]["resourceVersion"]
    w = Watch(s, "/api/v1/pods", resourceVersion=rv)
    s.admin("close-watches")
    assert w.rest() == []
    w = Watch(s, "/api/v1/pods", resourceVersion=rv)
    s.admin("close-watches?error=500")
    status_is(w.rest()[0]["object"], 500, "InternalError")
    w = Watch(s, "/api/v1/pods", resourceVersion=rv)
    s.admin("pause-watches?ms=700")
    start = time.time()
    s.post(PODS, pod("a"))
    assert w.next()["type"] == "ADDED" and time.time() - start > 0.5
    w = Watch(s, "/api/v1/pods", resourceVersion=rv, allowWatchBookmarks="true")
    w.next()
    s.admin("bookmarks?count=1000")
    assert {e["type"] for e in w.take(1000)} == {"BOOKMARK"}
    s.admin("close-connections")
    try:
        assert w.next() is None
    except (OSError, ValueError, http.client.HTTPException):
        pass
    until(lambda: s.admin("stats", method="GET")["watches"] == 0, 20)


@test()
def giant_event(s):
    w = Watch(s, "/api/v1/pods", protobuf=True, resourceVersion=s.get(PODS)["metadata"]["resourceVersion"])
    s.admin("giant-event?bytes=30000000")
    assert int.from_bytes(w.answer.read(4), "big") == 30000000 and len(w.answer.read(30000000)) == 30000000

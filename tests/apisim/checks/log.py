"""The request log and the clock."""
import time

from .common import PODS, pod, test
from simlib import Watch


@test("--log-answers")
def request_log(s):
    a = s.post(PODS, pod("a"))["metadata"]
    s.patch(PODS + "/a/status", {"status": {"phase": "Failed", "reason": "Evicted",
                                            "conditions": [{"type": "Ready", "status": "False"}]}})
    rv = s.get(PODS + "/a")["metadata"]["resourceVersion"]
    s.delete(PODS + "/a", {"preconditions": {"uid": a["uid"], "resourceVersion": rv}, "gracePeriodSeconds": 0, "dryRun": ["All"]})
    s.delete(PODS + "/a", {"preconditions": {"uid": a["uid"], "resourceVersion": rv}, "gracePeriodSeconds": 0}, fieldManager="m")
    s.delete(PODS + "/a", expect=404)
    s.post(PODS, pod("big", annotations={"x": "y" * 5000}))
    w = Watch(s, "/api/v1/pods", timeoutSeconds=1)
    w.rest()
    log = s.log()
    create, patch, get, dry, delete, missing, big, start, end = log
    assert create["verb"] == "create" and create["name"] == "a" and create["objectUid"] == a["uid"] and create["status"] == 201
    assert create["objectRvAfter"] == a["resourceVersion"] and create["body"]["metadata"]["name"] == "a"
    assert (patch["verb"], patch["resource"], patch["subresource"], patch["namespace"]) == ("patch", "pods", "status", "default")
    assert patch["objectRvBefore"] == a["resourceVersion"] and patch["objectRvAfter"] == rv and patch["answer"]["status"]["phase"] == "Failed"
    assert get["verb"] == "get" and get["status"] == 200 and "body" not in get and get["agent"] == "selftest" and get["user"] == "admin"
    assert get["objectUid"] == a["uid"]
    assert dry["dryRun"] is True and dry["objectRvBefore"] == dry["objectRvAfter"] == rv
    assert delete["dryRun"] is False and delete["query"] == "fieldManager=m" and delete["gracePeriodSeconds"] == 0
    assert delete["preconditions"] == {"uid": a["uid"], "resourceVersion": rv}
    assert delete["objectBefore"]["phase"] == "Failed" and delete["objectBefore"]["reason"] == "Evicted"
    assert delete["objectBefore"]["ready"] == "False" and int(delete["objectRvAfter"]) == int(rv) + 2
    assert missing["status"] == 404 and missing["objectUid"] is None
    assert big["bodyTruncated"] is True and "body" not in big
    assert (start["verb"], start["stage"], end["stage"]) == ("watch", "start", "end") and end["tsEnd"] - end["ts"] > 0.9
    assert abs(create["ts"] - time.time()) < 60 and create["ts"] <= create["tsEnd"]


@test("--clock-skew", "-600")
def clock_skew(s):
    from email.utils import parsedate_to_datetime
    _, headers, _ = s.request("GET", "/readyz")
    assert abs(parsedate_to_datetime(headers["Date"]).timestamp() - time.time() + 600) < 5
    stamp = s.post(PODS, pod("a"))["metadata"]["creationTimestamp"]
    assert abs(time.mktime(time.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ")) - time.timezone - time.time() + 600) < 5
    s.admin("clock-skew?seconds=0")
    assert abs(parsedate_to_datetime(s.request("GET", "/readyz")[1]["Date"]).timestamp() - time.time()) < 5


@test()
def log_of_odd_requests(s):
    out = s.raw(b"GET /api/v1/pods/%ff%00x?a=%ff\x80 HTTP/1.1\r\nUser-Agent: \xfe\r\nConnection: close\r\n\r\n")
    assert out.startswith(b"HTTP/1.1 404 "), out
    line, = s.log()
    assert line["status"] == 404 and line["verb"] == "get" and line["agent"] == "?", line

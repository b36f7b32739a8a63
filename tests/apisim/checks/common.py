"""What the tests of apisim share: the list of them, and a few objects."""
import time

TESTS = []
PODS = "/api/v1/namespaces/default/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
TOKENS = ("--token", "t-admin=admin", "--token", "t-clean=cleaner:delete/pods:patch,update/deployments/scale:list/pods@secret",
          "--token", "t-ns=one:+get,list,watch/pods@only-here")


def test(*flags, tls=False, token=None):
    """A test gets a server of its own with these flags."""
    def mark(run):
        TESTS.append((run, flags, tls, token))
        return run
    return mark


def pod(name, node="node-1", **meta):
    spec = {"containers": [{"name": "c", "image": "i"}]}
    if node:
        spec["nodeName"] = node
    return {"metadata": {"name": name, **meta}, "spec": spec}


def status_is(answer, code, reason, *parts):
    assert answer["kind"] == "Status" and answer["status"] == "Failure", answer
    assert (answer["code"], answer["reason"]) == (code, reason), answer
    for part in parts:
        assert part in answer["message"], (part, answer["message"])


def workload(s, path, name="w", spec=None):
    return s.post(path, {"metadata": {"name": name}, "spec": spec or {
        "replicas": 3, "selector": {"matchLabels": {"app": "w"}}}})


def names(answer):
    return [i["metadata"]["name"] for i in answer["items"]]


def until(check, seconds):
    deadline = time.time() + seconds
    while not check():
        assert time.time() < deadline, "that took too long"
        time.sleep(0.05)

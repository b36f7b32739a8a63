"""Trouble on the way to the API server."""
import threading
import time

from harness.proxy import DROP, Answer
from harness.scenario import scenario

ALL_PODS = "^/api/v1/pods$"
PAGE = Answer(200, b"<html><body>please log in</body></html>", kind="text/html")


def exact(pod):
    return f"/pods/{pod['metadata']['name']}$"


@scenario("wire/connections-cut")
def cut(t):
    """All connections are cut again and again: the watch comes back, nothing is lost or doubled."""
    ns, proxy = t.ns(), t.proxy()
    t.run(proxy, evicted=ns)
    pods = []
    for _ in range(8):
        pods.append(t.objects.evict(t.objects.pod(ns)))
        time.sleep(0.15)
        proxy.cut()
    t.until("an end of all", lambda: all(was_deleted(t, p) or was_given_up(t, p) for p in pods), 20)
    t.expect_success(deleted=[p for p in pods if was_deleted(t, p)])


def was_deleted(t, pod):
    return any(r.ok for r in t.writes_on(pod))


def was_given_up(t, pod):
    """A real server gives up a DELETE whose client has left (504), maybe after it marked the pod. Nobody has to ask again then."""
    if not any(r.code == 504 for r in t.writes_on(pod)):
        return False
    now = t.objects.get(pod)
    return not now or now["metadata"].get("deletionGracePeriodSeconds") == 0


@scenario("wire/election", timeout=60)
def election(t):
    """Everything but the watches fails for 10 s, as while etcd elects a leader: nothing is given up, and all goes soon after."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    pods = [t.objects.pod(ns) for _ in range(5)]
    ill = threading.Event()
    ill.set()
    for method in ("GET", "DELETE"):
        proxy.before(method, f"/namespaces/{ns}/pods/", lambda _: Answer(503, reason="ServiceUnavailable") if ill.is_set() else None, times=100000)
    for pod in pods:
        t.objects.evict(pod)
    t.until("failures", lambda: program.history("--outcome", "failed"), 10)
    time.sleep(10)
    assert not t.writes_on(pods[0])
    ill.clear()
    for pod in pods:
        t.wait_write(pod, timeout=20)
    t.expect_success(deleted=pods)


@scenario("wire/answer-lost")
def answer_lost(t):
    """The server deleted the pod, its answer never came: the worker looks again and sends no second DELETE."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    pod = t.objects.pod(ns)
    proxy.after("DELETE", exact(pod), lambda _: DROP)
    t.objects.evict(pod)
    t.wait_write(pod)
    t.until("its end in the history", lambda: [r for r in program.history() if r["uid"] == pod["metadata"]["uid"]
                                               and r["outcome"] in ("done", "gone", "unconfirmed")], 10)
    gone = t.canary(ns)
    t.expect(deleted=[pod, gone])


@scenario("wire/nobody-heard")
def nobody_heard(t):
    """The server deleted the pod; neither the answer nor the look after it nor the watch got through. While the next attempt is open
    the watch comes back: the history says done as soon as that attempt has ended."""
    ns, proxy, back = t.ns(), t.proxy(), threading.Event()
    program = t.run(proxy, evicted=ns)
    pod = t.objects.pod(ns)

    def blind(_):
        proxy.before("GET", ALL_PODS, lambda _: back.wait(60) and None, times=10**6)
        proxy.cut(ALL_PODS)

    def lose(_):
        proxy.before("GET", exact(pod), lambda _: DROP)
        proxy.before("GET", exact(pod), lambda _: back.set() or time.sleep(3))
        return DROP

    proxy.before("DELETE", exact(pod), blind)
    proxy.after("DELETE", exact(pod), lose)
    t.objects.evict(pod)
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="unconfirmed")
    assert back.wait(30), "there was no second attempt"
    row = t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done")
    assert row["settledAt"], row
    t.expect(deleted=[pod, t.canary(ns)])


@scenario("wire/server-errors")
def errors(t):
    """500, 503, 429 with Retry-After and a lost request before the write: tried again, deleted once."""
    ns, proxy = t.ns(), t.proxy()
    t.run(proxy, evicted=ns)
    answers = [Answer(500, reason="InternalError"), Answer(503, reason="ServiceUnavailable"), DROP,
               Answer(429, reason="TooManyRequests", headers=("Retry-After: 1",))]
    pods = []
    for answer in answers:
        pod = t.objects.pod(ns)
        proxy.before("DELETE", exact(pod), lambda _, answer=answer: answer)
        pods.append(t.objects.evict(pod))
    for pod in pods:
        t.wait_write(pod, 20)
    t.expect(deleted=pods)


@scenario("wire/retry-after")
def retry_after(t):
    """A 429 with Retry-After is honoured."""
    ns, proxy = t.ns(), t.proxy()
    t.run(proxy, evicted=ns)
    pod = t.objects.pod(ns)
    asked = []
    proxy.before("DELETE", exact(pod), lambda _: asked.append(time.time()) or Answer(
        429, reason="TooManyRequests", headers=("Retry-After: 2",)))
    t.objects.evict(pod)
    request = t.wait_write(pod, 20)
    assert request.t - asked[0] >= 1.9, f"came back after {request.t - asked[0]:.2f} s"
    t.expect(deleted=[pod])


@scenario("wire/page-instead-of-a-pod")
def page(t):
    """A login page with status 200 where a pod should be: no write on it, then the real answer counts."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    pod = t.objects.pod(ns)
    hook = proxy.before("GET", exact(pod), lambda _: PAGE, times=2)
    t.objects.evict(pod)
    assert hook.ran.wait(10)
    t.wait_write(pod, 20)
    t.expect(deleted=[pod])
    assert program.is_ready()


@scenario("wire/watch-expired")
def expired(t):
    """410 on the watch: listed again; what changed meanwhile is acted on."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    lists = program.status()["clusters"][0]["lists"]
    hook = proxy.before("GET", ALL_PODS, lambda _: Answer(410, reason="Expired"), times=1)
    proxy.cut()
    assert hook.ran.wait(10), "it did not come back"
    gone = t.canary(ns, 20)
    t.expect(deleted=[gone])
    t.until("another list", lambda: program.status()["clusters"][0]["lists"] > lists, 10)


@scenario("wire/absent-at-start", timeout=90)
def absent(t):
    """The API server cannot be reached when the program starts: it stays up and goes to work when it can."""
    ns, proxy = t.ns(), t.proxy()
    hook = proxy.before("GET", r".*", lambda _: DROP, times=10**6)
    program = t.program(t.config(evicted=ns), t.kubeconfig(proxy=proxy), start=False)
    program.start(wait=False)
    pod = t.objects.evict(t.objects.pod(ns))
    t.until("it tries", lambda: hook.calls > 2, 15)
    time.sleep(2)
    assert program.process.poll() is None, f"it ended with {program.process.returncode}"
    assert hook.calls < 60, f"{hook.calls} tries in 2 s"
    assert not program.is_ready()
    hook.times = 0
    t.wait_write(pod, 40)
    t.expect(deleted=[pod])

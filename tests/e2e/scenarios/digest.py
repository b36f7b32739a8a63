"""Duty tooManyRestart: the report to a chat, which a local server plays."""
import re
import time

from harness.objects import terminated, waiting
from harness.proxy import Answer
from harness.scenario import scenario
from harness.sink import TOKEN

TITLE = "pod重启次数过多"
SCHEDULE = "*/2 * * * * *"


def config(t, sink, ns, counts=2, hours="0s", schedule=SCHEDULE, **more):
    return t.config(restarts={"namespaces": ns, "hours": hours, "status": "CrashLoopBackOff,Error,Completed,RunContainerError",
                              "counts": counts, "duration": schedule, "msgtitle": TITLE, "apiurl": sink.url, **more})


def run_of(post):
    """Which run a message is of: restarts rise between two of them, else there is nothing to report."""
    found = re.search(r"RESTARTS (\d+)", post.text)
    assert found, f"no run in: {post.text[:200]}"
    return int(found.group(1))


def crashing(t, ns, restarts=7, **how):
    pod = t.objects.pod(ns)
    return t.objects.crash(pod, restarts, **how)


class Crasher:
    """A pod that goes on restarting: once a second, as long as somebody waits for something."""
    def __init__(self, t, ns):
        self.t, self.restarts, self.last = t, 7, time.time()
        self.pod = t.objects.crash(t.objects.pod(ns), self.restarts)

    def until(self, what, condition, timeout):
        def look():
            if time.time() - self.last >= 1:
                self.restarts, self.last = self.restarts + 1, time.time()
                self.t.objects.crash(self.pod, self.restarts)
            return condition()
        return self.t.until(what, look, timeout)


def accepted(t, sink, n=1, timeout=12, crasher=None):
    (crasher or t).until(f"{n} accepted messages", lambda: len(sink.accepted) >= n, timeout)
    return sink.accepted


@scenario("digest/posts")
def posts(t):
    """What restarts too often, grouped by workload, worst first; and nothing that is below a threshold."""
    ns, other, sink = t.ns(), t.ns(), t.sink()
    worst, middle = t.objects.workload("ReplicaSet", ns, 2), t.objects.workload("StatefulSet", ns, 1)
    for pod in worst.pods():
        t.objects.crash(pod, 40)
    for pod in middle.pods():
        t.objects.crash(pod, 12)
    bare = crashing(t, ns, 5)
    out = [crashing(t, ns, 4), crashing(t, other, 50), t.objects.run(t.objects.pod(ns), restarts=60),
           crashing(t, ns, 60, reason="ContainerCreating")]
    t.program(config(t, sink, ns, counts=5))
    text = accepted(t, sink)[0].text
    assert TITLE in text, text
    order = [text.find(name) for name in (worst.name, middle.name, bare["metadata"]["name"])]
    assert -1 not in order and order == sorted(order), f"{order} in {text}"
    for pod in out:
        assert pod["metadata"]["name"] not in text, f"{pod['metadata']['name']} in {text}"
    assert "RESTARTS 80" in text, text
    t.expect()


@scenario("digest/nothing-to-say")
def nothing(t):
    """No message when nothing restarts too often."""
    ns, sink = t.ns(), t.sink()
    crashing(t, ns, 1)
    t.program(config(t, sink, ns, counts=5))
    time.sleep(5)
    assert not sink.posts, sink.posts[0].text
    crashing(t, ns, 9)
    accepted(t, sink)


@scenario("digest/hours")
def hours(t):
    """Pods younger than `hours` are left out until they are old enough."""
    ns, sink = t.ns(), t.sink()
    t.program(config(t, sink, ns, hours="6s"))
    begin = time.time()
    crasher = Crasher(t, ns)    # what restarted before anybody looked is in no window
    first = accepted(t, sink, crasher=crasher)[0]
    assert crasher.pod["metadata"]["name"] in first.text
    assert first.t - begin >= 4.5, f"reported {first.t - begin:.1f} s after its creation"


@scenario("digest/signed")
def signed(t):
    """With `secret` every message is signed as the bot demands."""
    ns, sink = t.ns(), t.sink(secret="demo-secret")
    crashing(t, ns)
    t.program(config(t, sink, ns, secret="demo-secret"))
    accepted(t, sink)
    assert all(p.accepted for p in sink.posts), [p.answered for p in sink.posts]


@scenario("digest/once-a-run")
def once(t):
    """One message for each run of the schedule, each run once."""
    ns, sink = t.ns(), t.sink()
    crasher = Crasher(t, ns)
    t.program(config(t, sink, ns))
    runs = [run_of(p) for p in accepted(t, sink, 4, 30, crasher)]
    assert len(set(runs)) == len(runs), runs


def refused_then_accepted(t, script, same_run):
    ns, sink = t.ns(), t.sink(*script)
    crasher = Crasher(t, ns)
    program = t.program(config(t, sink, ns, schedule="*/5 * * * * *"))
    first = accepted(t, sink, 1, 40, crasher)[0]
    posts = list(sink.posts)
    runs = [run_of(p) for p in (posts[:posts.index(first) + 1] if same_run else posts)]     # the next run may have come meanwhile
    if same_run:
        assert len(set(runs)) == 1, f"the refused message was not tried again: {runs}"
    else:
        assert len(set(runs)) == len(runs), f"sent again although it was {script[0]}: {runs}"
    good = [run_of(p) for p in sink.accepted]
    assert len(set(good)) == len(good), good
    assert sink.url not in program.log() and TOKEN not in program.log(), "the address is in the log"


for _name, _script, _same, _doc in (
        ("code-not-zero", [19024], True, "HTTP 200 with code 19024 is a refusal by the bot, not of the message: tried again"),
        ("rate-limited", [11232], True, "code 11232 is tried again later"),
        ("server-error", ["500"], True, "a 500 is tried again"),
        ("too-many-requests", ["429"], True, "a 429 is tried again after Retry-After"),
        ("no-answer", ["drop"], False, "a connection cut after the message was sent is in doubt: not sent again"),
        ("html", ["html"], True, "a page instead of an answer is not success, and the message waits"),
        ("not-found", ["404"], True, "a 404 is tried again: somebody may correct the address")):
    def _make(script, same):
        return lambda t: refused_then_accepted(t, script, same)
    _fn = _make(_script, _same)
    _fn.__doc__ = _doc + "."
    scenario(f"digest/{_name}")(_fn)


@scenario("digest/slow")
def slow(t):
    """A slow answer holds nothing up: duties go on, no run is sent twice."""
    ns, sink = t.ns(), t.sink(("slow", 8), ("slow", 3))
    crasher = Crasher(t, ns)
    both = config(t, sink, ns)
    both.update(t.config(evicted=ns))
    t.program(both)
    crasher.until("the first message", lambda: sink.posts, 10)
    gone = t.canary(ns)
    assert not sink.accepted, "the duty waited for the answer"
    accepted(t, sink, 2, 30, crasher)
    runs = [run_of(p) for p in sink.posts]
    assert len(set(runs)) == len(runs), runs
    t.expect(deleted=[gone])


@scenario("digest/many", timeout=90)
def many(t):
    """More than one message can hold: it is one, within what the bot takes, with the worst first and a count of the rest."""
    ns, sink = t.ns(), t.sink()
    names = []
    for i in range(120):
        name = f"shop-{i:03d}-" + "x" * 40
        t.objects.crash(t.objects.pod(ns, name), 5 + i)
        names.append(name)
    t.program(config(t, sink, ns, schedule="*/10 * * * * *"))
    post = accepted(t, sink, 1, 30)[0]
    assert len(post.raw) <= 20 * 1024, len(post.raw)
    shown = [n for n in names if n in post.text]
    assert shown and shown == names[-len(shown):], f"not the worst: {shown}"
    left = re.findall(r"… 另有 (\d+) 项", post.text)
    assert len(left) == 1 and len(shown) + int(left[0]) == len(names), (len(shown), post.text[-300:])
    time.sleep(1)
    assert len(sink.posts) == 1, "a run in two messages"


@scenario("digest/crash", timeout=120)
def crash(t):
    """SIGKILL of everything at every moment around a message: no run is delivered twice."""
    ns, sink = t.ns(), t.sink()
    crasher = Crasher(t, ns)
    program = t.program(config(t, sink, ns))
    for moment in ("on-arrival", "on-arrival", "after", "after", "random", "random"):
        n = len(sink.posts)
        if moment == "on-arrival":
            # not one that was started meanwhile
            sink.on_post = lambda _, victim=program.process: program.process is victim and program.kill_all()
        crasher.until("a message", lambda: len(sink.posts) > n, 20)
        sink.on_post = None
        if moment == "random":
            time.sleep(0.7)
        if program.process.poll() is None:
            program.kill_all()
        program.start()
    accepted(t, sink, len(sink.accepted) + 2, 30, crasher)
    runs = [run_of(p) for p in sink.posts]
    assert len(set(runs)) == len(runs), f"a run was sent twice: {runs}"


@scenario("digest/reporter-crash", timeout=90)
def reporter_crash(t):
    """The same when only the reporter is killed."""
    ns, sink = t.ns(), t.sink()
    crasher = Crasher(t, ns)
    program = t.program(config(t, sink, ns))
    for _ in range(3):
        n = len(sink.posts)
        sink.on_post = lambda _: program.kill("reporter")
        crasher.until("a message", lambda: len(sink.posts) > n, 20)
        sink.on_post = None
    accepted(t, sink, len(sink.accepted) + 2, 30, crasher)
    runs = [run_of(p) for p in sink.posts]
    assert len(set(runs)) == len(runs), f"a run was sent twice: {runs}"


def oom(t, pod, restarts):
    """Killed for memory, and waiting for the next try."""
    last = terminated("OOMKilled", 137)
    last["terminated"]["message"] = "loading the cache\nallocating 300 MB\n"
    statuses = [{"name": c["name"], "image": c["image"], "imageID": "", "ready": False, "restartCount": restarts,
                 "state": waiting("CrashLoopBackOff", "back-off 5m0s"), "lastState": last} for c in pod["spec"]["containers"]]
    return t.objects.status(pod, phase="Running", startTime=t.objects.stamp(), containerStatuses=statuses)


@scenario("report/rows", timeout=90)
def rows(t):
    """A row names the Deployment, why its container ended, its limit and last words; then what is new, worse and recovered."""
    ns, sink = t.ns(), t.sink()
    web = t.objects.workload("Deployment", ns, 1, memory="256Mi")
    pod, gone = web.pods()[0], crashing(t, ns, 9)
    oom(t, pod, 30)
    t.program(config(t, sink, ns, msgtitle="Restarts"))
    first = accepted(t, sink, 1, 30)[0].text
    assert f"{ns}/{web.name} (Deployment): restarted 30× (" in first and "RESTARTS 30" in first, first
    for words in ("OOMKilled, memory limit 256Mi, exit code 137 (SIGKILL)", "last words: allocating 300 MB", "on node ", "rolled out "):
        assert words in first, f"no {words!r} in {first}"
    oom(t, pod, 37)
    t.objects.force_delete(gone)
    crashing(t, ns, 11)
    seen = t.until("what is new, worse or still, and recovered", lambda: all_sections(sink), 30)
    assert f"{ns}/{web.name} (Deployment): restarted 7× (" in seen and "RESTARTS 37" in seen, seen
    t.expect()


@scenario("report/revisions", timeout=90)
def revisions(t):
    """Rows of StatefulSets and DaemonSets say since when their revision exists, and that they were rolled out in this time. Where that
    may not be read they say all else, and nothing is wrong."""
    ns, proxy, sink = t.ns(), t.proxy(), t.sink()
    kinds = ("StatefulSet", "DaemonSet", "StatefulSet")
    workloads = [t.objects.workload(kind, ns, 1) for kind in kinds]
    for workload in workloads:
        t.objects.crash(workload.pods()[0], 9)
    p = t.program(config(t, sink, ns, schedule="0 0 4 1 1 *"), t.kubeconfig(proxy=proxy))
    names = [f"{ns}/{w.name} ({kind})" for w, kind in zip(workloads, kinds)]

    def report():
        return p.ask("report", timeout=60, check=True, env={"LANG": "C.UTF-8"}).stdout
    text = t.until("all rows", lambda: next((r for r in [report()] if all(name in r for name in names)), None), 30)
    assert text.count(", rolled out ") == 3 and "3 of 3 workloads were rolled out in this time: " in text, text
    assert not any(r.resource == "controllerrevisions" and r.verb != "get" for r in t.requests())
    refused = proxy.before("GET", "/controllerrevisions/", lambda _: Answer(403, reason="Forbidden"), times=1000)
    without = report()
    assert refused.calls == 3 and "rolled out" not in without and all(name in without for name in names), without
    assert "registry.example.com" in without and not p.status()["troubles"], p.status()["troubles"]
    t.expect()


def all_sections(sink):
    text = "\n".join(p.text for p in sink.accepted[1:])
    return text if all(word in text for word in ("New", "Recovered", "restarted 7×")) else None

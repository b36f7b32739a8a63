"""The cache and what can happen to it: restarts, compaction, refusals, streams that break off. Whatever it is, what was evicted before,
during and after it is deleted exactly once."""
import base64
import json
import pathlib
import re
import subprocess
import threading
import urllib.request

from harness.client import ApiError
from harness.objects import pod_path
from harness.port import free_port
from harness.proxy import DROP, Answer
from harness.scenario import scenario
from scenarios.surface import fetch

ALL_PODS = r"^/api/v1/pods$"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
PROTOBUF_WATCH = "application/vnd.kubernetes.protobuf;stream=watch"
CLUSTER = pathlib.Path(__file__).resolve().parents[2] / "cluster"


def shown(program):
    return program.status()["clusters"][0]


def trouble(port):
    return next((line.rsplit(" ", 1)[1] for line in fetch(port, "/metrics")[1].splitlines() if line.startswith("opc_watch_trouble{")), None)


def is_watch(request):
    return "watch=true" in request.target


def every(t, ns, pods):
    """All of them were deleted, and the one evicted now is, too; none twice and nothing else."""
    for pod in pods:
        t.wait_write(pod, 40, code=200)
    t.expect_success(deleted=[*pods, t.canary(ns, 40)])


def every_known(t, ns, pods, program, most):
    """The same where the server went away: it may have carried out a write that its log does not hold or calls failed, or the first
    half of one (a DELETE marks the pod, then removes it; without a kubelet nobody ends what it began), of those that were on their
    way: at most so many. Then the program's history tells of the request, and it is not sent again once the pod is gone."""
    def taken(pod):
        now = t.objects.get(pod)
        return now is None or now["metadata"].get("deletionTimestamp")

    for pod in pods:
        t.until(f"{pod['metadata']['name']} to go", lambda: taken(pod), 60)
    logged = [p for p in pods if any(r.ok for r in t.writes_on(p))]
    lost = {p["metadata"]["uid"] for p in pods} - {p["metadata"]["uid"] for p in logged}
    assert len(lost) <= most, f"more than {most} writes are missing in the server's log: {lost}"

    def unsettled():
        return {r["uid"]: r["outcome"] for r in program.history() if r["target"] and r["uid"] in lost and r["outcome"] != "done"}

    sent = {r["uid"] for r in program.history() if r["target"]}
    assert lost <= sent, f"gone, and nobody says by whom: {lost - sent}"
    gone = all(t.objects.get(p) is None for p in pods)
    assert not gone or t.until("the history to say so", lambda: not unsettled(), 30), unsettled()
    t.expect_success(deleted=[*logged, t.canary(ns, 40)])


# --- the control plane itself ---

def etcd(t, path, **body):
    env = dict(line.split("=", 1) for line in (t.server.dir / "env").read_text().splitlines() if "=" in line)
    request = urllib.request.Request(env["ETCD_URL"] + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=20) as answer:
        return json.load(answer)


def compact(t):
    """Forget every version of everything but the newest, on the disk as well."""
    key = base64.b64encode(b"/").decode()
    revision = etcd(t, "/v3/kv/range", key=key, limit=1)["header"]["revision"]
    etcd(t, "/v3/kv/compaction", revision=revision, physical=True)


class ControllersAnew:
    """A controller that found no server asks again later and later, up to a minute, and long afterwards (client-go's reflector: 30 s
    doubled by jitter, forgotten after two minutes): the next scenario gets some that have not waited."""

    def __init__(self, t):
        self.dir = t.server.dir
        t.closing.append(self)

    def close(self):
        subprocess.run([CLUSTER / "restart", self.dir, "controller-manager"], check=True, capture_output=True, timeout=90)


def restart(t, *args):
    ControllersAnew(t)
    subprocess.run([CLUSTER / "restart", t.server.dir, *args], check=True, capture_output=True, timeout=90)


def evict_when_possible(t, pod):
    """As a kubelet would: again and again until the server takes it."""
    def patched():
        try:
            return t.objects.evict(pod)
        except (ApiError, OSError) as e:
            if isinstance(e, ApiError) and e.code < 429:
                raise
            return None
    return t.until("the eviction to be taken", patched, 60, every=0.1)


@scenario("informer/compaction", servers=("cluster",), alone=True, timeout=240)
def compaction(t):
    """While the watch is away pods come, go and are evicted, etcd is compacted and the API server restarted: 410, and all of it is found."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    lists, gone = shown(program)["lists"], [t.canary(ns)]
    healthy = [t.objects.pod(ns) for _ in range(3)]
    old = t.admin.get("/api/v1/pods", limit=1)["metadata"]["resourceVersion"]
    back = threading.Event()
    away = proxy.before("GET", ALL_PODS, lambda _: back.wait(80) and None)

    def is_away():
        if not away.calls:
            proxy.cut()
        return away.calls > 0

    t.until(f"the watch to be away, of {[str(r) for r in proxy.requests]} open {list(proxy.sockets.values())}", is_away, 60, every=2)
    gone += [t.objects.evict(t.objects.pod(ns)) for _ in range(3)]
    t.objects.force_delete(healthy[0])
    t.objects.force_delete(t.objects.evict(t.objects.pod(ns)))      # gone before it could be seen
    compact(t)
    restart(t, "apiserver")
    code, answer = t.admin.request("GET", "/api/v1/pods", watch="true", resourceVersion=old, timeoutSeconds="1")
    assert code == 410 or '"code":410' in str(answer).replace(" ", "") or answer.get("object", {}).get("code") == 410, \
        f"the server still knows {old}: {code} {answer}"
    back.set()
    every(t, ns, gone)
    assert shown(program)["lists"] > lists, "it was not listed anew"
    assert all(t.objects.get(pod) for pod in healthy[1:])


def disturbed(t, *args):
    """One pod evicted right before the restart, one in it, one after."""
    ns = t.ns()
    program = t.run(evicted=ns)
    during, gone = t.objects.pod(ns), [t.canary(ns)]
    gone.append(t.objects.evict(t.objects.pod(ns)))
    worker = threading.Thread(target=restart, args=(t, *args))
    worker.start()
    gone.append(evict_when_possible(t, during))
    worker.join()
    every_known(t, ns, gone, program, most=1 if "--kill" in args else 2)
    t.until("the program to be ready", program.is_ready, 40)


@scenario("informer/etcd-restart", servers=("cluster",), alone=True, timeout=120)
def etcd_restart(t):
    """etcd goes and comes back under the API server."""
    disturbed(t, "etcd", "--pause", "1")


@scenario("informer/apiserver-restart", servers=("cluster",), alone=True, timeout=120)
def apiserver_restart(t):
    """The API server is killed and comes back."""
    disturbed(t, "apiserver", "--kill", "--pause", "1")


# --- RBAC ---

class Account:
    """A service account; grant() and revoke() what it may do with pods, in one namespace or in all."""
    RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch", "delete"]},
             {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]}]

    def __init__(self, t, ns, wide):
        self.t, self.ns, self.name = t, ns, f"{t.prefix}-cleaner"
        self.kind = "ClusterRole" if wide else "Role"
        self.root = RBAC if wide else f"{RBAC}/namespaces/{ns}"
        accounts = f"/api/v1/namespaces/{ns}/serviceaccounts"
        t.admin.post(accounts, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": self.name}})
        token = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        self.token = t.admin.post(f"{accounts}/{self.name}/token", token)["status"]["token"]
        self.user = f"system:serviceaccount:{ns}:{self.name}"
        self.post(self.kind.lower() + "s", {"kind": self.kind, "rules": self.RULES})
        t.is_mine = lambda request: request.user == self.user

    def post(self, plural, body):
        self.t.admin.post(f"{self.root}/{plural}", {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": self.name}, **body})

    def may(self):
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
            "user": self.user, "resourceAttributes": {"verb": "watch", "resource": "pods", "namespace": self.ns}}}
        return self.t.admin.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]

    def grant(self):
        self.post(self.kind.lower() + "bindings", {
            "kind": self.kind + "Binding", "subjects": [{"kind": "ServiceAccount", "name": self.name, "namespace": self.ns}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": self.kind, "name": self.name}})
        self.t.until("the role to count", self.may, 20)

    def revoke(self):
        self.t.admin.delete(f"{self.root}/{self.kind.lower()}bindings/{self.name}")
        self.t.until("the role to count no more", lambda: not self.may(), 20)


@scenario("informer/rbac-taken-and-given-back", servers=("cluster",), timeout=120)
def rbac_taken(t):
    """RBAC is taken away: status and metrics say so, nothing is done; given back: it goes on by itself, nothing is missed or done twice."""
    ns, proxy, port = t.ns(), t.proxy(), free_port()
    account = Account(t, ns, wide=True)
    account.grant()
    config = t.config(evicted=ns, metricsListen=f"127.0.0.1:{port}")
    program = t.program(config, t.write("kubeconfig-account", t.server.kubeconfig(url=proxy.url, ca=proxy.ca, token=account.token)))
    gone = [t.canary(ns)]
    account.revoke()
    proxy.cut()     # a watch that is open stays open, whatever RBAC says
    t.until("status to say so", lambda: "RBAC" in shown(program)["error"] and "403" in shown(program)["error"], 20)
    t.until("the metrics to say so", lambda: trouble(port) == "1", 20)
    gone.append(t.objects.evict(t.objects.pod(ns)))
    t.never("an act without a right", lambda: t.writes_on(gone[-1]), 2)
    refused = len([r for r in proxy.requests if r.path.endswith("/pods")])
    assert refused < 60, f"{refused} requests in a few seconds"
    account.grant()
    every(t, ns, gone)
    t.until("status to be well again", lambda: not shown(program)["error"] and program.is_ready(), 40)
    t.until("the metrics to be well again", lambda: trouble(port) == "0", 20)


@scenario("informer/rbac-of-one-namespace", servers=("cluster",), timeout=90)
def rbac_of_one_namespace(t):
    """A role in one namespace is all there is: that namespace is watched, through cuts as well; what is evicted elsewhere stays."""
    ns, other, proxy = t.ns(), t.ns(), t.proxy()
    account = Account(t, ns, wide=False)
    account.grant()
    config = t.config(evicted=ns)
    program = t.program(config, t.write("kubeconfig-account", t.server.kubeconfig(url=proxy.url, ca=proxy.ca, token=account.token)))
    elsewhere, gone = t.objects.evict(t.objects.pod(other)), [t.canary(ns)]
    proxy.cut()
    gone.append(t.objects.evict(t.objects.pod(ns)))
    every(t, ns, gone)
    assert t.objects.get(elsewhere)
    assert {r.path for r in proxy.requests if is_watch(r)} >= {pod_path(ns)}, "the namespace was not watched by itself"
    t.until("the program to be ready", program.is_ready, 20)


# --- dialects, and trouble on the way ---

@scenario("informer/watchlist", needs=("watch-list",))
def watchlist(t):
    """Where the server streams lists, nothing is ever listed; the first event follows on the same stream."""
    ns, proxy = t.ns(), t.proxy()
    gone = [t.objects.evict(t.objects.pod(ns))]
    t.run(proxy, evicted=ns)
    every(t, ns, gone)
    asked = [r for r in proxy.requests if r.path == "/api/v1/pods"]
    assert len(asked) == 1 and "sendInitialEvents=true" in asked[0].target and "resourceVersionMatch=NotOlderThan" in asked[0].target, asked


def in_pages(request, size=2):
    """Refuse WatchList, and any version in memory, which is never given in pages; make the pages small."""
    if "sendInitialEvents" in request.target:
        return Answer(422, reason="Invalid")
    if "resourceVersion=0" in request.target:
        return Answer(410, reason="Expired")
    request.head[0] = request.head[0].replace("limit=500", f"limit={size}")
    return None


@scenario("informer/pages")
def pages(t):
    """A server that does not stream lists is asked in pages."""
    ns, proxy = t.ns(), t.proxy()
    proxy.before("GET", ALL_PODS, in_pages, times=10**6)
    healthy = [t.objects.pod(ns) for _ in range(4)]
    gone = [t.objects.evict(t.objects.pod(ns)) for _ in range(3)]
    t.run(proxy, evicted=ns)
    every(t, ns, gone)
    asked = [r for r in proxy.requests if r.path == "/api/v1/pods" and "continue=" in r.target]
    assert len(asked) >= 3, asked
    assert all(t.objects.get(pod) for pod in healthy)


@scenario("informer/expired-between-pages")
def expired_between_pages(t):
    """410 to a page in the middle: the whole list again, and nothing judged on the half that was there."""
    ns, proxy = t.ns(), t.proxy()
    expired = []

    def once(request):
        if "continue=" in request.target and not expired:
            expired.append(request)
            return Answer(410, reason="Expired")
        return in_pages(request)

    proxy.before("GET", ALL_PODS, once, times=10**6)
    gone = [t.objects.evict(t.objects.pod(ns)) for _ in range(5)]
    program = t.run(proxy, evicted=ns)
    every(t, ns, gone)
    assert expired and shown(program)["lists"] >= 2


@scenario("informer/compaction-between-pages", servers=("cluster",), alone=True, timeout=120)
def compaction_between_pages(t):
    """Between two pages etcd is compacted and the API server restarted: its own 410, and the whole list again."""
    ns, proxy = t.ns(), t.proxy()
    gone = [t.objects.evict(t.objects.pod(ns)) for _ in range(5)]
    restarted = []

    def once(request):
        if "continue=" in request.target and not restarted:
            restarted.append(request)
            gone.append(t.objects.evict(t.objects.pod(ns)))
            compact(t)
            restart(t, "apiserver")
        return in_pages(request)

    proxy.before("GET", ALL_PODS, once, times=10**6)
    t.program(t.config(evicted=ns), t.kubeconfig(proxy=proxy), start=False).start(wait=False)
    t.until("the second page to be asked for", lambda: len(gone) > 5, 20)
    every(t, ns, gone)
    refused = [r for r in t.server.log()[t.started:] if t.is_mine(r) and r.code == 410]
    assert refused, "the server answered the page after the compaction"


@scenario("informer/version-ahead", needs=("watch-list",))
def version_ahead(t):
    """The version known is ahead of the server, as after a restored backup: its own "too large resource version", and a list of any."""
    ns, proxy = t.ns(), t.proxy()
    t.run(proxy, evicted=ns)
    gone, ahead = [t.canary(ns)], []

    def raised(request):
        line = re.sub(r"([?&]resourceVersion=)\d+", r"\g<1>999999999999", request.head[0])
        if "sendInitialEvents" in line and line != request.head[0] and not ahead:
            request.head[0] = line
            ahead.append(line)
            gone.append(t.objects.evict(t.objects.pod(ns)))
        return Answer(410, reason="Expired") if not ahead else None

    proxy.before("GET", ALL_PODS, raised, times=10**6)
    proxy.cut()
    t.until("the list from a version ahead", lambda: len(gone) > 1, 20)
    every(t, ns, gone)
    asked = [r.target for r in proxy.requests if "sendInitialEvents" in r.target]
    assert "resourceVersion=" not in asked[-1], f"not any version: {asked}"


@scenario("informer/kubernetes-version")
def kubernetes_version(t):
    """`status` names the version of the server, and says so where it is older or newer than what was tried; it is asked again after a
    trouble of the watch. A server that does not tell it is no trouble."""
    ns, proxy, own = t.ns(), t.proxy(), t.admin.get("/version")["gitVersion"]
    said, busy = [None], [False]
    proxy.before("GET", "^/version$", lambda _: said[0], times=10**6)
    proxy.before("GET", ALL_PODS, lambda _: Answer(503) if busy[0] else None, times=10**6)
    program = t.run(proxy, evicted=ns)

    def known():
        return shown(program)["kubernetes"]

    def upgrade(answer):
        said[0], busy[0] = answer, True
        proxy.cut()
        t.until("the trouble", lambda: shown(program)["error"], 30)
        busy[0] = False

    t.until("the version", lambda: known() == {"version": own, "isTried": "tried"}, 10)
    for version, word, sentence in ((own, "tried", ""), ("v1.19.16+k3s1", "older", ", older than what this program was tried on (1."),
                                    ("v1.99.0-gke.7", "newer", ", newer than what this program was tried on (1.")):
        if version != own:
            upgrade(Answer(200, {"major": "1", "minor": "0", "gitVersion": version}))
            t.until(f"{version} to be known", lambda: known() == {"version": version, "isTried": word}, 60)
        t.until("the end of the trouble", lambda: not program.status()["troubles"], 10)
        lines = program.ask("status", check=True).stdout.splitlines()
        line = f"its API server: Kubernetes {version}{sentence}"
        assert any(x.startswith(line) if sentence else x == line for x in lines), lines
    upgrade(Answer(403, reason="Forbidden"))
    t.until("it to be unknown", lambda: known() is None, 60)
    t.until("the end of the trouble", lambda: not program.status()["troubles"], 10)
    assert "Kubernetes" not in program.ask("status", check=True).stdout
    every(t, ns, [])


@scenario("informer/storm-of-refusals")
def storm(t):
    """429, 500, 503 with Retry-After, lost answers and noise instead of the watch: it comes back, and what happened meanwhile is found."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    gone = [t.canary(ns)]
    answers = [Answer(429, b"Too many requests, please try again later.\n", kind="text/plain", headers=("Retry-After: 1",)),
               Answer(500, reason="InternalError"), DROP, Answer(503, reason="ServiceUnavailable", headers=("Retry-After: 1",)),
               Answer(200, b"\xff" * 300, kind=PROTOBUF_WATCH), Answer(200, b"<html>", kind="text/html")]
    hook = proxy.before("GET", ALL_PODS, lambda _: answers[(hook.calls - 1) % len(answers)], times=len(answers))
    proxy.cut()
    gone.append(t.objects.evict(t.objects.pod(ns)))
    every(t, ns, gone)
    assert hook.calls == len(answers), f"{hook.calls} of {len(answers)} were met"
    t.until("the program to be ready", program.is_ready, 20)


@scenario("informer/watch-ends-at-once")
def ends_at_once(t):
    """The server ends each watch as it begins: no loop, and it goes on when watches last again."""
    ns, proxy = t.ns(), t.proxy()
    t.run(proxy, evicted=ns)
    gone = [t.canary(ns)]
    hook = proxy.before("GET", ALL_PODS, lambda r: Answer(200, b"", kind=PROTOBUF_WATCH) if is_watch(r) else None, times=10**6)
    proxy.cut()
    t.until("the watch to end", lambda: hook.calls, 20)
    gone.append(t.objects.evict(t.objects.pod(ns)))
    t.never("more than 15 requests in 2 s", lambda: hook.calls > 15 and hook.calls, 2)
    hook.times = 0
    every(t, ns, gone)


@scenario("informer/cut-after-bytes")
def cut_after_bytes(t):
    """The way breaks off after 0, 5, 700 bytes of an answer: the next try brings the rest."""
    ns, proxy = t.ns(), t.proxy()
    t.run(proxy, evicted=ns)
    gone = [t.canary(ns)]
    for size in (0, 5, 700):
        proxy.cut_next("GET", ALL_PODS, size)
    proxy.cut()
    gone += [t.objects.evict(t.objects.pod(ns)) for _ in range(3)]
    every(t, ns, gone)


@scenario("informer/large-object")
def large_object(t):
    """A pod about as large as a server stores one, among others."""
    ns = t.ns()
    t.run(evicted=ns)
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "large"}, "spec": t.objects.template()["spec"]}
    body["spec"]["containers"][0]["args"] = ["x" * 1000] * 1200
    large = t.admin.post(pod_path(ns), body)
    every(t, ns, [t.objects.evict(large), t.objects.evict(t.objects.pod(ns))])

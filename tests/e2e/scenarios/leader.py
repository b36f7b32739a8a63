"""Two replicas and one Lease: one acts, the other takes over when it dies or leaves. Two instances without election notice each other."""
import signal
import socket
import time

from harness.proxy import DROP, Answer
from harness.scenario import scenario
from scenarios.tell import GATHER, entries


def replica(t, ns, proxy=None):
    lease = {"enable": True, "namespace": "default", "name": f"{t.prefix}-lease"}
    return t.program(t.config(evicted=ns, leaderElection=lease), t.kubeconfig(proxy=proxy))


def leading(program):
    status = program.status()
    leaders = [c["leader"] for c in status["clusters"]] if status else []
    return bool(leaders) and all(l and l["leading"] for l in leaders)


def done_by(program):
    return [r["name"] for r in program.history() if r["outcome"] == "done"]


@scenario("leader/one-acts-and-the-other-takes-over", timeout=120)
def take_over(t):
    """The leader is killed at once with all its processes: the standby waits for its Lease to run out, then acts; nothing is done twice."""
    ns = t.ns()
    first = replica(t, ns)
    t.until("the first replica to lead", lambda: leading(first), 10)
    second = replica(t, ns)
    assert not leading(second), "two replicas lead"
    one = t.objects.evict(t.objects.pod(ns))
    t.wait_write(one)
    t.until("the row", lambda: done_by(first) == [one["metadata"]["name"]], 5)
    assert not second.history("--refusals"), "the standby wrote something down: " + str(second.history("--refusals"))

    first.kill_all()
    killed = time.monotonic()
    two = t.objects.evict(t.objects.pod(ns))
    t.wait_write(two, timeout=40)
    waited = time.monotonic() - killed
    assert waited > 4, f"the standby acted {waited:.1f} s after its leader died: the Lease was not respected"
    assert leading(second)
    t.until("its row", lambda: done_by(second) == [two["metadata"]["name"]], 5)

    first.start()
    assert not leading(first), "two replicas lead"
    assert second.stop() == 0
    left = time.monotonic()
    three = t.objects.evict(t.objects.pod(ns))
    t.wait_write(three, timeout=30)
    assert time.monotonic() - left < 12, "the Lease was not given back"
    t.expect(deleted=[one, two, three])


@scenario("leader/cut-off-from-its-lease", timeout=120)
def cut_off(t):
    """A leader that cannot renew stops before another can begin, and stays up as a standby."""
    ns = t.ns()
    proxy = t.proxy()
    first = replica(t, ns, proxy)
    t.until("the first replica to lead", lambda: leading(first), 10)
    second = replica(t, ns)
    cut = [proxy.before(method, r"/leases/", lambda r: DROP, times=1000) for method in ("GET", "PATCH")]
    t.until("the first replica to give up", lambda: not leading(first), 20)
    assert not leading(second), "the second replica leads before the Lease of the first has run out"
    t.until("the second replica to lead", lambda: leading(second), 20)
    pod = t.objects.evict(t.objects.pod(ns))
    t.wait_write(pod)
    t.until("the row", lambda: done_by(second) == [pod["metadata"]["name"]], 5)
    for hook in cut:
        hook.times = 0
    t.never("the first replica leads", lambda: leading(first), 3)
    assert first.is_ready()
    t.expect(deleted=[pod])


@scenario("leader/a-watcher-that-is-terminated")
def terminated_watcher(t):
    """SIGTERM to the leader's watcher alone (`systemctl kill`): workers hold grants, so the Lease is not given back before they end."""
    ns = t.ns()
    program = replica(t, ns)
    t.until("the replica to lead", lambda: leading(program), 10)
    pid = program.kill("watcher", sig=signal.SIGTERM)
    t.until("another watcher", lambda: program.pids("watcher") not in ([], [pid]), 10)
    pod = t.canary(ns)
    holders = [r.body["spec"]["holderIdentity"] for r in t.server.log()[t.started:]
               if r.resource == "leases" and r.name == f"{t.prefix}-lease" and r.is_write and r.ok and "spec" in r.body]
    assert len(set(holders)) == 1 and holders[0], f"the Lease went from hand to hand: {holders}"
    t.expect(deleted=[pod])


@scenario("leader/dry-run-leads-nothing")
def dry_run(t):
    """`run --dry-run` with the file of replicas that elect a leader: it judges without the Lease, and keeps no replica from it."""
    ns = t.ns()
    pod = t.objects.evict(t.objects.pod(ns))
    t.policy.observe = True
    onlooker = t.program(configured(t, ns, election=True, mode="enforce"), t.kubeconfig(), start=False)
    onlooker.args = ["--dry-run"]
    onlooker.start()
    t.wait_history(onlooker, outcome="would")
    assert not lease_of(t) and not t.writes() and t.objects.get(pod), (lease_of(t), t.writes())
    other = t.program(configured(t, ns, election=True, mode="observe"), t.kubeconfig())
    t.until("a replica to lead beside it", lambda: leading(other), 10)


# --- presence: instances without election ---

def configured(t, ns, namespace="default", election=False, **more):
    return t.config(evicted=ns, leaderElection={"enable": election, "namespace": namespace, "name": f"{t.prefix}-lease"}, **more)


def instance(t, ns, kubeconfig="", **more):
    return t.program(configured(t, ns, **more), kubeconfig or t.kubeconfig())


def names_another(program):
    return [trouble["detail"] for trouble in program.status()["troubles"] if trouble["trouble"] == "another-instance"]


def lease_of(t):
    code, lease = t.admin.request("GET", f"/apis/coordination.k8s.io/v1/namespaces/default/leases/{t.prefix}-lease")
    return lease["spec"] if code == 200 else None


@scenario("leader/a-former-life", timeout=240)
def former_life(t):
    """What crashed and begins again finds the Lease of the life before: that is nobody else. It runs out and is taken."""
    program = instance(t, t.ns())
    t.until("its presence", lambda: (lease_of(t) or {}).get("holderIdentity"), 10)
    program.kill_all()
    program.start()
    t.never("a former life is told", lambda: names_another(program), 65)
    t.until("the Lease to be taken", lambda: lease_of(t)["holderIdentity"].endswith(f"_{program.process.pid}"), 90)
    assert not names_another(program)


@scenario("leader/two-without-election", timeout=180)
def two_without_election(t):
    """The second one tells it, by name, to a webhook too, and both go on; it is over when the first one ends."""
    ns, other = t.ns(), t.ns()      # each acts in its own: what both would do, both do
    hook = t.sink(kind="webhook")
    first = instance(t, ns)
    t.until("the presence of the first", lambda: (lease_of(t) or {}).get("holderIdentity"), 10)
    second = instance(t, other, tell=GATHER, sinks=[hook.settings("ops")])
    told = t.until("the trouble", lambda: names_another(second), 90)
    assert lease_of(t)["holderIdentity"].startswith(socket.gethostname() + "_"), "the sandbox hides who it is"
    assert lease_of(t)["holderIdentity"] in told[0] and f"default/{t.prefix}-lease" in told[0], told
    assert not names_another(first)
    pods = [t.objects.evict(t.objects.pod(where)) for where in (ns, other)]
    for pod in pods:
        t.wait_write(pod)

    def news(over):
        return [e for e in entries(hook.accepted, "attention") if e["facts"]["reason"] == "another-instance" and bool(e.get("over")) == over]
    t.until("it at the webhook", lambda: news(False), 30)
    assert first.stop() == 0
    t.until("its end", lambda: not names_another(second), 50)
    t.until("its end at the webhook", lambda: news(True), 30)
    assert lease_of(t)["holderIdentity"].endswith(f"_{second.process.pid}"), lease_of(t)
    t.expect(deleted=pods)


@scenario("leader/an-observer-leaves")
def observer_leaves(t):
    """A reload changes the mode to observe: the Lease is given back at once, and taken again with mode enforce."""
    ns = t.ns()
    program = instance(t, ns)
    mine = t.until("its presence", lambda: (lease_of(t) or {}).get("holderIdentity"), 10)
    program.write_config({**configured(t, ns), "mode": "observe"})
    program.reload()
    t.until("the Lease to be nobody's", lambda: not lease_of(t).get("holderIdentity"), 15)
    t.until("the word of it", lambda: [c["presence"] for c in program.status()["clusters"]] == [False], 15)
    program.write_config({**configured(t, ns), "mode": "enforce"})
    program.reload()
    t.until("it to be taken again", lambda: lease_of(t).get("holderIdentity") == mine, 15)


@scenario("leader/election-beside-a-presence", timeout=180)
def election_beside_a_presence(t):
    """An instance with election waits while one without it lives, and takes over when that one ends: nothing is done by both."""
    ns = t.ns()
    present = instance(t, ns)
    t.until("its presence", lambda: (lease_of(t) or {}).get("holderIdentity"), 10)
    elected = instance(t, ns, election=True)
    t.never("it leads", lambda: leading(elected), 25)
    one = t.objects.evict(t.objects.pod(ns))
    t.wait_write(one)
    t.until("the row", lambda: done_by(present) == [one["metadata"]["name"]], 5)
    assert present.stop() == 0
    t.until("it leads", lambda: leading(elected), 15)
    two = t.objects.evict(t.objects.pod(ns))
    t.wait_write(two)
    t.until("its row", lambda: done_by(elected) == [two["metadata"]["name"]], 5)

    # The other way round: the one without election does not wait, and says so.
    present.start()
    t.until("the trouble", lambda: names_another(present), 90)
    assert leading(elected) and not elected.status()["troubles"]
    t.expect(deleted=[one, two])


@scenario("leader/a-presence-that-is-denied")
def denied_presence(t):
    """Without a right to the Lease, or its namespace, all goes on and nothing is a trouble; `status` says that others cannot be seen. Who only
    observes looks for nobody."""
    ns = t.ns()
    proxy = t.proxy()
    if t.server.name == "apisim":           # it takes every namespace
        proxy.before("POST", r"/leases", lambda r: Answer(404, reason="NotFound"), times=1000)
    nowhere = instance(t, ns, t.kubeconfig(proxy=proxy), namespace=f"{t.prefix}-nowhere")
    without = t.program(t.config(evicted=ns, leaderElection={"name": f"{t.prefix}-lease"}), t.kubeconfig(proxy=denying(t)))
    observer = instance(t, ns, mode="observe")
    t.policy.observe = False
    for program, words in ((nowhere, ("not found", "404")), (without, ("forbidden", "403"))):
        presence = t.until("the word of it", lambda: next(
            (c["unseen"] for c in program.status()["clusters"] if c["presence"] and c["unseen"]), None), 15)
        assert any(word in presence for word in words), presence
        assert program.status()["troubles"] == [], program.status()["troubles"]
        assert "cannot be seen" in " ".join(program.ask("status").stdout.split())
    assert [c["presence"] for c in observer.status()["clusters"]] == [False]
    assert lease_of(t) is None
    t.complete = False


@scenario("leader/an-election-without-namespace")
def election_without_namespace(t):
    """The Lease of an election has no namespace: nobody acts, which is the trouble `lease` with what is missing and what to do, and lasts;
    once the namespace is there, it leads by itself and the trouble is over."""
    ns, proxy = t.ns(), t.proxy()
    missing = None
    if t.server.name == "apisim":           # it takes every namespace
        missing = proxy.before("POST", r"/leases", lambda r: Answer(404, reason="NotFound"), times=1000)
    where = f"{t.prefix}-later"
    program = instance(t, ns, t.kubeconfig(proxy=proxy), namespace=where, election=True)
    pod = t.objects.evict(t.objects.pod(ns))

    def told():
        return [row for row in program.status()["troubles"] if row["trouble"] == "lease"]
    rows = t.until("the trouble", told, 15)
    assert "not detail" in rows[0]["detail"] or "404" in rows[0]["detail"], rows
    assert "leaderElection.namespace" in rows[0]["remedy"], rows
    t.never("it ends while the namespace is missing", lambda: not told(), 8)
    assert not t.writes() and not leading(program)
    if missing:
        missing.times = 0
    else:
        t.ns(where)
    t.until("it leads", lambda: leading(program), 15)
    t.until("its end", lambda: not told(), 15)
    t.wait_write(pod)
    t.expect(deleted=[pod])


def denying(t):
    proxy = t.proxy()
    proxy.before("GET", r"/leases/", lambda r: Answer(403, reason="Forbidden"), times=1000)
    return proxy

"""Two replicas and one Lease: one acts, the other takes over when it dies or leaves."""
import time

from harness.proxy import DROP
from harness.scenario import scenario


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

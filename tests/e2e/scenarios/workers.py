"""Workers that come when there is work: with the default there is none at first, and the first that is needed is early enough."""
from urllib.request import urlopen

from harness.port import free_port
from harness.scenario import scenario


def cluster_of(program):
    return program.status()["clusters"][0]


def metrics(port):
    return urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()


def metrics_of(cluster):
    assert cluster["workersWhy"].startswith("Workers"), cluster
    return (f'opc_workers{{cluster="default"}} {cluster["workers"]}', f'opc_workers_limit{{cluster="default",reason="{cluster["workersWhy"]}"}} ')


def is_going(t, pod):
    now = t.objects.get(pod)
    return now is None or "deletionTimestamp" in now["metadata"]


def wait_for(t, pods):
    for pod in pods:
        t.wait_write(pod, code=200)


@scenario("workers/come-with-the-work")
def come(t):
    """No worker runs before the first act; one eviction starts one, a crowd as many as there are processors; status and metrics say how
    many, and why."""
    ns, port = t.ns(), free_port()
    program = t.run(evicted=ns, metricsListen=f"127.0.0.1:{port}")
    assert program.pids("worker") == [], program.tree()
    assert not [p for p in program.status()["processes"] if p["role"] == "worker"], program.status()
    first = t.canary(ns)
    assert len(program.pids("worker")) == 1, program.tree()
    pods = [t.objects.pod(ns) for _ in range(40)]
    for pod in pods:
        t.objects.evict(pod)
    wait_for(t, pods)
    t.expect(deleted=[first, *pods])
    # Which acts no more, because it brought nothing, runs on for five minutes.
    t.until("status to tell of the workers that run, at most one of them without work",
            lambda: len(program.pids("worker")) == cluster_of(program)["workers"] <= cluster_of(program)["workersLimit"] + 1, 20, every=0.5)
    assert "its workers:" in program.ask("status").stdout
    t.until("the metrics to tell the same", lambda: all(line in metrics(port) for line in metrics_of(cluster_of(program))), 20, every=0.5)


@scenario("workers/come-with-a-question")
def asked(t):
    """A question that only a worker answers starts one, and waits for it."""
    ns = t.ns()
    program = t.run(image_pull=ns)
    answer = program.ask("restore", "--list")
    assert answer.returncode == 0, answer
    assert len(program.pids("worker")) == 1, program.tree()


@scenario("workers/killed-at-work", timeout=150)
def killed(t):
    """One that is killed at work comes back, or another does it; all of it is done, and nothing twice."""
    ns = t.ns()
    program = t.run(evicted=ns)
    pods = [t.objects.pod(ns) for _ in range(60)]
    for pod in pods:
        t.objects.evict(pod)
    t.until("a worker", lambda: program.pids("worker"), 10)
    program.kill("worker")
    # Of the write that it was killed with the server may have done half: the pod is marked, and finished a minute later (evicted/cut-off-half-way).
    t.until("all to be gone or marked", lambda: all(is_going(t, pod) for pod in pods),
            60, every=0.5)
    t.until("the history to know it", lambda: {pod["metadata"]["uid"] for pod in pods} <= {
        r["uid"] for r in program.history() if r["outcome"] in ("done", "gone", "unconfirmed")}, 60, every=0.5)

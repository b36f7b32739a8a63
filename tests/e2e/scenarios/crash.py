"""Any process may die at any instant: nothing is lost and nothing is done twice."""
import contextlib
import os
import signal
import sqlite3
import threading
import time

from harness.program import Died
from harness.proxy import DROP
from harness.scenario import scenario


def exact(pod):
    return f"/pods/{pod['metadata']['name']}$"


def rows_of(program, pod):
    return [r for r in program.history() if r["uid"] == pod["metadata"]["uid"]]


def crash_at(t, when, method, kill, before_done):
    """kill(program) runs at that point of the action; afterwards the pod is deleted exactly once."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, evicted=ns)
    pod = t.objects.pod(ns)

    def strike(_):
        kill(program)
        return DROP

    hook = getattr(proxy, when)(method, exact(pod), strike)
    t.objects.evict(pod)
    assert hook.ran.wait(10), f"no {method} of the pod was seen"
    with contextlib.suppress(Died):     # it may end between any two looks at it
        t.until("the program to be up again", program.is_ready, 20)
    if program.process.poll() is not None:
        program.start()
    t.wait_write(pod, 15, code=200)
    row = t.until("a result in the history", lambda: next(
        (r for r in rows_of(program, pod) if r["outcome"] in ("done", "gone")), None), 15, every=0.2)
    if not before_done:
        assert row["outcome"] == "gone" or row["settledAt"], f"what it did was in doubt, yet the history says {row}"
    t.canary(ns)
    deletes = [r for r in t.writes_on(pod)]
    assert len(deletes) == 1, "more than one DELETE:\n      " + "\n      ".join(map(str, deletes))
    finished = [r for r in rows_of(program, pod) if r["outcome"] in ("done", "unconfirmed")]
    assert len(finished) <= 1, f"done twice in the history: {finished}"


def all_of_it(program):
    program.kill_all()


def role(name):
    def kill(program):
        for which in range(len(program.pids(name))):
            program.kill(name, which)
        if name == "supervisor":
            program.process.wait(10)    # its children end with it
    return kill


POINTS = (("after-grant", "before", "GET", True), ("before-write", "before", "DELETE", True),
          ("before-result", "after", "DELETE", False))

for _point, _when, _method, _before in POINTS:
    for _who, _kill in (("program", all_of_it), ("supervisor", role("supervisor")), ("worker", role("worker"))):
        def _make(when, method, kill, before):
            def run(t):
                crash_at(t, when, method, kill, before)
            return run
        _fn = _make(_when, _method, _kill, _before)
        _fn.__doc__ = f"SIGKILL of the {_who} {_point.replace('-', ' ')}: exactly one DELETE."
        scenario(f"crash/{_who}-{_point}")(_fn)


@scenario("crash/restart-in-the-middle")
def restart(t):
    """SIGTERM with work left, and a new start: every pod once, and exit code 0."""
    ns = t.ns()
    pods = [t.objects.pod(ns) for _ in range(20)]
    program = t.run(evicted=ns)
    for pod in pods[:10]:
        t.objects.evict(pod)
    t.until("some work", lambda: t.writes(), 10)
    code = program.stop()
    assert code == 0, f"exit code {code} after SIGTERM"
    for pod in pods[10:]:
        t.objects.evict(pod)
    program.start()
    for pod in pods:
        t.wait_write(pod)
    t.expect(deleted=pods)
    t.until("all in the history", lambda: sum(1 for r in program.history() if r["outcome"] == "done") == 20, 5)


@scenario("crash/reporter-and-watcher")
def others(t):
    """The reporter and the watcher are killed between two evictions: both are back, the second pod goes as well."""
    ns = t.ns()
    program = t.run(evicted=ns)
    gone = [t.canary(ns)]
    for name in ("reporter", "watcher"):
        pid = program.kill(name)
        assert pid, f"no process of role {name}: {program.tree()}"
        t.until(f"another {name}", lambda: program.pids(name) not in ([], [pid]), 10)
        gone.append(t.canary(ns))
    for pod in gone:
        t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done")
    t.expect(deleted=gone)


@scenario("crash/stopped-for-a-while", timeout=90)
def stopped(t):
    """All processes are stopped for longer than a child may be silent, as by `docker pause`: nobody is killed for it, and work goes on."""
    ns = t.ns()
    program = t.run(evicted=ns, workers=2)
    before = [pid for pid, _ in program.lasting()]
    for sig, wait in ((signal.SIGSTOP, 25), (signal.SIGCONT, 3)):
        for pid in before:
            os.kill(pid, sig)
        time.sleep(wait)
    assert [pid for pid, _ in program.lasting()] == before, program.log()[-2000:]
    t.expect(deleted=[t.canary(ns)])


@scenario("crash/children-end-with-the-supervisor")
def orphans(t):
    """SIGKILL of the supervisor alone: no child outlives it."""
    ns = t.ns()
    program = t.run(evicted=ns, workers=2)
    pids = [pid for pid, _ in program.tree()]
    assert len(pids) >= 5, program.tree()
    os.kill(program.process.pid, signal.SIGKILL)
    program.process.wait(5)
    t.until("the children to be gone", lambda: not any(os.path.exists(f"/proc/{pid}/exe") and _alive(pid) for pid in pids), 5)
    t.objects.evict(t.objects.pod(ns))
    time.sleep(1)
    t.expect()


def _alive(pid):
    from harness.program import alive
    return alive(pid)


@scenario("crash/other-signals")
def other_signals(t):
    """No signal but SIGKILL, SIGTERM and faults ends a process; SIGUSR1 tells the log how all is; SIGQUIT drains."""
    ns = t.ns()
    program = t.run(evicted=ns, workers=2)
    roles = ("supervisor", "reporter", "watcher", "worker")
    before = {role: program.pids(role) for role in roles}
    others = [signal.SIGINT, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE, signal.SIGPROF, signal.SIGVTALRM,
              signal.SIGIO, signal.SIGPWR, signal.SIGXFSZ, signal.SIGRTMIN, signal.SIGRTMAX]
    for role in roles:
        for pid in before[role]:
            for sig in others:
                if (role, sig) != ("supervisor", signal.SIGINT):
                    os.kill(pid, sig)
    evicted = [t.canary(ns)]
    t.expect(deleted=evicted)
    assert {role: program.pids(role) for role in roles} == before
    t.until("the state in the log", lambda: all(f'"row":"{row}"' in program.log() for row in
                                                ("CTL_SUPERVISOR", "CHILD_STATS", "WATCH_STATS")), 5)
    assert '"duties":"deleteEvictedPod"' in program.log()
    os.kill(before["supervisor"][0], signal.SIGQUIT)
    t.until("the program to have drained", lambda: program.process.poll() is not None, 10)
    assert program.process.returncode == 0, program.process.returncode
    t.expect(deleted=evicted)


@scenario("crash/invented-intent", timeout=90)
def invented_intent(t):
    """An open intent that somebody else wrote into the history is not carried out, whatever the budget; its row says why."""
    ns = t.ns()
    config = t.config(evicted=ns)
    config["deleteEvictedPod"]["maxPerDay"] = 1
    program = t.program(config)
    pods = [t.objects.evict(t.objects.pod(ns)) for _ in range(2)]
    t.until("one deletion", lambda: t.writes(), 15)
    done, left = sorted(pods, key=lambda pod: not t.writes_on(pod))
    t.wait_history(program, uid=done["metadata"]["uid"], outcome="done")
    program.kill_all()
    with contextlib.closing(sqlite3.connect(next(program.state.rglob("history.db")))) as history, history:
        history.row_factory = sqlite3.Row
        row = dict(history.execute("SELECT * FROM intents WHERE uid = ?", (done["metadata"]["uid"],)).fetchone())
        row |= {"id": row["id"] + 1, "name": left["metadata"]["name"], "uid": left["metadata"]["uid"],
                "action_key": left["metadata"]["uid"], "rv": left["metadata"]["resourceVersion"]}
        history.execute(f"INSERT INTO intents({', '.join(row)}) VALUES({', '.join(':' + key for key in row)})", row)
        history.execute("INSERT INTO open_intents(id) VALUES(:id)", row)
    program.start()
    t.wait_history(program, uid=left["metadata"]["uid"], outcome="unconfirmed", reason="IntentNotOurs")
    t.never("what nobody intended was done", lambda: t.writes_on(left), 2)
    t.expect(deleted=[done])


@scenario("crash/second-instance")
def second(t):
    """A second instance on the same state directory is refused with 75 and disturbs nothing."""
    ns = t.ns()
    program = t.run(evicted=ns)
    other = t.program(t.config(evicted=ns), start=False)
    other.state = program.state
    other.start(wait=False)
    code = other.process.wait(15)
    assert code == 75, f"exit code {code}: {other.log()[-300:]}"
    t.expect(deleted=[t.canary(ns)])
    assert program.is_ready()


@scenario("crash/worker-with-eight-leases", timeout=90)
def eight_leases(t):
    """A worker reads eight pods at once and dies over all of them: each is deleted, once."""
    ns, proxy = t.ns(), t.proxy()
    program = t.program(t.config(evicted=ns, workers=1), t.kubeconfig(proxy=proxy))
    together = threading.Barrier(8, action=lambda: program.kill("worker"))

    def strike(_):
        together.wait(3)     # less than the worker waits for an answer
        return DROP

    pods = [t.objects.pod(ns) for _ in range(8)]
    program.ask("pause", check=True)
    for pod in pods:
        t.objects.evict(pod)
    t.until("all of them to be due", lambda: [r["reason"] for r in program.ask_json("plan")["items"]] == ["Paused"] * 8, 20)
    hook = proxy.before("GET", "|".join(exact(p) for p in pods), strike, times=8)     # a plan reads them, too
    program.ask("resume", check=True)
    assert hook.ran.wait(30) and not together.broken, "the worker did not read eight pods at once"
    for pod in pods:
        t.wait_write(pod, 30, code=200)
    t.expect(deleted=[*pods, t.canary(ns)])
    for pod in pods:
        assert len(t.writes_on(pod)) == 1, t.writes_on(pod)


@scenario("crash/stopped-worker", timeout=90)
def stopped(t):
    """A worker that is stopped by SIGSTOP with a lease is killed, never overtaken: one DELETE."""
    ns, proxy = t.ns(), t.proxy()
    config = t.config(evicted=ns, workers=1)
    program = t.program(config, t.kubeconfig(proxy=proxy))
    pod = t.objects.pod(ns)

    def stop(_):
        program.kill("worker", 0, signal.SIGSTOP)

    hook = proxy.before("GET", exact(pod), stop)
    t.objects.evict(pod)
    assert hook.ran.wait(10), "the worker never read the pod"
    t.wait_write(pod, 45, code=200)
    time.sleep(1)
    t.expect(deleted=[pod])

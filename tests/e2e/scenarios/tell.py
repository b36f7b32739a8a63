"""What people are told: what was done, and what only an operator can change, as it begins and as it ends."""
import contextlib
import sqlite3
import time
import urllib.error
import urllib.request

from harness.port import free_port
from harness.proxy import Answer
from harness.scenario import scenario
from scenarios.restore import restore
from scenarios.switches import turn
from scenarios.terminating import stuck

GATHER = {"gather": "3s"}


def entries(posts, kind):
    """Every entry of the messages of that kind; a message that came again with its id is one."""
    messages = {p.body["id"]: p.body for p in posts if p.body["news"] == kind}
    return [e for m in messages.values() for s in m["sections"] for e in s["entries"]]


def facts(posts):
    return [e["facts"] for e in entries(posts, "actions")]


def counted(posts):
    """The actions that were told, by number; each once."""
    told = [int(n) for f in facts(posts) for n in f.get("actionIds", f.get("actionId", "")).split()]
    assert len(set(told)) == len(told), f"told twice: {told}"
    return told


@scenario("tell/actions", timeout=90)
def actions(t):
    """A scale-down with its way back, a forced deletion with its certificate, evicted pods counted by namespace and node: a card of them
    within the time that is gathered, each action once, in the language of each sink."""
    ns, hook, chat = t.ns(), t.sink(kind="webhook"), t.sink()
    workload = t.objects.workload("Deployment", ns, 2)
    workload.fail_to_pull()
    pod, _ = stuck(t, ns)
    evicted = [t.objects.evict(t.objects.pod(ns)) for _ in range(12)]
    time.sleep(2.1)
    program = t.run(evicted=ns, terminating=ns, image_pull=ns, hours="1s", tell=GATHER,
                    sinks=[hook.settings(), chat.settings(language="zh")])

    def all_told():
        rows = facts(hook.accepted)
        return len([f for f in rows if "workload" in f]) == 1 and len([f for f in rows if f["reason"] == "StuckTerminating"]) == 1 \
            and sum(int(f["count"]) for f in rows if f["reason"] == "Evicted") == len(evicted)
    t.until("all of it", all_told, 40)
    assert all(p.body["title"].startswith("[test] ") for p in hook.accepted if p.body["news"] == "actions"), "not by its context"
    rows = facts(hook.accepted)
    down = next(f for f in rows if "workload" in f)
    assert (down["workload"], down["kind"], str(down["replicas"]), down["reason"]) == (workload.name, "Deployment", "2", "CannotPullImage"), down
    number = down["undo"].rsplit(" ", 1)[1]
    workload.leave()
    assert restore(program, number, how="--dry-run").returncode == 0, down
    gone = [f for f in rows if f["reason"] == "Evicted"]
    assert all(f["namespace"] == ns and f["node"] for f in gone), gone
    forced = next(e for e in entries(hook.accepted, "actions") if e["facts"]["reason"] == "StuckTerminating")
    assert any("container" in line for line in forced["lines"]), forced
    ids = {int(r["id"]) for r in program.history() if r["outcome"] in ("done", "marked")}
    assert ids == set(counted(hook.accepted)), (ids, counted(hook.accepted))
    t.until("the chat", lambda: any(workload.name in p.text and "副本数已由 2 缩为 0" in p.text for p in chat.accepted), 20)
    t.expect(deleted=evicted, forced=[pod], scaled=[workload])


@scenario("tell/attention", timeout=90)
def attention(t):
    """A right that is missing is told once, with its remedy, and that it is over once it is granted; not where nothing of it was told."""
    ns, proxy, hook, other = t.ns(), t.proxy(), t.sink(kind="webhook"), t.sink(kind="webhook")
    deny = proxy.before("DELETE", f"/namespaces/{ns}/pods/", lambda _: Answer(403, reason="Forbidden"), times=10**6)
    t.run(proxy, evicted=ns, tell=GATHER, sinks=[hook.settings("ops"), other.settings("actions", tell=["actions"])])
    pod = t.objects.evict(t.objects.pod(ns))

    def said(over):
        return [e for e in entries(hook.accepted, "attention") if e["facts"]["reason"] == "forbidden" and bool(e.get("over")) == over]
    t.until("the begin", lambda: said(False), 30)
    assert "rbac" in said(False)[0]["facts"]["remedy"], said(False)
    deny.times = 0
    t.until("the pod to be gone", lambda: t.objects.get(pod) is None, 40)
    t.until("the end", lambda: said(True), 30)
    assert len(said(False)) == 1 and len(said(True)) == 1, hook.accepted
    t.until("what was done at last", lambda: counted(other.accepted), 20)
    assert not entries(other.accepted, "attention"), other.accepted


def pass_an_hour(program):
    """What was refused lasts for an hour now, as far as the history knows: an operator is needed from then on."""
    with contextlib.closing(sqlite3.connect(program.state / "history" / "history.db")) as db, db:
        db.execute("UPDATE attention SET first_at = first_at - 3600000 WHERE joined = 0")


@scenario("tell/joins", timeout=150)
def joins(t):
    """Pods that a right is missing for are one alarm: one that comes later is told once, by name, with how many there are in all, also where
    the reporter died in between; and the end names them."""
    ns, proxy, hook = t.ns(), t.proxy(), t.sink(kind="webhook")
    deny = proxy.before("DELETE", f"/namespaces/{ns}/pods/", lambda _: Answer(403, reason="Forbidden"), times=10**6)
    program = t.run(proxy, evicted=ns, tell={"gather": "1s"}, sinks=[hook.settings("ops", tell=["attention"])])
    pods = []

    def said(title):
        return [e for p in hook.accepted for s in p.body["sections"] if s["title"] == title for e in s["entries"] if e["facts"]["reason"] == "Forbidden"]

    def names_in(entry):
        return {pod["metadata"]["name"] for pod in pods if pod["metadata"]["name"] in str(entry["lines"])}

    def joined():
        return {name for e in said("New") + said("More objects") for name in names_in(e)}

    def refused(pod):
        return any(r["uid"] == pod["metadata"]["uid"] and r["outcome"] == "forbidden" for r in program.history())
    for _ in range(3):
        pods.append(t.objects.evict(t.objects.pod(ns)))
        t.until("a refusal", lambda: refused(pods[-1]), 30)
        assert program.stop() == 0
        pass_an_hour(program)
        program.start()
        t.until("it is told", lambda: pods[-1]["metadata"]["name"] in joined(), 60)
    program.kill("reporter")
    time.sleep(4)
    assert [len(said(x)) for x in ("New", "More objects")] == [1, 2], hook.accepted
    assert [names_in(e) for e in said("More objects")] == [{p["metadata"]["name"]} for p in pods[1:]], said("More objects")
    assert ["2 in total" in str(said("More objects")[0]["lines"]), "3 in total" in str(said("More objects")[1]["lines"])] == [True, True], hook.accepted
    deny.times = 0
    t.until("the pods to be gone", lambda: not any(t.objects.get(pod) for pod in pods), 60)
    t.until("the end", lambda: said("Resolved"), 40)
    assert len(said("Resolved")) == 1 and names_in(said("Resolved")[0]) == {p["metadata"]["name"] for p in pods}, said("Resolved")


@scenario("tell/down", timeout=120)
def down(t):
    """A sink that is down, or whose secret was mistyped, holds up no other; what waits survives the death of the reporter and arrives in
    order, each message once: as soon as the sink takes it, or the secret is corrected."""
    ns, good, bad = t.ns(), t.sink(kind="webhook"), t.sink(*["500"] * 4, kind="webhook")
    shut = t.sink(secret="right", kind="webhook")
    config = t.config(evicted=ns, tell={"gather": "1s"}, sinks=[good.settings("good"), bad.settings("bad"), {**shut.settings("shut"), "secret": "wrong"}])
    program = t.program(config)

    def waits():
        sinks = {k["name"]: k for k in program.status()["sinks"]}
        return sinks["bad"]["waiting"] and sinks["bad"]["oldestAt"] and "500" in sinks["bad"]["error"] and not sinks["good"]["error"] \
            and sinks["shut"]["waiting"] and "401" in sinks["shut"]["error"] and "shut" in str(program.status()["troubles"])
    for i in range(4):
        t.objects.evict(t.objects.pod(ns))
        t.until("the good sink", lambda: len(counted(good.accepted)) > i, 20)
        if i == 0:
            t.until("status to say what waits", waits, 15)
            chinese = program.ask("status", env={"LANG": "zh_CN.UTF-8"}).stdout
            assert "HTTP 状态码 500" in chinese, chinese
        program.kill("reporter")
    t.until("all at the bad one", lambda: sorted(counted(bad.accepted)) == sorted(counted(good.accepted)), 60)
    assert counted(bad.accepted) == sorted(counted(bad.accepted)), counted(bad.accepted)
    assert len(bad.posts) > len(bad.accepted), [p.answered for p in bad.posts]
    assert shut.posts and not shut.accepted, [p.answered for p in shut.posts]
    turn(t, program, {**config, "sinks": [s.settings(name) for name, s in (("good", good), ("bad", bad), ("shut", shut))]})
    t.until("all at the one that was shut", lambda: sorted(counted(shut.accepted)) == sorted(counted(good.accepted)), 30)
    assert counted(shut.accepted) == sorted(counted(shut.accepted)), counted(shut.accepted)


@scenario("tell/crash", timeout=120)
def crash(t):
    """The reporter is killed as a message arrives: a chat that knows no ids gets it again with a mark that says so, one that knows ids
    gets the same id again; none is lost."""
    ns, hook, chat = t.ns(), t.sink(kind="webhook"), t.sink()
    program = t.run(evicted=ns, tell={"gather": "1s"}, sinks=[hook.settings(tell=["actions"]), chat.settings(tell=["actions"])])
    pods = []
    for _ in range(2):
        n = len(chat.posts)
        kill = [lambda _: program.kill("reporter")]
        chat.on_post = lambda post: kill and kill.pop()(post)
        pods.append(t.objects.evict(t.objects.pod(ns)))
        t.until("a message and its repetition", lambda: len(chat.posts) > n + 1, 30)
    t.until("both at the hook", lambda: len(counted(hook.accepted)) == len(pods), 40)
    firsts = [p for p in chat.posts if "may have arrived before" not in p.text]
    assert len(firsts) == len(pods) and len(chat.posts) == 2 * len(pods), [p.text for p in chat.posts]


@scenario("tell/at-the-end", timeout=90)
def at_the_end(t):
    """What was done and is still gathered is told before the program ends: after SIGTERM, and by `run --once`, which lasts for less than
    that time. A sink that is down holds up nothing, and hears of it at the next start; none hears of it twice."""
    ns, hook, late = t.ns(), t.sink(kind="webhook"), t.sink("500", kind="webhook")
    config = t.config(evicted=ns, sinks=[s.settings(name, tell=["actions"]) for name, s in (("hook", hook), ("late", late))])
    pods = [t.objects.evict(t.objects.pod(ns)) for _ in range(3)]
    program = t.program(config)
    t.wait_history(program, outcome="done")
    t.until("all of them", lambda: len([r for r in program.history() if r["outcome"] == "done"]) == len(pods), 20)
    assert not hook.posts, hook.posts
    began = time.monotonic()
    assert program.stop() == 0 and time.monotonic() - began < 4
    assert len(counted(hook.accepted)) == len(pods) and len(late.posts) == 1 and not late.accepted, (hook.posts, late.posts)
    program.args = ["--once"]
    pods.append(t.objects.evict(t.objects.pod(ns)))
    program.start(wait=False)
    assert program.process.wait(40) == 0, program.log()
    assert len(counted(hook.accepted)) == len(pods), counted(hook.accepted)
    assert sorted(counted(late.accepted)) == sorted(counted(hook.accepted)), counted(late.accepted)
    t.expect(deleted=pods)


def alarms(hook, reason, over=False):
    return [e for e in entries(hook.accepted, "attention") if e["facts"]["reason"] == reason and bool(e.get("over")) == over]


def on_full_disk(t, **sinks):
    """The program on a disk that became full, and a pod that is due."""
    ns = t.ns()
    config = t.config(evicted=ns, tell=GATHER, sinks=[s.settings(name, tell=["attention"]) for name, s in sinks.items()])
    for one in config["sinks"]:
        if one["name"] == "shut":
            one["secret"] = "wrong"
    program = t.program(config, start=False)
    disk = t.disk(program)
    program.start()
    disk.fill()
    return program, disk, t.objects.evict(t.objects.pod(ns))


NO_HISTORY = "the history cannot be opened or written"


@scenario("tell/full-disk", timeout=120)
def full_disk(t):
    """A history that cannot be written is told while it cannot, as is what begins meanwhile (a sink that refuses): once, and once that it is
    over. What is due is done then, and was not before."""
    hook, chat, shut = t.sink(kind="webhook"), t.sink(), t.sink(secret="right", kind="webhook")
    program, disk, pod = on_full_disk(t, hook=hook, chat=chat, shut=shut)
    t.until("the begin", lambda: alarms(hook, "history") and any(NO_HISTORY in p.text for p in chat.accepted), 40)
    t.until("what began meanwhile", lambda: alarms(hook, "shut"), 40)
    assert NO_HISTORY in str(program.status()) and t.objects.get(pod), "it lasts"
    disk.empty()
    t.until("the pod to be gone", lambda: t.objects.get(pod) is None, 60)
    t.until("the end", lambda: alarms(hook, "history", over=True) and len([p for p in chat.accepted if NO_HISTORY in p.text]) == 2, 40)
    time.sleep(6)
    assert [len(alarms(hook, r, over)) for r in ("history", "shut") for over in (False, True)] == [1, 1, 1, 0], hook.accepted
    assert len([p for p in chat.accepted if NO_HISTORY in p.text]) == 2, [p.text for p in chat.accepted]
    t.expect(deleted=[pod])


@scenario("tell/full-disk-crash", timeout=120)
def full_disk_crash(t):
    """The reporter is killed while the history cannot be written: the next one tells of it, too, and says that this may have arrived before."""
    chat = t.sink()
    program, disk, pod = on_full_disk(t, chat=chat)

    def begins(text=""):
        return [p.text for p in chat.accepted if NO_HISTORY in p.text and text in p.text]
    t.until("the begin", begins, 40)
    program.kill("reporter")
    t.until("the begin from the next one", lambda: len(begins()) > 1, 40)
    assert "may have arrived before" in begins()[1], begins()
    disk.empty()
    t.until("the pod to be gone", lambda: t.objects.get(pod) is None, 60)
    t.until("the end", lambda: len(begins()) == 3, 40)
    t.expect(deleted=[pod])


# -- a history that cannot be opened at all --

def told(chat, *words):
    return [p.text for p in chat.accepted if all(w in p.text for w in words)]


def without_history(t, hook, chat, spoil):
    """A program that has acted, stopped; its history spoilt; started again with a pod that is due. (program, that file, the pod.)"""
    ns = t.ns()
    listen = f"127.0.0.1:{free_port()}"
    program = t.program(t.config(evicted=ns, tell=GATHER, metricsListen=listen,
                                 sinks=[hook.settings("hook", tell=["attention"]), chat.settings("chat", tell=["attention"])]))
    program.listen = listen
    first = t.canary(ns)
    t.wait_history(program, uid=first["metadata"]["uid"], outcome="done")
    assert program.stop() == 0
    file = program.state / "history" / "history.db"
    spoil(file)
    pod = t.objects.evict(t.objects.pod(ns))
    program.start(wait=False)
    t.until("the begin", lambda: alarms(hook, "history") and told(chat, NO_HISTORY), 60)
    return program, file, first, pod


def served(program, path):
    try:
        with urllib.request.urlopen(f"http://{program.listen}{path}", timeout=10) as r:
            return r.read().decode()
    except urllib.error.HTTPError as e:
        return e.read().decode()


def nothing_is_done(t, program, hook, first, pod):
    """It is said where an operator looks, and nothing is done, however long that lasts."""
    status = program.status()
    [trouble] = [x for x in status["troubles"] if x["trouble"] == "history"]
    assert "history.db" in trouble["detail"] and len(status["troubles"]) == 1, status["troubles"]
    assert status["phase"] == "degraded" and status["clusters"][0]["synced"], status
    assert NO_HISTORY in program.ask("status").stdout
    assert 'opc_trouble{trouble="history"} 1' in served(program, "/metrics").replace(',cluster=""', "")
    assert "[-]history failed" in served(program, "/readyz") and served(program, "/livez") == "ok"
    assert "history cannot be read" in program.ask("history").stderr
    begin = alarms(hook, "history")[0]
    assert "history.db" in str(begin["lines"]) and "follow the instruction above" in begin["facts"]["remedy"], begin
    t.expect(deleted=[first])
    assert t.objects.get(pod) and len(alarms(hook, "history")) == 1


def make_directory(file):
    file.rename(file.with_name("backup"))
    file.mkdir()


@scenario("tell/no-history", timeout=150)
def no_history(t):
    """A history that cannot be opened at the start (a directory in its place) is told while it lasts, with the file and the remedy: by the log,
    status, the metrics, health and every sink; clusters are watched and nothing is done. The reporter is killed meanwhile: the next one
    tells it, too, and says that this may have arrived before; it goes by no history that is empty."""
    hook, chat = t.sink(kind="webhook"), t.sink()
    program, file, first, pod = without_history(t, hook, chat, make_directory)
    nothing_is_done(t, program, hook, first, pod)
    assert "is not a regular file" in program.log(), "the cause"
    n = len(told(chat, NO_HISTORY))
    program.kill("reporter")
    t.until("the begin from the next one", lambda: len(told(chat, NO_HISTORY)) > n, 60)
    assert "may have arrived before" in told(chat, NO_HISTORY)[-1], told(chat, NO_HISTORY)
    assert t.objects.get(pod) and file.is_dir()
    t.expect(deleted=[first])
    t.complete = False      # nothing is written down, and nothing is asked for


@scenario("tell/no-history-heals", timeout=180)
def no_history_heals(t):
    """A damaged history: its begin is told while it lasts, and nothing is deleted. Put back, it is taken up: what is due is deleted once, the
    end is told once, what was known is known."""
    hook, chat = t.sink(kind="webhook"), t.sink()

    def damage(file):
        file.rename(file.with_name("backup"))
        file.write_text("no database")
    program, file, first, pod = without_history(t, hook, chat, damage)
    nothing_is_done(t, program, hook, first, pod)
    assert file.read_text() == "no database", "it is left alone"
    file.with_name("backup").rename(file)
    t.until("the pod to be gone", lambda: t.objects.get(pod) is None, 60)
    t.until("the end", lambda: alarms(hook, "history", over=True) and len(told(chat, NO_HISTORY)) > 1, 60)
    time.sleep(6)
    assert [len(alarms(hook, "history", over)) for over in (False, True)] == [1, 1], hook.accepted
    assert len(told(chat, NO_HISTORY)) == 2, told(chat, NO_HISTORY)
    assert not program.status()["troubles"], program.status()["troubles"]
    assert {first["metadata"]["uid"], pod["metadata"]["uid"]} <= {r["uid"] for r in program.history()}, program.history()
    t.expect(deleted=[first, pod])


@scenario("tell/no-history-crash", timeout=180)
def no_history_crash(t):
    """Everything is killed while the history cannot be used (a table is missing in it), and after it is moved away: a new one begins, what
    is due is deleted once."""
    hook, chat = t.sink(kind="webhook"), t.sink()

    def spoil(file):
        with contextlib.closing(sqlite3.connect(file)) as db:
            db.execute("DROP TABLE pauses")
    program, file, first, pod = without_history(t, hook, chat, spoil)
    assert "no such table" in str(program.status()["troubles"]), program.status()["troubles"]
    program.kill_all()
    program.start(wait=False)
    t.until("the begin again", lambda: len(alarms(hook, "history")) > 1, 60)
    t.expect(deleted=[first])
    file.rename(file.with_name("damaged"))
    program.kill("reporter")
    t.until("the pod to be gone", lambda: t.objects.get(pod) is None, 60)
    program.kill_all()
    program.start()
    gone = t.canary(pod["metadata"]["namespace"])
    t.expect(deleted=[first, pod, gone])


@scenario("tell/no-history-full-disk", timeout=180)
def no_history_full_disk(t):
    """No history, and a full disk that has no room to make one: told while it lasts, nothing is deleted; with room it is made, and goes on."""
    ns, hook = t.ns(), t.sink(kind="webhook")
    program = t.program(t.config(evicted=ns, tell=GATHER, sinks=[hook.settings("hook", tell=["attention"])]), start=False)
    disk = t.disk(program)
    program.start()
    first = t.canary(ns)
    assert program.stop() == 0
    for file in (program.state / "history").glob("history.db*"):
        file.unlink()
    disk.fill()
    pod = t.objects.evict(t.objects.pod(ns))
    program.start(wait=False)
    t.until("the begin", lambda: alarms(hook, "history"), 60)
    assert t.objects.get(pod) and program.status()["phase"] == "degraded", program.status()
    disk.empty()
    t.until("the pod to be gone", lambda: t.objects.get(pod) is None, 60)
    t.until("the end", lambda: alarms(hook, "history", over=True), 60)
    assert len(alarms(hook, "history")) == 1, hook.accepted
    t.expect(deleted=[first, pod])

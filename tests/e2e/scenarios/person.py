"""What a person at the terminal sees beforehand, holds, learns and takes back."""
import os
import subprocess
import time
import urllib.request

from harness.client import MERGE
from harness.objects import path_of
from harness.port import free_port
from harness.scenario import scenario


# Scenarios run beside one another on one node: what is at fault in all of them together is none of their business.
NO_BREAKER = {"workloads": 0, "percent": 0, "sameHost": 0, "sameNode": 0}


def due(t, ns):
    """One of everything that is due at once, and things that are not. -> (deleted, forced, scaled)"""
    deleted = [t.objects.evict(t.objects.pod(ns)) for _ in range(5)]
    forced = []
    for _ in range(2):
        pod = t.objects.pod(ns)
        t.objects.stop_containers(pod)
        forced.append(t.objects.terminate(pod, 1))
    scaled = [t.objects.workload(kind, ns, 2) for kind in ("Deployment", "StatefulSet", "Fleet")]
    for workload in scaled:
        workload.fail_to_pull()
    t.objects.run(t.objects.pod(ns))                                    # nothing to do
    t.objects.workload("Widget", ns, 1).fail_to_pull()                  # no scale subresource
    t.objects.run(t.objects.workload("ReplicaSet", ns, 2).pods()[0])    # serves
    return deleted, forced, scaled


def planned(plan, *when):
    return [r for r in plan["items"] if r["when"] in when]


def written(requests):
    """Requests of the server's log as the plan tells them: (what, namespace/name, uid)."""
    return sorted((r.verb, f"{r.ns}/{r.name}", r.uid) for r in requests if r.ok)


def as_written(t, rows):
    """Rows of the plan as the server would log them."""
    found = []
    for r in rows:
        if r["duty"] == "errImagePull":
            ns, name = r["live"]["target"].split("/")[1:]
            found.append(("patch", f"{ns}/{name}", r["live"]["targetUid"]))
        else:
            found.append(("delete", f"{r['namespace']}/{r['name']}", r["uid"]))
    return sorted(found)


@scenario("person/plan-equals-writes", timeout=90)
def plan_equals_writes(t):
    """Paused: the plan names what would be written, with the requests. Resumed: exactly that is written, and nothing before."""
    ns, other = t.ns(), t.ns()
    program = t.run(evicted=ns, terminating=ns, image_pull=ns, hours="2s", breaker=NO_BREAKER)
    program.ask("pause", "--reason", "the plan first", check=True)
    deleted, forced, scaled = due(t, ns)
    t.objects.evict(t.objects.pod(other))       # a namespace that is not served
    expected = len(deleted) + len(forced) + len(scaled)

    def complete():
        plan = program.ask_json("plan")
        rows = planned(plan, "blocked")
        settled = all(r["live"] and r["live"]["request"] for r in rows) and not planned(plan, "later", "unclear")
        return plan if len(rows) == expected and settled else None

    plan = t.until(f"a plan with {expected} rows and nothing that comes later", complete, 30, every=0.5)
    rows = planned(plan, "blocked")
    assert {r["reason"] for r in rows} == {"Paused"}, rows
    assert not planned(plan, "now"), plan["items"]
    assert plan["counts"]["deleteEvictedPod"]["blocked"] == len(deleted), plan["counts"]
    assert any(r["reason"] == "KindNotScalable" for r in planned(plan, "refused")), plan["items"]
    assert not t.writes(), "something was written while all was paused"
    assert not program.history(), "an action was begun while all was paused"
    program.ask("resume", check=True)
    t.until("all of it", lambda: len(t.writes()) >= expected, 20)
    t.canary(ns)
    got = written([r for r in t.writes() if r.ns == ns])
    got = [w for w in got if w in as_written(t, rows)] + [w for w in got if w not in as_written(t, rows)]
    wanted = as_written(t, rows)
    canaries = [w for w in got if w not in wanted]
    assert sorted(w for w in got if w in wanted) == wanted, (got, wanted)
    assert len(canaries) == 1, f"written and not planned: {canaries}"
    for row in program.history():
        if row["outcome"] != "done":
            continue
        shown = program.ask_json("show", str(row["id"]))
        match = [r for r in rows if r["uid"] == row["uid"] or (row["duty"] == "errImagePull" and r["live"]["target"] == row["target"])]
        if match:   # the write that was rehearsed is the write that was sent
            assert shown["request"].split(" ")[:2] == match[0]["live"]["request"].split(" ")[:2], (shown, match)


@scenario("person/plan-in-observe", timeout=90)
def plan_in_observe(t):
    """mode observe: the plan is what enforce would write at once."""
    ns = t.ns()
    config = t.config(evicted=ns, terminating=ns, image_pull=ns, hours="2s", breaker=NO_BREAKER)
    program = t.program({**config, "mode": "observe"})
    deleted, forced, scaled = due(t, ns)
    expected = len(deleted) + len(forced) + len(scaled)
    t.policy.observe = True

    def complete():
        plan = program.ask_json("plan")
        return plan if len(planned(plan, "now")) == expected else None

    plan = t.until(f"a plan with {expected} rows", complete, 30, every=0.5)
    assert plan["mode"] == "observe", plan
    assert not t.writes(), "written in mode observe"
    program.stop()
    t.policy.observe = False
    program.write_config(config)
    program.start()
    t.until("all of it", lambda: len(t.writes()) >= expected, 20)
    t.canary(ns)
    got, wanted = written(t.writes()), as_written(t, planned(plan, "now"))
    assert sorted(w for w in got if w in wanted) == wanted, (got, wanted)
    assert len([w for w in got if w not in wanted]) == 1, got


@scenario("person/plan-tells-later-and-filters")
def later(t):
    """What is not due yet, with its time; by namespace and duty."""
    t.complete = False      # the evicted pod is held to the end
    ns, second = t.ns(), t.ns()
    program = t.run(evicted=[ns, second], image_pull=[ns, second], hours="1h", breaker=NO_BREAKER)
    program.ask("pause", "deleteEvictedPod", check=True)
    begin = time.time()
    t.objects.workload("Deployment", ns, 1).fail_to_pull()
    t.objects.evict(t.objects.pod(second))

    def complete():
        plan = program.ask_json("plan")
        return plan if len(plan["items"]) == 2 else None

    plan = t.until("both rows", complete, 20, every=0.3)
    row = planned(plan, "later")[0]
    at = time.mktime(time.strptime(row["until"][:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
    assert row["duty"] == "errImagePull" and abs(at - begin - 3600) < 15, row
    assert [r["namespace"] for r in program.ask_json("plan", "-n", second)["items"]] == [second]
    assert [r["duty"] for r in program.ask_json("plan", "--duty", "errImagePull")["items"]] == ["errImagePull"]
    text = program.ask("plan", timeout=60, check=True).stdout
    assert "later" in text and "blocked" in text and ns in text, text
    t.expect()


@scenario("person/pause-survives", timeout=90)
def pause_survives(t):
    """A pause outlives the death of every process and a restart; it ends when it is told to, or by itself."""
    ns = t.ns()
    program = t.run(evicted=ns, image_pull=ns, hours="1s", breaker=NO_BREAKER)
    program.ask("pause", "deleteEvictedPod", "--reason", "night", check=True)
    pod = t.objects.evict(t.objects.pod(ns))
    workload = t.objects.workload("Deployment", ns, 1)
    workload.fail_to_pull()
    t.wait_write(workload)      # the other duty goes on
    for role in ("watcher", "reporter", "supervisor"):
        program.kill(role)
        if role == "supervisor":
            program.process.wait(10)
            t.until("the processes to be gone", lambda: not program.tree(), 10)
            program.start()
        else:
            t.until("the program to be up again", program.is_ready, 20)
        pauses = program.status()["pauses"]
        assert len(pauses) == 1 and pauses[0]["duty"] == "deleteEvictedPod" and pauses[0]["reason"] == "night", (role, pauses)
    t.never("a paused duty acted", lambda: t.writes_on(pod), 2)
    answer = program.ask("explain", f"{ns}/{pod['metadata']['name']}", check=True).stdout
    assert "Paused" in answer, answer
    shorter = program.ask("pause", "deleteEvictedPod", "--for", "2s")
    assert shorter.returncode == 1 and "a pause that lasts longer is in force" in shorter.stderr and "night" in shorter.stderr, shorter
    program.ask("pause", "--for", "2s", check=True)     # of all duties: it holds beside the other one
    program.ask("resume", "deleteEvictedPod", check=True)
    t.wait_write(pod, 15)
    assert program.status()["pauses"] == []
    t.expect(deleted=[pod], scaled=[workload])


@scenario("person/restore", timeout=90)
def restore(t):
    """A scale-down is taken back by a dry run and then a guarded write; what others changed is left alone."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="1s", breaker=NO_BREAKER)
    all_of_them = [t.objects.workload("Deployment", ns, 2) for _ in range(4)]
    mine, theirs, gone, their_zero = all_of_them
    for workload in all_of_them:
        workload.fail_to_pull()
    for workload in all_of_them:
        t.wait_write(workload)
    t.until("four ends", lambda: len([r for r in program.history() if r["outcome"] == "done"]) == 4, 15)
    program.ask("pause", check=True)
    mine.leave()
    t.admin.patch(path_of(theirs.kind, ns, theirs.name), {"spec": {"replicas": 1}}, MERGE)
    for replicas in (1, 0):
        t.admin.patch(path_of(their_zero.kind, ns, their_zero.name), {"spec": {"replicas": replicas}}, MERGE)
    gone.replace()
    said = program.ask("restore", "--since", "1h", "--dry-run", "-o", "json", timeout=60)
    before = len(t.writes())
    assert before == 4, t.writes()
    assert all(reason in said.stdout for reason in ("NotZeroAnymore", "OwnerUidDiffers", "NotOurZero", "\"would\"")), said.stdout
    refused = program.ask("restore", f"{ns}/{mine.name}", timeout=60)
    assert refused.returncode == 64 and "--yes" in refused.stderr, refused
    assert len(t.writes()) == before, "written without --yes"
    t.policy.restores[(ns, mine.name)] = 2
    done = program.ask("restore", "--since", "1h", "--yes", "-o", "json", timeout=60)
    assert done.returncode == 1, (said, done)   # of the four one is not ours, one another
    t.until("the replicas to be back", lambda: mine.wanted() == 2, 5)
    assert theirs.wanted() == 1 and their_zero.wanted() == 0, "somebody else's replicas were changed"
    assert len(t.writes()) == before + 1, "\n".join(map(str, t.writes()))
    rows = [r for r in program.history() if r["action"] == "restore" and r["outcome"] == "done"]
    assert len(rows) == 1 and mine.name in rows[0]["target"], rows
    shown = program.ask_json("show", str(rows[0]["id"]))
    assert shown["origin"] and shown["wantReplicas"] == 2 and shown["request"].startswith("PATCH "), shown
    assert f"uid {os.getuid()}" in shown["evidence"]["by"], shown
    again = program.ask("restore", f"{ns}/{mine.name}", "--yes", timeout=60)
    assert again.returncode == 1 and "NotZeroAnymore" in again.stdout, again
    t.note = f"{len(rows)} restored, 3 left alone"


@scenario("person/show-and-history")
def show(t):
    """The evidence as it was, the request and the answer; a certificate for a force delete; history by outcome."""
    ns = t.ns()
    program = t.run(evicted=ns, terminating=ns, hours="1s", breaker=NO_BREAKER)
    pod = t.objects.evict(t.objects.pod(ns))
    stuck = t.objects.pod(ns)
    t.objects.stop_containers(stuck)
    stuck = t.objects.terminate(stuck, 1)
    t.wait_write(pod)
    t.wait_write(stuck)
    rows = [t.wait_history(program, uid=p["metadata"]["uid"], outcome="done") for p in (pod, stuck)]
    shown = program.ask_json("show", str(rows[0]["id"]))
    assert shown["duty"] == "deleteEvictedPod" and shown["outcome"] == "done" and shown["http"] == 200, shown
    assert shown["cluster"] == rows[0]["cluster"] and shown["cluster"], shown
    assert shown["uid"] == pod["metadata"]["uid"] and shown["request"].startswith("DELETE "), shown
    assert pod["metadata"]["uid"] in shown["request"], shown
    forced = program.ask_json("show", str(rows[1]["id"]))
    assert forced["liveEvidence"], forced
    assert "remedy:" in program.ask("show", str(rows[1]["id"]), check=True).stdout
    assert len(program.history("--outcome", "done")) == 2 and program.history("--outcome", "failed") == []
    assert program.ask("show", "999999").returncode == 1
    answer = program.ask("restore", str(rows[0]["id"]), "--yes", timeout=60)
    assert answer.returncode == 1 and "cannot come back" in answer.stdout, answer


@scenario("person/explain-rules-and-workload")
def explain(t):
    """Every rule in order for a pod, and a workload by its pods."""
    ns = t.ns()
    program = t.run(evicted=ns, image_pull=ns, hours="1h", breaker=NO_BREAKER)
    workload = t.objects.workload("Deployment", ns, 2)
    workload.fail_to_pull()
    t.canary(ns)
    pod = workload.pods()[0]["metadata"]["name"]
    rows = program.ask_json("explain", f"{ns}/{pod}", "--rules")
    pull = next(r for r in rows if r["duty"] == "errImagePull")
    assert pull["verdict"] == "wait" and pull["until"], pull
    assert [r["result"] for r in pull["rules"]].count("decided") == 1 and len(pull["rules"]) > 5, pull["rules"]
    rows = program.ask_json("explain", f"{ns}/{workload.name}")
    assert {r["name"] for r in rows} == {p["metadata"]["name"] for p in workload.pods()}, rows


@scenario("person/explain-as-the-worker")
def as_the_worker(t):
    """What only a live read shows: explain and plan say what the worker says, and when it last refused."""
    ns = t.ns()
    program = t.run(terminating=ns, hours="1s", breaker=NO_BREAKER)
    pod = t.objects.pod(ns, node=t.objects.node("Unknown"))
    t.objects.stop_containers(pod)
    pod = t.objects.terminate(pod, 1)
    name = f"{ns}/{pod['metadata']['name']}"
    refused = t.wait_history(program, uid=pod["metadata"]["uid"], outcome="refused", reason="NodeNotReady")
    told = next(r for r in program.ask_json("explain", name) if r["duty"] == "deleteTerminatingPod")
    assert told["verdict"] == "refuse" and told["reason"] == "NodeNotReady" and told["remedy"], told
    assert told["cacheVerdict"] == "act" and told["live"]["outcome"] == "refused", told
    planned_row, = program.ask_json("plan", "-n", ns)["items"]
    assert planned_row["when"] == "refused" and planned_row["reason"] == "NodeNotReady", planned_row
    for row in told, planned_row:
        last = row["lastRefusal"]
        assert last["reason"] == "NodeNotReady" and last["remedy"] and last["id"] >= refused["id"], row
    assert "last refused" in program.ask("explain", name, check=True).stdout
    t.expect()


@scenario("person/explain-watch")
def watch(t):
    """Told again whenever the answer changes; it ends with the object."""
    ns = t.ns()
    program = t.run(evicted=ns)
    program.ask("pause", check=True)
    pod = t.objects.evict(t.objects.pod(ns))
    name = f"{ns}/{pod['metadata']['name']}"
    t.until("the pod in the cache", lambda: "Paused" in program.ask("explain", name).stdout, 10)
    command = [program.binary, "explain", name, "--watch", "--control-socket", program.socket]
    follower = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=program.env)
    try:
        for line in follower.stdout:
            if "Paused" in line:
                break
        program.ask("resume", check=True)
        t.wait_write(pod)
        out, err = follower.communicate(timeout=20)
    finally:
        follower.kill()
    assert follower.returncode == 1 and "is in the cache" in err, (out, err)


@scenario("person/paused-in-metrics")
def metrics(t):
    """What is paused and held stands in /metrics."""
    ns, port = t.ns(), free_port()
    program = t.run(evicted=ns, metricsListen=f"127.0.0.1:{port}")
    program.ask("pause", "deleteEvictedPod", check=True)
    pod = t.objects.evict(t.objects.pod(ns))

    def served(what):
        return lambda: what in urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()

    t.until("opc_paused", served('opc_paused{duty="deleteEvictedPod",cluster="default"} 1'), 10)
    t.until("opc_blocked", served('opc_blocked{cluster="default"} 1'), 20)
    assert served('opc_paused{duty="errImagePull",cluster="default"} 0')()
    assert served('opc_breaker_open{cluster="default"} 0')()
    program.ask("resume", check=True)
    t.until("opc_paused 0", served('opc_paused{duty="deleteEvictedPod",cluster="default"} 0'), 10)
    t.wait_write(pod)

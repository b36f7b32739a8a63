"""What a person or a monitor sees of a running program."""
import datetime
import http.client
import json
import os
import re
import socket
import unicodedata

from harness.objects import Objects
from harness.port import free_port
from harness.proxy import Answer
from harness.scenario import Skip, scenario
from harness.servers import Apisim
from harness.sink import TOKEN


def fetch(port, path):
    conn = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        conn.request("GET", path)
        response = conn.getresponse()
        return response.status, response.read().decode()
    finally:
        conn.close()


@scenario("surface/metrics-and-health")
def metrics(t):
    """/healthz and /readyz answer 200, /metrics counts the action; the token and the bot's address are in none of it."""
    ns, port = t.ns(), free_port()
    sink = t.sink()
    restarts = {"namespaces": ns, "duration": "@every 1h", "apiurl": sink.url}
    program = t.program(t.config(evicted=ns, restarts=restarts, metricsListen=f"127.0.0.1:{port}"))
    t.expect(deleted=[t.canary(ns)])
    t.until("/healthz", lambda: fetch(port, "/healthz")[0] == 200, 5)
    t.until("/readyz", lambda: fetch(port, "/readyz")[0] == 200, 5)

    def counted():
        return [line for line in fetch(port, "/metrics")[1].splitlines()
                if not line.startswith("#") and 'outcome="done"' in line and line.rsplit(" ", 1)[1] in ("1", "1.0")]
    t.until("the action in /metrics", counted, 10)
    assert fetch(port, "/nothing")[0] == 404
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]     # more than it takes, and none says more
    for s in slow:
        s.send(b"G")
    for _ in range(3):
        assert fetch(port, "/healthz")[0] == 200, "slow clients keep a probe of health out"
    for s in slow:
        s.close()
    seen = fetch(port, "/metrics")[1] + program.log() + json.dumps(program.status()) + json.dumps(program.history())
    for secret in (t.server.tokens["cleaner"], TOKEN):
        assert secret not in seen, "a secret is shown"


@scenario("surface/which-cluster")
def which_cluster(t):
    """The log at the start and `status` say which configuration, mode and duties, and which cluster as whom."""
    ns = t.ns()
    kubeconfig = t.kubeconfig("cleaner")
    program = t.program(t.config(evicted=ns, finished=ns, mode="observe"), kubeconfig)
    status = program.status()
    assert status["config"] == str(program.config_path) and status["mode"] == "observe", status
    assert status["duties"] == ["deleteEvictedPod", "deleteFinishedPod"], status
    one, = status["clusters"]
    wanted = {"cluster": "default", "server": t.server.url, "context": "test", "user": "test", "kubeconfig": str(kubeconfig), "namespaces": ns,
              "writer": "", "waiting": False, "problem": ""}
    assert wanted.items() <= one.items(), one
    text = program.ask("status", check=True).stdout
    for line in (f"configuration {program.config_path}; duties deleteEvictedPod, deleteFinishedPod\n",
                 f"cluster default: {t.server.url}, namespaces {ns}, context test, user test, {kubeconfig}\n"):
        assert line in text, text
    logged = [line for line in program.log().splitlines() if "ops-pod-cleaner starts" in line or t.server.url in line and str(kubeconfig) in line]
    assert len(logged) == 2 and "deleteEvictedPod, deleteFinishedPod" in logged[0], logged


@scenario("surface/metrics-port-taken", servers=("apisim",))
def metrics_port_taken(t):
    """A port that somebody else has is a trouble that `status` tells; the work goes on."""
    ns = t.ns()
    with socket.create_server(("127.0.0.1", 0)) as s:
        address = "127.0.0.1:%d" % s.getsockname()[1]
        program = t.program(t.config(evicted=ns, metricsListen=address))
        t.expect(deleted=[t.canary(ns)])
        text = program.ask("status", check=True).stdout
        assert "TROUBLE (for " in text and f"metricsListen: cannot listen at {address}: Address already in use" in text, text


@scenario("surface/what-hurts", timeout=90)
def what_hurts(t):
    """An action that is forbidden, settings that are refused, an address that is not there yet: `status` says each with a remedy and exits
    with 1, the log and the metrics say it, too; what is well again is not said any more."""
    ns, proxy, port = t.ns(), t.proxy(), free_port()
    hook = proxy.before("DELETE", "/pods/", lambda _: Answer(403, reason="Forbidden"), times=10**6)
    address = t.dir / "bot"
    config = t.config(evicted=ns, restarts={"namespaces": ns, "duration": "@every 1h", "apiurlFile": str(address)}, metricsListen=f"127.0.0.1:{port}")
    program = t.program(config, t.kubeconfig("cleaner", proxy))
    pod = t.objects.evict(t.objects.pod(ns))

    def troubles():
        return {x["trouble"]: x for x in program.status()["troubles"]}

    # A watcher tells every 2 s what it waits for; that it waited for the saved state at its start may still stand.
    t.until("what is forbidden", lambda: {"forbidden", "watch"} & set(troubles()) == {"forbidden"}, 15)
    program.write_config({**config, "workers": "many"})
    assert program.ask("reload", timeout=30).returncode == 78
    found = troubles()
    assert set(found) == {"forbidden", "sink", "settings"}, found
    assert "deleteEvictedPod" in found["forbidden"]["detail"] and found["forbidden"]["cluster"] == "default", found
    assert str(address) in found["sink"]["detail"] and "workers" in found["settings"]["detail"], found
    asked = program.ask("status")
    assert asked.returncode == 1 and ": degraded, " in asked.stdout.splitlines()[0], asked
    assert asked.stdout.count("TROUBLE") == 3 and "`ops-pod-cleaner rbac` prints the rights" in asked.stdout, asked.stdout
    quiet = program.ask("status", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (1, "", ""), quiet
    warned = [json.loads(line) for line in program.log().splitlines() if '"trouble":"forbidden"' in line]
    assert len(warned) == 1 and warned[0]["level"] == "warn" and warned[0]["cluster"] == "default" and warned[0]["remedy"], warned
    ended = [json.loads(line) for line in program.log().splitlines() if '"outcome":"forbidden"' in line]
    assert ended and all(line["level"] == "warn" and line["remedy"] for line in ended), ended
    t.until("the metric", lambda: 'opc_trouble{trouble="forbidden",cluster="default"} 1' in fetch(port, "/metrics")[1], 10)
    t.objects.force_delete(pod)
    hook.times = 0
    address.write_text("http://127.0.0.1:9/hook\n")
    address.chmod(0o600)
    program.write_config(config)
    assert program.ask("reload", timeout=30).returncode == 0
    gone = t.canary(ns)
    t.until("all to be well", lambda: program.ask("status", "--quiet").returncode == 0, 30)
    assert program.status()["phase"] == "running" and program.log().count("a trouble is over") >= 3
    t.expect_success(deleted=[gone])
    left = [r for r in t.writes() if not r.ok]        # of an attempt that was under way as the first pod went
    assert all((r.name, r.code) == (pod["metadata"]["name"], 404) for r in left), left


@scenario("surface/explain")
def explain(t):
    """`explain NS/NAME` tells of a living pod why nothing, and until when, is done."""
    ns = t.ns()
    program = t.run(evicted=ns, terminating=ns, hours="1h")
    running = t.objects.run(t.objects.pod(ns))
    stuck = t.objects.pod(ns)
    t.objects.stop_containers(stuck)
    t.objects.terminate(stuck, 1)
    t.canary(ns)
    answer = program.ask("explain", f"{ns}/{running['metadata']['name']}", check=True).stdout
    assert "NotEvicted" in answer and "NotTerminating" in answer, answer
    answer = program.ask("explain", f"{ns}/{stuck['metadata']['name']}", check=True).stdout
    assert "WaitingForThreshold" in answer, answer
    missing = program.ask("explain", f"{ns}/nobody")
    assert missing.returncode != 0 and missing.stderr.strip(), missing


@scenario("surface/refused-before-its-time")
def refused_before_its_time(t):
    """Where `hours` are not over, `plan`, `explain`, page and metrics say of what is kept for good that it is refused, not until when it waits."""
    ns, port = t.ns(), free_port()
    t.policy.evicted_hours = 3600.0
    program = t.program(t.config(evicted=ns, deleteEvictedPod={"hours": "1h"}, metricsListen=f"127.0.0.1:{port}"))
    pod = t.objects.finish(t.objects.pod(ns, annotations={"ops-pod-cleaner.io/ignore": "true"}), "Evicted")
    name = f"{ns}/{pod['metadata']['name']}"
    row = t.until("it in the plan", lambda: next((r for r in program.ask_json("plan")["items"] if r["namespace"] == ns), None))
    assert (row["when"], row["reason"]) == ("refused", "IgnoreAnnotation"), row
    verdict = next(r for r in program.ask_json("explain", name) if r["duty"] == "deleteEvictedPod")
    assert (verdict["verdict"], verdict["until"]) == ("refuse", None), verdict
    said = program.ask("explain", name, check=True).stdout
    assert "skipped by deleteEvictedPod" in said and "IgnoreAnnotation: remove" in said, said
    t.until("it in /metrics", lambda: 'verdict="refused",reason="IgnoreAnnotation"} 1' in fetch(port, "/metrics")[1], 20)
    t.expect()


def another_cluster(t, ns):
    """A second server with that namespace, and what creates objects there."""
    elsewhere = Apisim(t.dir / "elsewhere", t.build)
    elsewhere.start()
    t.closing.append(elsewhere)
    there = Objects(elsewhere, t.prefix)
    there.ns(ns)
    return elsewhere, there


@scenario("surface/explain-in-any-cluster", servers=("apisim",))
def explain_in_any_cluster(t):
    """An object is found in whichever cluster it is, and what is in none is said once."""
    ns = t.ns()
    elsewhere, there = another_cluster(t, ns)
    name = there.pod(ns)["metadata"]["name"]
    kubeconfigs = {"here": t.kubeconfig("cleaner"), "there": t.write("kubeconfig-there", elsewhere.kubeconfig("cleaner"))}
    clusters = [{"name": n, "kubeconfig": str(path)} for n, path in kubeconfigs.items()]
    program = t.program({**t.config(evicted=ns), "clusters": clusters}, kubeconfig=None)
    t.canary(ns)
    assert f"there: {ns}/{name}" in program.ask("explain", f"{ns}/{name}", check=True).stdout
    rows = program.ask_json("explain", f"{ns}/{name}")
    assert {r["cluster"] for r in rows} == {"there"} and rows[0]["name"] == name, rows
    for more in ((), ("--cluster", "here")):
        missing = program.ask("explain", f"{ns}/{'nobody' if not more else name}", *more)
        assert missing.returncode == 1 and missing.stderr.count("\n") == 1, missing
    assert program.ask("explain", f"{ns}/{name}", "--cluster", "nowhere").returncode == 64


@scenario("surface/report-of-one-cluster", servers=("apisim",))
def report_of_one_cluster(t):
    """The report is of all clusters, or of those that are named: in each form, its head says which; a name that there is not is a misuse."""
    ns = t.ns()
    elsewhere, there = another_cluster(t, ns)
    names = {}
    for cluster, objects in (("here", t.objects), ("there", there)):
        pod = objects.pod(ns)
        objects.crash(pod, 9 if cluster == "here" else 7)
        names[cluster] = pod["metadata"]["name"]
    kubeconfigs = {"here": t.kubeconfig("cleaner"), "there": t.write("kubeconfig-there", elsewhere.kubeconfig("cleaner"))}
    clusters = [{"name": n, "kubeconfig": str(path)} for n, path in kubeconfigs.items()]
    restarts = {"namespaces": ns, "hours": "0s", "status": "CrashLoopBackOff", "counts": 2, "duration": "0 0 4 1 1 *", "apiurl": t.sink().url}
    program = t.program({**t.config(restarts=restarts), "clusters": clusters}, kubeconfig=None)

    def report(*words):
        return program.ask("report", *words, timeout=60, check=True, env={"LANG": "C.UTF-8"}).stdout

    def tells(text, *clusters):
        return all((name in text) == (cluster in clusters) for cluster, name in names.items())
    t.until("both", lambda: tells(report(), "here", "there"), 30)
    assert "cluster here, there\n" in report()
    for form in ("text", "json", "html"):
        text = report("--cluster", "there", "-o", form)
        assert tells(text, "there") and "cluster there" in text and "here, " not in text, text
        assert tells(report("--cluster", "there", "--cluster", "here", "-o", form), "here", "there")
    assert tells(report("--cluster", "nowhere", "--cluster", "here"), "here")
    missing = program.ask("report", "--cluster", "nowhere", timeout=60)
    assert missing.returncode == 64 and "no cluster of that name" in missing.stderr and not missing.stdout, missing
    assert "--cluster goes with neither" in program.ask("report", "preview", "--cluster", "here").stderr
    t.expect()


def chinese(text):
    return re.search(r"[\u4e00-\u9fff]", text) is not None


def columns_of(line):
    """On a terminal: a Chinese character has two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


@scenario("surface/eighty-columns")
def eighty_columns(t):
    """On a terminal of 80 columns no line is longer, but for a word that is, in English and in Chinese; what scripts read stays as it is."""
    ns = t.ns()
    program = t.run(evicted=ns, image_pull=ns, hours="1s")
    scaled = t.objects.workload("Deployment", ns, 2)
    scaled.fail_to_pull()
    name = "web-" + "x" * 30
    evicted = [t.canary(ns), t.objects.evict(t.objects.pod(ns, name))]
    waits = t.objects.pod(ns)
    t.until("the actions in the history", lambda: len([r for r in program.history() if r["outcome"] == "done"]) == 3, 15)
    t.expect(deleted=evicted, scaled=[scaled])
    for words in (["status"], ["history"], ["plan"], ["history", "--refusals"], ["explain", f"{ns}/{waits['metadata']['name']}", "--rules"],
                  ["show", str(program.history()[0]["id"])]):
        lines = program.on_terminal(80, *words)
        assert lines and not [line for line in lines if len(line) > 80 and " " in line.strip()], "\n".join([" ".join(words), *lines])
        lines = program.on_terminal(80, *words, env={"LANG": "zh_CN.UTF-8"})
        said = "\n".join([" ".join(words), *lines])
        assert not [line for line in lines if columns_of(line) > 80 and " " in line.strip()], said
        assert chinese(said) or words[0] == "history", said     # whose columns are codes
        wide = "\n".join(program.on_terminal(600, *words, *(["-o", "wide"] if words[0] == "history" else []), env={"LANG": "zh_CN.UTF-8"}))
        assert not [w for w in ("threshold", "reason Evicted", "of the revision", "at resourceVersion", "finalizers 0", "controlled by") if w in wide], wide
        for env in ({"LANG": "zh_CN.UTF-8"}, {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}):
            assert not chinese(program.ask(*words, *(["-o", "json"] if "LC_ALL" not in env else []), env=env, timeout=30).stdout), (words, env)
    lines = program.on_terminal(80, "history", env={"TZ": "Asia/Shanghai"})
    text = " ".join(" ".join(lines).split())
    assert f"pods/{ns}" not in text and f"{ns}/{name}" in text and "ImagePull" in text and f"{ns}/{scaled.top['metadata']['name']} (had 2)" in text, text
    assert "CLUSTER" not in lines[0] and "T0" not in text, text
    at = next(r for r in program.history() if r["name"] == name)["endedAt"]
    east = datetime.datetime.fromisoformat(at.replace("Z", "+00:00")) + datetime.timedelta(hours=8)
    assert east.strftime("%Y-%m-%d %H:%M:%S") in text, (at, text)
    assert at[:19] + "Z" in "\n".join(program.on_terminal(80, "history", "--utc", env={"TZ": "Asia/Shanghai"}))
    piped = program.ask("history", check=True).stdout.splitlines()
    assert piped[0].split() == ["ID", "WHEN", "CLUSTER", "POD", "DUTY", "OUTCOME", "REASON", "TARGET", "WHY"] and len(piped) >= 4, piped
    wide = program.on_terminal(80, "history", "-o", "wide")
    assert wide[0].split()[-1] == "DETAIL" and len(wide) >= 4, wide


@scenario("surface/verbs-of-a-script")
def verbs_of_a_script(t):
    """plan --detailed-exitcode, history --follow and explain with what history prints: what a script stands on."""
    ns = t.ns()
    program = t.run(evicted=ns, image_pull=ns, hours="1s")
    assert program.ask("plan", "--detailed-exitcode", "-n", ns, timeout=30).returncode == 0
    program.ask("pause", check=True)
    evicted = t.objects.evict(t.objects.pod(ns))
    t.until("it to be planned", lambda: program.ask("plan", "--detailed-exitcode", "-n", ns, timeout=30).returncode == 2, 10)
    assert program.ask("plan", "-n", ns, timeout=30).returncode == 0
    with program.reading("history", "--follow", "-o", "json", "-n", ns) as rows:
        program.ask("resume", check=True)
        row = next(json.loads(line) for line in rows if json.loads(line)["outcome"] == "done")
        assert row["name"] == evicted["metadata"]["name"], row
        scaled = t.objects.workload("Deployment", ns, 2)
        scaled.fail_to_pull()
        seen = [json.loads(next(rows))]
        while seen[-1]["outcome"] != "done":
            seen.append(json.loads(next(rows)))
        assert len({(r["id"], r["outcome"]) for r in seen}) == len(seen), seen
    t.expect(deleted=[evicted], scaled=[scaled])
    target = next(r["target"] for r in program.history() if r["duty"] == "errImagePull" and r["outcome"] == "done")
    assert target.startswith("deployments.apps/"), target

    def same():
        """Its pods go meanwhile."""
        ends = {program.ask("explain", words, check=True).stdout for words in (target, "deployment/" + target.partition("/")[2], target.partition("/")[2])}
        return len(ends) == 1 and ends.pop().strip()
    t.until("the same answer to each way of writing it", same, 20)


@scenario("surface/not-yours")
def not_yours(t):
    """Another user of the machine is told that he may not ask, and by whom it may be done: exit 77."""
    ns = t.ns()
    program = t.run(evicted=ns)
    if os.getuid() != 0:
        raise Skip("only root can become another user")
    answer = program.ask("status", user=65534)
    assert answer.returncode == 77 and "permission denied" in answer.stderr and "sudo" in answer.stderr, answer
    t.expect(deleted=[t.canary(ns)])


@scenario("surface/many-processes", servers=("apisim",))
def many_processes(t):
    """Forty workers are a line on a terminal, after the clusters; a pipe and -o wide show each."""
    program = t.program({**t.config(evicted=t.ns()), "workers": 40})
    lines = program.on_terminal(80, "status")
    assert [line for line in lines if "worker × 40" in line and "ready" in line], lines
    assert len(lines) < 25 and lines.index(next(x for x in lines if x.startswith("PROCESS"))) > 3, lines
    for whole in (program.ask("status", check=True).stdout.splitlines(), program.on_terminal(80, "status", "-o", "wide")):
        assert len([line for line in whole if " worker " in line]) == 40, whole


@scenario("surface/unreadable-history", servers=("apisim",))
def unreadable_history(t):
    """What was done is not known then, and is not told as nothing: by status, its JSON, the metrics and the page."""
    ns, port = t.ns(), free_port()
    program = t.run(evicted=ns, metricsListen=f"127.0.0.1:{port}")
    t.wait_history(program, uid=t.canary(ns)["metadata"]["uid"], outcome="done")
    t.until("its tally", lambda: program.status()["clusters"][0].get("done") == 1, 10)
    assert program.stop() == 0
    (program.state / "history" / "history.db").write_bytes(b"no database" * 1000)
    program.start(wait=False)
    t.until("the trouble", lambda: [x["trouble"] for x in (program.status() or {"troubles": []})["troubles"]] == ["history"], 20)
    t.complete = False          # nobody can ask it what was refused
    t.until("the list", lambda: program.status()["clusters"][0]["synced"], 10)
    cluster = program.status()["clusters"][0]
    assert not {"done", "atZero", "due"} & set(cluster), cluster
    assert re.search(r"^default +degraded +0 +- +0 +- +- ", program.ask("status").stdout, re.M), program.ask("status").stdout
    metrics, page = fetch(port, "/metrics")[1], fetch(port, "/")[1]
    assert 'opc_trouble{trouble="history"' in metrics and "opc_at_zero{" not in metrics and "opc_paused{" not in metrics, metrics
    assert "Not known: the history cannot be read." in page and "<dt>At 0</dt><dd>–</dd>" in page, page


@scenario("surface/many-clusters", servers=("apisim",))
def many_clusters(t):
    """Of thirty clusters a terminal shows the troubles, one line each, and the tree of processes; a pipe and -o wide tell of each where it is."""
    clusters = [{"name": f"c{i:02d}", "kubeconfig": str(t.kubeconfig("cleaner") if i != 5 else t.dir / "none")} for i in range(30)]
    program = t.program({**t.config(evicted=t.ns()), "workers": 1, "clusters": clusters}, kubeconfig=None, start=False)
    program.start(wait=False)
    t.until("all but one", lambda: program.status() and [c["synced"] for c in program.status()["clusters"]].count(True) == 29, 60)
    lines = program.on_terminal(80, "status")
    text = "\n".join(lines)
    assert len(lines) < 70 and lines[2].startswith("TROUBLE in cluster c05"), text
    assert "clusters: 30;" in text and "c00, c01, c02, c03 and 25 more: watcher" in text and "cluster c29: " not in text, text
    tree = [line for line in lines if line[:2] in ("├─", "└─")]
    assert [line[:1] for line in tree] == ["├"] * (len(tree) - 1) + ["└"], text
    plan = "\n".join(program.on_terminal(80, "plan", timeout=30, codes=(69,)))
    assert "clusters: 29; looked at 0 pods" in plan and "cluster c05 is left out" in plan and "cluster c00" not in plan, plan
    assert program.ask("plan", timeout=30).stdout.count(": looked at ") == 29
    for whole in (program.ask("status").stdout, "\n".join(program.on_terminal(80, "status", "-o", "wide"))):
        assert all(f"cluster c{i:02d}: https://" in whole for i in range(30) if i != 5), whole


@scenario("surface/hostile-names")
def hostile(t):
    """Text of a pod's author with escapes and new lines: one line a log record, nothing raw in log or history."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="1s")
    hidden = "\x1b\u202e\x9b\x85\u061c\u200b\u2028\u2029\ufeff\U000e0041\u0378"
    evil = 'manifest unknown\n{"level":"error","msg":"forged"}\x1b[31mred' + hidden + "gnp"
    workload = t.objects.workload("Fleet", ns, 1)
    workload.fail_to_pull(message=evil)
    t.wait_write(workload)
    t.wait_history(program, outcome="done")
    t.expect(scaled=[workload])
    for line in program.log().splitlines():
        assert json.loads(line)["msg"] != "forged", line
    pod = f"{ns}/{workload.pods()[0]['metadata']['name']}"
    shown = program.log() + "".join(program.ask(*command).stdout for command in (
        ("history",), ("history", "-o", "json"), ("status",), ("explain", pod, "--rules"), ("explain", pod, "-o", "json")))
    assert "manifest unknown" in shown
    assert not set(hidden) & set(shown), sorted(f"U+{ord(c):04X}" for c in set(hidden) & set(shown))


@scenario("surface/nobody-is-running")
def nobody(t):
    """status and history without a running instance: a clear text and exit 69."""
    program = t.program(t.config(evicted="nowhere"), start=False)
    for command in ("status", "history"):
        answer = program.ask(command)
        assert answer.returncode == 69 and answer.stderr.strip() and not answer.stdout, answer

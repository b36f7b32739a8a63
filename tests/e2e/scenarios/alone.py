"""Without a daemon: `plan` of a cluster that nothing watches, and one round of `run`."""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import time

import scratch
from answers import answer
from harness.proxy import Answer
from harness.scenario import scenario
from scenarios.person import NO_BREAKER, due, planned


class Alone:
    """Commands with an instance of their own; what they leave behind is seen in `tmp`."""

    def __init__(self, t, config, kubeconfig=""):
        self.t = t
        self.program = t.program(config, kubeconfig, start=False)
        self.tmp = pathlib.Path(scratch.folder("alone"))
        self.env = {**self.program.env, "TMPDIR": str(self.tmp)}

    def command(self, verb, *args, config=True, kubeconfig=True):
        where = ["--config", self.program.config_path] if config else []
        where += ["--kubeconfig", self.program.kubeconfig] if kubeconfig and self.program.kubeconfig else []
        return [str(a) for a in (self.program.binary, verb, *where, *args)]

    def call(self, verb, *args, code=0, config=True, kubeconfig=True, timeout=60):
        env = self.env if kubeconfig else {**self.env, "KUBECONFIG": str(self.program.kubeconfig)}
        r = subprocess.run(self.command(verb, *args, config=config, kubeconfig=kubeconfig), env=env, cwd=self.program.dir, timeout=timeout,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert r.returncode == code, (r.returncode, r.stdout, r.stderr)
        self.left_nothing()
        return r

    def plan(self, *args, **more):
        return answer(self.call("plan", "-o", "json", *args, **more).stdout)

    def once(self, *args, **more):
        where = ("--state-dir", self.program.state, "--control-socket", self.program.socket)
        return self.call("run", "--once", *where, *args, **more)

    def left_nothing(self):
        assert not list(self.tmp.iterdir()), "left behind: " + str(list(self.tmp.iterdir()))


def requests_of(t):
    return [r for r in t.server.log()[t.started:] if t.is_mine(r) and r.ns in ("", *t.objects.namespaces)]


@scenario("alone/plan-is-the-plan-of-an-instance", timeout=90)
def plan_is_the_plan(t):
    """The rows of `plan --kubeconfig` are those of a running instance in mode observe; nothing is written, not even a dry run or a Lease."""
    ns = t.ns()
    config = t.config(evicted=ns, terminating=ns, image_pull=ns, hours="1s", breaker=NO_BREAKER,
                      leaderElection={"enable": True, "namespace": ns, "name": f"{t.prefix}-lease"})
    config["errImagePull"]["hours"] = "1h"
    deleted, forced, scaled = due(t, ns)
    time.sleep(2)                                   # everything has been so for longer than `hours`
    alone = Alone(t, config)
    before = len(requests_of(t))
    plan = alone.plan("-n", ns)
    mine = requests_of(t)[before:]
    writes = [str(r) for r in mine if r.is_write and r.ns or r.dry_run]     # of no namespace: others on that server ask what they may
    assert mine and not writes, writes
    assert plan["mode"] == "observe", plan["mode"]
    rows = planned(plan, "now")
    assert {r["uid"] for r in rows} == {p["metadata"]["uid"] for p in deleted + forced}, rows
    assert len([r for r in planned(plan, "later") if r["duty"] == "errImagePull"]) == len(scaled) + 1, plan["items"]
    assert all(r["live"]["request"] for r in rows), rows
    alone.call("plan", "-n", ns, "--detailed-exitcode", code=2)
    other = t.ns()
    alone.call("plan", "-n", other, "--detailed-exitcode")
    table = alone.call("plan", "-n", ns).stdout
    assert "errImagePull: ages are at least" in " ".join(table.split()), table
    assert "deleteEvictedPod" in table and deleted[0]["metadata"]["name"] in table, table
    t.policy.observe = True


@scenario("alone/plan-knows-ages")
def plan_knows_ages(t):
    """What has not been Ready for longer than `hours` is due in the first plan, by an age that is marked as the least."""
    ns = t.ns()
    t.policy.observe = True
    workload = t.objects.workload("Deployment", ns, 1)
    workload.fail_to_pull()
    time.sleep(4)
    alone = Alone(t, t.config(image_pull=ns, hours="2s", breaker=NO_BREAKER))
    rows = [r for r in planned(alone.plan("-n", ns), "now") if r["duty"] == "errImagePull"]
    assert len(rows) == 1 and "AtLeast" in json.dumps(rows[0]), rows
    assert "at least" in " ".join(alone.call("plan", "-n", ns).stdout.split())


@scenario("alone/plan-by-the-defaults")
def plan_by_the_defaults(t):
    """Without --config every duty judges by its defaults, which is said; with --context another context of the kubeconfig is taken."""
    ns = t.ns()
    t.policy.observe = True
    pod = t.objects.evict(t.objects.pod(ns))
    alone = Alone(t, t.config(evicted=ns))
    r = alone.call("plan", "-n", ns, "-o", "json", "--context", "writer", config=False)
    assert "no --config" in r.stderr and "defaults" in r.stderr, r.stderr
    assert [row["uid"] for row in planned(answer(r.stdout), "now")] == [pod["metadata"]["uid"]], r.stdout
    users = {r.user for r in requests_of(t) if r.ns == ns}
    assert len(users) == 1 and "writer" in users.pop(), users


@scenario("alone/plan-says-what-is-wrong")
def plan_says_what_is_wrong(t):
    """A wrong token, a name that does not resolve, a context that is not there, a wrong file: an error within seconds that names it."""
    ns = t.ns()
    config = t.config(evicted=ns)
    text = t.server.kubeconfig("cleaner")
    wrong = {
        "token": (text.replace(t.server.tokens["cleaner"], "not-the-token"), (), 77, "401"),
        "name": (text.replace(f"server: {t.server.url}", "server: https://no-such-host.invalid:6443"), (), 69, "no-such-host.invalid"),
        "context": (text, ("--context", "elsewhere"), 69, "elsewhere"),
    }
    for name, (kubeconfig, args, code, says) in wrong.items():
        alone = Alone(t, config, t.write(f"kubeconfig-{name}", kubeconfig))
        begun = time.monotonic()
        r = alone.call("plan", *args, code=code)
        assert says in r.stderr and not r.stdout, (name, r.stderr, r.stdout)
        assert len(r.stderr.splitlines()) == 1, r.stderr
        assert time.monotonic() - begun < 30, f"{name}: it took {time.monotonic() - begun:.1f} s"
    alone = Alone(t, "deleteEvictedPod: {enabled: true}\n")
    assert "config.yml:1:20" in alone.call("plan", code=78).stderr
    assert "name one or the other" in alone.call("plan", "--control-socket", "/nowhere", code=64).stderr


@scenario("alone/plan-of-several-clusters")
def plan_of_several_clusters(t):
    """Two clusters that cannot be seen, by name and by token, keep the third from nothing: each is told, and the exit code is theirs."""
    ns = t.ns()
    text = t.server.kubeconfig("cleaner")
    pod = t.objects.evict(t.objects.pod(ns))
    files = {"token": text.replace(t.server.tokens["cleaner"], "not-the-token"), "good": text,
             "name": text.replace(f"server: {t.server.url}", "server: https://no-such-host.invalid:6443")}
    config = {**t.config(evicted=ns),
              "clusters": [{"name": name, "kubeconfig": str(t.write(f"kubeconfig-{name}", body))} for name, body in files.items()]}
    alone = Alone(t, config)
    r = alone.call("plan", "-n", ns, "-o", "json", code=77, kubeconfig=False)
    plan = answer(r.stdout)
    assert [(row["cluster"], row["uid"]) for row in planned(plan, "now")] == [("good", pod["metadata"]["uid"])], plan
    assert plan["leftOut"] == ["token", "name"], plan
    assert len(r.stderr.splitlines()) == 2 and "401" in r.stderr and "no-such-host.invalid" in r.stderr, r.stderr
    again = answer(alone.call("plan", "-n", ns, "-o", "json", "--cluster", "good", kubeconfig=False).stdout)
    for row in again["items"] + plan["items"]:
        del row["live"]["at"]
    assert again["items"] == plan["items"]
    assert not alone.call("plan", "-n", ns, "--cluster", "name", code=77, kubeconfig=False).stdout
    t.policy.observe = True


@scenario("alone/plan-is-interrupted")
def plan_is_interrupted(t):
    """Ctrl-C while it lists: progress was on the terminal, its processes end, its folder is gone, exit 130."""
    ns = t.ns()
    alone = Alone(t, t.config(evicted=ns), t.write("kubeconfig-nobody", t.server.kubeconfig("cleaner").replace(t.server.url, "https://192.0.2.1:6443")))
    master, slave = pty.openpty()
    process = subprocess.Popen(alone.command("plan"), env=alone.env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    seen = b""
    while b"listing" not in seen:
        seen += os.read(master, 4096)
    pids = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if belongs(pid, alone.tmp)]
    assert pids, "no process of its own runs"
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130, process.returncode
    os.close(master)
    alone.left_nothing()
    t.until("its processes to be gone", lambda: not any(belongs(pid, alone.tmp) for pid in pids), 5)


def belongs(pid, tmp):
    try:
        return f"--control-socket={tmp}".encode() in pathlib.Path("/proc", str(pid), "cmdline").read_bytes()
    except OSError:
        return False


@scenario("alone/once", timeout=120)
def once(t):
    """`run --once` does what is due and ends: 0 when all is done; what a spent budget leaves is named, with exit 1, and the next round does it."""
    ns = t.ns()
    config = t.config(evicted=ns, terminating=ns, hours="1s", breaker=NO_BREAKER)
    config["deleteEvictedPod"]["maxPerDay"] = 2
    pods = [t.objects.evict(t.objects.pod(ns)) for _ in range(3)]
    alone = Alone(t, config)
    r = alone.once(code=1)
    assert "round over: 2 done, 1 left" in r.stdout and "BudgetSpent" in r.stdout, (r.stdout, r.stderr)
    assert len([w for w in t.writes() if w.ok]) == 2, t.writes()
    r = alone.once(code=1)                              # the budget is remembered
    assert "round over: 1 left" in r.stdout, r.stdout
    del config["deleteEvictedPod"]["maxPerDay"]
    alone.program.write_config(config)
    t.policy.budgets.clear()
    r = alone.once()
    assert "round over: 1 done, 0 left" in r.stdout, r.stdout
    t.expect(deleted=pods)
    r = alone.once()
    assert r.stdout == "round over: 0 left\n", r.stdout


@scenario("alone/once-dry-run", timeout=90)
def once_dry_run(t):
    """`run --once --dry-run` writes nothing, whatever the file says, and names what would be done; so does `run --dry-run`."""
    ns = t.ns()
    pod = t.objects.evict(t.objects.pod(ns))
    alone = Alone(t, {**t.config(evicted=ns), "mode": "enforce"})
    t.policy.observe = True
    r = alone.once("--dry-run")
    assert "1 would, 1 would be done" in r.stdout and pod["metadata"]["name"] in r.stdout, r.stdout
    assert not t.writes(), t.writes()
    alone.program.args = ["--dry-run"]
    alone.program.start()
    assert alone.program.ask_json("status")["mode"] == "observe"
    t.wait_history(alone.program, outcome="would")
    assert not t.writes() and t.objects.get(pod), t.writes()


@scenario("alone/once-fails")
def once_fails(t):
    """A right that is missing, a cluster that does not answer: `run --once` ends with an exit code that says so."""
    ns = t.ns()
    t.objects.evict(t.objects.pod(ns))
    config = t.config(evicted=ns)
    alone = Alone(t, config, t.kubeconfig("cleaner-reader"))
    t.complete = False
    r = alone.once(code=1)
    assert "1 forbidden" in r.stdout, r.stdout


@scenario("alone/once-without-history")
def once_without_history(t):
    """A history that cannot be opened: `run --once` does nothing, says why and ends with 78; it leaves the file alone."""
    ns = t.ns()
    pod = t.objects.evict(t.objects.pod(ns))
    alone = Alone(t, t.config(evicted=ns))
    folder = alone.program.state / "history"
    folder.mkdir(mode=0o700, parents=True)
    alone.program.state.chmod(0o700)
    (folder / "history.db").write_text("no database")
    r = alone.once(code=78)
    assert "history.db: is damaged" in r.stderr and "move it away" in r.stderr, r.stderr
    assert t.objects.get(pod) and not t.writes(), t.writes()
    assert (folder / "history.db").read_text() == "no database"
    (folder / "history.db").unlink()
    alone.once()
    t.expect(deleted=[pod])


@scenario("alone/rbac-check", servers=("cluster",), alone=True)    # its reviews are writes in no namespace, which others take for theirs
def rbac_check(t):
    """`rbac --check` asks the server by the credentials of both accounts: nothing is missing to them; with the reader's alone, what only the
    writer may do is, by name."""
    ns = t.ns()
    config = t.config(evicted=ns)
    pair = Alone(t, config)
    said = pair.call("rbac", "--check", "-n", ns, config=True, kubeconfig=False).stdout
    assert "reader: rights missing: 0 of" in said and "writer: rights missing: 0 of" in said, said
    reader = Alone(t, config, t.kubeconfig("cleaner-reader"))
    said = reader.call("rbac", "--check", "-n", ns, code=1).stdout
    assert f"missing: delete pods in {ns}, role ops-pod-cleaner-writer" in said and "missing: list pods" not in said, said
    items = json.loads(reader.call("rbac", "--check", "-n", ns, "-o", "json", code=1).stdout)["items"]
    assert [(i["cluster"], i["account"], i["exitCode"]) for i in items] == [("default", "both", 1)] and items[0]["missing"], items
    report = {"enable": True, "namespaces": ns, "apiurl": "http://127.0.0.1:9/open-apis/bot/v2/hook/0123"}
    said = Alone(t, {**config, "tooManyRestart": report}, t.kubeconfig("cleaner-reader")).call("rbac", "--check", "-n", ns, code=1).stdout
    assert "missing (optional): get controllerrevisions.apps" in said, said
    # The Lease is optional where it is only a presence.
    for election, word in ((False, "missing (optional): get leases"), (True, "missing: get leases")):
        said = Alone(t, {**config, "leaderElection": {"enable": election}}, t.kubeconfig("cleaner-ns")).call("rbac", "--check", "-n", ns, code=1).stdout
        assert word in said and f"missing: get statefulsets.apps in {ns}, role ops-pod-cleaner-observer" in said, said
    clusters = [{"name": "full", "kubeconfig": str(t.kubeconfig("cleaner-reader")), "writerKubeconfig": str(t.kubeconfig("cleaner-writer"))},
                {"name": "gone", "kubeconfig": "/nowhere/kubeconfig"}, {"name": "half", "kubeconfig": str(t.kubeconfig("cleaner-reader"))}]
    r = Alone(t, {**config, "clusters": clusters}).call("rbac", "--check", "-n", ns, code=69, kubeconfig=False)
    parts = re.split(r"^cluster (\w+)\n", r.stdout, flags=re.M)
    assert parts[1::2] == ["full", "gone", "half"] and "cluster gone: /nowhere/kubeconfig" in r.stderr, (r.stdout, r.stderr)
    assert "reader: rights missing: 0 of" in parts[2] and "writer: rights missing: 0 of" in parts[2] and not parts[4] and "missing: delete pods" in parts[6], r.stdout
    assert "kubeconfig" in reader.call("rbac", "--check", "--kubeconfig", "/nowhere/kubeconfig", kubeconfig=False, code=69).stderr
    assert not t.writes(), t.writes()


@scenario("alone/rbac-check-without-an-answer", servers=("apisim",), alone=True)
def rbac_check_without_an_answer(t):
    """A server that knows no SelfSubjectAccessReview: what is not known is no right, and no missing one."""
    proxy = t.proxy()
    proxy.before("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", lambda request: Answer(404, reason="NotFound"), times=10**6)
    alone = Alone(t, t.config(evicted=t.ns()), t.write("kubeconfig-proxy", t.server.kubeconfig(url=proxy.url, ca=proxy.ca)))
    r = alone.call("rbac", "--check", code=69)
    assert "does not say" in r.stderr and not r.stdout, (r.stderr, r.stdout)

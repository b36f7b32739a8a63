"""Replicas that share clusters: each leads its part; what one led that ends or dies is led by the others, and one that joins is given its share."""
import json
import math
import pathlib
import random
import subprocess
import time

from harness.objects import Objects
from harness.proxy import DROP
from harness.scenario import scenario
from harness.servers import Apisim

from . import digest
from .informer import Account
from .rbac import accounts_of_its_own, not_refused
from .restore import restore
from .tell import GATHER, alarms

LEASES = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"
LEASE_S = 15        # kube/leader.h: how long a Lease that nobody renews is held
TOP = pathlib.Path(__file__).resolve().parents[3]
SOON_S = 60         # for what takes a Lease and a few tries on a machine that has nothing else to do


class Fleet:
    """Clusters and the replicas that share them. `spaces`: where each has its Lease, in the server that `clients` says."""

    def __init__(self, t, spaces, clients, kubeconfigs):
        self.t, self.spaces, self.clients, self.replicas = t, spaces, clients, []
        self.clusters = [{"name": f"c{i:02d}", "kubeconfig": str(path), **more} for i, (path, more) in enumerate(kubeconfigs)]
        self.lease = f"{t.prefix}-lease"

    def replica(self, **more):
        election = {"enable": True, "name": self.lease}
        program = self.t.program({**more, "clusters": self.clusters, "leaderElection": election}, kubeconfig=None, start=False)
        program.start(wait=False)
        program.wait_ready(timeout=2 * SOON_S)      # a hundred watchers
        self.replicas.append(program)
        return program

    def kill(self, replica):
        self.replicas.remove(replica)
        replica.kill_all()

    def stop(self, replica):
        self.replicas.remove(replica)
        assert replica.stop() == 0

    def holders(self):
        """By the server, who holds the Lease of each cluster: a replica that runs, or None."""
        found = []
        for space, client in zip(self.spaces, self.clients):
            code, lease = client.request("GET", LEASES.format(space) + f"/{self.lease}")
            holder = lease["spec"].get("holderIdentity") or "" if code == 200 else ""
            found.append(next((p for p in self.replicas if holder.endswith(f"_{p.process.pid}")), None))
        return found

    def is_even(self):
        """Each cluster is led, and none leads a fifth more or less than its share."""
        holders = self.holders()
        share = len(holders) / len(self.replicas)
        return all(int(0.8 * share) <= holders.count(p) <= math.ceil(1.2 * share) for p in self.replicas) and None not in holders

    def becomes_even(self, limit):
        return self.t.until("an even share", self.is_even, limit, every=0.2)

    def settled(self):
        """Who holds them when nothing has changed hands for a while."""
        while True:
            before = self.holders()
            time.sleep(6)
            if None not in before and self.holders() == before:
                return before


def of_one_server(t, clusters):
    """Clusters of one server, which differ by the namespace of their Lease."""
    spaces = [t.ns() for _ in range(clusters)]
    text = t.server.kubeconfig_pair(None)
    kubeconfigs = [(t.write(f"kubeconfig-{i}", text.replace("user: ", f"namespace: {space}, user: ", 2)), {"writerContext": "writer"})
                   for i, space in enumerate(spaces)]
    return Fleet(t, spaces, [t.admin] * clusters, kubeconfigs)


def check_handovers(t, fleet):
    """No moment of two: who takes a Lease over does so after it was given back, or when it had not been renewed for its duration."""
    holder, renewed, given = {}, {}, 0
    for r in t.server.log()[t.started:]:
        if r.resource != "leases" or r.name != fleet.lease or not r.is_write or not r.ok:
            continue
        if "spec" not in r.body:
            continue    # a claim
        new, old = r.body["spec"]["holderIdentity"], holder.get(r.ns, "")
        if new and old and new != old:
            waited = r.t - renewed[r.ns]
            assert waited >= LEASE_S - 0.1, f"{new} took {r.ns} {waited:.1f} s after {old} had renewed it"
        given += bool(old and not new)
        holder[r.ns], renewed[r.ns] = new, r.t
    return given


@scenario("replicas/hundred-clusters", servers=("apisim",), alone=True, timeout=280)
def hundred(t):
    """Three replicas share a hundred clusters evenly: at the start, when one is killed, when one joins, and when one ends."""
    fleet = of_one_server(t, 100)
    config = t.config(evicted="nowhere")
    for _ in range(3):
        fleet.replica(**config)
    fleet.becomes_even(SOON_S)
    before = fleet.settled()
    killed = fleet.replicas[1]
    fleet.kill(killed)
    at = time.monotonic()
    t.until("all clusters to be led again", lambda: None not in fleet.holders(), SOON_S, every=0.2)
    t.note = f"led again {time.monotonic() - at:.0f} s after a kill"
    fleet.becomes_even(SOON_S)
    stayed = sum(a is b for a, b in zip(before, fleet.holders()))
    assert stayed >= 60, f"only {stayed} of the 67 that were led went on as they were"
    fleet.replica(**config)
    fleet.becomes_even(SOON_S)
    assert check_handovers(t, fleet) >= 30, "the one that joined was given nothing"
    fleet.stop(fleet.replicas[0])
    t.until("all clusters to be led again", lambda: None not in fleet.holders(), SOON_S, every=0.2)
    fleet.becomes_even(SOON_S)
    check_handovers(t, fleet)


@scenario("replicas/home-is-lost", servers=("apisim",), timeout=200)
def home_is_lost(t):
    """Where replicas see one another cannot be reached: each keeps what it leads, and what a dead one led is led again all the same."""
    fleet = of_one_server(t, 6)
    proxies = [t.proxy() for _ in range(2)]
    config = t.config(evicted="nowhere")
    for proxy in proxies:       # each reaches the home cluster by a way of its own
        text = t.server.kubeconfig_pair(proxy).replace("user: ", f"namespace: {fleet.spaces[0]}, user: ", 2)
        fleet.clusters[0] = {**fleet.clusters[0], "kubeconfig": str(t.write(f"kubeconfig-{proxy.url.rsplit(':')[-1]}", text))}
        fleet.replica(**config)
    fleet.becomes_even(SOON_S)
    before = fleet.settled()
    cut = [proxy.before("GET", r"/leases$", lambda r: DROP, times=10000) for proxy in proxies]
    t.until("the word of it", lambda: all("not known" in p.log() for p in fleet.replicas), 30)
    t.never("a cluster changes hands", lambda: fleet.holders() != before, 8)
    gone = fleet.replicas[0]
    fleet.kill(gone)
    t.until("all clusters to be led again", lambda: None not in fleet.holders(), SOON_S, every=0.2)
    for hook in cut:
        hook.times = 0
    fleet.replica(**config)
    fleet.becomes_even(SOON_S)
    check_handovers(t, fleet)


def of_servers(t):
    """Four servers with a namespace each: (server, objects, namespace), and their kubeconfigs."""
    ns = t.ns()
    places = [(t.server, t.objects, ns)]
    for i in range(3):
        server = Apisim(t.dir / f"elsewhere-{i}", t.build)
        server.start()
        t.closing.append(server)
        places.append((server, Objects(server, t.prefix), ns))
        places[-1][1].ns(ns)
    texts = [server.kubeconfig("cleaner") for server, _, _ in places]
    return places, texts


class Bound(Account):
    """May do in one namespace what the program needs there."""
    RULES = Account.RULES + [
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create", "list", "get", "patch"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "get", "patch"]}]


def of_namespaces(t):
    """The same on one server: each credential is good for one namespace of four."""
    places, texts, users = [], [], set()
    for _ in range(4):
        ns = t.ns()
        account = Bound(t, ns, wide=False)
        account.grant()
        users.add(account.user)
        places.append((t.server, t.objects, ns))
        texts.append(t.server.kubeconfig(token=account.token))
    t.is_mine = lambda request: request.user in users
    return places, texts


@scenario("replicas/act", timeout=280)
def act(t):
    """Three replicas and four clusters: whatever is evicted goes, and once, while replicas are killed, end and join."""
    places, texts = of_namespaces(t) if t.server.has_controllers else of_servers(t)
    kubeconfigs = [(t.write(f"kubeconfig-{i}", text.replace("user: ", f"namespace: {ns}, user: ", 1)), {})
                   for i, (text, (_, _, ns)) in enumerate(zip(texts, places))]
    fleet = Fleet(t, [ns for _, _, ns in places], [server.admin for server, _, _ in places], kubeconfigs)
    config = t.config(evicted={ns for _, _, ns in places})
    config["deleteEvictedPod"]["namespaces"] = ["*"]     # of each cluster what its credential may see
    for _ in range(3):
        fleet.replica(**config)
    fleet.becomes_even(SOON_S)
    pods, until = [], time.monotonic() + 45
    turns = iter(("kill", "join", "stop", "join", "kill", "join"))
    for n in range(10**6):
        if time.monotonic() > until:
            break
        if n % 30 == 15:
            what = next(turns, None)
            if what == "join":
                fleet.replica(**config)
            elif what:
                getattr(fleet, what)(random.choice(fleet.replicas))
        _, objects, ns = places[n % 4]
        pods.append((objects, objects.evict(objects.pod(ns))))
        time.sleep(0.2)
    t.until("all to go", lambda: not any(objects.get(pod) for objects, pod in reversed(pods)), SOON_S, every=0.5)
    # Servers of the tests may give the same uids.
    wanted = {(id(objects), pod["metadata"]["uid"]) for objects, pod in pods}
    deleted = [(id(objects), r.uid) for server, objects in {id(server): (server, objects) for server, objects, _ in places}.values()
               for r in server.log() if r.verb == "delete" and r.resource == "pods" and r.ok]
    deleted = [one for one in deleted if one in wanted]
    assert len(deleted) == len(set(deleted)) == len(wanted), f"{len(wanted)} pods, {len(deleted)} deletions of {len(set(deleted))}"


# Runs what is asked of a pod on this machine, by the control socket that file POD names; pod a-2 has none.
KUBECTL = """#!/bin/sh
case " $* " in
*" get pods "*) echo a-0; echo a-1; echo a-2; exit ;;
*-replica-1\\ *) echo a-0_1; echo a-1_1; [ ! -e {folder}/a-2.asked ] || echo a-2_1; exit ;;
*" get leases"*) exit ;;
esac
while [ "$1" != -- ]; do
	case $1 in a-?) pod=$1 ;; esac
	shift
done
shift 2
exec {binary} "$@" --control-socket "$(cat {folder}/$pod)"
"""


@scenario("replicas/shown-as-one", servers=("apisim",), timeout=180)
def shown_as_one(t):
    """`kubectl ops_pod_cleaner` shows two replicas as one: each cluster as the one knows it that leads it, actions and plans in one list."""
    places, texts = of_servers(t)
    kubeconfigs = [(t.write(f"kubeconfig-{i}", text), {}) for i, text in enumerate(texts)]
    fleet = Fleet(t, ["default"] * 4, [server.admin for server, _, _ in places], kubeconfigs)
    ns = places[0][2]
    config = t.config(evicted=ns, terminating=ns, hours="1h")
    for _ in range(2):
        fleet.replica(**config)
    fleet.becomes_even(SOON_S)
    before = [fleet.replicas.index(p) for p in fleet.settled()]
    gone, stuck = [], []
    for _, objects, ns in places:
        gone.append((objects, objects.evict(objects.pod(ns))))
        stuck.append(objects.terminate(objects.pod(ns), 1))
    t.until("all to go", lambda: not any(objects.get(pod) for objects, pod in gone), SOON_S)
    for i, replica in enumerate(fleet.replicas):
        t.write(f"a-{i}", str(replica.socket))
    t.script("kubectl", KUBECTL.format(folder=t.dir, binary=fleet.replicas[0].binary))

    def plugin(*args, code=0):
        done = subprocess.run(["/bin/sh", TOP / "cli" / "kubectl-ops_pod_cleaner", *args], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, env={**fleet.replicas[0].env, "PATH": f"{t.dir}:/usr/bin:/bin"})
        assert done.returncode == code, (args, done)
        return done.stderr if code else json.loads(done.stdout) if "json" in args else done.stdout
    t.until("both to know the ends", lambda: [r["outcome"] for r in plugin("history", "-o", "json")["items"]] == ["done"] * 4, 20)
    rows = plugin("history", "-o", "json")["items"]
    assert sorted((r["cluster"], r["replica"], r["name"]) for r in rows) == sorted(
        (f"c{i:02d}", f"a-{before[i]}", pod["metadata"]["name"]) for i, (_, pod) in enumerate(gone)), rows
    assert [r["startedAt"] for r in rows] == sorted(r["startedAt"] for r in rows), rows
    assert plugin("history", "--limit", "3", "-o", "json")["items"] == rows[1:]
    assert plugin("history", "--summary", "-o", "json")["items"][0]["outcomes"] == {"done": 4}
    status = plugin("status", "-o", "json")
    assert [(c["cluster"], c["replica"], c["leader"]["leading"]) for c in status["clusters"]] == [
        (f"c{i:02d}", f"a-{before[i]}", True) for i in range(4)], status
    assert [r["replica"] for r in status["replicas"]] == ["a-0", "a-1"], status
    assert len({p["pid"] for p in status["processes"]}) == len(status["processes"]) >= 12, status
    text = plugin("status")
    assert all(f"replica a-{i} leads 2 of 4 clusters" in text for i in (0, 1)) and text.count("BLOCKED") == 1, text
    plan = plugin("plan", "-o", "json")
    assert sorted((r["cluster"], r["name"], r["when"]) for r in plan["items"]) == sorted(
        (f"c{i:02d}", pod["metadata"]["name"], "later") for i, pod in enumerate(stuck)), plan
    assert plan["leftOut"] == [] and len(plan["looked"]) == 4, plan
    plugin("plan", "--detailed-exitcode")
    t.write("a-2.asked", "")
    t.write("a-2", str(t.dir / "nowhere"))
    assert "replica a-2 did not answer, see above; the others are shown" in plugin("history", code=69)


@scenario("replicas/notify-once", servers=("apisim",), timeout=180)
def notify_once(t):
    """A cluster that no replica reaches: each knows it, and the chat is notified once, by the one that leads it or should."""
    places, texts = of_servers(t)
    kubeconfigs = [(t.write(f"kubeconfig-{i}", text), {}) for i, text in enumerate(texts)]
    fleet, hook = Fleet(t, ["default"] * 4, [server.admin for server, _, _ in places], kubeconfigs), t.sink(kind="webhook")
    config = t.config(evicted=places[0][2], tell=GATHER, sinks=[hook.settings(tell=["attention"])])
    for _ in range(3):
        fleet.replica(**config)
    fleet.becomes_even(SOON_S)
    leader = fleet.settled()[3]
    places[3][0].stop()

    def knows(program):
        return [x["elsewhere"] for x in program.status()["troubles"] if (x["cluster"], x["trouble"]) == ("c03", "watch")]
    t.until("each to know", lambda: all(knows(p) for p in fleet.replicas), SOON_S)
    t.until("the chat", lambda: alarms(hook, "watch"), 30)
    t.never("another message", lambda: len(alarms(hook, "watch")) != 1, 8)
    assert all(knows(p) == [p is not leader] for p in fleet.replicas), [knows(p) for p in fleet.replicas]


def two(t, ns, **duties):
    """Two replicas of one cluster with an election; the first leads."""
    election = {"enable": True, "namespace": "default", "name": f"{t.prefix}-lease"}
    config = {**t.config(leaderElection=election, **duties)}
    first = t.program(config)
    t.until("the first replica to lead", lambda: led(first), 10)
    return first, t.program(config)


def led(program):
    status = program.status()
    return bool(status) and all(c["leader"] and c["leader"]["leading"] for c in status["clusters"])


@scenario("replicas/budget-travels", timeout=180)
def budget_travels(t):
    """What the leader has spent of a budget counts for the one that follows it, however it ended, and on another disk."""
    ns = t.ns()
    first, second = two(t, ns, evicted=ns, deleteEvictedPod={"maxPerHour": 3})
    gone = [t.objects.evict(t.objects.pod(ns)) for _ in range(2)]
    for pod in gone:
        t.wait_write(pod)
    t.until("both to be on the Lease", lambda: "deleteEvictedPod" in memory_of(t) and sum(
        int(row.split()[4]) for row in memory_of(t).split(";") if row.startswith("deleteEvictedPod ")) == 2, 10)
    first.kill_all()
    t.until("the second replica to lead", lambda: led(second), 40)
    more = [t.objects.evict(t.objects.pod(ns)) for _ in range(3)]
    t.until("one more to go", lambda: sum(bool(t.writes_on(pod)) for pod in more) == 1, 20)
    t.never("another one goes", lambda: sum(bool(t.writes_on(pod)) for pod in more) > 1, 3)
    left = next(pod for pod in more if not t.writes_on(pod))
    said = second.ask("explain", f"{ns}/{left['metadata']['name']}").stdout
    assert "BudgetSpent" in said, said
    t.complete = False
    t.expect(deleted=gone + [pod for pod in more if t.writes_on(pod)])


def memory_of(t):
    code, lease = t.admin.request("GET", LEASES.format("default") + f"/{t.prefix}-lease")
    return lease["metadata"].get("annotations", {}).get("ops-pod-cleaner.io/last-hour", "") if code == 200 else ""


@scenario("replicas/restores-what-another-did", timeout=180)
def restores(t):
    """The mark is enough: replicas, time and why are there when the replica that scaled it down is gone with its disk."""
    ns = t.ns()
    first, second = two(t, ns, image_pull=ns, hours="1s")
    workload = t.objects.workload("Deployment", ns, 3)
    workload.fail_to_pull()
    t.wait_write(workload)
    t.wait_history(first, outcome="done", reason="CannotPullImage")
    t.policy.restore = True
    workload.leave()
    first.kill_all()
    t.until("the second replica to lead", lambda: led(second), 40)
    rows = second.ask_json("restore", "--list", "-n", ns)
    assert [(r["target"], r["replicas"], r["duty"]) for r in rows] == [(f"deployments.apps/{ns}/{workload.name}", 3, "errImagePull")], rows
    assert "CannotPullImage" in rows[0]["said"] and rows[0]["at"], rows
    done = restore(second, f"{ns}/{workload.name}")
    assert done.returncode == 0, done.stdout + done.stderr
    t.until("its replicas", lambda: workload.wanted() == 3, 10)


@scenario("replicas/one-report", timeout=180)
def one_report(t):
    """The report comes from the replica that leads, and from no other; from the next when that one is gone."""
    ns = t.ns()
    election = {"enable": True, "namespace": "default", "name": f"{t.prefix}-lease"}
    sinks = [t.sink(), t.sink()]
    crasher = digest.Crasher(t, ns)
    first = t.program({**digest.config(t, sinks[0], ns), "leaderElection": election})
    t.until("the first replica to lead", lambda: led(first), 10)
    second = t.program({**digest.config(t, sinks[1], ns), "leaderElection": election})
    digest.accepted(t, sinks[0], 3, timeout=30, crasher=crasher)
    assert not sinks[1].accepted, "the standby reports, too"
    first.kill_all()
    digest.accepted(t, sinks[1], 1, timeout=120, crasher=crasher)
    assert led(second)


@scenario("replicas/rbac", servers=("cluster",), timeout=180)
def printed_rights(t):
    """What `rbac` prints for two clusters is enough to share them: no request to the home cluster is refused."""
    ns = t.ns()
    there = Apisim(t.dir / "there", t.build)
    there.start()
    t.closing.append(there)
    config = {**t.config(evicted=ns), "leaderElection": {"enable": True, "name": f"{ns}-lease"},
              "clusters": [{"name": name, "kubeconfig": str(t.dir / f"kubeconfig-{name}")} for name in ("home", "there")]}
    prefix, tokens = accounts_of_its_own(t, json.dumps(config), ns)
    pair = t.server.kubeconfig(token=tokens["reader"]).replace("user: test}", "user: test, namespace: ops-pod-cleaner}")
    pair = pair.replace("contexts:\n", "contexts:\n- name: writer\n  context: {cluster: test, user: writer}\n")
    t.write("kubeconfig-home", pair + f"- name: writer\n  user:\n    token: {tokens['writer']}\n")
    t.write("kubeconfig-there", there.kubeconfig_pair())
    for cluster in config["clusters"]:
        cluster["writerContext"] = "writer"
    t.is_mine = lambda r: r.user.startswith(prefix) and r.ns in ("", ns, "ops-pod-cleaner")
    replicas = [t.program(config, kubeconfig=None) for _ in range(2)]

    def leads(program):
        return sorted(c["cluster"] for c in program.status()["clusters"] if c["leader"]["leading"])
    t.until("one cluster for each", lambda: sorted(map(leads, replicas)) == [["home"], ["there"]], SOON_S)
    pod = t.objects.evict(t.objects.pod(ns))
    t.wait_write(pod)
    not_refused(t, prefix, ns)
    t.expect(deleted=[pod])

"""One process of ours has been taken over: inside its real sandbox and behind a real handshake it does what an attacker tells it
(tests/evil/evil.h). Each row of ATTACKS says which role, what it does, and what must hold beside what holds after every attack:
the supervisor lives, the other cluster is served, nothing is written that nobody asked for, the log stays short, the history whole."""
import contextlib
import functools
import os
import pathlib
import random
import re
import signal
import sqlite3
import time

from harness.objects import Objects, path_of
from harness.scenario import Skip, scenario
from harness.servers import Apisim

TOP = pathlib.Path(__file__).resolve().parents[3]
LOG_BYTES = 200_000         # of one attack
MEMORY_KB = 40_000          # of the supervisor
LATE = 10                   # s: the other cluster's slowest deletion beside an attack, on a busy machine
TABLE = (TOP / "ipc" / "messages.def").read_text().replace("\\\n", "")
# (name, senders, phases) of each message, in the order of their numbers
MESSAGES = re.findall(r"\bM\((\w+),\s*\w+,\s*([\w| ]+?),\s*[\w| ]+?,\s*([\w| ]+?),\s*\"", TABLE)
TYPES = [name for name, _, _ in MESSAGES]


# -- messages as bytes: what no encoder of ours would make --

def pack(value):
    """msgpack, in its shortest form."""
    if isinstance(value, bool):
        return bytes([0xc2 + value])
    if isinstance(value, int):
        for limit, head, size in ((1 << 7, b"", 1), (1 << 8, b"\xcc", 1), (1 << 16, b"\xcd", 2), (1 << 32, b"\xce", 4), (1 << 64, b"\xcf", 8)):
            if 0 <= value < limit:
                return head + value.to_bytes(size, "big")
        return b"\xd3" + value.to_bytes(8, "big", signed=True)
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogateescape")
        return (bytes([0xa0 + len(text)]) if len(text) < 32 else b"\xd9" + bytes([len(text)])) + text
    if isinstance(value, dict):
        return bytes([0x80 + len(value)]) + b"".join(pack(k) + pack(v) for k, v in value.items())
    head = bytes([0x90 + len(value)]) if len(value) < 16 else b"\xdc" + len(value).to_bytes(2, "big")
    return head + b"".join(map(pack, value))


def raw(name, *fields):
    return "raw " + pack([TYPES.index(name), *fields]).hex()


def messages_of(role):
    """What that role may send while it runs."""
    for name, senders, phases in MESSAGES:
        if name != "CTL_PROBE_ROW" and "PH_RUN" in phases and {f"R_{role.upper()}", "LASTING", "CHILDREN"} & set(re.findall(r"\w+", senders)):
            yield name


class Tree:
    """A program with two clusters, one of whose processes is evil."""

    def __init__(self, t, more=None, workers=2, duties=(), **config):
        cache = t.build / "CMakeCache.txt"
        if not cache.exists() or "OPC_PROBES:BOOL=ON" not in cache.read_text():
            raise Skip("this build answers no probes: it needs OPC_PROBES=ON (preset dev)")
        self.t, self.ns = t, t.ns()
        self.other = Apisim(t.dir / "other", t.build)
        self.other.start()
        t.closing.append(self.other)
        self.there = Objects(self.other, t.prefix)
        self.there.ns(self.ns)
        config = {**t.config(evicted=self.ns, **dict.fromkeys(duties, self.ns), **config), "sandbox": "require", **(more or {})}
        config["clusters"] = [{"name": "evil", "kubeconfig": str(t.kubeconfig("cleaner")), "workers": workers},
                              {"name": "other", "kubeconfig": str(t.write("kubeconfig-other", self.other.kubeconfig("cleaner"))), "workers": 1}]
        self.config = config
        self.program = t.program(config, kubeconfig=None)
        self.pid = self.program.process.pid
        self.unsure = set()     # uids of what an evil reporter may have acknowledged and not written down
        self.wanted = {}        # what else may be written, as t.expect() takes it
        self.elsewhere = []     # uids of what was deleted in the other cluster
        self.deleted = [t.canary(self.ns)]
        t.wait_history(self.program, uid=self.deleted[0]["metadata"]["uid"], outcome="done")
        self.log_bytes = len(self.program.log())

    def obey(self, role, *commands, number=0, cluster=0):
        """Turn that process; what came of each command."""
        return [self.program.ask("probe", role, f"{cluster}/{number}", "evil", command, timeout=25).stdout.strip() for command in commands]

    def wait_sent(self, role):
        """Until that process has sent all, or is not there any more."""
        self.t.until("all to be sent", lambda: self.obey(role, "rest") != ["denied: EAGAIN"], 60, every=0.1)

    def wait_ready(self, seconds=40):
        self.t.until("all processes to be ready", self.program.is_ready, seconds, every=0.1)

    def slowest_elsewhere(self, n=3):
        """How long the slowest of n deletions in the other cluster takes, s; they are done while the attack lasts."""
        slowest = 0
        for _ in range(n):
            pod = self.there.evict(self.there.pod(self.ns))
            self.elsewhere.append(pod["metadata"]["uid"])
            begin = time.monotonic()
            self.t.until("the other cluster's deletion", lambda: any(
                r.verb == "delete" and r.uid == pod["metadata"]["uid"] and r.ok for r in self.other.log()), 3 * LATE)
            slowest = max(slowest, time.monotonic() - begin)
        return slowest

    def memory_kb(self):
        return int(re.search(r"^VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.pid}/status").read_text(), re.M).group(1))

    def check(self, log_bytes=LOG_BYTES, served=True):
        """What holds after every attack, and while it lasts."""
        slowest = self.slowest_elsewhere() if served else 0
        assert slowest < LATE, f"a deletion in the other cluster took {slowest:.1f} s"
        assert self.program.process.poll() is None and self.program.pids("supervisor") == [self.pid], "the supervisor has ended"
        assert self.program.status(), "the supervisor does not answer"
        assert self.memory_kb() < MEMORY_KB, f"the supervisor takes {self.memory_kb()} KiB"
        grown = len(self.program.log()) - self.log_bytes
        assert grown < log_bytes, f"{grown} bytes of log: {self.program.log()[-600:]}"
        self.t.note = f"other cluster {slowest * 1000:.0f} ms, {grown} B of log, supervisor {self.memory_kb()} KiB"

    def broke_the_protocol(self, role):
        """A process of that role was killed for it."""
        return any('"it broke the protocol"' in line and f'"role":"{role}"' in line for line in self.program.log().splitlines())

    def recover(self, role):
        """The attacker dies. What comes back is honest: all is served again, and what was done is in the history as it was done."""
        for which in range(len(self.program.pids(role))):
            self.program.kill(role, which)
        self.wait_ready()
        self.deleted.append(self.t.canary(self.ns, 40))
        wanted = {pod["metadata"]["uid"] for pod in self.deleted} - self.unsure
        self.t.until("all that was done to be in the history", lambda: wanted <= {
            row["uid"] for row in self.program.history() if row["outcome"] == "done"}, 20, every=0.2)
        assert self.program.stop() == 0, "it did not end well"
        with contextlib.closing(sqlite3.connect(next(self.program.state.rglob("history.db")))) as history:
            assert history.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    def expect(self):
        """Nothing else was written, there and here."""
        self.t.expect(deleted=self.deleted, **self.wanted)
        written = sorted(r.uid for r in self.other.log() if r.is_write and r.resource == "pods" and self.other.is_program(r))
        assert written == sorted(self.elsewhere), f"in the other cluster: {written}, not {self.elsewhere}"


def attack(name, role, *commands, killed=False, holds=None, log_bytes=LOG_BYTES, served=True, recovers=True, **options):
    """Register it. commands: text for the process, or functions of the tree. killed: it is for breaking the protocol.
    holds: a function of the tree, which asserts what this attack must not have done. served: the other cluster is, meanwhile.
    recovers: when the attacker is dead nothing has been written but what tree.deleted and tree.wanted say."""
    def register(doc):
        def run(t):
            tree = Tree(t, **options)
            for command in commands:
                if callable(command):
                    command(tree)
                else:
                    tree.obey(role, command)
            tree.check(log_bytes, served)
            tree.wait_sent(role)
            tree.check(log_bytes, served)
            if killed:
                t.until(f"the {role} to be killed", lambda: tree.broke_the_protocol(role), 10)
            if holds:
                holds(tree)
            if recovers:
                tree.recover(role)
                tree.expect()
        run.__doc__ = doc
        scenario(f"evil/{name}", servers=("apisim",), timeout=150)(run)
    return register


# What takes long stands first.

# -- any of them will not have new settings --

def keeps_the_old(tree, role, command):
    """A duty that is switched off is off, whatever that process says to it; and when it is on again it works."""
    tree.obey(role, command)
    generation = tree.program.status()["generation"]
    tree.program.write_config({**tree.config, "deleteEvictedPod": {**tree.config["deleteEvictedPod"], "enable": False}})
    tree.program.reload()
    tree.t.until("the settings to be in force", lambda: tree.program.status()["generation"] > generation, 20)
    pod = tree.t.objects.evict(tree.t.objects.pod(tree.ns))
    tree.t.never("a duty acts that was switched off", lambda: tree.t.writes_on(pod), 3)
    tree.program.write_config(tree.config)
    for which in range(len(tree.program.pids(role))):
        tree.program.kill(role, which)
    tree.wait_ready()
    tree.program.reload()
    tree.t.wait_write(pod, 60)
    tree.deleted.append(pod)


for _role in ("watcher", "worker", "reporter"):
    for _what, _command in (("refuses", "lie SETTINGS_ACK ok=0 error=no"), ("ignores", "swallow SETTINGS")):
        attack(f"{_role}-{_what}-settings", _role, functools.partial(keeps_the_old, role=_role, command=_command),
               duties=("terminating",))(f"The {_role} {_what} new settings, by which a duty is off.")


# -- the worker lies about what it did, or does nothing --

def claims_to_have_written(tree):
    """It says done and writes nothing: the watch sees the pod stand, and the log says so."""
    tree.obey("worker", "answer GRANT RESULT outcome=0 http=200 reason=Evicted at=1")
    pod = tree.t.objects.evict(tree.t.objects.pod(tree.ns))
    tree.t.wait_history(tree.program, uid=pod["metadata"]["uid"], outcome="done")
    assert not tree.t.writes_on(pod)
    tree.t.until("the contradiction to be told", lambda: "contradicts a worker's result" in tree.program.log(), 60)


def held_lease(tree):
    """A pod whose deletion this cluster's worker has been granted, and does not begin."""
    tree.obey("worker", "swallow GRANT")
    pod = tree.t.objects.evict(tree.t.objects.pod(tree.ns))
    tree.t.until("the lease to be held", lambda: any(r["uid"] == pod["metadata"]["uid"] for r in tree.program.history()), 10)
    return pod


def ends_anothers_lease(tree):
    """The worker of the other cluster says that what this cluster's worker holds is done."""
    pod = held_lease(tree)
    tree.obey("worker", "flood 50 RESULT outcome=0 reason=Evicted", cluster=1)
    tree.t.until("the other worker to be killed", lambda: tree.broke_the_protocol("worker"), 10)
    assert not [r for r in tree.program.history() if r["uid"] == pod["metadata"]["uid"] and r["outcome"] == "done"]
    tree.deleted.append(pod)


def quotes_for_anothers_lease(tree):
    """What the worker of the other cluster says of an action of this one is in no row of the history."""
    pod = held_lease(tree)
    tree.obey("worker", "flood 50 QUOTE quote=0 number=0 pod=x text=lies", cluster=1)
    tree.t.until("the other worker to be killed", lambda: tree.broke_the_protocol("worker"), 10)
    tree.t.wait_write(pod, 60)
    tree.deleted.append(pod)
    assert "lies" not in tree.program.ask("history", "-o", "json").stdout


def keeps_the_lease(tree):
    """It takes what it is granted and never answers: it is killed, and another does it, once."""
    tree.obey("worker", "swallow GRANT")
    pod = tree.t.objects.evict(tree.t.objects.pod(tree.ns))
    tree.t.wait_write(pod, 60)
    tree.deleted.append(pod)
    assert len(tree.t.writes_on(pod)) == 1


def every_timing(tree):
    """A number that has no name ends its sender, never the reporter."""
    pid = tree.program.pids("reporter")
    for number in range(16):
        tree.obey("worker", f"say TIMING timing={number} n=1")
    assert tree.program.pids("reporter") == pid, "the reporter has ended"


attack("worker-claims-to-have-written", "worker", claims_to_have_written, workers=1, recovers=False)("The worker says done and has written nothing.")
attack("worker-ends-anothers-lease", "worker", ends_anothers_lease, workers=1, served=False)("A worker ends what another one holds.")
attack("worker-quotes-for-anothers-lease", "worker", quotes_for_anothers_lease, workers=1, served=False)("A worker quotes for what another one holds.")
attack("worker-keeps-the-lease", "worker", keeps_the_lease, workers=1)("The worker never answers: it is killed, and another does it once.")
attack("worker-counts-without-a-name", "worker", every_timing)("The worker says every TIMING that a number can name.")


# -- any of them hangs, is deaf or dumb, or sends descriptors --

def hangs(tree, role):
    tree.obey(role, "hang")
    tree.t.until(f"the {role} to be killed", lambda: '"because":"it hangs"' in tree.program.log() or "no heartbeat" in tree.program.log(), 30)
    tree.wait_ready()


def passes_descriptors(tree, role):
    """They are closed: the supervisor has no more than before."""
    before = len(list(pathlib.Path(f"/proc/{tree.pid}/fd").iterdir()))
    for fd in (0, 2, 3):
        tree.obey(role, f"pass {fd}")
        tree.wait_ready()
    tree.t.until("the descriptors to be closed", lambda: len(list(pathlib.Path(f"/proc/{tree.pid}/fd").iterdir())) <= before + 2, 10)


for _role in ("watcher", "worker", "reporter"):
    attack(f"{_role}-hangs", _role, functools.partial(hangs, role=_role))(f"The {_role} hangs: it is killed, and there is another.")
    attack(f"{_role}-sends-no-heartbeat", _role, "mute all", functools.partial(lambda tree, role: tree.t.until(
        f"the {role} to be killed", lambda: "no heartbeat" in tree.program.log(), 30), role=_role), served=False)(
            f"The {_role} says nothing any more, and runs on.")
    attack(f"{_role}-passes-descriptors", _role, functools.partial(passes_descriptors, role=_role))(f"The {_role} sends descriptors along.")


# -- what no role may say --

MALFORMED = ("raw 92cd03e801", "raw c0", raw("TROUBLE", 200, ""), raw("TROUBLE", 0, "\x1b[31mred"), raw("TROUBLE", 0, "\u202e"),
             raw("HEARTBEAT", 1, 2))


def malformed(tree, role):
    """Each of them is the last that its sender sends."""
    for command in MALFORMED:
        before = tree.program.log().count('"it broke the protocol"')
        tree.obey(role, command)
        tree.t.until(f"the {role} to be killed for {command}",
                     lambda before=before: tree.program.log().count('"it broke the protocol"') > before, 10)
        tree.wait_ready()


for _role, _command in (("watcher", "say RESULT id=1"), ("worker", "say NOMINATE"), ("reporter", "say GRANT id=1")):
    attack(f"{_role}-speaks-as-another", _role, _command, killed=True)(f"The {_role} sends what another role may.")
    attack(f"{_role}-begins-anew", _role, "say HELLO proto=4 build=x pid=1", "say READY generation=1", killed=True)(
        f"The {_role} says HELLO and READY a second time, in the wrong phase.")
    attack(f"{_role}-malformed", _role, functools.partial(malformed, role=_role))(
        f"The {_role} sends bytes that are no message: an unknown type, a byte behind the last, out of range, not printable, too many fields.")


# -- too much of everything: a message that is added to the table has its row here --

for _role in ("watcher", "worker", "reporter"):
    for _name in messages_of(_role):
        attack(f"{_role}-floods-{_name.lower().replace('_', '-')}", _role, f"flood 10000 {_name}" + (" duty=2" if _name == "NOMINATE" else ""))(
            f"The {_role} sends 10,000 {_name} at once, no two alike.")


# -- chance: any valid message, in any order, made of what went through the process --

ENDS_AT_ONCE = {"watcher": (), "worker": ("CTL_DRY_RUN_RESULT", "RESULT"), "reporter": ("OPEN_INTENT", "OPEN_END", "NO_HISTORY", "CTL_RESTORE_ROW")}


def random_messages(tree, role, lives=4):
    """So many lives of that role, each until it is killed or has sent all. The seed is in the note."""
    but = " ".join(f"-{name}" for name in ENDS_AT_ONCE[role])
    for life in range(lives):
        tree.obey(role, "rest")      # from now on it remembers what it sends and receives
        tree.deleted.append(tree.t.canary(tree.ns))
        if role == "reporter":
            tree.unsure.add(tree.deleted[-1]["metadata"]["uid"])
        tree.obey(role, f"random 20000 {random.randrange(1 << 32)} {but if life % 2 else ''}".strip())
        tree.check()
        tree.wait_sent(role)
        for which in range(len(tree.program.pids(role))):
            tree.program.kill(role, which)
        tree.wait_ready()


for _role in ("watcher", "worker", "reporter"):
    attack(f"{_role}-random", _role, functools.partial(random_messages, role=_role))(
        f"The {_role} sends valid messages of chance, 20,000 in a life.")


# -- the watcher wants what is not due, elsewhere, too often, too early, or without an end --

def nominate(pod, duty, action, key=None, **more):
    meta = pod["metadata"]
    return " ".join([f"say NOMINATE ns={meta['namespace']} name={meta['name']} uid={meta['uid']} action_key={key or meta['uid']}",
                     f"duty={duty} action={action} reason=Evicted", *(f"{k}={v}" for k, v in more.items())])


EVICTED, IMAGE_PULL = 0, 2
SCALE_DOWN = 4
OF_WORKLOADS = (2, 5)     # duties: the key of a pod is its owner
ACTIONS = ((0, 0), (1, 3), (2, 1), (2, 4), (4, 0), (5, 4), (0, 3), (0, 4))     # (duty, action), and two that do not go together


def nominate_healthy(tree):
    """A pod that runs, and is Ready, for every duty; alone, and of a workload."""
    workload = tree.t.objects.workload("Deployment", tree.ns, 1)
    alone = tree.t.objects.pod(tree.ns)
    for pod, key in ((alone, None), (workload.pods()[0], workload.uid)):
        tree.t.objects.run(pod, ready=True)
        for duty, action in ACTIONS:
            tree.obey("watcher", nominate(pod, duty, action, key if duty in OF_WORKLOADS else None, since=1))
    time.sleep(1)


def nominate_twice(tree):
    """The same pod twenty times, then under another key."""
    pod = tree.t.objects.pod(tree.ns)
    tree.obey("watcher", "mute NOMINATE")
    tree.t.objects.evict(pod)
    for _ in range(20):
        tree.obey("watcher", nominate(pod, EVICTED, 0))
    tree.t.wait_write(pod)
    time.sleep(0.5)
    assert len(tree.t.writes_on(pod)) == 1, tree.t.writes_on(pod)
    tree.deleted.append(pod)
    tree.obey("watcher", nominate(pod, EVICTED, 0, "key-1"))


def past_budgets(tree):
    """Thirty that are due, where the budgets allow one a minute: the supervisor's own limit is twice that, and ten."""
    tree.t.policy.budgets.clear()   # they are the watcher's
    tree.t.complete = False
    tree.obey("watcher", "mute NOMINATE")
    for _ in range(30):
        pod = tree.t.objects.evict(tree.t.objects.pod(tree.ns))
        tree.obey("watcher", nominate(pod, EVICTED, 0))
    time.sleep(1)


def at_most_the_limit(tree):
    written = len([r for r in tree.t.writes() if r.ok])
    assert written <= 24, f"{written} writes, and the limit is 12 a minute"     # two minutes at most
    assert "own limit of writes is reached" in tree.program.log()


def failing(tree, kind="StatefulSet"):
    workload = tree.t.objects.workload(kind, tree.ns, 1)
    workload.fail_to_pull()
    return workload, workload.pods()[0]


def forged_since(tree):
    """It fails for a moment; the watcher says for a day, and nominates it."""
    workload, pod = failing(tree)
    revision = workload.revision
    tree.obey("watcher", f"say FAILING_SINCE duty={IMAGE_PULL} owner={workload.uid} revision={revision} at=1",
              nominate(pod, IMAGE_PULL, SCALE_DOWN, workload.uid, revision=revision, since=1, others_pulled_at=1))
    time.sleep(3)


def ask_for_restores(tree):
    """Of a scale-down that nobody has corrected."""
    workload, _ = failing(tree, "Deployment")
    tree.t.wait_write(workload)
    tree.wanted = {"scaled": [workload]}
    tree.t.wait_history(tree.program, outcome="done", reason="CannotPullImage")
    for number in range(1, 11):
        tree.obey("watcher", f"say RESTORE_ASK id={number}")
        time.sleep(0.2)
    assert workload.wanted() == 0


def leads_for_ever(tree):
    """It says once that it leads until the end of time, and nothing more: its word lasts 15 s."""
    tree.obey("watcher", "mute LEADER", "say LEADER leading=1 valid_until=18446744073709551615 holder=x")
    time.sleep(16.5)
    pod = tree.t.objects.evict(tree.t.objects.pod(tree.ns))
    tree.t.never("something is written without the Lease", lambda: tree.t.writes_on(pod), 4)
    tree.deleted.append(pod)


def asks_without_end(tree):
    """What is saved becomes much, and is asked for again and again; the other watcher, and an operator, get their answers."""
    tree.obey("watcher", "flood 20000 SAVED kind=reverted at=1 until=9000000000000000 count=1")
    tree.wait_sent("watcher")
    tree.obey("watcher", "flood 20000 SAVED_GET")
    other = next(p["pid"] for p in tree.program.status()["processes"] if p["role"] == "watcher" and p["cluster"] == "other")
    os.kill(other, signal.SIGKILL)
    tree.t.until("the other watcher to be synced", lambda: any(
        c["cluster"] == "other" and c["synced"] for c in tree.program.status()["clusters"]) and any(
        p["pid"] not in (0, other) and p["role"] == "watcher" and p["cluster"] == "other" for p in tree.program.status()["processes"]), 8)
    assert tree.program.history(), "the history does not answer"


attack("watcher-wants-the-healthy", "watcher", nominate_healthy)("The watcher nominates what runs and is Ready, for every duty.")
attack("watcher-wants-a-restore", "watcher", "say NOMINATE action=2 reason=x", killed=True)("The watcher nominates a restore.")
attack("watcher-wants-another-cluster", "watcher", "say NOMINATE cluster=1 reason=x", killed=True)("The watcher nominates in another cluster.")
attack("watcher-wants-it-twice", "watcher", nominate_twice, killed=True)("The watcher nominates one pod twenty times: it is deleted once; and under another key than its uid.")
attack("watcher-past-its-budgets", "watcher", past_budgets, holds=at_most_the_limit, recovers=False,
       served=False, deleteEvictedPod={"maxPerMinute": 1})("The watcher forgets its budgets: the supervisor's own limit holds.")
attack("watcher-makes-it-old", "watcher", forged_since, duties=("image_pull",), hours="1h")("The watcher says that a fresh failure is old.")
attack("watcher-wants-it-back", "watcher", ask_for_restores, duties=("image_pull",), hours="1s")(
    "The watcher asks for a scale-down to be taken back that nobody has corrected.")
attack("watcher-leads-for-ever", "watcher", leads_for_ever, leaderElection={"enable": True, "namespace": "default"})(
    "The watcher says that it leads for ever.")
attack("watcher-says-who-lives", "watcher", "flood 20000 MEMBERS own=x live=evil valid_until=18446744073709551615",
       leaderElection={"enable": True, "namespace": "default"})("The watcher of the home cluster says that replicas live which do not.")
attack("watcher-asks-without-end", "watcher", asks_without_end)("The watcher asks for what is saved, again and again.")


# -- the reporter says what is not so: it can make the program stop, and not have it do anything --

def never_while(tree, *commands, seconds=3):
    """What is due is left alone while the reporter does that."""
    tree.obey("reporter", *commands)
    pod = tree.t.objects.evict(tree.t.objects.pod(tree.ns))
    tree.t.never("something is written that was not written down", lambda: tree.t.writes_on(pod), seconds)
    tree.deleted.append(pod)


def resumes(tree):
    tree.program.ask("pause", check=True)
    never_while(tree, "say PAUSE on=0 duty=-1", "flood 100 PAUSE on=0 duty=-1 cluster_name=evil")
    tree.program.kill("reporter")
    tree.wait_ready()
    tree.program.ask("resume", check=True)


def makes_it_old(tree):
    """A new watcher asks; before the honest answer the reporter says that what fails now has failed for ever."""
    workload, _ = failing(tree)
    tree.obey("reporter", f"precede SAVED_GET FAILING_SINCE_ROW duty={IMAGE_PULL} owner={workload.uid} revision={workload.revision} at=1")
    tree.program.kill("watcher")
    tree.wait_ready()
    time.sleep(3)


def gives_no_guards(tree):
    """A new watcher asks; the reporter says that nothing was saved: the limit of writes is the supervisor's."""
    tree.obey("reporter", "answer SAVED_GET SAVED_END")
    tree.program.kill("watcher")
    tree.wait_ready()


def looks_everywhere(tree):
    """With the workers' credential, at pods of a namespace that no report shows, and too often."""
    pod = tree.t.objects.pod(tree.ns)
    tree.obey("reporter", f"flood 3000 INSPECT ns={tree.ns} pod={pod['metadata']['name']} uid= container=main")
    tree.wait_sent("reporter")
    time.sleep(0.5)
    reads = [r for r in tree.t.requests() if r.verb == "get" and r.name == pod["metadata"]["name"]]
    assert len(reads) <= 600, f"{len(reads)} looks"    # two workers, 300 a minute each


def silent_reporter(tree):
    never_while(tree, "swallow all")


def not_written_down(tree):
    never_while(tree, "mute INTENT_ACK")


def refuses_to_write_down(tree):
    never_while(tree, "lie INTENT_ACK written=0")


attack("reporter-keeps-no-intent", "reporter", not_written_down, served=False)("The reporter never acknowledges: nothing is done.")
attack("reporter-refuses-intents", "reporter", refuses_to_write_down, served=False)("The reporter says that no intent was written: nothing is done.")
attack("reporter-swallows-all", "reporter", silent_reporter, served=False)("The reporter takes nothing: nothing is done.")
attack("reporter-invents-an-intent", "reporter", "say OPEN_INTENT id=77 reason=Evicted", killed=True)("The reporter opens an intent in the midst of its life.")
attack("reporter-tells-a-watcher", "reporter", "say SAVED_ROW kind=breaker at=1", killed=True)("The reporter sends rows that no watcher asked for.")
attack("reporter-resumes", "reporter", resumes, served=False)("The reporter takes back what an operator has paused.")
attack("reporter-makes-it-old", "reporter", makes_it_old, duties=("image_pull",), hours="1h")("The reporter says that a fresh failure is old.")
attack("reporter-gives-no-guards", "reporter", gives_no_guards)("The reporter says that nothing was saved.")
attack("reporter-looks-everywhere", "reporter", looks_everywhere)("The reporter has workers look at what no report shows.")


def opens_the_supervisors_file(tree):
    """The key of all intents, the pauses and the counts lie beside the folder of the history."""
    path = tree.program.state / "supervisor.state"
    assert tree.obey("reporter", f"open {path}") == ["denied: EACCES"]
    assert tree.obey("reporter", f"open {next(tree.program.state.rglob('history.db'))}") == ["worked"]
    answer = tree.obey("reporter", f"remove {path}")
    assert answer in (["denied: EACCES"], ["killed by SIGSYS"]) and path.exists(), answer


def speaks_behind_its_fault(tree):
    """What stands behind a fault in the socket counts no more: no row, not even of a refusal."""
    pod = tree.t.objects.run(tree.t.objects.pod(tree.ns), ready=True) or None
    pod = tree.t.objects.all_pods(tree.ns)[-1]
    meta = pod["metadata"]
    wish = raw("NOMINATE", 0, EVICTED, meta["namespace"], meta["name"], meta["uid"], "", meta["uid"], 0, 0, 0, 0, "Evicted", {}, 0, 0, False, "")
    tree.obey("watcher", f"raw {wish.split()[1]}")
    tree.t.wait_history(tree.program, uid=meta["uid"], outcome="refused")
    before = len(tree.program.history())
    tree.obey("watcher", f"raw c0 {wish.split()[1]}")
    tree.t.until("the watcher to be killed", lambda: tree.broke_the_protocol("watcher"), 10)
    tree.wait_ready()
    assert len([r for r in tree.program.history() if r["uid"] == meta["uid"]]) == 1, tree.program.history()[before:]


def fills_the_history(tree):
    """More refusals than the file holds: it stays open for others, and what was done stays in it."""
    tree.obey("watcher", f"flood 60000 REFUSAL evidence={'e' * 200}#")
    tree.wait_sent("watcher")
    tree.obey("watcher", f"flood 60000 SAVED at=1 until=9000000000000000 evidence={'t' * 200}#")
    tree.wait_sent("watcher")


attack("reporter-opens-the-supervisors-file", "reporter", opens_the_supervisors_file)("The reporter opens the supervisor's own file.")
attack("watcher-speaks-behind-its-fault", "watcher", speaks_behind_its_fault)("The watcher nominates behind bytes that are no message.")
attack("watcher-fills-the-history", "watcher", fills_the_history, historyMegabytes=16)("The watcher has more written down than the file holds.")


def puts_another_back(tree):
    """An operator asks for the scale-down of one workload; the reporter answers with another, which people have put to 0."""
    ours, _ = failing(tree, "Deployment")
    tree.t.wait_write(ours)
    tree.wanted = {"scaled": [ours]}
    number = tree.t.wait_history(tree.program, outcome="done", reason="CannotPullImage")["id"]
    theirs = tree.t.objects.workload("Deployment", tree.ns, 1)
    tree.t.admin.patch(path_of("Deployment", tree.ns, theirs.name), {"spec": {"replicas": 0}})
    tree.obey("reporter", f"answer CTL_RESTORE CTL_RESTORE_ROW ns={tree.ns} name={theirs.name} uid={theirs.uid} action_key={theirs.uid} action=2 "
              f"origin={number} duty={IMAGE_PULL} reason=Restored want_target=deployments.apps/{tree.ns}/{theirs.name} want_uid={theirs.uid} "
              "want_replicas=500")
    for words in (("--dry-run",), ("--yes",)):
        tree.program.ask("restore", str(number), *words, timeout=30)
        tree.wait_ready()
    time.sleep(1)
    assert theirs.wanted() == 0, f"{theirs.wanted()} replicas"


attack("reporter-puts-another-back", "reporter", puts_another_back, duties=("image_pull",), hours="1s")(
    "The reporter answers a question for one workload with another.")

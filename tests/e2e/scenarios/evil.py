"""One process of ours has been taken over: inside its real sandbox and behind a real handshake it does what an attacker tells it
(tests/evil/evil.h). Each row of ATTACKS says which role, what it does, and what must hold beside what holds after every attack:
the supervisor lives, the other cluster is served, nothing is written that nobody asked for, the log stays short, the history whole."""
import contextlib
import functools
import random
import pathlib
import re
import sqlite3
import time

from harness.objects import Objects
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
    return bytes([0x90 + len(value)]) + b"".join(map(pack, value))


def raw(name, *fields):
    return "raw " + pack([TYPES.index(name), *fields]).hex()


def messages_of(role):
    """What that role may send while it runs."""
    for name, senders, phases in MESSAGES:
        if name != "CTL_PROBE_ROW" and "PH_RUN" in phases and {f"R_{role.upper()}", "LASTING", "CHILDREN"} & set(re.findall(r"\w+", senders)):
            yield name


class Tree:
    """A program with two clusters, one of whose processes is evil."""

    def __init__(self, t, more=None, **duties):
        cache = t.build / "CMakeCache.txt"
        if not cache.exists() or "OPC_PROBES:BOOL=ON" not in cache.read_text():
            raise Skip("this build answers no probes: it needs OPC_PROBES=ON (preset dev)")
        self.t, self.ns = t, t.ns()
        self.other = Apisim(t.dir / "other", t.build)
        self.other.start()
        t.closing.append(self.other)
        self.there = Objects(self.other, t.prefix)
        self.there.ns(self.ns)
        config = {**t.config(evicted=self.ns, **duties), "sandbox": "require", **(more or {})}
        config["clusters"] = [{"name": "evil", "kubeconfig": str(t.kubeconfig("cleaner")), "workers": 2},
                              {"name": "other", "kubeconfig": str(t.write("kubeconfig-other", self.other.kubeconfig("cleaner"))), "workers": 1}]
        self.program = t.program(config, kubeconfig=None)
        self.pid = self.program.process.pid
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

    def check(self, log_bytes=LOG_BYTES):
        """What holds after every attack, and while it lasts."""
        slowest = self.slowest_elsewhere()
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
        wanted = {pod["metadata"]["uid"] for pod in self.deleted}
        self.t.until("all that was done to be in the history", lambda: wanted <= {
            row["uid"] for row in self.program.history() if row["outcome"] == "done"}, 20, every=0.2)
        assert self.program.stop() == 0, "it did not end well"
        with contextlib.closing(sqlite3.connect(next(self.program.state.rglob("history.db")))) as history:
            assert history.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    def expect(self, **wanted):
        """Nothing was written but that, there and here."""
        self.t.expect(**{**wanted, "deleted": [*self.deleted, *wanted.get("deleted", ())]})
        written = sorted(r.uid for r in self.other.log() if r.is_write and r.resource == "pods" and self.other.is_program(r))
        assert written == sorted(self.elsewhere), f"in the other cluster: {written}, not {self.elsewhere}"


def attack(name, role, *commands, killed=False, holds=None, log_bytes=LOG_BYTES, seconds=0, **options):
    """Register it. commands: text for the process, or functions of the tree. killed: it is for breaking the protocol.
    holds: a function of the tree, which asserts what this attack must not have done. seconds: how long it is watched."""
    def register(doc):
        def run(t):
            tree = Tree(t, **options)
            for command in commands:
                if callable(command):
                    command(tree)
                else:
                    tree.obey(role, command)
            end = time.monotonic() + seconds
            tree.check(log_bytes)
            while time.monotonic() < end:
                time.sleep(0.5)
                tree.check(log_bytes)
            tree.wait_sent(role)
            tree.check(log_bytes)
            if killed:
                t.until(f"the {role} to be killed", lambda: tree.broke_the_protocol(role), 10)
            if holds:
                holds(tree)
            tree.recover(role)
            tree.expect()
        run.__doc__ = doc
        scenario(f"evil/{name}", servers=("apisim",), timeout=150)(run)
    return register


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

NO_RATE_YET = ("DRAINED", "NOMINATE")

for _role in ("watcher", "worker", "reporter"):
    for _name in [name for name in messages_of(_role) if name not in NO_RATE_YET]:
        attack(f"{_role}-floods-{_name.lower().replace('_', '-')}", _role, f"flood 10000 {_name}")(
            f"The {_role} sends 10,000 {_name} at once, no two alike.")


# -- chance: any valid message, in any order, made of what went through the process --

ENDS_AT_ONCE = {"watcher": (), "worker": ("CTL_DRY_RUN_RESULT", "RESULT"), "reporter": ("OPEN_INTENT", "OPEN_END", "NO_HISTORY", "CTL_RESTORE_ROW")}


def random_messages(tree, role, lives=4):
    """So many lives of that role, each until it is killed or has sent all. The seed is in the note."""
    but = " ".join(f"-{name}" for name in ENDS_AT_ONCE[role])
    always = " ".join(f"-{name}" for name in NO_RATE_YET)
    for life in range(lives):
        tree.obey(role, "rest")      # from now on it remembers what it sends and receives
        tree.deleted.append(tree.t.canary(tree.ns))
        tree.obey(role, f"random 20000 {random.randrange(1 << 32)} {always} {but if life % 2 else ''}".strip())
        tree.check()
        tree.wait_sent(role)
        for which in range(len(tree.program.pids(role))):
            tree.program.kill(role, which)
        tree.wait_ready()


for _role in ("watcher", "worker", "reporter"):
    attack(f"{_role}-random", _role, functools.partial(random_messages, role=_role))(
        f"The {_role} sends valid messages of chance, 20,000 in a life.")

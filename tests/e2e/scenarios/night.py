"""One night in one cluster, told as an operator meets it: docs/one-night.md is made from what this prints."""
import fcntl
import http.client
import itertools
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import termios

from harness.objects import path_of
from harness.port import free_port
from harness.proxy import Answer
from harness.scenario import Skip, scenario
from scenarios.events import told
from scenarios.page import words
from scenarios.restore import restore
from scenarios.terminating import stuck

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "one-night.md"
GROUP, NOBODY = 4711, 65534
EVICTED = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 61284Ki. " \
          "Container main was using 1843232Ki, request is 512Mi, has larger consumption of memory."
IMAGE = "registry.example.com/shop/web:1.2.4"
REGISTRY = f'Failed to pull image "{IMAGE}": rpc error: code = NotFound desc = failed to pull and unpack image "{IMAGE}": ' \
           f"failed to resolve reference \"{IMAGE}\": {IMAGE}: not found"
LOG = ["listening on :8080", "connecting to postgres://db.team:5432/orders", "FATAL: password authentication failed for user \"orders\""]
COLUMNS = 80


class Reader:
    """Who is neither root nor the service, and a member of the group that may look; on a terminal of 80 columns."""

    def __init__(self, program, group=GROUP):
        self.dir, self.group = program.socket.parent, group
        shutil.copy(program.binary, self.dir / "ops-pod-cleaner")

    def ask(self, *args, language="en_US.UTF-8"):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        process = subprocess.Popen(["./ops-pod-cleaner", *args, "--control-socket", "./control.sock"], cwd=self.dir, stdin=subprocess.DEVNULL,
                                   stdout=slave, stderr=subprocess.STDOUT, user=NOBODY, group=NOBODY, extra_groups=[self.group],
                                   env={"PATH": "/usr/bin:/bin", "TERM": "xterm", "NO_COLOR": "1", "LANG": language, "TZ": "UTC"})
        os.close(slave)
        text = b""
        while select.select([master], [], [], 10)[0]:
            try:
                piece = os.read(master, 65536)
            except OSError:     # its last holder has closed it
                break
            text += piece
        os.close(master)
        shown = text.decode().replace("\r\n", "\n")
        return process.wait(10), re.sub(r"[^\n]*\r\x1b\[K", "", shown)     # a line that was erased: how long it waited


# What differs from run to run -> what the page says of every run; a name keeps its length, for the columns. A request is cut at a length,
# within its last annotation.
STABLE = ((r"\bUTC[+-]\d+(:\d\d)?", "UTC"),
          (r",\"ops-pod-cleaner\.io/scaled-down-f\S*", ","), (r"\d{4}-\d\d-\d\d", "2026-03-02"), (r"(?<!\d)\d\d:\d\d:\d\d(\.\d+)?", "03:12:00"), (r"\b\d\d:\d\d\b", "03:12"),
          (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "6f1c2a9e-5b7d-4e13-9a42-0c8d7e6f5a41"), (r"-0c8d7e6f5a41 +", "-0c8d7e6f5a41 "),
          (r"/\S+/(config\.yml|kubeconfig)[-\w]*", r"/etc/ops-pod-cleaner/\1"), (r"https://127\.0\.0\.1:\d+", "https://prod.example.com:6443"),
          (r"\b(\d+\.\d+\.\d+)(-[0-9a-f]{12})+\b", r"\1"), (r"resourceVersion(\":\"| )\d+", r"resourceVersion\g<1>1042"), (r"(resource_version +)\d+", r"\g<1>1042"),
          (r"(scaled-down-history\":\")\w+", r"\g<1>7f3c"), (r"\b((?:web|orders)-[0-9a-z]{8,10})-[0-9a-z]{5}\b", r"\1-x8k2p"))


def stable(text, ns):
    text = text.replace(ns, "team-shop"[:len(ns)])
    for pattern, new in STABLE:
        text = re.sub(pattern, new, text)
    return text


def shape(page):
    """What has to agree: the words. Where a line breaks, how wide a column is and how much a figure says may differ."""
    text = re.sub(r"\s+", " ", re.sub(r"\d[\d.]*", "0", page))
    # What differs by seconds alone from what it was nominated for is shown again.
    return re.sub(r"( evidence (.+?) outcome \S+ reason \S+) detail \2(?= target )", r"\1", text)


class Story:
    """Steps: a heading, what is said of it, the command, what it printed."""

    def __init__(self, ns):
        self.ns, self.parts = ns, [HEAD]

    def step(self, heading, said):
        self.parts.append(f"## {heading}\n\n{said}\n")

    def shows(self, text, command=""):
        """The text that an operator sees there."""
        self.parts.append(stable("````text\n" + (f"$ {command}\n" if command else "") + text.strip("\n") + "\n````\n", self.ns))

    def page(self):
        return "\n".join(self.parts)


HEAD = """# One night in one cluster

*For operators on call. After it you know what a card at night tells, where each action is found again, and how it is undone.*

Written by a test, which does all this on a real control plane and fails when the program says something else:
`OPC_E2E_PAGE=docs/one-night.md tests/e2e/run --server cluster --only night/story`. Times and names were made the same for every run, and the
thresholds are seconds, so that the test need not wait; yours are hours. Whoever asks here is not root, but a member of the group
`ops-pod-cleaner`.
"""


def page_of(port):
    conn = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        conn.request("GET", "/")
        return words(conn.getresponse().read().decode())
    finally:
        conn.close()


def start(t, ns, **more):
    """The program as a unit of systemd begins it, in a folder that its group may enter; and a member of that group."""
    proxy = t.proxy()       # no kubelet is there to answer this one
    proxy.before("GET", r"/pods/[^/]+/log$", lambda _: Answer(200, "\n".join([*LOG, ""]).encode(), kind="text/plain"), times=100)
    config = t.config(evicted=ns, terminating=ns, image_pull=ns, crash_loop=ns, hours="1s", crashLoop={"counts": 5, "hours": "1s"},
                      deleteTerminatingPod={"hours": "1s"}, **more)
    t.policy.crash_loop_hours, t.policy.terminating_hours = 1.0, 1.0
    config["clusters"] = [{"name": "prod", "kubeconfig": str(t.kubeconfig(proxy=proxy)), "writerContext": "writer", "workers": 1}]
    program = t.program(config, None, start=False)
    home = program.dir / "run"
    home.mkdir()
    os.chown(home, -1, GROUP)
    home.chmod(0o750)
    program.socket = home / "control.sock"
    return program.start(), Reader(program)


def breaks(t, ns):
    """All that breaks in that night: {name: object}; one after the other is acted upon, so that the page has one order."""
    web, orders = t.objects.workload("Deployment", ns, 3, "web"), t.objects.workload("Deployment", ns, 1, "orders")
    evicted = t.objects.pod(ns, "cache-0")
    t.objects.status(evicted, phase="Failed", reason="Evicted", message=EVICTED)
    t.wait_write(evicted)
    web.fail_to_pull(reason="ErrImagePull", message=REGISTRY, image=IMAGE)
    t.wait_write(web)
    t.objects.loop(orders.pods(), 7)
    t.wait_write(orders)
    terminating = stuck(t, ns, name="batch-7")[0]
    t.wait_write(terminating)
    return {"cache-0": evicted, "web": web, "orders": orders, "batch-7": terminating}


# What stays of each, wherever one looks.
EVIDENCE = {"cache-0": ["The node was low on resource: memory"], "web": [f"{IMAGE}: not found"], "orders": ["exit code 1 (Error)", "7 restarts"],
            "batch-7": ["stuck in Terminating"]}


def flat(text):
    return re.sub(r"\s+", " ", text)


def holds(place, text, names=EVIDENCE):
    """Each of them stands there, with what is known of it."""
    for name in names:
        assert all(word in flat(text) for word in (name, *EVIDENCE[name])), f"{place} says nothing of {name}, {EVIDENCE[name]}: {text}"


def undo(t, s, program, reader, workloads, number, card):
    """`restore` by its number; for the other one what the card prints for kubectl, which is an update of its scale."""
    s.step("Undo", "Mend the cause first. Then, as root, restore it by the number on the card.")
    for workload in workloads.values():
        workload.leave()
    t.policy.restore = True
    done = restore(program, str(number["orders"]))
    assert done.returncode == 0 and "0 -> 1" in done.stdout, done
    s.shows(done.stdout, f"sudo ops-pod-cleaner restore {number['orders']} --yes")
    t.until("the replicas of orders", lambda: workloads["orders"].wanted() == 1, 10)
    s.parts.append("Or by the line for kubectl that stands beside it; the test asks the API server for the same scale.\n")
    line = re.search(r"kubectl -n (\S+) scale (\w+)\S* (web) --replicas=(\d+)", card)
    t.admin.patch(path_of("Deployment", line[1], line[3]) + "/scale", {"spec": {"replicas": int(line[4])}})
    assert (line[1], line[2], workloads["web"].wanted()) == (workloads["web"].ns, "deployments", 3), line
    s.shows(line[0])
    t.until("nothing to be at 0", lambda: not program.ask_json("restore", "--list", "-n", s.ns), 10)    # other scenarios share the server
    s.parts.append("After both, nothing is left.\n")
    code, text = reader.ask("restore", "--list", "-n", s.ns)
    assert code == 0, text
    s.shows(text, f"ops-pod-cleaner restore --list -n {s.ns}")


@scenario("night/story", timeout=120)
def story(t):
    """An eviction, an image that the registry lacks, a crash loop and a pod stuck in Terminating: each is found again in card, history, page,
    Event, `show` and `restore --list` by somebody who is not root, and what was scaled down is put back both ways."""
    if os.geteuid() != 0:
        raise Skip("only root can be somebody else")
    ns, port, chat = t.ns(), free_port(), t.sink()
    s = Story(ns)
    program, reader = start(t, ns, metricsListen=f"127.0.0.1:{port}", tell={"gather": "10s", "logs": True}, sinks=[chat.settings("on-call")])
    objects = breaks(t, ns)
    t.until("all of it told", lambda: all(said[0] in "\n".join(p.text for p in chat.accepted) for said in EVIDENCE.values()), 30)
    card = "\n\n".join(p.text for p in chat.accepted)
    holds("the card", card)
    assert all(line in card for line in LOG), card
    s.step("The card", "What the chat shows, here as text.")
    s.shows(card)
    number = {r["target"].rsplit("/", 1)[-1]: r["id"] for r in program.history() if r["outcome"] == "done"}
    assert set(number) == set(objects), number
    tell_by_commands(s, reader, number)
    events = "\n".join(f"{e['type']} {e['reason']} {e['involvedObject']['kind'].lower()}/{e['involvedObject']['name']}: {e['message']}"
                       for e in sorted(told(t, ns), key=lambda e: e["involvedObject"]["name"]))
    holds("the Events", events)
    s.step("On the objects", "The owners of the workload find it in its Events: `kubectl -n team-shop get events`. Here as the API server has them.")
    s.shows(events)
    holds("the page", page_of(port))
    undo(t, s, program, reader, {name: objects[name] for name in ("web", "orders")}, number, card)
    t.expect_success(deleted=[objects["cache-0"]], forced=[objects["batch-7"]], scaled=[objects["web"], objects["orders"], objects["orders"]])
    if t.server.has_controllers:
        settle(s.page())


def tell_by_commands(s, reader, number):
    def shows(*args):
        code, text = reader.ask(*args)
        assert code == 0, (args, code, text)
        s.shows(text, f"ops-pod-cleaner {' '.join(args)}")
        return text
    s.step("The state", "Nothing hurts; two workloads wait for somebody.")
    state = shows("status")
    assert len(re.findall(r" \d+\.\d MB +\d+\n", state)) == 3 and " 0.0 MB " not in state, state
    s.step("The history", "All of the night, and behind each number the whole evidence.")
    listed = shows("history", "--since", "12h", "--outcome", "done")
    assert all(name in listed for name in number), listed
    holds("history", listed, ["cache-0", "web", "orders"])
    for name in number:
        shown = shows("show", str(number[name]))
        holds(f"show {number[name]}", shown, [name])
        assert name != "orders" or all(line in shown for line in LOG), shown
        assert {"cache-0": EVICTED, "web": REGISTRY}.get(name, "") in flat(shown), shown
    s.step("At 0 because of us", "What still waits for somebody.")
    holds("restore --list", shows("restore", "--list", "-n", s.ns), ["web", "orders"])


def settle(page):
    """The page is written where it is asked for, else it must say the same."""
    if os.environ.get("OPC_E2E_PAGE"):
        pathlib.Path(os.environ["OPC_E2E_PAGE"]).write_text(page)
    kept = PAGE.read_text()
    for old, new in itertools.zip_longest(*(re.split(r"(?m)^(?=````|## )", text) for text in (kept, page)), fillvalue=""):
        was, now = shape(old).split(), shape(new).split()
        at = next((i for i, pair in enumerate(itertools.zip_longest(was, now)) if pair[0] != pair[1]), None)
        assert at is None, f"docs/one-night.md says \"{around(was, at)}\", the program \"{around(now, at)}\"; see its head for how it is written.\n" \
            f"      it says {old}\n      and is {new}"


def around(said, at):
    return " ".join(said[max(at - 4, 0):at + 6])

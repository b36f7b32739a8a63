"""-o json is a contract: always one object with apiVersion, and no member that docs/json.md does not describe with its type."""
import json
import pathlib
import re

from answers import API_VERSION
from harness.scenario import scenario
from scenarios.terminating import stuck

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "json.md"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
TYPES = {
    "string": lambda v: isinstance(v, str),
    "name": lambda v: isinstance(v, str),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "time": lambda v: isinstance(v, str) and TIME.fullmatch(v),
    "facts": lambda v: isinstance(v, dict),
    "object": lambda v: isinstance(v, dict),
    "names": lambda v: isinstance(v, list) and all(isinstance(n, str) for n in v),
}


def described():
    """verb -> {member: type}, of the page."""
    verbs, rows = {}, None
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            for verb in line[3:].split(", "):
                rows = verbs.setdefault(verb, {} if verb == line[3:].split(", ")[0] else rows)
        elif rows is not None and (row := re.match(r"\| `([^`]+)` \| ([^|]+) \|", line)):
            rows.setdefault(row[1], row[2])
    return verbs


def leaves(value, path=""):
    """(member, value) of all that is in an answer, objects of facts not looked into."""
    if isinstance(value, dict) and not path.endswith(("vidence", "detail", "facts")):
        if path:
            yield path, value
        for key, one in value.items():
            yield from leaves(one, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and not all(isinstance(n, str) for n in value):
        for one in value:
            yield from leaves(one, path + "[]")
    elif isinstance(value, list):
        yield path, value
    else:
        yield path, value


def is_named(name, path):
    return re.fullmatch(re.escape(name).replace(r"\*", r"[^.\[\]]+"), path) is not None


def find(members, path):
    return next((kind for name, kind in members.items() if is_named(name, path)), None)


def holds_members(members, path):
    """Whether it is what stands before a described member: `items`, `items[]` of `items[].name`."""
    return any(is_named(name[:end.start()], path) for name in members for end in re.finditer(r"\.|\[\]\.?|$", name))


def check(members, text):
    """What is wrong with an answer."""
    value = json.loads(text)
    if not isinstance(value, dict) or value.pop("apiVersion", None) != API_VERSION:
        return ["no apiVersion"]
    wrong = []
    for path, one in leaves(value):
        kind = find(members, path)
        if kind is None and not (isinstance(one, dict | list) and holds_members(members, path.removesuffix("[]"))):
            wrong.append(f"{path} is not described")
        elif kind and not (one is None and kind.endswith("or null")) and not TYPES[kind.removesuffix(", or null")](one):
            wrong.append(f"{path} is {one!r}, described as {kind}")
    return wrong


@scenario("surface/json-contract", servers=("apisim",), timeout=120)
def contract(t):
    """Every verb in every state: with nothing to say, with actions, refusals and alarms, paused, without an instance, misused."""
    verbs, ns, other = described(), t.ns(), t.ns()
    refused, _ = stuck(t, ns)
    t.objects.annotate(refused, "ops-pod-cleaner.io/ignore", "true")
    sink = t.sink(kind="webhook")
    program = t.run(evicted=ns, terminating=ns, image_pull=ns, crash_loop=ns, finished=other, hours="2s", leaderElection={"enable": True},
                    sinks=[sink.settings(name="hook")], tell={"gather": "1s"})
    wrong = []

    def ask(verb, *args, alone=False):
        r = (program.ask_plain if alone else program.ask)(*args, *([] if "json" in args else ["-o", "json"]), timeout=60)
        members = verbs["(errors)" if '"error": {' in r.stdout else verb]
        try:
            wrong.extend(f"{' '.join(args)}: {one}" for one in check(members, r.stdout))
        except ValueError as e:
            wrong.append(f"{' '.join(args)}: {e}: {r.stdout[:200]!r} {r.stderr[:200]!r}")
        return r

    def ask_all():
        ask("status", "status")
        ask("history", "history", "--refusals")
        for by in ("duty", "namespace", "node", "cluster", "reason"):
            ask("history --summary", "history", "--summary", "--by", by, "--refusals")
        ask("plan", "plan")
        ask("explain", "explain", f"{ns}/{refused['metadata']['name']}", "--rules")
        ask("explain", "explain", f"{ns}/nobody")
        ask("restore --list", "restore", "--list")
        ask("restore", "restore", "--since", "1h", "--dry-run")
        ask("rbac --check", "rbac", "--check", "--config", str(program.config_path))
        ask("report", "status", "--nonsense")
    ask_all()
    workload = t.objects.workload("Deployment", ns, 1)
    workload.fail_to_pull()
    looping = t.objects.workload("Deployment", ns, 1)
    t.objects.annotate(looping.pods()[0], "apisim/log", "no database\n")
    t.objects.loop(looping.pods(), 20)
    evicted = t.objects.evict(t.objects.pod(ns))
    t.until("the actions", lambda: len([r for r in t.writes() if r.ok]) >= 3, 20)
    rows = program.history("--outcome", "done")
    for row in rows:
        ask("show", "show", str(row["id"]))
    ask("show", "show", "999")
    ask_all()
    ask("pause", "pause", "--for", "1h", "--reason", "night")
    ask_all()
    ask("resume", "resume")
    ask("reload", "reload")
    ask("log-level", "log-level", "debug", "--for", "1m")
    ask("report send", "report", "send", "--sink", "hook", "--test")
    ask("report send", "report", "send", "--sink", "nobody", "--test")
    ask("version", "version", alone=True)
    ask("cron next", "cron", "next", "0 9 * * 1", alone=True)
    ask("cron next", "cron", "next", "nonsense", alone=True)
    ask("config check", "config", "check", str(program.config_path), alone=True)
    ask("config check", "config", "check", "/nowhere", alone=True)
    ask("rbac --kubeconfig-for", "rbac", "--kubeconfig-for", "reader", alone=True)
    for words in (("status",), ("history",), ("show", "1"), ("plan", "--nonsense"), ("nonsense",), ("explain",), ("pause",), ("reload",), ()):
        ask("status", *words, "--control-socket", "/nowhere", alone=True) if words else ask("status", alone=True)
    assert not wrong, "\n".join(sorted(set(wrong)))
    t.expect(deleted=[evicted], scaled=[workload, looping])

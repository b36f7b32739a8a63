"""A terminal before a big installation in trouble: every verb, at several widths, in both languages."""
import os
import pty
import re
import signal
import subprocess
import time
import unicodedata

from harness.objects import stamp
from harness.scenario import scenario
from harness.servers import Apisim

FILL = {"": 10000, "evicted": 150, "terminating": 50, "crashloop": 300, "pullfail": 40}
WORKLOADS = 900
RESTARTING = {"hours": "0s", "status": "CrashLoopBackOff", "counts": 2, "duration": "0 0 4 1 1 *"}


def long_name(prefix):
    """A name as long as a label may be."""
    return (prefix + "-") + "x" * (62 - len(prefix))


def crowd(t, workloads=WORKLOADS):
    """An API server of its own with that many restarting workloads, all with long names, among ten thousand pods."""
    server = Apisim(t.dir / "big", t.build, fill=[word for kind, n in FILL.items() for word in (f"--fill{'-' * bool(kind)}{kind}", str(n))],
                    answers=False)
    server.start()
    t.closing.append(server)
    server.ns = long_name("team")
    server.admin.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": server.ns}})
    for i in range(workloads):
        add_restarting(server, i)
    return server


def add_restarting(server, i):
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": long_name(f"app-{i:03}"), "uid": f"00000000-0000-4000-8000-{i:012}", "controller": True}
    path = f"/api/v1/namespaces/{server.ns}/pods"
    name = owner["name"] + "-0"
    server.admin.post(path, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "ownerReferences": [owner]},
                             "spec": {"nodeName": "node-1", "containers": [{"name": "main", "image": "registry.example.com/app:1"}]}})
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}}
    last = {"terminated": {"reason": "Error", "exitCode": 1, "startedAt": stamp(time.time() - 70), "finishedAt": stamp(time.time() - 60)}}
    server.admin.patch(f"{path}/{name}/status", {"status": {
        "phase": "Running", "startTime": stamp(time.time() - 3600), "conditions": [{"type": "Ready", "status": "False"}],
        "containerStatuses": [{"name": "main", "image": "registry.example.com/app:1", "imageID": "", "ready": False, "restartCount": 1000 - i, "state": state,
                               "lastState": last}]}})


def columns_of(line):
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in line)


def too_wide(lines, columns):
    """Those that a terminal would break; a word that cannot be broken may stand alone."""
    return [line for line in lines if columns_of(line) > columns and len(line.split()) > 1]


# -- every verb --

WINDOW = {"windows": ["TZ=America/Argentina/Buenos_Aires 0 2 * * 1-5 for 3h"]}
WHY = "incident 4711: storage is being moved, see the runbook of the storage team"
# What is read by a program, or kept in a file: the same whatever the terminal is.
DOCUMENTS = (("completion", "bash"), ("completion", "zsh"), ("completion", "fish"), ("config", "print", "FILE"), ("config", "help"), ("config", "schema"),
             ("rbac", "--config", "FILE"), ("report", "preview"))
# What is said to people, in this order: what is paused is seen, and resumed. FILE, POD and ID are filled in.
SAID = (("pause", "--reason", WHY), ("status",), ("history",), ("history", "--refusals"), ("show", "ID"), ("plan", "--cluster", "good"),
        ("explain", "POD", "--rules"), ("report",), ("report", "preview", "-o", "text"), ("report", "send", "--sink", "chat", "--test"),
        ("restore", "--dry-run", "ID"), ("resume",), *(("log-level", level) for level in ("debug", "info", "warn", "error")), ("reload",),
        ("config", "check", "FILE"), ("cron", "next", "0 30 2 * * *", "--timezone", "Asia/Shanghai"), ("version",))
# The same, but it takes seconds: on the narrowest terminal alone.
SLOW = (("run", "--once", "--dry-run", "--config", "FILE", "--state-dir", "STATE"),)
ASK_NOBODY = ("completion", "config", "cron", "rbac", "version", "run")
CODES = {"restore": (1,), "run": (0, 1)}   # of an action that did not scale down; of what is left


def not_walked(program):
    """Verbs, and their first words, that stand in the help and in none of the lists above."""
    walked = {words[:n] for words in (*DOCUMENTS, *SAID, *SLOW) for n in (1, 2)}
    verbs = re.findall(r"^  ([a-z-]+) ", program.ask_plain("--help").stdout, re.M)
    usages = {verb: program.ask_plain(verb, "--help").stdout.splitlines()[0].partition(f" {verb} ")[2] for verb in verbs}
    calls = [(verb,) for verb in verbs] + [(verb, word) for verb, usage in usages.items() for word in re.findall(r"(?:^|\[|\| )([a-z]+)", usage)
                                           if word != "options"]
    return [call for call in calls if call not in walked]


def is_ours(line):
    """A command that is to be copied stays whole, and so does a diagnostic, which begins with its file."""
    return not line.strip().startswith("$ ") and not line.startswith("/")


# What may stand in a Chinese line as it is: code, what is quoted, a name, what the operator or the kubelet wrote, and the sandbox of a build
# that has none.
AS_IT_IS = re.compile(rf"The node was low on resource[^；，]*|`[^`]*`|\"[^\"]*\"|'[^']*'|\bcontext test\b|\bbuilt out\b|No such file or directory|Name or service not known|{re.escape(WHY)}")
ENGLISH = re.compile(r"(?<![\w/.-])[a-z]+ [a-z]+(?![\w/.-])")
# Mistakes of somebody who types.
MISTAKEN = (("show", "999999"), ("show",), ("explain", "no-such/pod"), ("explain", "name"), ("restore", "web"), ("restore", "999999"), ("restore", "no/such"),
            ("cron", "next", "0 0 25 * * *"), ("cron", "next", "@daily", "--timezone", "Nowhere/Land"), ("cron",), ("config", "check", "/no/such/file"),
            ("config",), ("log-level", "loud"), ("log-level", "debug", "--for", "99h"), ("report", "send"), ("report", "mail"),
            ("report", "preview", "--sink", "nobody"), ("plan", "--cluster", "nameless"), ("plan", "--cluster", "nobody"), ("history", "--since", "soon"),
            ("history", "--limit", "0"), ("status", "--loud"), ("status", "now"), ("completion", "ash"), ("rbac", "--kinds", "fleets"),
            ("rbac", "--kubeconfig-for", "somebody"), ("pause", "tooManyRestart"), ("pause", "nothing"), ("resume", "errImagePull"),
            ("reload", "now"), ("version", "--loud"), ("statsu",))


def english_in(lines):
    """Those that say something in English: two words that are no names of codes."""
    return [line for line in lines if ENGLISH.search(AS_IT_IS.sub("", line)) and not line.strip().startswith("$ ")]


def walk(program, columns, language, calls, filled):
    for words in calls:
        args = [filled.get(word, word) for word in words]
        lines = program.on_terminal(columns, *args, env={"LANG": language}, asks=words[0] not in ASK_NOBODY, codes=CODES.get(words[0], (0,)), timeout=60)
        wide = [line for line in too_wide(lines, columns) if is_ours(line)]
        english = english_in(lines) if language.startswith("zh") and columns > 80 else []   # a row that is folded hides it
        assert lines and not wide and not english, "\n".join([f"{words} {columns} {language}", *(wide or english or lines)[:5]])


def at_any_time(lines):
    """Without its numbers: a report counts up to now, so two of them that are taken one after the other tell other rates."""
    return [re.sub(r"[\d.,]+", "0", line) for line in lines]


def mistake(program, calls):
    """Every mistake is told in Chinese."""
    wrong = []
    for words in calls:
        answer = (program.ask_plain if words[0] in (*ASK_NOBODY, "statsu") else program.ask)(*words, env={"LANG": "zh_CN.UTF-8"})
        told = (answer.stdout + answer.stderr).splitlines()
        if not answer.returncode or not re.search("[\u4e00-\u9fff]", "".join(told)) or english_in(told):
            wrong.append((words, answer.returncode, told))
    assert not wrong, "\n".join(map(str, wrong))


@scenario("terminal/widths", servers=("apisim",), timeout=240)
def widths(t):
    """Every verb, before 900 workloads with the longest names, beside clusters that cannot be seen: no line is wider than the terminal, in both
    languages, nor English in a Chinese one; what programs read is the same everywhere; mistakes are told in Chinese. The exit code of `plan` is that of the first cluster that is left out."""
    server = crowd(t)
    text = server.kubeconfig("cleaner")
    files = {"good": text, "production-cluster-in-frankfurt": text.replace(server.tokens["cleaner"], "not-the-token"),
             "nameless": text.replace(server.url, "https://api.no-such-host.invalid:6443")}
    duties = {"deleteEvictedPod": {"enable": True, "namespaces": ["*"], "maxPerDay": 30},
              "tooManyRestart": {"enable": True, "namespaces": ["*"], **RESTARTING}}
    program = t.program({"clusters": [{"name": name, "kubeconfig": str(t.write(f"kubeconfig-{name}", body))} for name, body in files.items()],
                         "sinks": [t.sink().settings("chat", language="zh")], **duties}, kubeconfig=None, start=False)
    assert not not_walked(program), f"new, and not walked here: {not_walked(program)}"
    program.start(wait=False)
    t.until("the good one to be synced", lambda: [c["cluster"] for c in (program.status() or {"clusters": []})["clusters"] if c["synced"]] == ["good"], 60)
    t.until("the budget to be spent", lambda: len(program.history()) >= 30, 60)
    alone = t.program({**duties, "deleteEvictedPod": {**duties["deleteEvictedPod"], **WINDOW}, "sinks": [t.sink().settings("chat")], "logLevel": "error"}, str(t.dir / "kubeconfig-good"), start=False)
    filled = {"FILE": str(alone.config_path), "STATE": str(alone.state), "POD": f"{server.ns}/{long_name('app-000')}-0", "ID": str(program.history()[0]["id"])}
    for columns, language in ((80, "C"), (80, "zh_CN.UTF-8"), (40, "en_US.UTF-8"), (40, "zh_CN.UTF-8"), (200, "en_US.UTF-8"), (1000, "zh_CN.UTF-8")):
        walk(program, columns, language, SAID, filled)
    mistake(program, MISTAKEN)
    alone.env["KUBECONFIG"] = alone.kubeconfig
    walk(alone, 40, "zh_CN.UTF-8", SLOW, filled)
    for words in DOCUMENTS:
        args, asks = [filled.get(word, word) for word in words], words[0] not in ASK_NOBODY
        ask, seen = (program.ask, at_any_time) if asks else (program.ask_plain, list)
        shown, piped = program.on_terminal(40, *args, asks=asks), ask(*args).stdout.splitlines()
        assert shown != [] and seen(shown) == seen(piped), words
    lines = program.on_terminal(80, "status")
    watchers = [line for line in lines if "watcher 0" in line]
    assert sorted(name for name in files for line in watchers if name in line) == sorted(files), lines
    answer = program.ask("plan", timeout=30)
    assert "cluster nameless is left out of the plan" in answer.stderr and "deleteEvictedPod" in answer.stdout, answer.stderr
    codes = {name: program.ask("plan", "--cluster", name, timeout=30).returncode for name in files}
    assert answer.returncode == 75 and codes == {"good": 0, "production-cluster-in-frankfurt": 75, "nameless": 69}, (answer.returncode, codes, answer.stderr)


@scenario("terminal/waits", servers=("apisim",))
def waits(t):
    """What is not answered within a second says on a terminal that it is waited for, in a line that goes away with the answer; a pipe is told nothing."""
    program = t.run(evicted=t.ns())
    reporter = program.kill("reporter", sig=signal.SIGSTOP)
    master, slave = pty.openpty()
    command = [program.binary, "history", "--control-socket", program.socket]
    shown = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env={**program.env, "NO_COLOR": "1"})
    piped = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=program.env, text=True)
    os.close(slave)
    seen, clear = b"", b"\r\x1b[K"
    try:
        while b": 1 s" not in seen:
            seen += os.read(master, 4096)
    finally:
        os.kill(reporter, signal.SIGCONT)
    assert seen.startswith(clear + b"waiting for the answer: 1 s"), seen
    while (more := read_terminal(master)):
        seen += more
    os.close(master)
    assert shown.wait(10) == 0 and seen.split(clear)[-1].split()[0] == b"ID", seen
    out, err = piped.communicate(timeout=10)
    assert out.split()[0] == "ID" and not err, err


def read_terminal(master):
    """b"" at its end, which is an error of the line discipline."""
    try:
        return os.read(master, 4096)
    except OSError:
        return b""


@scenario("terminal/times", servers=("apisim",))
def times(t):
    """A refusal on a terminal tells times in the zone of who reads it, as the tables do; to a pipe they are UTC."""
    program = t.run(evicted=t.ns())
    program.ask("pause", "--for", "2h", check=True)
    shorter, zone = ["pause", "--for", "1h"], {"TZ": "Asia/Shanghai"}
    piped = program.ask(*shorter, env=zone).stderr
    master, slave = pty.openpty()
    shown = subprocess.Popen([program.binary, *shorter, "--control-socket", program.socket], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=slave, env={**program.env, **zone})
    assert shown.wait(10) == 1
    os.close(slave)
    told = read_terminal(master).decode()
    os.close(master)
    utc, = re.findall(r"until (\S+Z)", piped)
    local, = re.findall(r"until (\S+ [0-9:]+)", told)
    assert time.mktime(time.strptime(local, "%Y-%m-%d %H:%M:%S")) - time.mktime(time.strptime(utc, "%Y-%m-%dT%H:%M:%SZ")) == 8 * 3600, (piped, told)

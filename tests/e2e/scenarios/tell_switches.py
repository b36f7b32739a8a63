"""Every setting of who is told what takes effect by a reload: entries of SWITCHES (scenarios/switches.py).

One program has a sink for each key: with the settings before it hears nothing of that kind, with those after it does.
"""
import re
import time

from harness.mail import MailServer
from harness.scenario import scenario
from harness.tls import Authority
from scenarios.switches import SWITCHES, duty_config, policy_of, turn

HEARD_S = 20                    # a message is gathered for a second, and the reporter may start again for other ports
DEAD = "http://127.0.0.1:9/open-apis/bot/v2/hook/1"


def is_chinese(text):
    return re.search("[\u4e00-\u9fff]", text) is not None


class Switch:
    """One sink: its entry before and after, and what is heard (or told by the log) when it is as after."""

    def __init__(self, key, server, before, after, seen=lambda text: True):
        self.key, self.server, self.seen = key, server, seen
        self.name = re.sub(r"\W", "", key)
        common = {"name": self.name, "language": "en", "tell": ["actions"]}
        if isinstance(server, MailServer):
            common.update({"type": "email", "url": f"smtp://localhost:{server.port}", "from": "old@example.org", "to": ["old@example.org"]})
        else:
            common.update({"type": "feishu", "url": server.url})
        self.before, self.after = ({k: v for k, v in {**common, **how}.items() if v is not None} for how in (before, after))

    def heard(self):
        if isinstance(self.server, MailServer):
            texts = [f"{m.sender} {m.readers} {m.part('plain')}" for m in self.server.accepted]
        else:
            texts = [p.text for p in self.server.accepted]
        return any(self.seen(text) for text in texts)


def gave_up(program):
    return re.search('"sink":"dead".*"result":"given_up"', program.log())


def file_of(t, name, text):
    return str(t.write(name, text + "\n"))


def switches(t, ns, other):
    """One for each key of an item."""
    good, bad = Authority(t.dir / "tls-good"), Authority(t.dir / "tls-bad")
    signed, signed_too, plain, secure, plain_too = t.sink(secret="right"), t.sink(secret="right"), t.sink(), MailServer(authority=good), MailServer()
    return [
        Switch("type", t.sink(), {"type": "webhook"}, {}),
        Switch("url", t.sink(), {"url": DEAD}, {}),
        Switch("urlFile", plain, {"url": None, "urlFile": file_of(t, "url0", DEAD)}, {"url": None, "urlFile": file_of(t, "url1", plain.url)}),
        Switch("secret", signed, {"secret": "wrong"}, {"secret": "right"}),
        Switch("secretFile", signed_too, {"secretFile": file_of(t, "secret0", "wrong")}, {"secretFile": file_of(t, "secret1", "right")}),
        Switch("language", t.sink(), {"language": "zh"}, {"language": "en"}, lambda text: not is_chinese(text)),
        Switch("tell", t.sink(), {"tell": ["attention"]}, {}, lambda text: ns in text or other in text),
        Switch("clusters", t.sink(), {"clusters": ["other"]}, {"clusters": ["def*"]}),
        Switch("namespaces", t.sink(), {"namespaces": ["elsewhere"]}, {"namespaces": [ns]}),
        Switch("duties", t.sink(), {"duties": ["crashLoop"]}, {"duties": ["deleteEvictedPod"]}),
        Switch("top", t.sink(), {"top": 1}, {}, lambda text: ns in text and other in text),
        Switch("proxy", t.sink(), {"proxy": "http://127.0.0.1:9"}, {}),
        Switch("caFile", secure, {"caFile": str(bad.ca)}, {"caFile": str(good.ca)}),
        Switch("from", plain_too, {}, {"from": "new@example.org"}, lambda text: "new@example.org" in text.split()[0]),
        Switch("to", plain_too, {}, {"to": ["new@example.org"]}, lambda text: "new@example.org" in text.split("]")[0]),
    ]


@scenario("reload/sinks", timeout=120)
def sinks(t):
    """Keys of `sinks`, and tell.actions, tell.gather, tell.giveUp and language: each by the reload alone."""
    ns, other, control, late = t.ns(), t.ns(), t.sink(), t.sink()
    each = switches(t, ns, other)
    quiet = {"name": "control", "type": "feishu", "url": control.url, "tell": ["actions"]}
    dead = {"name": "dead", "type": "feishu", "url": DEAD, "tell": ["actions"]}
    duties = duty_config("deleteEvictedPod", ns)
    duties["deleteEvictedPod"]["namespaces"] = [ns, other]
    before = {**duties, "language": "en", "sinks": [quiet, dead] + [s.before for s in each]}
    links = {"page": "https://grafana.example.com/{{cluster}}/{{namespace}}", "runbook": "https://wiki.example.com/{{reason}}"}
    after = {**duties, "language": "zh", "tell": {"gather": "1s", "giveUp": "1s"}, "links": links,
             "sinks": [{**quiet, "name": "renamed"}, dead, {**dead, "name": "late", "url": late.url}] + [s.after for s in each]}
    pods = []

    def evict():
        pods.extend(t.objects.evict(t.objects.pod(n)) for n in (ns, other))
        names = {p["metadata"]["name"] for p in pods}
        t.until("they are gone", lambda: names <= {r.name for r in t.writes() if r.ok}, 15)

    program = t.program({**before, "tell": {"actions": False, "gather": "1s"}})
    t.policy = policy_of(before)
    evict()
    time.sleep(2)
    assert not control.posts, "tell.actions: false"
    turn(t, program, {**before, "tell": {"gather": "1h"}})
    evict()
    time.sleep(2)
    assert not control.posts, "tell.gather: 1h"
    turn(t, program, {**before, "tell": {"gather": "1s"}})
    t.until("what was gathered", lambda: control.accepted, HEARD_S)
    evict()
    time.sleep(2)
    assert not any(is_chinese(p.text) for p in control.accepted), "language: en"
    early = [s.key for s in each if s.heard()]
    assert not early, f"by the settings before: {early}"
    assert not gave_up(program), "tell.giveUp: 24h"
    assert not any(b"https://" in p.raw for p in control.accepted), "no links"
    turn(t, program, after)
    wanted = {**{s.key: s.heard for s in each}, "the language of all": lambda: any(is_chinese(p.text) for p in control.accepted),
              "a new sink": lambda: late.accepted, "its new name": lambda: '"sink":"renamed"' in program.log(),
              "links.page": lambda: any(f"https://grafana.example.com/default/{ns}".encode() in p.raw for p in control.accepted),
              "links.runbook": lambda: any(b"https://wiki.example.com/Evicted" in p.raw for p in control.accepted),
              "tell.giveUp": lambda: gave_up(program)}
    end = time.time() + HEARD_S
    while time.time() < end and [key for key, is_so in wanted.items() if not is_so()]:
        evict()
        time.sleep(1.5)
    deaf = [key for key, is_so in wanted.items() if not is_so()]
    assert not deaf, f"not by the settings after: {deaf}"
    t.expect(deleted=pods)


@scenario("reload/tell-attention", timeout=120)
def tell_attention(t):
    """tell.attention, tell.remind and the mention of a sink: by the reload alone."""
    ns, sink = t.ns(), t.sink()
    entry = {"name": "ops", "type": "feishu", "url": sink.url, "tell": ["attention"]}
    config = {**duty_config("deleteEvictedPod", ns), "sinks": [entry]}
    program = t.program({**config, "tell": {"attention": False, "gather": "1s"}}, t.kubeconfig("cleaner-reader"))
    t.policy = policy_of(config)
    t.objects.evict(t.objects.pod(ns))
    t.until("it is forbidden", lambda: [r for r in t.writes() if not r.ok], 15)
    time.sleep(2)
    assert not sink.posts, "tell.attention: false"
    turn(t, program, {**config, "tell": {"gather": "1s"}})
    t.until("that it is forbidden is told", lambda: sink.accepted, HEARD_S)
    time.sleep(2.5)
    told = len(sink.accepted)
    assert not [p for p in sink.accepted if b"<at" in p.raw], "nobody was to be mentioned"
    turn(t, program, {**config, "tell": {"gather": "1s", "remind": "1s"}, "sinks": [{**entry, "mention": ["all"]}]})
    t.until("a reminder that mentions all", lambda: [p for p in sink.accepted[told:] if b"<at" in p.raw], HEARD_S)


@scenario("reload/tell.withReport", timeout=60)
def with_report(t):
    """Routine deletions are summed up by the report, or told at once: by the reload alone."""
    ns, hook, pods = t.ns(), t.sink(kind="webhook"), []
    report = {"enable": True, "namespaces": [ns], "duration": "*/2 * * * * *"}
    config = {**duty_config("deleteEvictedPod", ns), "tooManyRestart": report, "sinks": [hook.settings()]}
    program = t.program({**config, "tell": {"gather": "1s"}})
    t.policy = policy_of(config)

    def told(news):
        return [p for p in hook.accepted if p.body["news"] == news and "evicted pod" in p.text]

    def evict(news):
        pods.append(t.objects.evict(t.objects.pod(ns)))
        t.until(f"a message ({news})", lambda: told(news), HEARD_S)
    evict("report")
    assert not told("actions"), "at once as well"
    summed = told("report")
    turn(t, program, {**config, "tell": {"gather": "1s", "withReport": []}})
    program.ask("reload")   # answered when the settings are in force
    evict("actions")
    time.sleep(2.5)
    assert told("report") == summed, "both"
    t.expect(deleted=pods)


@scenario("reload/crashLoop.logLines", servers=("apisim",), timeout=90)
def logs(t):
    """What a container said last goes with its pods: with logLines it is kept in the history, by `show` and as JSON, and with tell.logs told."""
    ns, hook, scaled = t.ns(), t.sink(kind="webhook"), []
    config = {**duty_config("crashLoop", ns, hours="2s"), "sinks": [hook.settings()]}
    program = t.program({**config, "tell": {"gather": "1s"}})
    t.policy = policy_of(config)

    def crash(what):
        workload = t.objects.workload("Deployment", ns, 1)
        pod = workload.pods()[0]
        t.objects.annotate(pod, "apisim/log", f"starts\nconnects\n\x1b[31mpanic: {what}\x1b[0m\n")
        t.objects.loop([pod], 20)
        t.wait_write(workload)
        t.until("the chat is told", lambda: [p for p in hook.accepted if workload.name in p.text], 15)
        scaled.append(workload)
        return pod["metadata"]["name"], next(r for r in program.ask_json("history") if workload.name in (r["target"] or ""))
    pod, row = crash("no database")
    quote = row["quotes"][0]
    assert (quote["quote"], quote["pod"], quote["text"]) == ("log", pod, "starts\nconnects\npanic: no database"), quote
    shown = program.ask("show", str(row["id"])).stdout
    assert "last log lines of container" in shown and "    panic: no database" in shown, shown
    assert not any("no database" in p.text for p in hook.accepted), "tell.logs: false"
    turn(t, program, {**config, "tell": {"gather": "1s", "logs": True}, "crashLoop": {**config["crashLoop"], "logLines": 1}})
    _, row = crash("no disk")
    assert row["quotes"][0]["text"] == "panic: no disk", row
    assert any("│ panic: no disk" in p.text and "connects" not in p.text for p in hook.accepted), "tell.logs: true"
    turn(t, program, {**config, "tell": {"gather": "1s", "logs": True}, "crashLoop": {**config["crashLoop"], "logLines": 0}})
    _, row = crash("no lines")
    assert not row["quotes"] and not any("no lines" in p.text for p in hook.accepted), row
    t.expect(scaled=scaled)


SWITCHES.update({f"sinks[].{key}": sinks for key in ("name", "type", "url", "urlFile", "secret", "secretFile", "language", "tell", "clusters",
                                                     "namespaces", "duties", "top", "proxy", "caFile", "from", "to")})
SWITCHES.update({"sinks": sinks, "language": sinks, "tell.actions": sinks, "tell.gather": sinks, "tell.giveUp": sinks, "links.page": sinks, "links.runbook": sinks,
                 "crashLoop.logLines": logs, "tell.logs": logs, "tell.withReport": with_report, "tell.attention": tell_attention, "tell.remind": tell_attention, "sinks[].mention": tell_attention})

"""A report of far more workloads than any chat has room for: one message to each, within its owner's limits, the worst first, the rest counted."""
import itertools
import json
import random
import re

from harness.mail import MailServer
from harness.objects import IMAGE
from harness.scenario import scenario

from .mail import mail_sink
from .sinks import config as report_config

WORKLOADS, TOP = 900, 20
NAME = re.compile(r"shop-\d{3}-[a-z]{40}")
MORE = re.compile(r"另有 (\d+) 项")
# Bytes of a message as its owner documents them, and what else is limited.
LIMITS = {"feishu": 20 << 10, "dingtalk": 20 << 10, "wecom": 4096 + 200, "slack": 50 * 3000, "teams": 28 << 10, "webhook": 256 << 10}


def crash_many(t, ns):
    """The names of that many pods that crash, the one with the most restarts first; they are made in another order."""
    names = [f"shop-{i:03d}-{'x' * 40}" for i in range(WORKLOADS)]
    for i, name in random.sample(list(enumerate(names)), WORKLOADS):
        t.objects.crash(t.objects.pod(ns, name), 5000 - i)
    return names


def once(names):
    return list(dict.fromkeys(names))


def expect_worst(shown, wanted, more, what):
    """The worst, in their order, and how many there are beside them."""
    assert shown and shown == wanted[:len(shown)], f"{what}: not the worst first: {shown[:5]}"
    assert len(shown) + more == WORKLOADS, f"{what}: {len(shown)} and {more} more"


def entries(message):
    """Names and what is left out, of a message for machines."""
    rows = [e["title"] for s in message["sections"] for e in s["entries"] if e["key"]]     # what rows have in common names some again
    shown = [NAME.search(title).group() for title in rows if NAME.search(title)]
    return shown, sum(s.get("more", 0) for s in message["sections"])


@scenario("report/large", timeout=300)
def large(t):
    """900 workloads: each chat has one message with as much as it takes, `top` holds where there is room; the terminal and a mail show the same rows."""
    ns, mails = t.ns(), MailServer()
    t.closing.append(mails)
    chats = {kind: t.sink(kind=kind) for kind in LIMITS}
    first, alerts = t.sink(kind="webhook"), t.sink(kind="alertmanager")
    report = {"tell": ["report"], "language": "zh"}
    sinks = [*(sink.settings(top=500, **report) for sink in chats.values()), first.settings("first", **report), alerts.settings(**report),
             mail_sink(mails, **report)]
    wanted = crash_many(t, ns)
    p = t.program(report_config(t, ns, sinks, schedule="0 0 4 1 1 *"))
    text = p.ask("report", timeout=60, check=True).stdout
    assert once(NAME.findall(text)) == wanted[:TOP] and f"and {WORKLOADS - TOP} more" in text, text
    document = json.loads(p.ask("report", "-o", "json", timeout=60, check=True).stdout)
    assert entries(document) == (wanted[:TOP], WORKLOADS - TOP), document
    lines = [line for line in p.on_terminal(100, "report", timeout=60) if NAME.search(line)]
    assert once(itertools.chain.from_iterable(NAME.findall(line) for line in lines)) == wanted[:TOP], lines
    everyone = [*chats.values(), first, alerts]
    assert not any(s.posts for s in everyone)
    p.write_config(report_config(t, ns, sinks, schedule="*/5 * * * * *"))
    p.reload()
    t.until("the report at each", lambda: all(s.accepted for s in everyone) and mails.accepted, 150)
    for kind, sink in chats.items():
        post = sink.posts[0]
        assert post.accepted and len(post.raw) <= LIMITS[kind], f"{kind}: {post.answered}, {len(post.raw)} bytes"
        shown, more = entries(post.body) if kind == "webhook" else (once(NAME.findall(post.text)), int(MORE.findall(post.text)[-1]))
        expect_worst(shown, wanted, more, kind)
        assert len(shown) <= 500 and (kind != "webhook" or len(shown) > 300), f"{kind}: {len(shown)}"
    # Where there is room it is the setting that decides.
    shown, more = entries(first.posts[0].body)
    assert shown == wanted[:TOP] and more == WORKLOADS - TOP, (shown, more)
    mail = mails.accepted[0]
    for part in ("plain", "html"):
        assert once(NAME.findall(mail.part(part))) == wanted[:TOP] and f"另有 {WORKLOADS - TOP} 项" in mail.part(part), f"{part}: {mail.part(part)[-500:]}"
    assert IMAGE in mail.part("html") and 'name="viewport"' in mail.part("html")
    alert = [a for a in alerts.accepted[0].body if a["labels"]["alertname"] == "OpsPodCleanerReport"]
    assert len(alert) == len(alerts.accepted[0].body) == 1 and once(NAME.findall(json.dumps(alert))) == wanted[:TOP], alert
    assert all(len(s.posts) == 1 for s in everyone) and len(mails.mails) == 1, [(s.kind, len(s.posts)) for s in everyone]
    t.expect()

"""Sinks: each type is sent what its owner takes, and none but its own yes is one."""
import json
import time

from harness.scenario import scenario
from harness.sink import TOKEN

SECRETS = {"feishu": "demo-secret", "dingtalk": "SECdemo", "webhook": "hook-secret"}
TYPES = ("feishu", "dingtalk", "wecom", "slack", "teams", "webhook")


def config(t, ns, sinks, schedule="*/2 * * * * *", **more):
    return t.config(sinks=sinks, restarts={"namespaces": ns, "hours": "0s", "status": "CrashLoopBackOff", "counts": 2, "duration": schedule,
                                           **more})


def delivers(t, kind):
    ns, sink = t.ns(), t.sink(secret=SECRETS.get(kind), kind=kind)
    pod = t.objects.crash(t.objects.pod(ns), 7)
    program = t.program(config(t, ns, [sink.settings(language="zh", mention=["all"])], msgtitle="<b>*Pods*"))
    t.until("an accepted message", lambda: sink.accepted, 20)
    assert all(p.accepted for p in sink.posts), [(p.answered, p.raw[:300]) for p in sink.posts]
    assert pod["metadata"]["name"] in sink.accepted[0].text, sink.accepted[0].text
    assert TOKEN not in program.log(), "the address is in the log"
    t.expect()


for _kind in TYPES:
    def _make(kind):
        return lambda t: delivers(t, kind)
    _fn = _make(_kind)
    _fn.__doc__ = f"A report reaches {_kind} as its owner wants it, signed where it is signed."
    scenario(f"sinks/{_kind}")(_fn)


def message(post):
    """What was told, without what says when it was sent."""
    body = {k: v for k, v in post.body.items() if k not in ("timestamp", "sign")}
    return json.dumps(body, sort_keys=True)


@scenario("sinks/bad-answers", timeout=120)
def bad_answers(t):
    """What no owner says is no yes: tried again, given up or in doubt by what it is; no sink waits for another, no message comes twice."""
    ns = t.ns()
    script = ("429", "html", "drop")
    sinks = {kind: t.sink(*script, secret=SECRETS.get(kind), kind=kind) for kind in TYPES}
    sinks["down"] = t.sink(*["500"] * 1000, kind="wecom")
    pod, restarts, since = t.objects.pod(ns), 5, 0
    t.program(config(t, ns, [s.settings(name) for name, s in sinks.items()]))

    def all_have_one():
        nonlocal restarts, since
        if time.time() - since > 2:     # so that there is something to report
            restarts, since = restarts + 5, time.time()
            t.objects.crash(pod, restarts)
        return all(s.accepted for name, s in sinks.items() if name != "down")
    t.until("an accepted message at each", all_have_one, 60)
    for kind in TYPES:
        posts = sinks[kind].posts
        assert [p.answered for p in posts[:4]] == [*script, 0], (kind, [p.answered for p in posts])
        first, again, doubt, last = (message(p) for p in posts[:4])
        assert first == again, f"{kind}: not tried again after 429"
        assert again == doubt, f"{kind}: not tried again after a page"
        assert (doubt == last) == (kind == "webhook"), f"{kind}: {doubt} and then {last}"
        told = [message(p) for p in sinks[kind].accepted]
        assert len(set(told)) == len(told), f"{kind}: a message came twice"
    assert sinks["down"].posts and not sinks["down"].accepted

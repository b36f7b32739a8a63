"""Every setting that a reload changes takes effect within 5 s, without a restart; every other one is refused.

SWITCHES has an entry for each key that `config help` lists: before it nothing is done, and by the reload alone it is.
`reload/every-setting` fails for a key without one.
"""
import re
import sqlite3
import time

from harness.objects import path_of
from harness.outage import outage
from harness.scenario import judge, scenario, seconds

EFFECT_S = 5
NO_BREAKER = {"workloads": 0, "percent": 0, "sameHost": 0, "sameNode": 0}
NEVER = "0 0 1 1 * for 1m"      # a window that is closed but for one minute a year
POD_DUTIES = ("deleteEvictedPod", "deleteTerminatingPod", "deleteFinishedPod")
WORKLOAD_DUTIES = ("errImagePull", "crashLoop")
SWITCHES = {}                   # key -> its scenario
FIXED = {}                      # key -> configurations before and after


def merged(a, b):
    both = {**a, **b}
    for key in a.keys() & b.keys():
        if isinstance(a[key], dict) and isinstance(b[key], dict):
            both[key] = merged(a[key], b[key])
    return both


def policy_of(config):
    """What the oracle is told of a configuration."""
    policy = judge.Policy(evicted=set(), terminating=set(), image_pull=set(), finished=set(), crash_loop=set())
    for duty, key in judge.DUTY_KEYS.items():
        section = config.get(key, {})
        if section.get("enable"):
            getattr(policy, duty).update(section["namespaces"])
            if "hours" in section:
                setattr(policy, duty + "_hours", seconds(section["hours"]))
    policy.configure(config)
    return policy


def victim(t, duty, ns, **how):
    """Something that the duty takes one second later."""
    objects = t.objects
    if duty == "deleteEvictedPod":
        return objects.finish(objects.pod(ns, **how), "Evicted")
    if duty == "deleteTerminatingPod":
        pod = objects.pod(ns, **how)
        objects.stop_containers(pod)
        return objects.terminate(pod, 1)
    if duty == "deleteFinishedPod":
        return objects.finish(objects.pod(ns, **how), "NodeShutdown")
    workload = objects.workload("Deployment", ns, 1, **how)
    objects.loop(workload.pods(), 20) if duty == "crashLoop" else workload.fail_to_pull()
    return workload


def duty_config(duty, ns, **more):
    section = {"enable": True, "namespaces": [ns]}
    if duty != "deleteEvictedPod":
        section["hours"] = "1s"
    if duty == "deleteFinishedPod":
        section["includeBarePods"] = True
    return {duty: {**section, **more}, "breaker": NO_BREAKER}


def taken(t):
    """The names of all that was really done: an announcement is not."""
    return [r.name for r in t.writes() if r.ok and judge.kind_of(r) in ("delete", "scale", "suspend")]


def turn(t, program, after):
    """Reload with it; when that was."""
    t.policy = policy_of(after)
    program.write_config(after)
    program.reload()
    return time.time()


def play(t, before, after, make, already=0, settle=2.5, **program):
    """`already` acts by the settings before, and no more; all that make() returns by those after, in time."""
    before, after = ({"workers": 2, **config} for config in (before, after))    # that run, and have to take the settings
    running = t.program(before, **program)
    t.policy = policy_of(after)
    pids = running.lasting()
    objects = make()
    t.until(f"{already} acts before the reload", lambda: len(taken(t)) >= already, 15)
    time.sleep(settle)
    assert len(taken(t)) == already, f"by the settings before: {t.writes()}"
    begin = turn(t, running, after)
    for looping in objects if before.get("crashLoop", {}).get("enable") is False else ():   # they go on, and count from now
        t.objects.loop(looping.pods(), 40)
    wanted = sorted(o["metadata"]["name"] if isinstance(o, dict) else o.name for o in objects)
    t.until(f"all of {wanted} by the settings after", lambda: sorted(set(taken(t)) & set(wanted)) == wanted, EFFECT_S + 10)
    late = max(r.t for r in t.writes() if r.ok) - begin
    assert late <= EFFECT_S, f"took effect {late:.1f} s after the reload"
    assert pids == running.lasting(), "a process was started again"
    return running


def switch(key, make=None, name=None, servers=("apisim",), **how):
    """Register a scenario that is the entry of `key`. How settings are taken is no matter of the server: `mode` shows it on the real one."""
    how["servers"] = servers

    def register(fn):
        SWITCHES[key] = fn
        fn.__doc__ = fn.__doc__ or f"{key} takes effect by a reload."
        scenario(f"reload/{name or key.replace('[]', '')}", **how)(fn)
        return fn
    return register


# --- what every duty has that acts: duty -> how one setting is turned ---

def by_value(key, before, after, victims=1, already=0, own_node=False):
    """With a node of its own where the pods of others would count: those of scenarios that run beside it are many."""
    def turn_duty(t, duty):
        ns = t.ns()
        first, then = ({} if v is None else {key: v(t, ns) if callable(v) else v} for v in (before, after))
        where = {"node": t.objects.node()} if own_node else {}
        play(t, duty_config(duty, ns, **first), duty_config(duty, ns, **then),
             lambda: [victim(t, duty, ns, **where) for _ in range(victims)], already)
    return turn_duty


COMMON = {
    "enable": by_value("enable", False, True),
    "namespaces": by_value("namespaces", lambda t, ns: ["elsewhere"], lambda t, ns: [ns]),
    "announce": by_value("announce", "1h", "1s"),
    "windows": by_value("windows", [NEVER], []),
    "maxPerMinute": by_value("maxPerMinute", 1, 0, 2, 1),
    "maxPerHour": by_value("maxPerHour", 1, 0, 2, 1),
    "maxPerDay": by_value("maxPerDay", 1, 0, 2, 1),
    "maxPerNamespaceHour": by_value("maxPerNamespaceHour", 1, 0, 2, 1),
    "maxPercentOfNamespace": by_value("maxPercentOfNamespace", 1, 0, 2, 1),
    "maxPercentOfNode": by_value("maxPercentOfNode", 1, 0, 2, 1, own_node=True),
}


def register_common(duty, key, turn_duty):
    @switch(f"{duty}.{key}")
    def one(t):
        turn_duty(t, duty)


for _duty in POD_DUTIES + WORKLOAD_DUTIES:
    for _key, _turn in COMMON.items():
        register_common(_duty, _key, _turn)
    register_common(_duty, "hours", by_value("hours", "1h", "1s"))
register_common("crashLoop", "counts", by_value("counts", 1000, 5))
register_common("errImagePull", "status", by_value("status", ["InvalidImageName"], ["ErrImagePull", "ImagePullBackOff"]))
register_common("errImagePull", "causes", by_value("causes", ["auth"], ["permanent"]))
register_common("deleteFinishedPod", "reasons", by_value("reasons", ["NodeLost"], ["NodeShutdown"]))
register_common("deleteFinishedPod", "phases", by_value("phases", ["Succeeded"], ["Failed"]))
register_common("deleteFinishedPod", "includeBarePods", by_value("includeBarePods", False, True))


def of_a_job(t, ns, duty):
    """A pod of a Job that is suspended, so that nobody makes another one."""
    job = t.objects.admin.post(f"/apis/batch/v1/namespaces/{ns}/jobs", {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "report", "namespace": ns},
        "spec": {"suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}}}})
    owner = {**job, "apiVersion": "batch/v1", "kind": "Job"}
    pod = t.objects.pod(ns, owner=owner)
    return t.objects.evict(pod) if duty == "deleteEvictedPod" else t.objects.finish(pod, "NodeShutdown")


def register_jobs(duty):
    # The Job controller of a real control plane takes the pods of a suspended Job away, and counts those that failed.
    @switch(f"{duty}.includeJobs")
    def jobs(t):
        ns = t.ns()
        play(t, duty_config(duty, ns, includeJobs=False), duty_config(duty, ns, includeJobs=True), lambda: [of_a_job(t, ns, duty)])


def register_keep(duty):
    @switch(f"{duty}.keepNewest")
    def keep_newest(t):
        """What is kept by its owner goes when none is."""
        ns, reason = t.ns(), "Evicted" if duty == "deleteEvictedPod" else "NodeShutdown"
        pods = t.objects.workload("ReplicaSet", ns, 2).pods()
        play(t, duty_config(duty, ns, keepNewest=2), duty_config(duty, ns), lambda: [t.objects.finish(pod, reason) for pod in pods])


for _duty in ("deleteEvictedPod", "deleteFinishedPod"):
    register_jobs(_duty)
    register_keep(_duty)


@switch("jobKinds")
def job_kinds(t):
    """A kind that scales is none that runs to completion, but where the file names it."""
    ns = t.ns()
    config = duty_config("deleteEvictedPod", ns)
    play(t, {**config, "jobKinds": ["ReplicaSet.apps"]}, config, lambda: [t.objects.evict(t.objects.workload("Deployment", ns, 1).pods()[0])])


@switch("deleteTerminatingPod.unreachableNodes")
def unreachable(t):
    ns, node = t.ns(), t.objects.node(ready="Unknown")

    def make():
        pod = t.objects.pod(ns, node=node)
        t.objects.run(pod, ready=False)
        return [t.objects.terminate(pod, 1)]
    duty = "deleteTerminatingPod"
    play(t, duty_config(duty, ns), duty_config(duty, ns, unreachableNodes=True), make)


def comes_back(t, before, after, duty="errImagePull"):
    """A workload that was scaled down and corrected stays at 0 by the settings before, and comes back by those after."""
    ns = t.ns()
    base = duty_config(duty, ns)
    first, then = (merged(base, how if "restoreCheckEvery" in how else {"restoreCheckEvery": "1s", **how}) for how in (before, after))
    program = t.program(first)
    t.policy = policy_of(first)
    workload = victim(t, duty, ns)
    t.wait_write(workload)
    t.until("its row", lambda: [r for r in program.history() if r["outcome"] == "done"], 10)
    t.admin.patch(path_of("Deployment", ns, workload.name), {"metadata": {"annotations": {"ops-pod-cleaner.io/restore": "now"}}})
    workload.leave()
    t.never("replicas by the settings before", lambda: workload.wanted(), 2.5)
    begin = turn(t, program, then)
    t.until("the replicas", lambda: workload.wanted() == 1, EFFECT_S + 10)
    late = max(r.t for r in t.writes() if r.ok) - begin
    assert late <= EFFECT_S, f"took effect {late:.1f} s after the reload"


def register_restore(duty):
    @switch(f"{duty}.restore")
    def one(t):
        comes_back(t, {duty: {"restore": "never"}}, {duty: {"restore": "whenTemplateChanges"}}, duty)


for _duty in WORKLOAD_DUTIES:
    register_restore(_duty)


@switch("restoreCheckEvery")
def restore_check(t):
    on = {"errImagePull": {"restore": "whenTemplateChanges"}}
    comes_back(t, {**on, "restoreCheckEvery": "1h"}, {**on, "restoreCheckEvery": "1s"})


@switch("mode", servers=("apisim", "cluster"))
def mode(t):
    """What was tried dry is done at once, on every duty, though a dry run holds for a day; and budgets that dry runs spent are free."""
    ns, duties = t.ns(), POD_DUTIES + WORKLOAD_DUTIES
    both = {}
    for duty in duties:
        both = merged(both, duty_config(duty, ns, maxPerHour=1))
    running = t.program({**both, "mode": "observe"})
    t.policy = policy_of({**both, "mode": "observe"})
    objects = [victim(t, duty, ns) for duty in duties]
    t.until("a row for each", lambda: len([r for r in running.history() if r["outcome"] == "would"]) == len(duties), 20)
    assert not t.writes(), t.writes()
    assert running.ask_json("plan")["mode"] == "observe"
    begin = turn(t, running, both)
    for o in objects:
        late = t.wait_write(o, 15).t - begin
        assert late <= EFFECT_S, f"took effect {late:.1f} s after the reload"
    t.until("the plan has nothing left to do now", lambda: not [r for r in running.ask_json("plan")["items"] if r["when"] == "now"], 10)
    assert running.ask_json("plan")["mode"] == "enforce"
    assert {r["outcome"] for r in running.history() if r["mode"] == "observe"} == {"would"}, running.history()


# --- the whole ---

@switch("excludeNamespaces")
def exclude(t):
    ns = t.ns()
    config = duty_config("deleteEvictedPod", ns)
    play(t, {**config, "excludeNamespaces": [ns]}, config, lambda: [victim(t, "deleteEvictedPod", ns)])


@switch("defaultExcludeNamespaces", alone=True)
def default_exclude(t):
    ns = t.ns()
    config = duty_config("deleteEvictedPod", "*")
    play(t, {**config, "defaultExcludeNamespaces": [ns]}, config, lambda: [victim(t, "deleteEvictedPod", ns)])


@switch("startupQuiet")
def quiet(t):
    ns = t.ns()
    config = duty_config("deleteEvictedPod", ns)
    play(t, {**config, "startupQuiet": "1h"}, {**config, "startupQuiet": "0s"}, lambda: [victim(t, "deleteEvictedPod", ns)])


@switch("finishDeletionsAfter")
def finish(t):
    ns = t.ns()
    config = duty_config("deleteEvictedPod", ns)
    half = t.objects.half_delete(victim(t, "deleteEvictedPod", ns))
    play(t, {**config, "finishDeletionsAfter": "1h"}, {**config, "finishDeletionsAfter": "1s"}, lambda: [half])


@switch("timeZone")
def zone(t):
    """A window that is open now in one zone and closed in the other."""
    ns, now = t.ns(), time.gmtime()
    config = duty_config("deleteEvictedPod", ns, windows=[f"0 {(now.tm_hour - 1) % 24} * * * for 3h"])
    play(t, {**config, "timeZone": "Asia/Shanghai"}, {**config, "timeZone": "UTC"}, lambda: [victim(t, "deleteEvictedPod", ns)])


def overridden(t, before, after):
    ns = t.ns()
    config = duty_config("deleteEvictedPod", ns)
    item = {"name": "off", "deleteEvictedPod": {"enable": False}}
    first, then = ({**config, "overrides": [{**item, **{k: v(ns) if callable(v) else v for k, v in how.items()}}]} if how is not None
                   else config for how in (before, after))
    play(t, first, then, lambda: [victim(t, "deleteEvictedPod", ns, labels={"team": "a"})])


@switch("overrides")
def overrides(t):
    overridden(t, {"namespaces": lambda ns: [ns]}, None)


@switch("overrides[].namespaces")
def override_namespaces(t):
    overridden(t, {"namespaces": lambda ns: [ns]}, {"namespaces": ["elsewhere"]})


@switch("overrides[].labels")
def override_labels(t):
    overridden(t, {"labels": ["team=a"]}, {"labels": ["team=b"]})


@switch("overrides[].name")
def override_name(t):
    """The name that a person is shown is the new one."""
    ns = t.ns()
    item = {"namespaces": [ns], "deleteEvictedPod": {"windows": [NEVER]}}
    config = duty_config("deleteEvictedPod", ns)
    program = t.program({**config, "overrides": [{"name": "first", **item}]})
    pod = victim(t, "deleteEvictedPod", ns)
    asked = ("explain", f"{ns}/{pod['metadata']['name']}")
    t.until("the name before", lambda: "first" in program.ask(*asked).stdout, 10)
    turn(t, program, {**config, "overrides": [{"name": "second", **item}]})
    t.until("the name after", lambda: "second" in program.ask(*asked).stdout, EFFECT_S)
    t.expect()
    t.policy.windows = {"evicted": [NEVER]}


# --- the breaker ---

def broken(t, before, after, n=2, apart=0.0, nodes=False, duty="crashLoop", hours="4s"):
    """hours: until after the last has failed, so that the breaker sees all of them first."""
    ns = t.ns()
    base = {**duty_config(duty, ns, hours=hours)}

    def make():
        if nodes:
            t.objects.run(t.objects.pod(ns, node="node-2"))
        return outage(t, ns, n, apart, duty)
    off = {**NO_BREAKER, "release": "1s"}
    play(t, {**base, "breaker": {**off, **before}}, {**base, "breaker": {**off, **after}}, make, settle=5)


def register_breaker(key, before, after, **how):
    @switch(f"breaker.{key}")
    def one(t):
        broken(t, before, after, **how)


register_breaker("workloads", {"workloads": 1}, {"workloads": 5})
register_breaker("percent", {"percent": 1}, {"percent": 0}, n=3)
register_breaker("sameHost", {"sameHost": 1}, {"sameHost": 0}, duty="errImagePull")
register_breaker("sameNode", {"sameNode": 1}, {"sameNode": 0}, nodes=True)
register_breaker("within", {"workloads": 1, "within": "10m"}, {"workloads": 1, "within": "1s"}, apart=2.5, hours="8s")


@switch("breaker.release", timeout=150)
def release(t):
    """It is open, what opened it is over, and it would stay so for an hour."""
    ns = t.ns()
    base = duty_config("crashLoop", ns, hours="8s")
    before, after = ({**base, "breaker": {**NO_BREAKER, "workloads": 1, "release": v}} for v in ("1h", "1s"))
    program = t.program(before)
    t.policy = policy_of(after)
    pair = outage(t, ns, 2)
    t.until("the breaker is open", lambda: "breaker open" in program.log(), 15)
    for pod in pair[0].pods():
        t.objects.run(pod)
    time.sleep(9)
    assert not taken(t), t.writes()
    begin = turn(t, program, after)
    request = t.wait_write(pair[1], 15)
    assert request.t - begin <= EFFECT_S, f"took effect {request.t - begin:.1f} s after the reload"


# --- how the cluster is reached ---

def kubeconfig_switch(t, before, after, **more):
    ns = t.ns()
    config = duty_config("deleteEvictedPod", ns)
    play(t, {**config, **before}, {**config, **after}, lambda: [victim(t, "deleteEvictedPod", ns)], kubeconfig=None, start=True, **more)


def two_contexts(t, first="cleaner-reader", then="cleaner"):
    """One kubeconfig: its current context may only read, the other one writes."""
    text = t.server.kubeconfig(first)
    second = re.search(r"token: (\S+)", t.server.kubeconfig(then)).group(1)
    text = text.replace("contexts:\n", "contexts:\n- name: able\n  context: {cluster: test, user: able}\n")
    return str(t.write("two-contexts", text.rstrip() + f"\n- name: able\n  user:\n    token: {second}\n"))


@switch("kubeconfig")
def kubeconfig(t):
    """A credential that may not write, and one that may."""
    kubeconfig_switch(t, {"kubeconfig": str(t.kubeconfig("cleaner-reader"))}, {"kubeconfig": str(t.kubeconfig("cleaner"))})


@switch("context")
def context(t):
    path = two_contexts(t)
    kubeconfig_switch(t, {"kubeconfig": path, "context": "test"}, {"kubeconfig": path, "context": "able"})


@switch("writerKubeconfig")
def writer_kubeconfig(t):
    reader, writer = str(t.kubeconfig("cleaner-reader")), str(t.kubeconfig("cleaner-writer"))
    kubeconfig_switch(t, {"kubeconfig": reader}, {"kubeconfig": reader, "writerKubeconfig": writer})


@switch("writerContext")
def writer_context(t):
    path = two_contexts(t)
    kubeconfig_switch(t, {"kubeconfig": path, "context": "test"}, {"kubeconfig": path, "context": "test", "writerContext": "able"})


def register_cluster(key, before, after):
    @switch(f"clusters[].{key}")
    def one(t):
        reader, writer = str(t.kubeconfig("cleaner-reader")), str(t.kubeconfig("cleaner-writer"))
        names = {"READER": reader, "WRITER": writer, "BOTH": two_contexts(t), "CLEANER": str(t.kubeconfig("cleaner"))}
        first, then = ({"clusters": [{"name": "one", **{k: names.get(v, v) for k, v in how.items()}}]} for how in (before, after))
        kubeconfig_switch(t, first, then)


register_cluster("kubeconfig", {"kubeconfig": "READER"}, {"kubeconfig": "CLEANER"})
register_cluster("context", {"kubeconfig": "BOTH", "context": "test"}, {"kubeconfig": "BOTH", "context": "able"})
register_cluster("writerKubeconfig", {"kubeconfig": "READER"}, {"kubeconfig": "READER", "writerKubeconfig": "CLEANER"})
register_cluster("writerContext", {"kubeconfig": "READER", "writerKubeconfig": "BOTH", "writerContext": "test"},
                 {"kubeconfig": "READER", "writerKubeconfig": "BOTH", "writerContext": "able"})


# --- the report ---

SCHEDULE = "* * * * * *"


def report(sink, ns, **more):
    return {"tooManyRestart": {"enable": True, "namespaces": [ns], "hours": "0s", "status": ["CrashLoopBackOff"], "counts": 2,
                               "duration": SCHEDULE, "msgtitle": "too many", "apiurl": sink.url, **more}}


def restarting(t, pod, limit, found):
    """Its container restarts again and again, as only what has restarted since the last report is in the next one. What was found."""
    end = time.time() + limit
    while time.time() < end and not found():
        pod["restarts"] = pod.get("restarts", 9) + 1
        t.objects.crash(pod, pod["restarts"])
        time.sleep(0.5)
    return found()


def register_report(key, before, after, seen=None, secret=None, drop=()):
    @switch(f"tooManyRestart.{key}")
    def one(t):
        ns, sink = t.ns(), t.sink(secret=secret)
        pod = t.objects.crash(t.objects.pod(ns), 9)
        name = pod["metadata"]["name"]
        first, then = (report(sink, ns, **{k: v(t, ns, sink) if callable(v) else v for k, v in how.items()}) for how in (before, after))
        for config in (first, then):
            for k in drop:
                config["tooManyRestart"].pop(k)
        program = t.program(first)
        found = seen or (lambda post, name: name in post.text)
        assert not restarting(t, pod, 2.5, lambda: [p for p in sink.accepted if found(p, name)]), "by the settings before"
        turn(t, program, then)
        assert restarting(t, pod, EFFECT_S, lambda: [p for p in sink.accepted if found(p, name)]), "no report by the settings after"
        t.expect()


def this_hour():
    """Each second of it, and of the one that may begin meanwhile."""
    hour = time.gmtime().tm_hour
    return f"* * {hour},{(hour + 1) % 24} * * *"


def in_file(text):
    def write(t, ns, sink):
        return str(t.write("secret-" + re.sub(r"\W", "", text)[:8], (text if text != "URL" else sink.url) + "\n"))
    return write


for _key, _before in (("enable", False), ("namespaces", ["elsewhere"]), ("hours", "1h"), ("status", ["Completed"]), ("counts", 100)):
    register_report(_key, {_key: _before}, {})
register_report("duration", {"duration": "0 0 0 1 1 *"}, {})
register_report("timeZone", {"duration": lambda t, ns, s: this_hour(), "timeZone": "Asia/Shanghai"},
                {"duration": lambda t, ns, s: this_hour(), "timeZone": "UTC"})
register_report("msgtitle", {"msgtitle": "one title"}, {"msgtitle": "another title"}, seen=lambda post, name: "another title" in post.text)
register_report("apiurl", {"apiurl": "http://127.0.0.1:9/hook"}, {})
register_report("apiurlFile", {"apiurlFile": in_file("http://127.0.0.1:9/hook")}, {"apiurlFile": in_file("URL")}, drop=("apiurl",))
register_report("secret", {"secret": "wrong"}, {"secret": "right"}, secret="right")
register_report("secretFile", {"secretFile": in_file("wrong")}, {"secretFile": in_file("right")}, secret="right")


@switch("tooManyRestart.window")
def report_window(t):
    """What restarted before the last report is reported once more when the window is longer than that."""
    ns, sink = t.ns(), t.sink()
    pod = t.objects.crash(t.objects.pod(ns), 9)
    program = t.program(report(sink, ns))
    assert restarting(t, pod, 15, lambda: sink.accepted), "no report"
    time.sleep(2.5)
    told = len(sink.accepted)
    time.sleep(2)
    assert len(sink.accepted) == told, "nothing has restarted since"
    turn(t, program, report(sink, ns, window="1h"))
    t.until("a report of the last hour", lambda: len(sink.accepted) > told, EFFECT_S)


@switch("tooManyRestart.ownerAnnotation")
def owner_annotation(t):
    """Whom an annotation of the pod names is mentioned once the settings say which one it is."""
    ns, sink = t.ns(), t.sink()
    pod = t.objects.crash(t.objects.pod(ns, annotations={"example.com/who": "ou_1234567890"}), 9)
    program = t.program(report(sink, ns))
    named = lambda: [p for p in sink.accepted if b"ou_1234567890" in p.raw]     # noqa: E731
    assert not restarting(t, pod, 3, named) and sink.accepted, "by the settings before"
    turn(t, program, report(sink, ns, ownerAnnotation="example.com/who"))
    assert restarting(t, pod, EFFECT_S, named), "nobody is mentioned"


@switch("historyDays")
def history_days(t):
    """What is older goes."""
    ns = t.ns()
    config = duty_config("deleteEvictedPod", ns)
    program = t.program(config)
    t.canary(ns)
    old = t.wait_history(program, outcome="done")["id"]
    t.canary(ns)
    t.until("two rows", lambda: len([r for r in program.history() if r["outcome"] == "done"]) == 2, 10)
    program.stop()
    with sqlite3.connect(next(program.state.rglob("history.db"))) as db:
        for table, column in (("intents", "intent_at"), ("results", "result_at")):
            db.execute(f"UPDATE {table} SET {column} = {column} - 5 * 86400000 WHERE id = ?", (old,))
    db.close()
    program.start()
    time.sleep(1)
    assert old in [r["id"] for r in program.history()], program.history()
    turn(t, program, {**config, "historyDays": 1})
    t.until("the old row is gone", lambda: old not in [r["id"] for r in program.history()], EFFECT_S)


@switch("logLevel")
def log_level(t):
    """Nothing of what the workers do in detail, and then all of it; `log-level` says so for a while, and it returns by itself."""
    ns = t.ns()
    config = duty_config("deleteEvictedPod", ns)
    t.policy = policy_of(config)
    program = t.program(config)
    gone = [t.canary(ns)]
    assert '"level":"debug"' not in program.log()
    asked = program.ask("log-level", "debug", "--for", "3s", check=True)
    assert asked.stdout == "logging debug for 3s, then as configured\n", asked
    gone.append(t.canary(ns))
    t.until("what a worker says of it", lambda: '"msg":"action begins"' in program.log(), EFFECT_S)
    time.sleep(4)       # every process has been told that it is over
    said = program.log().count('"level":"debug"')
    gone.append(t.canary(ns))
    assert program.log().count('"level":"debug"') == said
    program.write_config({**config, "logLevel": "debug"})
    program.ask("reload", timeout=30, check=True)
    gone.append(t.canary(ns))
    t.until("the same again", lambda: program.log().count('"level":"debug"') > said, EFFECT_S)
    t.expect(deleted=gone)


@switch("logFormat")
def log_format(t):
    """Objects, and then text."""
    ns = t.ns()
    config = duty_config("deleteEvictedPod", ns)
    t.policy = policy_of(config)
    program = t.program(config)
    before = len(program.log())
    program.write_config({**config, "logFormat": "text"})
    program.ask("reload", timeout=30, check=True)
    pod = t.canary(ns)
    t.until("text", lambda: re.search(r" info supervisor: action ended id=", program.log()[before:]), EFFECT_S)
    t.expect(deleted=[pod])


# --- what only a restart changes ---

FIXED.update({
    "leaderElection.enable": {"leaderElection": {"enable": True}},
    "leaderElection.presence": {"leaderElection": {"presence": False}},
    "leaderElection.namespace": {"leaderElection": {"namespace": "other"}},
    "leaderElection.name": {"leaderElection": {"name": "other"}},
    "leaderElection.home": {"leaderElection": {"home": "default"}, "clusters": [{"name": "default"}]},
    "maxPods": {"maxPods": 5000},
    "historyMegabytes": {"historyMegabytes": 100},
    "stateDir": {"stateDir": "/tmp/other"},
    "metricsListen": {"metricsListen": "127.0.0.1:1"},
    "sandbox": {"sandbox": "off"},
    "workers.min": {"workers": 3},
    "workers.max": {"workers": {"max": 7}},
    "clusters[].workers": {"clusters": [{"name": "default", "workers": 3}]},
})


@scenario("reload/fixed")
def fixed(t):
    """Settings that a restart alone changes: a reload says so, and the old ones stay in force."""
    ns = t.ns()
    config = duty_config("deleteEvictedPod", ns)
    config["stateDir"] = str(t.dir / "p0" / "state")
    program = t.program(config, start=False)
    command = program.command()
    at = command.index("--state-dir")   # which would beat the key
    program.command = lambda: command[:at] + command[at + 2:]
    program.start()
    for key, change in FIXED.items():
        program.write_config({**config, **change})
        said = program.ask("reload", timeout=20)
        wanted = "workers" if "workers" in key else key
        assert said.returncode and f"{wanted} changed: restart" in said.stderr + said.stdout, f"{key}: {said.stderr}{said.stdout}"
    t.policy = policy_of(config)
    t.expect(deleted=[t.canary(ns)])

"""Images that a real kubelet cannot pull: what it says, and what the program makes of it."""
from harness.scenario import scenario

from kit import pods
from kit.room import ADDRESS

NO_BREAKER = {"workloads": 0, "sameHost": 0, "sameNode": 0}
ACTS = ("permanent", "misconfigured")
VERDICT = {**dict.fromkeys(ACTS, "CannotPullImage"), "transient": "CauseTransient", "unknown": "CauseUnknown",
           "auth": "CredentialRefused",     # five images of one registry, with one credential
           "of no status that is listed": "NotFailing"}
OWN_LIMIT = "pull QPS exceeded"     # the kubelet's, of many pulls at once; it tries again
OTHER = ADDRESS + ":{plain}"         # the same registry by another name: what is pulled from there says nothing of the first
PLAIN, SECURE, NOBODY = "127.0.0.1:{plain}", "registry.test:{tls}", "127.0.0.1:{closed}"

# cause that our rules read -> name of the workload: its image. kit/registry.py tells what happens to each.
CASES = {
    "permanent": {
        "missing": f"{PLAIN}/missing/app:v1", "noname": f"{PLAIN}/noname/app:v1", "digest": f"{PLAIN}/missing/app@sha256:{64 * '5'}",
        "foreign": f"{PLAIN}/foreign/app:v1", "torn": f"{PLAIN}/torn/app:v1",
    },
    "auth": {name: f"{PLAIN}/{name}/app:v1" for name in ("closed", "denied", "hub", "secret", "stranger")},
    "transient": {
        **{name: f"{PLAIN}/{name}/app:v1" for name in ("limited", "broken", "gateway", "overloaded", "slow", "hangup", "cut")},
        "nobody": f"{NOBODY}/team/app:v1", "no-answer": "hub.mute.test/team/app:v1", "ill-names": "hub.ill.test/team/app:v1",
        "no-way": "203.0.113.9/team/app:v1",
    },
    "misconfigured": {
        "portal": f"{PLAIN}/portal/app:v1", "no-tls": "registry.test:{plain}/good/app:v1", "unknown-authority": f"{SECURE}/good/app:v1",
        "other-name": ADDRESS + ":{tls}/good/app:v1", "no-name": "hub.absent.test/team/app:v1",
    },
    "unknown": {name: f"{PLAIN}/{name}/app:v1" for name in ("ancient", "teapot")},
    "of no status that is listed": {"badname": "Bad//Name:v1", "never": "localhost/none:1"},
}
KEPT = ("missing", "foreign", "hub", "limited", "cut")      # the others look alike
REASONS = {"badname": "InvalidImageName", "never": "ErrImageNeverPull"}     # of the others it is ErrImagePull


def fill(t, image):
    registry = t.server.registry
    return image.format(plain=registry.plain, tls=registry.tls, closed=registry.closed)


def texts_of(t, ns, name):
    """(reason, message) as the kubelet wrote them, in order, without its own limit."""
    return [said for said in t.server.records.waiting(ns, name) if OWN_LIMIT not in said[1]]


@scenario("pull/texts", servers=("node",), timeout=150)
def texts(t):
    """Thirty ways in which a pull fails: what waiting does not mend is scaled to 0, and nothing else is touched."""
    ns = t.ns()
    workloads, wrong = {}, []

    def create(group):
        for name, image in group.items():
            more = {"imagePullPolicy": "Never"} if name == "never" else {}
            workloads[name] = pods.Deployment(t, ns, name, pods.container(None, fill(t, image), **more))
    create(CASES["auth"])       # all of them are refused before the first is judged
    for name in CASES["auth"]:
        t.until(f"{name} to fail", lambda: texts_of(t, ns, name), 60, every=0.1)
    program = t.run(image_pull=ns, hours="6s", breaker=NO_BREAKER)
    for cause in [cause for cause in CASES if cause != "auth"]:
        create(CASES[cause])
    for name in KEPT:
        t.until(f"{name} to fail", lambda: texts_of(t, ns, name), 60, every=0.1)
        t.server.keep(f"pull-{name}", workloads[name].pods()[0])
    for cause, group in CASES.items():
        for name in group:
            said = t.until(f"{name} to fail", lambda: texts_of(t, ns, name), 60, every=0.2)
            if said[0][0] not in (REASONS.get(name, "ErrImagePull"), "ImagePullBackOff"):    # a busy kubelet writes the last state only
                wrong.append(f"{name}: the kubelet says {said[0]}")
            verdict = judged(t, program, workloads[name], VERDICT[cause])
            if verdict != VERDICT[cause]:
                wrong.append(f"{name}: {verdict}, not {VERDICT[cause]}, of: {said[-1][1]}")
    assert not wrong, "\n      ".join(wrong)
    t.expect(scaled=[workloads[name] for cause in ACTS for name in CASES[cause]])


def judged(t, program, workload, wanted):
    """The reason by which its only pod was acted on or refused; the last one when it never is the one that is wanted."""
    last = []

    def find():
        found = workload.pods()
        uids = {workload.uid, *(pod["metadata"]["uid"] for pod in found)}
        told = [r["reason"] for r in program.history("--refusals") if r["outcome"] != "open"      # a pod that changed is judged again
                and (r["uid"] in uids or r["target"].endswith(f"/{workload.name}"))]
        told += [pods.told(program, pod, "errImagePull")[1] for pod in found if not told]
        last[:] = told or last
        return wanted in told[-1:]
    try:
        t.until("", find, 20, every=0.5)
    except AssertionError:
        pass
    return last[-1] if last else "nothing"


@scenario("pull/heals", servers=("node",), timeout=120)
def heals(t):
    """ErrImagePull and ImagePullBackOff take turns until the image is there: one clock for both, and it ends with the pull."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="55s", breaker=NO_BREAKER)
    workload = pods.Deployment(t, ns, "late", pods.container(None, fill(t, f"{OTHER}/late/app:v1")))
    t.until("the back-off", lambda: "ImagePullBackOff" in [reason for reason, _ in texts_of(t, ns, "late")], 40, every=0.2)
    verdict, reason, why = pods.told(program, workload.pods()[0], "errImagePull")
    assert (verdict, reason) == ("wait", "WaitingForThreshold"), (verdict, reason, why)
    t.until("the pod to run", lambda: any(pods.is_ready(pod) for pod in workload.pods()), 60, every=0.2)
    reasons = [reason for reason, _ in texts_of(t, ns, "late")]
    turns = [reason for i, reason in enumerate(reasons) if not i or reasons[i - 1] != reason]
    assert set(turns) <= {"ErrImagePull", "ImagePullBackOff"}, turns
    t.until("explain to say so", lambda: pods.told(program, workload.pods()[0], "errImagePull")[1] == "NotFailing", 5, every=0.2)
    t.note = " ".join(turns)
    t.expect()


@scenario("pull/init-container", servers=("node",))
def init_container(t):
    """The image of an init container is missing: the main one waits for it, the workload is scaled to 0 all the same."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="3s", breaker=NO_BREAKER)
    workload = pods.Deployment(t, ns, "first", pods.container(), initContainers=[
        pods.container(None, fill(t, f"{PLAIN}/missing/first:v1"), name="first")])
    t.until("it to fail", lambda: texts_of(t, ns, "first")[0:1], 40, every=0.1)
    kept = t.server.keep("pull-init", workload.pods()[0])
    main = kept["status"]["containerStatuses"][0]["state"]
    assert len(pods.waits(kept)) == 1 and main["waiting"]["reason"] == "PodInitializing", kept["status"]
    t.wait_history(program, outcome="done", reason="CannotPullImage")
    t.expect(scaled=[workload])


@scenario("pull/kubelets-own-limit", servers=("node",), alone=True)
def own_limit(t):
    """A kubelet that pulls too much at once says so of itself: that is no fault of any image."""
    ns = t.ns()
    t.server.restart_kubelet(registryPullQPS=1, registryBurst=1)
    try:
        config = t.config(image_pull=ns, hours="1s", breaker=NO_BREAKER)
        config["errImagePull"]["causes"] = ["permanent"]      # else what the others pull meanwhile counts, too
        program = t.program(config)
        image = fill(t, f"{PLAIN}/good/app:v1")
        workloads = [pods.Deployment(t, ns, f"many-{i}", pods.container(None, image, imagePullPolicy="Always")) for i in range(3)]

        def limited():
            return [w for w in workloads if any(OWN_LIMIT in message for _, message in t.server.records.waiting(ns, w.name))]
        held = t.until("one that was held back", limited, 30, every=0.1)[0]
        t.until("its refusal", lambda: pods.told(program, held.pods()[0], "errImagePull")[1] == "CauseTransient", 15, every=0.1)
        t.until("it to run all the same", lambda: any(pods.is_ready(pod) for w in limited() for pod in w.pods()), 60, every=0.3)
        t.expect()
    finally:
        t.server.restart_kubelet()

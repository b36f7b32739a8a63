"""What the rules make of overrides, marks and causes."""
import time

from harness.scenario import scenario

DNS = ('Back-off pulling image "x": ErrImagePull: failed to do request: Head "https://r.example.com/v2/x": '
       'dial tcp: lookup r.example.com: no such host')
GONE = 'Back-off pulling image "x": ErrImagePull: rpc error: code = NotFound desc = failed to resolve reference "x": x: not found'
TIMEOUT = 'Back-off pulling image "x": ErrImagePull: failed to do request: Head "https://r.example.com/v2/x": dial tcp 10.0.0.1:443: i/o timeout'
DENIED = 'Back-off pulling image "x": ErrImagePull: failed to authorize: 401 Unauthorized'
STRANGE = 'Back-off pulling image "x": ErrImagePull: words that nobody has seen before'
SICK = ('Back-off pulling image "x": ErrImagePull: rpc error: code = Unavailable desc = connection error: desc = "transport: Error while '
        'dialing: dial unix /run/containerd/containerd.sock: connect: no such file or directory"',
        'Back-off pulling image "x": ErrImagePull: failed to extract layer sha256:3b0c: write /usr/lib/x: read-only file system: unknown',
        'Back-off pulling image "x": ErrImagePull: failed to get reader from content store: content digest sha256:3b0c: not found')


def evicted(t, ns, **how):
    return t.objects.evict(t.objects.pod(ns, **how))


@scenario("rules/override-by-label")
def by_label(t):
    """An override with a label switches a duty off for pods that bear it, and for no other."""
    ns = t.ns()
    t.complete = False      # the oracle knows no overrides: what they spare is due to it
    kept = evicted(t, ns, labels={"keep": "yes"})
    other = evicted(t, ns, labels={"keep": "no"})
    program = t.run(evicted=ns, overrides=[{"name": "kept", "labels": ["keep=yes"],
                                            "deleteEvictedPod": {"enable": False}}])
    t.wait_write(other)
    canary = t.canary(ns)
    t.expect(deleted=[other, canary])
    assert t.objects.get(kept), "the pod that the override names is gone"
    told = program.ask("explain", f"{ns}/{kept['metadata']['name']}", "--rules", check=True).stdout
    assert "kept" in told, told


@scenario("rules/override-of-hours")
def of_hours(t):
    """The threshold of the override holds for the workload it matches; the history of the other names none."""
    ns = t.ns()
    t.complete = False      # as above
    program = t.run(image_pull=ns, hours="1s", overrides=[
        {"name": "slow", "labels": ["app=slow"], "namespaces": [ns], "errImagePull": {"hours": "1h"}},
        {"name": "everything", "namespaces": [ns], "errImagePull": {"hours": "2s"}}])
    slow = t.objects.workload("Deployment", ns, 1, name="slow")
    quick = t.objects.workload("Deployment", ns, 1, name="quick")
    slow.fail_to_pull()
    begin = time.time()
    quick.fail_to_pull()
    request = t.wait_write(quick)
    assert request.t >= begin + 2, f"the override's 2 s were not waited for: {request.t - begin:.3f} s"
    row = t.wait_history(program, outcome="done", reason="CannotPullImage")
    assert "override everything" in row["found"], row
    t.expect(scaled=[quick])


@scenario("rules/override-after-a-reload", timeout=90)
def after_reload(t):
    """Labels are not kept in the cache: a reload that asks for others must find them all the same."""
    ns = t.ns()
    t.complete = False      # as above
    config = t.config(evicted=ns, overrides=[{"name": "kept", "labels": ["keep=yes"],
                                              "deleteEvictedPod": {"enable": False}}])
    program = t.program(config)
    first = evicted(t, ns, labels={"keep": "yes"})
    second = evicted(t, ns, labels={"hold": "yes"})
    t.wait_write(second)
    third = evicted(t, ns, labels={"keep": "yes", "hold": "yes"})
    config["overrides"][0]["labels"] = ["hold=yes"]
    program.write_config(config)
    program.ask("reload", timeout=30, check=True)
    t.wait_write(first, 20)
    canary = t.canary(ns)
    t.expect(deleted=[first, second, canary])
    assert t.objects.get(third), "the pod that the new override names is gone"


@scenario("rules/skip-and-ignore")
def skip(t):
    """The owner's annotations hold, live too; what is no list of duties is the wish to be left alone."""
    ns = t.ns()
    program = t.run(evicted=ns)
    kept = [evicted(t, ns, annotations={"ops-pod-cleaner.io/skip": value})
            for value in ("deleteEvictedPod", "errImagePull,deleteEvictedPod", "all", "please")]
    ignored = evicted(t, ns, annotations={"ops-pod-cleaner.io/ignore": "true"})
    other = evicted(t, ns, annotations={"ops-pod-cleaner.io/skip": "errImagePull"})
    t.wait_write(other)
    for pod in kept:
        t.wait_history(program, uid=pod["metadata"]["uid"], reason="SkipAnnotation")
    t.wait_history(program, uid=ignored["metadata"]["uid"], reason="IgnoreAnnotation")
    t.expect(deleted=[other, t.canary(ns)])


@scenario("rules/cause")
def cause(t):
    """Only permanent listed: a registry that is down, unknown or denies access scales nothing; an image that does not exist does."""
    ns = t.ns()
    config = t.config(image_pull=ns, hours="1s")
    config["errImagePull"]["causes"] = ["permanent"]
    program = t.program(config)
    workload = t.objects.workload("Deployment", ns, 1)
    workload.fail_to_pull(message=TIMEOUT)
    row = t.wait_history(program, reason="CauseTransient")
    assert "cause transient" in row["found"] and "no other workload was seen to pull" in row["found"], row
    workload.fail_to_pull(message=DNS)
    row = t.wait_history(program, reason="CauseMisconfigured")
    assert "cause misconfigured" in row["found"], row
    workload.fail_to_pull(message=DENIED)
    t.wait_history(program, reason="CauseAuth")
    assert not t.writes(), t.writes()
    workload.fail_to_pull(message=GONE)
    t.wait_write(workload)
    row = t.wait_history(program, outcome="done", reason="CannotPullImage")
    assert "cause permanent" in row["found"], row
    t.expect(scaled=[workload])


@scenario("rules/causes-by-default")
def causes_by_default(t):
    """What does not heal by itself acts after `hours`: no access, no such host. A timeout waits, and so does what no known words tell."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="1s", breaker={"workloads": 0, "sameHost": 0, "sameNode": 0})
    waits = {TIMEOUT: "CauseTransient", "Back-off pulling image": "CauseUnknown", STRANGE: "CauseUnknown"}
    workloads = {message: t.objects.workload("Deployment", ns, 1) for message in (DENIED, DNS, *waits)}
    for message, workload in workloads.items():
        workload.fail_to_pull(message=message)
    held = {workloads.pop(message): reason for message, reason in waits.items()}
    for workload in workloads.values():
        t.wait_write(workload)
    for workload, reason in held.items():
        t.wait_history(program, uid=workload.pods()[0]["metadata"]["uid"], reason=reason, timeout=30)
    t.expect(scaled=list(workloads.values()))


@scenario("rules/sick-node")
def sick_node(t):
    """A node that cannot keep an image is told by its name; no workload is scaled for it, even where transient causes may act."""
    ns = t.ns()
    config = t.config(image_pull=ns, hours="1s")
    config["errImagePull"]["causes"] = ["permanent", "transient"]
    program = t.program(config)
    for message in SICK:
        workload = t.objects.workload("Deployment", ns, 1)
        workload.fail_to_pull(message=message)
        pod = workload.pods()[0]
        row = t.wait_history(program, uid=pod["metadata"]["uid"], reason="NodeCannotPull")
        assert pod["spec"]["nodeName"] in row["found"], row
    assert not t.writes(), t.writes()
    other = t.objects.workload("Deployment", ns, 1)
    other.fail_to_pull(message=GONE)
    t.wait_write(other)
    t.expect(scaled=[other])


@scenario("rules/credential")
def credential(t):
    """A pull secret that lets no image in is told, and nothing is scaled; when only one image is refused, that one is at fault."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="1s", breaker={"workloads": 0, "sameHost": 0, "sameNode": 0})
    a, b = (t.objects.workload("Deployment", ns, 1) for _ in range(2))
    a.fail_to_pull(message=DENIED, image="registry.example.com/shop/a:1")
    b.fail_to_pull(message=DENIED, image="registry.example.com/shop/b:1")
    for workload, other in ((a, "b"), (b, "a")):
        row = t.wait_history(program, uid=workload.pods()[0]["metadata"]["uid"], reason="CredentialRefused")
        assert row["detail"]["otherImage"] == f"registry.example.com/shop/{other}", row
    assert not t.writes(), t.writes()
    t.objects.run(b.pods()[0])
    a.fail_to_pull(reason="ErrImagePull", message=DENIED, image="registry.example.com/shop/a:1")
    t.wait_write(a)
    t.expect(scaled=[a])


@scenario("rules/transient-while-others-pull", timeout=90)
def transient_while_others_pull(t):
    """A timeout that lasts while another workload pulls from that registry is not the registry's: it acts. After a restart it waits anew."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="2s")
    ill, well, late = (t.objects.workload("Deployment", ns, 1) for _ in range(3))
    ill.fail_to_pull(message=TIMEOUT)
    uid = ill.pods()[0]["metadata"]["uid"]
    t.wait_history(program, uid=uid, reason="CauseTransient")
    t.objects.run(well.pods()[0])
    program.kill_all()          # what was seen to pull is not kept
    program.start()
    t.until("its refusal anew", lambda: "CauseTransient" in program.ask(
        "explain", f"{ns}/{ill.pods()[0]['metadata']['name']}").stdout, 20)
    for reason in ("ErrImagePull", "ImagePullBackOff"):
        ill.fail_to_pull(reason=reason, message=TIMEOUT)
    t.never("a scale-down", lambda: t.writes(), 2)
    t.objects.run(late.pods()[0])
    time.sleep(2.5)             # it has tried again since
    ill.fail_to_pull(reason="ErrImagePull", message=TIMEOUT)
    t.wait_write(ill)
    row = t.wait_history(program, outcome="done", reason="CannotPullImage")
    assert "other workloads pulled from that host meanwhile" in str(row), row
    t.expect(scaled=[ill])


@scenario("rules/one-of-them-cannot-pull")
def one_cannot(t):
    """A pod that cannot pull what its siblings could is told about after the threshold, and nothing is done."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="2s")
    workload = t.objects.workload("Deployment", ns, 2)
    pods = workload.pods()
    t.objects.run(pods[0])
    t.objects.fail_to_pull(pods[1])
    row = t.wait_history(program, reason="WorkloadHasReadyPods", timeout=15)
    assert row["uid"] == pods[1]["metadata"]["uid"], row
    t.expect()


@scenario("rules/excluded-is-told-in-time")
def excluded_in_time(t):
    """A pod that gets stuck in an excluded namespace is told of when it is, without any event, and not touched."""
    served, excluded = t.ns(), t.ns()
    config = t.config(terminating=[served, excluded], hours="5s", excludeNamespaces=[excluded])
    t.policy.terminating = {served}
    program = t.program(config)
    pod = t.objects.pod(excluded)
    t.objects.stop_containers(pod)
    pod = t.objects.terminate(pod, 1)
    assert not [r for r in program.history("--refusals") if r["uid"] == pod["metadata"]["uid"]], "told too early"
    t.wait_history(program, uid=pod["metadata"]["uid"], reason="NamespaceExcluded", timeout=15)
    t.expect()

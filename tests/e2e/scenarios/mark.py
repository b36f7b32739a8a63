"""What was scaled to 0 says so: by whom, when, why, from how many, and how to undo it."""
import json
import time

from harness.objects import path_of
from harness.proxy import DROP, Answer
from harness.scenario import scenario
from oracle.logs import parse_time
from scenarios.restore import restore

MARK = "ops-pod-cleaner.io/scaled-down-"
PARTS = ("by", "action", "history", "at", "why", "from", "undo", "template")


def mark_of(t, kind, ns, name):
    annotations = t.admin.get(path_of(kind, ns, name))["metadata"].get("annotations") or {}
    return {key[len(MARK):]: value for key, value in annotations.items() if key.startswith(MARK)}


def scaled_down(t, proxy=None, kind="Deployment", replicas=2):
    """(program, workload) when it is at 0."""
    ns = t.ns()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload(kind, ns, replicas)
    workload.fail_to_pull()
    t.until("replicas 0", lambda: workload.wanted() == 0, 30)
    return program, workload


def is_object(workload):
    return f"/{workload.name}$"


def make(kind):
    @scenario(f"mark/{kind.lower()}")
    def says(t):
        begin = time.time()
        program, workload = scaled_down(t, kind=kind, replicas=3)
        row = t.wait_history(program, outcome="done", reason="CannotPullImage")
        mark = t.until("its mark", lambda: mark_of(t, kind, workload.ns, workload.name), 10)
        parts = set(PARTS) - ({"template"} if kind == "Fleet" else set())     # it has no pod template
        assert set(mark) == parts, mark
        assert mark["by"] == "ops-pod-cleaner" and mark["from"] == "3" and mark["action"] == str(row["id"]), mark
        assert begin - 2 <= parse_time(mark["at"]) <= time.time() + 2, mark
        assert "errImagePull: CannotPullImage" in mark["why"] and mark["undo"] == f"ops-pod-cleaner restore {row['id']}", mark
        t.policy.restore = True
        workload.leave()
        done = restore(program, mark["action"])
        assert done.returncode == 0, done.stdout + done.stderr
        t.until("the replicas", lambda: workload.wanted() == 3, 10)
        t.until("the end of the mark", lambda: not mark_of(t, kind, workload.ns, workload.name), 10)
    says.__doc__ = f"{kind}: the mark says it all, its undo works as it stands, and takes it away."


for _kind in ("Deployment", "StatefulSet", "Fleet"):
    make(_kind)


@scenario("mark/forbidden")
def forbidden(t):
    """Without the right to change the object the scale counts all the same; that it is not marked is told once, and in each row."""
    program, workloads = not_marked(t, "Fleet", BY_RIGHTS)
    lines = t.until("the line of the log", lambda: [line for line in program.log().splitlines() if "are not marked" in line], 10)
    assert len(lines) <= 2, f"{len(lines)} lines by two workers"
    t.expect(scaled=workloads)


# As the API server says it of RBAC.
BY_RIGHTS = Answer(403, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 403, "reason": "Forbidden",
                         "message": 'fleets.example.com "fleet" is forbidden: User "cleaner" cannot patch resource "fleets"'})


@scenario("mark/refused-at-once", servers=("apisim",))
def refused(t):
    """Who may write the scale alone writes that, and marks nothing."""
    t.expect(scaled=not_marked(t, "Deployment", BY_RIGHTS)[1])


@scenario("mark/objected-to", servers=("apisim",))
def objected_to(t):
    """Where a webhook has something against the mark the replicas alone are written, on the object itself."""
    t.policy.objected = True
    t.expect(scaled=not_marked(t, "Deployment", lambda request: Answer(403, reason="Forbidden") if MARK.encode() in request.body else None)[1])


@scenario("mark/objected-to-for-good")
def objected_to_for_good(t):
    """Where it has something against no replicas they stay: its scale, which the webhook may not see, is not the way round it."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload("Deployment", ns, 1)
    proxy.before("PATCH", is_object(workload), lambda _: Answer(403, reason="Forbidden"), times=10**6)
    workload.fail_to_pull()
    row = t.wait_history(program, outcome="forbidden", reason="Forbidden")
    assert "said by the test" in row["found"] and workload.wanted() == 1, row
    t.expect()


@scenario("mark/refused-behind-the-policy", servers=("cluster",))
def behind_the_policy(t):
    """Of who may write the scale alone, behind the admission policy: it knows no other way, the workload stays as it is, and both
    refusals are told."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload("Deployment", ns, 1)
    proxy.before("PATCH", is_object(workload), lambda _: BY_RIGHTS, times=10**6)
    workload.fail_to_pull()
    row = t.wait_history(program, outcome="forbidden", reason="Forbidden")
    shown = program.ask("show", str(row["id"])).stdout
    assert "its mark was not written: 403 fleets.example.com" in shown and "written on the object itself" in shown, shown
    assert workload.wanted() == 1


def not_marked(t, kind, refusal):
    """(program, workloads) whose own PATCH is refused so (a function of the request: where that says so), when they are at 0."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workloads = [t.objects.workload(kind, ns, 1) for _ in range(2)]
    for workload in workloads:
        proxy.before("PATCH", is_object(workload), refusal if callable(refusal) else lambda _: refusal, times=10**6)
    for workload in workloads:
        workload.fail_to_pull()

    def both():
        """A worker that found it too early by what it read itself has a row before these, and wrote nothing."""
        done = [row for row in program.history() if row["outcome"] == "done"]
        return len(done) >= 2 and done

    for row in t.until("both rows", both, 30):
        shown = program.ask("show", str(row["id"])).stdout
        assert "its mark was not written: 403" in shown, f"{row}\n{shown}"
    assert not any(mark_of(t, kind, ns, w.name) for w in workloads)
    return program, workloads


@scenario("mark/conflict")
def conflict(t):
    """Somebody changes the object between its scale and its mark: it is read again, and marked."""
    meddled(t, "Fleet")


@scenario("mark/conflict-at-once")
def conflict_at_once(t):
    """Somebody changes the object before replicas and mark are written: neither is, all is read again, and then both are."""
    meddled(t, "Deployment", 409)


def meddled(t, kind, *code):
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload(kind, ns, 2)

    def meddle(_):
        t.admin.patch(path_of(kind, ns, workload.name), {"metadata": {"labels": {"touched": "yes"}}})

    hook = proxy.before("PATCH", is_object(workload), meddle)
    workload.fail_to_pull()
    t.wait_write(workload)
    mark = t.until("its mark", lambda: mark_of(t, kind, ns, workload.name), 15)
    assert hook.calls == 1 and mark["from"] == "2", mark
    t.wait_history(program, outcome="done", reason="CannotPullImage")
    t.expect(scaled=[workload], failed=[(workload, c) for c in code])


@scenario("mark/scaled-up-in-between")
def scaled_up(t):
    """Somebody puts the replicas back before the mark is written: there is nothing to mark any more."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload("Fleet", ns, 2)

    def scale_up(_):
        t.admin.patch(path_of("Fleet", ns, workload.name), {"spec": {"size": 2}})

    proxy.before("PATCH", is_object(workload), scale_up)
    workload.fail_to_pull()
    t.wait_write(workload)
    t.wait_history(program, outcome="done", reason="CannotPullImage")
    assert not mark_of(t, "Fleet", ns, workload.name)


@scenario("mark/worker-dies")
def worker_dies(t):
    """The worker is killed when the workload is scaled and not yet marked: the next one marks it, and scales nothing again."""
    mark = killed_before_the_mark(t, "Fleet", "unconfirmed")
    assert "most likely" in mark["why"] and "from" not in mark and "kubectl" in mark["undo"], mark


@scenario("mark/worker-dies-at-once")
def dies_at_once(t):
    """Where both are one write nothing lies between them: killed before it, the next one writes both, and all of the mark."""
    mark = killed_before_the_mark(t, "Deployment", "done")
    assert mark["from"] == "2" and "most likely" not in mark["why"] and "ops-pod-cleaner restore" in mark["undo"], mark


def killed_at_the_mark(t, kind, first=lambda request, workload: None):
    """(the program, its workload of two replicas): every worker is killed when one asks for the mark, behind `first`; nothing is written."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload(kind, ns, 2)

    def kill(request):
        first(request, workload)
        for which in range(len(program.pids("worker"))):
            program.kill("worker", which)
        return DROP

    hook = proxy.before("PATCH", is_object(workload), kill)
    workload.fail_to_pull()
    assert hook.ran.wait(30), "no mark was seen"
    return program, workload


def killed_before_the_mark(t, kind, outcome):
    program, workload = killed_at_the_mark(t, kind)
    mark = t.until("its mark", lambda: mark_of(t, kind, workload.ns, workload.name), 20)
    t.wait_history(program, outcome=outcome)
    t.expect(scaled=[workload])
    return mark


@scenario("mark/of-another-history")
def of_another_history(t):
    """Killed before the write, on a workload that bears the mark of the same number, of a history that was lost: it proves nothing, and
    the next one scales it."""
    ours = {}

    def mark_as_before(request, workload):
        ours.update(json.loads(request.body)["metadata"]["annotations"])
        old = {**{key: value for key, value in ours.items() if value}, MARK + "history": "f" * 32, MARK + "from": "3"}
        t.admin.patch(path_of("Deployment", workload.ns, workload.name), {"metadata": {"annotations": old}})

    program, workload = killed_at_the_mark(t, "Deployment", mark_as_before)
    t.wait_history(program, outcome="done", reason="CannotPullImage", timeout=60)
    assert workload.wanted() == 0
    mark = mark_of(t, "Deployment", workload.ns, workload.name)
    assert mark["from"] == "2" and mark["history"] == ours[MARK + "history"], mark
    t.expect(scaled=[workload])


@scenario("mark/worker-dies-after-it")
def dies_after(t):
    """Killed when the mark is written and before it could say so: the mark is the proof, and what it says can be undone."""
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload("Deployment", ns, 2)

    killed = []

    def kill(_):
        if killed or not mark_of(t, "Deployment", ns, workload.name):   # a conflict: it is tried again
            return None
        killed.append(True)
        for which in range(len(program.pids("worker"))):
            program.kill("worker", which)
        return DROP

    proxy.after("PATCH", is_object(workload), kill, times=10**6)
    workload.fail_to_pull()
    row = t.wait_history(program, outcome="done", reason="CannotPullImage")
    assert killed and row["replicas"] == 2 and workload.name in row["target"], row
    t.policy.restore = True
    workload.leave()
    done = restore(program, str(row["id"]))
    assert done.returncode == 0, done.stdout + done.stderr
    t.until("the replicas", lambda: workload.wanted() == 2, 10)


@scenario("mark/observe")
def observe(t):
    """Mode observe marks nothing."""
    ns = t.ns()
    program = t.run(image_pull=ns, hours="1s", mode="observe")
    workload = t.objects.workload("Deployment", ns, 1)
    workload.fail_to_pull()
    t.until("its row", lambda: [r for r in program.history() if r["reason"] == "CannotPullImage"], 30)
    t.never("a mark in mode observe", lambda: mark_of(t, "Deployment", ns, workload.name), 1.5)
    patches = [r for r in t.requests() if r.verb == "patch" and r.resource == "deployments"]
    assert patches and all(r.dry_run for r in patches), [str(r) for r in patches]

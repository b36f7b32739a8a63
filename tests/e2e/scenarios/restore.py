"""Taking a scale-down back."""
import contextlib
import sqlite3
import time

from harness.objects import path_of, pod_path
from harness.proxy import DROP
from harness.scenario import judge, scenario
from harness.wait import until


def scaled_down(t, kind="Deployment", replicas=2, leave=True, proxy=None, **more):
    """(program, workload, id of the action) after it was scaled to 0, and its pods have left."""
    ns = t.ns()
    program = t.run(proxy, image_pull=ns, hours="1s", **more)
    workload = t.objects.workload(kind, ns, replicas)
    workload.fail_to_pull()
    t.wait_write(workload)
    row = t.wait_history(program, outcome="done", reason="CannotPullImage")
    t.policy.restore = True
    if leave:
        workload.leave()
    return program, workload, row["id"]


def restore(program, *args, how="--yes"):
    """As a person does it: once more where it says so. Another pod of the workload may be looked at in that moment."""
    def answer():
        done = program.ask("restore", *args, how, timeout=60)
        return None if "try again" in done.stdout + done.stderr else done
    return until("an answer to the restore", answer, 20)


def ups(t):
    """What put replicas back: one that met a status written meanwhile (409) wrote nothing and is tried again."""
    return [r for r in t.writes() if judge.kind_of(r) == "scale" and r.replicas and r.ok]


def make(kind):
    @scenario(f"restore/{kind.lower()}")
    def back(t):
        program, workload, number = scaled_down(t, kind, 3)
        dry = restore(program, str(number), how="--dry-run")
        assert dry.returncode == 0 and not ups(t) and workload.wanted() == 0, dry.stdout + dry.stderr
        done = restore(program, str(number))
        assert done.returncode == 0, done.stdout + done.stderr
        t.until("the replicas", lambda: workload.wanted() == 3, 10)
        request = ups(t)[0]
        assert len(ups(t)) == 1 and request.uid == workload.uid and request.rv, [str(r) for r in ups(t)]
        t.wait_history(program, reason="Restored")
        again = restore(program, str(number))
        assert again.returncode != 0 or "NotZeroAnymore" in again.stdout, again.stdout + again.stderr
        assert len(ups(t)) == 1
    back.__doc__ = f"{kind}: a dry run first, then the replicas as they were, once."


for _kind in ("Deployment", "StatefulSet", "Fleet"):
    make(_kind)


@scenario("restore/not-our-zero")
def not_ours(t):
    """Somebody scaled it up and down again since: that zero is theirs."""
    program, workload, number = scaled_down(t)
    for replicas in (1, 0):
        t.admin.patch(path_of("Deployment", workload.ns, workload.name), {"spec": {"replicas": replicas}})
    answer = restore(program, str(number))
    assert "NotOurZero" in answer.stdout + answer.stderr, answer.stdout + answer.stderr
    assert not ups(t) and workload.wanted() == 0


@scenario("restore/while-its-status-changes")
def in_motion(t):
    """Something writes to the workload before each read of its scale, then before each write, as controllers write its status: read again
    after a pause, six times in a row, and put back once."""
    proxy, touched = t.proxy(), []
    program, workload, number = scaled_down(t, proxy=proxy)
    path = path_of("Deployment", workload.ns, workload.name)

    def touch(_):
        touched.append(time.monotonic())
        t.admin.patch(path, {"metadata": {"annotations": {"example.com/touched": str(len(touched))}}})
    for hook in (("GET", f"{path}/scale$"), ("PATCH", f"{path}$")):
        proxy.before(*hook, touch, times=6)
    done = program.ask("restore", str(number), "--yes", timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(touched) == 12 and len(ups(t)) == 1 and workload.wanted() == 2, (len(touched), [str(r) for r in ups(t)])
    assert touched[5] - touched[0] > 3, touched


@scenario("restore/pods-of-before")
def pods_of_before(t):
    """While pods of before are terminating nothing comes back; when they are gone it does, as soon as it is asked for again."""
    program, workload, number = scaled_down(t, leave=False)
    for pod in workload.pods() if not t.server.has_controllers else ():     # as its controller does
        t.objects.terminate(pod)
    t.until("its pods to be asked to go", lambda: not workload.pods(), 20)
    answer = restore(program, str(number))
    assert answer.returncode == 1 and "OldPodsTerminating" in answer.stdout and "2 pods still terminate" in answer.stdout, answer
    assert not ups(t) and workload.wanted() == 0
    for pod in t.admin.get(pod_path(workload.ns))["items"]:
        t.objects.force_delete(pod)
    done = restore(program, str(number))
    assert done.returncode == 0, done
    t.until("the replicas", lambda: workload.wanted() == 2, 10)


@scenario("restore/another-object")
def replaced(t):
    """Another workload bears the name now."""
    program, workload, number = scaled_down(t)
    workload.replace()
    t.admin.patch(path_of("Deployment", workload.ns, workload.name), {"spec": {"replicas": 0}})
    answer = restore(program, str(number))
    assert "OwnerUidDiffers" in answer.stdout + answer.stderr, answer.stdout + answer.stderr
    assert not ups(t) and workload.wanted() == 0


@scenario("restore/forged-history")
def forged(t):
    """The history says another number than the supervisor has signed, and than the mark says."""
    program, workload, number = scaled_down(t)
    program.kill_all()
    with contextlib.closing(sqlite3.connect(next(program.state.rglob("history.db")))) as db, db:
        assert db.execute("UPDATE results SET replicas = 500 WHERE id = ?", (number,)).rowcount == 1
    program.start()
    answer = restore(program, str(number))
    assert answer.returncode != 0 and "OriginNotSigned" in answer.stdout, answer.stdout + answer.stderr
    assert not ups(t) and workload.wanted() == 0


@scenario("restore/lost-key")
def lost_key(t):
    """With the supervisor's own file its key is gone: the mark on the workload says the same as the history, and that suffices."""
    program, workload, number = scaled_down(t)
    program.kill_all()
    next(program.state.rglob("supervisor.state")).unlink()
    program.start()
    done = restore(program, str(number))
    assert done.returncode == 0, done.stdout + done.stderr
    t.until("the replicas", lambda: workload.wanted() == 2, 10)


def lose_history(program, workload):
    """A new volume: neither its history nor the supervisor's own file is there. Nothing is left of the workload that a new program
    could judge while somebody restores it."""
    program.kill_all()
    for pod in workload.pods():
        workload.objects.force_delete(pod)
    for path in sorted(program.state.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    program.start()


@scenario("restore/by-the-mark")
def by_the_mark(t):
    """The history is lost. The marks on the workloads say what is at 0, since when and why; one is put back by its name, as its mark
    says, and the answer says so."""
    program, workload, _ = scaled_down(t, replicas=3)
    other = t.objects.workload("StatefulSet", workload.ns, 1)     # at 0 by its owner
    t.admin.patch(path_of("StatefulSet", other.ns, other.name), {"spec": {"replicas": 0}})
    lose_history(program, workload)
    rows = program.ask_json("restore", "--list", "-n", workload.ns)
    assert [(r["target"], r["replicas"], r["targetUid"]) for r in rows] == [
        (f"deployments.apps/{workload.ns}/{workload.name}", 3, workload.uid)], rows
    assert rows[0]["duty"] == "errImagePull" and "CannotPullImage" in rows[0]["said"] and rows[0]["at"], rows
    listed = program.ask("restore", "--list")
    assert listed.returncode == 0 and f"{workload.ns}/{workload.name}" in listed.stdout, listed
    name = f"{workload.ns}/{workload.name}"
    unknown = program.ask("restore", f"{other.ns}/{other.name}", "--yes", timeout=30)
    assert unknown.returncode == 1 and "knows no scale-down" in unknown.stderr, unknown
    dry = restore(program, name, how="--dry-run")
    assert dry.returncode == 0 and "would" in dry.stdout and "as its mark says" in dry.stdout and not ups(t), dry
    assert "what its mark says is all that is known" in dry.stderr, dry
    done = restore(program, name)
    assert done.returncode == 0, done.stdout + done.stderr
    t.until("the replicas", lambda: workload.wanted() == 3, 10)
    assert len(ups(t)) == 1 and other.wanted() == 0
    t.wait_history(program, outcome="done", reason="Restored")
    assert not program.ask_json("restore", "--list", "-n", workload.ns)
    assert restore(program, name).returncode == 1 and len(ups(t)) == 1


@scenario("restore/by-the-mark-of-another-replica")
def by_another_mark(t):
    """This history knows an older scale-down; the workload bears the mark of another replica's. By its name it is put back as that says; the
    number of this history's is still refused."""
    program, workload, number = scaled_down(t)
    mark = {"history": "f" * 32, "action": "77"}
    t.admin.patch(path_of("Deployment", workload.ns, workload.name),
                  {"metadata": {"annotations": {f"ops-pod-cleaner.io/scaled-down-{key}": value for key, value in mark.items()}}})
    answer = restore(program, str(number))
    assert answer.returncode == 1 and "NotMarked" in answer.stdout and not ups(t), answer
    done = restore(program, f"{workload.ns}/{workload.name}")
    assert done.returncode == 0 and "what its mark says is all that is known" in done.stderr, done
    t.until("the replicas", lambda: workload.wanted() == 2, 10)
    assert len(ups(t)) == 1


@scenario("restore/by-a-mark-that-lies")
def by_a_mark_that_lies(t):
    """Somebody has set the replicas since, or has changed the mark between the look and the order: nothing is put back."""
    program, workload, _ = scaled_down(t)
    path = path_of("Deployment", workload.ns, workload.name)
    for replicas in (1, 0):
        t.admin.patch(path, {"spec": {"replicas": replicas}})
    lose_history(program, workload)
    answer = restore(program, f"{workload.ns}/{workload.name}")
    assert answer.returncode == 1 and "NotOurZero" in answer.stdout, answer
    t.admin.patch(path, {"metadata": {"annotations": {"ops-pod-cleaner.io/scaled-down-from": "500"}}})
    answer = restore(program, f"{workload.ns}/{workload.name}")
    assert answer.returncode == 1 and "NotOurZero" in answer.stdout, answer
    t.admin.patch(path, {"metadata": {"annotations": {"ops-pod-cleaner.io/scaled-down-by": "kubectl"}}})
    answer = restore(program, f"{workload.ns}/{workload.name}")
    assert answer.returncode == 1 and "knows no scale-down" in answer.stderr, answer
    assert not ups(t) and workload.wanted() == 0


@scenario("restore/unmarked")
def unmarked(t):
    """Somebody has taken the mark away: what the history says is not enough."""
    program, workload, number = scaled_down(t)
    t.admin.patch(path_of("Deployment", workload.ns, workload.name), {"metadata": {"annotations": {
        f"ops-pod-cleaner.io/scaled-down-{part}": None for part in ("by", "action", "at", "why", "from", "undo", "template")}}})
    answer = restore(program, str(number))
    assert answer.returncode != 0 and "NotMarked" in answer.stdout, answer.stdout + answer.stderr
    assert not ups(t) and workload.wanted() == 0


@scenario("restore/unconfirmed")
def unconfirmed(t):
    """The server scaled it down by /scale and the answer never came: it is taken back by its name as well as by its number."""
    without_answer(t, "Fleet", "/scale$", "unconfirmed")


@scenario("restore/without-answer")
def proven(t):
    """The same where replicas and mark are one write: the mark proves it."""
    without_answer(t, "Deployment", "$", "done")


def without_answer(t, kind, path, outcome):
    ns, proxy = t.ns(), t.proxy()
    program = t.run(proxy, image_pull=ns, hours="1s")
    workload = t.objects.workload(kind, ns, 3)
    proxy.after("PATCH", f"/{workload.name}{path}", lambda _: DROP)
    workload.fail_to_pull()
    t.wait_write(workload)
    t.wait_history(program, outcome=outcome)
    t.policy.restore = True
    workload.leave()
    done = restore(program, f"{ns}/{workload.name}")
    assert done.returncode == 0, done.stdout + done.stderr
    t.until("the replicas", lambda: workload.wanted() == 3, 10)


# --- without an operator ---

def correct(t, workload, image="registry.example.com/corrected:1"):
    """A person corrects the image."""
    containers = [{**c, "image": image} for c in workload._template()["spec"]["containers"]]
    t.admin.patch(path_of(workload.kind, workload.ns, workload.name), {"spec": {"template": {"spec": {"containers": containers}}}})


def waits_for_a_correction(t, **more):
    """(program, workload, id of the action): at 0, and left there as long as nobody does anything."""
    program, workload, number = scaled_down(t, restoreCheckEvery="1s", errImagePull={"restore": "whenTemplateChanges"}, **more)
    t.policy.restore = False
    t.never("replicas that nobody asked for", lambda: ups(t), 2.5)
    return program, workload, number


@scenario("restore/corrected")
def corrected(t):
    """Somebody corrects the image: the replicas come back, once, but not while that is paused; the history and the mark say so."""
    program, workload, number = waits_for_a_correction(t)
    assert program.ask("pause", "--reason", "a change is on its way").returncode == 0
    correct(t, workload)
    t.never("replicas while it is paused", lambda: ups(t), 2.5)
    assert program.ask("resume").returncode == 0
    t.until("the replicas", lambda: workload.wanted() == 2, 15)
    row = t.wait_history(program, outcome="done", reason="Corrected")
    assert len(ups(t)) == 1 and ups(t)[0].uid == workload.uid and ups(t)[0].rv, [str(r) for r in ups(t)]
    assert "origin" in program.ask("show", str(row["id"])).stdout
    top = path_of("Deployment", workload.ns, workload.name)
    t.until("the end of the mark", lambda: "scaled-down" not in str(t.admin.get(top)["metadata"].get("annotations")), 10)
    t.never("another restore", lambda: len(ups(t)) > 1, 2.5)
    # A look alone leaves nothing in the history.
    assert len([r for r in program.history() if r["action"] == "restore"]) == 1, program.history()


@scenario("restore/asked-on-the-object")
def asked(t):
    """Somebody asks by annotation; the wish goes with the mark. The program has forgotten nothing over a restart."""
    program, workload, number = waits_for_a_correction(t)
    program.stop()
    top = path_of("Deployment", workload.ns, workload.name)
    t.admin.patch(top, {"metadata": {"annotations": {"ops-pod-cleaner.io/restore": "now"}}})
    program.start()
    t.until("the replicas", lambda: workload.wanted() == 2, 20)
    t.until("the end of mark and wish", lambda: "ops-pod-cleaner.io" not in str(t.admin.get(top)["metadata"].get("annotations")), 10)


@scenario("restore/touched-since")
def touched(t):
    """Somebody else has scaled it up and down again: it is theirs, whatever is corrected."""
    program, workload, number = waits_for_a_correction(t)
    for replicas in (1, 0):
        t.admin.patch(path_of("Deployment", workload.ns, workload.name), {"spec": {"replicas": replicas}})
    correct(t, workload)
    t.never("replicas that are somebody else's", lambda: ups(t), 3.5)
    assert workload.wanted() == 0


@scenario("restore/excluded-namespace")
def excluded(t):
    """A namespace that was excluded since: an operator's restore does not reach it either."""
    program, workload, number = waits_for_a_correction(t)
    config = t.config(image_pull=workload.ns, hours="1s", restoreCheckEvery="1s", errImagePull={"restore": "whenTemplateChanges"},
                      excludeNamespaces=[workload.ns])
    program.write_config(config)
    assert program.ask("reload").returncode == 0
    correct(t, workload)
    answer = restore(program, str(number))
    assert "NamespaceExcluded" in answer.stdout + answer.stderr, answer.stdout + answer.stderr
    t.never("replicas in an excluded namespace", lambda: ups(t), 2.5)
    assert workload.wanted() == 0
    t.policy.excluded = ()      # the scale-down was before

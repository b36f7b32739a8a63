#!/usr/bin/env python3
"""What an operator asks of a running supervisor: pauses, plans, restores."""
import os
import pty
import re
import select
import signal
import socket
import stat
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from service import PROGRAM, Service, answer, main, place, ready, scratch  # noqa: E402


def pause_reaches_everybody_and_holds():
    t = ready()
    said = t.ask("pause", "--reason", "release", "-o", "json")
    assert said["paused"] and said["duty"] is None and said["cluster"] is None, said
    t.wait_for(r"PAUSE reporter on=1 duty=-1 cluster= by=.*uid \d+")  # before the answer: it is on disk
    t.wait_for("PAUSE watcher on=1 duty=-1 cluster=")
    pauses = t.ask("status", "-o", "json")["pauses"]
    assert len(pauses) == 1 and pauses[0]["reason"] == "release" and "uid" in pauses[0]["by"], pauses
    assert "PAUSED: every duty of every cluster" in t.ask("status")
    # Whatever an operator gives as the reason is told as it is: also words that are ours elsewhere.
    for reason in ("created by hand", "the supervisor's own file of pauses and limits was damaged: look at what was paused, then resume"):
        t.ask("pause", "errImagePull", "--reason", reason)
        assert reason in t.ask("--language", "zh", "status"), reason
    t.ask("resume", "errImagePull")
    t.ask("pause", "deleteEvictedPod", "test", "--for", "2h")
    assert len(t.ask("status", "-o", "json")["pauses"]) == 2
    t.ask("resume")
    t.wait_for("PAUSE watcher on=0", count=2)
    t.wait_for("PAUSE reporter on=0", count=2)
    assert t.ask("status", "-o", "json")["pauses"] == []


def the_socket_is_for_its_user_alone():
    t = ready()
    path = os.path.join(t.dir, "control.sock")
    mode = os.stat(path)
    assert stat.S_IMODE(mode.st_mode) == 0o600 and mode.st_uid == os.geteuid(), oct(mode.st_mode)
    assert t.ask("status", "-o", "json")["phase"] == "running"
    if os.geteuid() != 0:
        return  # nobody else to be
    # Where the file's mode lets everybody in, the kernel still says who it is.
    os.chmod(t.dir, 0o711)
    os.chmod(path, 0o666)
    ask = "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.settimeout(5); s.connect('control.sock'); print(len(s.recv(9)))"
    r = subprocess.run(["/usr/bin/python3", "-c", ask], cwd=t.dir, user=65534, group=65534, extra_groups=[], capture_output=True, text=True, timeout=20)
    assert r.stdout == "0\n", r
    assert t.ask("status", "-o", "json")["phase"] == "running"


def _as(t, *args, groups=(), code=0):
    """The same command by somebody who is neither root nor the service; -> what it printed."""
    r = subprocess.run(["./ops-pod-cleaner", *args, "--control-socket", "./control.sock"], cwd=t.dir, user=65534, group=65534, extra_groups=groups,
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert r.returncode == code, (args, r.returncode, r.stdout, r.stderr)
    return r.stdout + r.stderr


def a_group_may_look_and_change_nothing():
    if os.geteuid() != 0:
        return  # nobody else to be
    group = 4711
    t = ready(group=group)
    os.chmod(t.dir, 0o711)      # so that everybody can begin the program that lies there
    place(PROGRAM, os.path.join(t.dir, "ops-pod-cleaner"))
    os.chmod(os.path.join(t.dir, "ops-pod-cleaner"), 0o755)
    path = os.path.join(t.dir, "read.sock")
    at = os.stat(path)
    assert stat.S_IMODE(at.st_mode) == 0o660 and at.st_gid == group, oct(at.st_mode)
    assert stat.S_IMODE(os.stat(os.path.join(t.dir, "control.sock")).st_mode) == 0o600
    assert answer(_as(t, "status", "-o", "json", groups=[group]))["phase"] == "running"
    _as(t, "history", groups=[group])
    for args in (("pause",), ("resume",), ("reload",), ("log-level", "debug"), ("report", "send", "--sink", "x", "--test")):
        assert "use sudo" in _as(t, *args, groups=[group], code=77), args
    assert "use sudo" in _as(t, "restore", "1", "--yes", groups=[group], code=1)
    assert "use sudo" in _as(t, "status", code=77)
    # Where the mode lets everybody in, the kernel still says who it is.
    os.chmod(path, 0o666)
    _as(t, "status", groups=[group + 1], code=69)
    _as(t, "status", groups=[group])
    assert t.ask("status", "-o", "json")["pauses"] == []
    t.signal(signal.SIGTERM)
    assert t.wait_exit() == 0 and not os.path.exists(path)


def who_looks_keeps_nobody_out_who_commands():
    if os.geteuid() != 0:
        return  # nobody else to be
    t = ready(group=0)
    held = []
    for _ in range(40):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect(os.path.join(t.dir, "read.sock"))
        held.append(s)
    commander = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    commander.connect(os.path.join(t.dir, "control.sock"))
    for _ in range(40):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect(os.path.join(t.dir, "read.sock"))
        held.append(s)
    t.ask("pause")
    assert not select.select([commander], [], [], 0.5)[0], "a commander lost the place to those who look"
    for s in (*held, commander):
        s.close()


def a_folder_of_one_user_has_no_second_socket():
    t = ready()
    assert not os.path.exists(os.path.join(t.dir, "read.sock"))


def resume_says_what_it_did_not_find():
    t = ready()
    assert "nothing of that is paused" in t.ask("resume", code=1)
    t.ask("pause")
    assert "wider pause" in t.ask("resume", "errImagePull", code=1)
    # What it did end is not all that held.
    t.ask("pause", "errImagePull")
    said = t.ask("resume", "errImagePull").splitlines()
    assert said[0].startswith("resumed: errImagePull") and said[1].startswith("PAUSED: every duty of every cluster since"), said
    t.ask("pause", "errImagePull")
    [still] = t.ask("resume", "errImagePull", "-o", "json")["pauses"]
    assert still["duty"] is None and still["paused"], still
    assert t.ask("resume", "-o", "json")["pauses"] == []
    assert "no cluster of that name" in t.ask("pause", "elsewhere", code=64)


def a_name_that_is_empty_is_not_all_of_them():
    """`resume "$CLUSTER"` in a script whose variable is not set."""
    t = ready()
    t.ask("pause")
    for args in (("resume", ""), ("resume", "errImagePull", ""), ("pause", ""), ("history", "--cluster", ""), ("plan", "-n", ""), ("restore", "--list", "--cluster=")):
        t.ask(*args, code=64)
    assert len(t.ask("status", "-o", "json")["pauses"]) == 1


def what_is_printed_never_goes_to_the_instance():
    """A descriptor that is closed at the start would be the number of the socket."""
    folder = scratch.folder("closed")
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        path = os.path.join(folder, closed.replace(" ", "_"))
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(path)
            listener.listen(1)
            # It complains of an answer that it cannot read while it is connected.
            p = subprocess.Popen(["sh", "-c", f'"$0" history --control-socket "$1" {closed}', PROGRAM, path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
            listener.settimeout(20)
            s, _ = listener.accept()
            with s:
                s.settimeout(20)
                assert s.recv(65536), closed
                s.send(b"\xff")
                assert s.recv(65536) == b"", closed
            assert p.wait(timeout=20) == 69, closed


def what_could_not_be_written_says_why():
    t = ready()
    for args in ("history", "history -o json", "status"):
        r = subprocess.run(["sh", "-c", f'"$0" {args} --control-socket "$1" >/dev/full', PROGRAM, os.path.join(t.dir, "control.sock")],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
        assert r.returncode == 1 and "No space left on device" in r.stderr, (args, r)


def pause_ends_by_itself():
    t = ready()
    t.ask("pause", "--for", "1s")
    t.wait_for("PAUSE watcher on=0")
    t.wait_for("PAUSE reporter on=0")
    assert t.ask("status", "-o", "json")["pauses"] == []


def paused_nominations_are_refused():
    t = Service(reporter="paused", watcher="nominate-terminating")
    t.wait_for("NOMINATION_RESULT outcome=refused reason=Paused")
    assert "GRANT" not in t.text() and "INTENT" not in t.text()
    t.wait_for("PAUSE watcher on=1 duty=1")  # what the history holds, before anything else


def written_intents_are_refused_when_paused():
    # Both workers hold as many leases as they may when the pause comes; one lease waits.
    t = Service(watcher="nominate-many", worker="stall")
    t.wait_for("GRANT", count=16)
    t.wait_for("INTENT id=17")
    t.ask("pause")
    t.wait_for("RECORD id=17 outcome=refused")
    t.wait_for("NOMINATION_RESULT outcome=refused reason=Paused")
    assert len(re.findall("GRANT", t.text())) == 16
    # What was granted may have been written: a worker that dies over it leaves it in doubt, and nobody touches it meanwhile.
    for pid in re.findall(r"GRANT id=1 .*pid=(\d+)", t.text()):
        os.kill(int(pid), signal.SIGKILL)
    t.wait_for('child ready role="worker"', count=3)
    time.sleep(0.5)
    assert len(re.findall("GRANT", t.text())) == 16 and "RECORD id=1 " not in t.text()
    t.ask("resume")
    t.wait_for("GRANT id=1 verify_first=1")


def history_that_dies_over_a_pause_is_told_again():
    t = ready(reporter="die-on-pause")
    assert "in force now" in t.ask("pause")
    t.write()  # the next one lives
    t.wait_for("PAUSE reporter on=1", count=2)
    assert len(t.ask("status", "-o", "json")["pauses"]) == 1


def pause_that_the_history_had_no_room_for_is_told_again():
    t = Service(watcher="flood")
    open(os.path.join(t.dir, "deaf"), "w").close()
    t.wait_for("FLOODED")
    time.sleep(0.5)
    assert "in force now" in t.ask("pause")
    assert "PAUSE reporter" not in t.text()
    os.unlink(os.path.join(t.dir, "deaf"))
    t.wait_for("PAUSE reporter on=1")
    assert t.text().count('child ready role="reporter"') == 1  # it is the same one


def resumed_while_the_history_was_away():
    t = ready(reporter="paused")
    assert t.ask("status", "-o", "json")["pauses"][0]["reason"] == "from the history"
    t.ask("resume")
    t.kill("reporter")  # the new one holds the old pause again
    t.wait_for('child ready role="reporter"', count=2)
    t.wait_for("PAUSE reporter on=0 duty=1", count=2)
    assert t.ask("status", "-o", "json")["pauses"] == []


def plan_asks_workers_about_what_is_due():
    t = ready()
    plan = t.ask("plan", "-o", "json")
    assert plan["counts"]["deleteEvictedPod"] == {"now": 200, "later": 0, "blocked": 1, "refused": 1, "gone": 0, "unclear": 0}, plan["counts"]
    assert len(re.findall("TRY id=", t.text())) == 200 and "GRANT" not in t.text() and "INTENT" not in t.text()
    first = plan["items"][0]
    assert first["when"] == "now" and first["live"]["target"] == "deployments.apps/default/web" and first["live"]["replicas"] == 3, first
    assert {r["name"] for r in plan["items"]} == {f"pod-{i}" for i in range(202)}
    text = t.ask("plan")
    assert "NOW" in text and "pod-201" in text and "blocked" in text
    assert "no cluster of that name" in t.ask("plan", "--cluster", "elsewhere", code=64)


def explain_says_what_a_worker_would_do():
    t = ready(worker="refuse-on-try")
    row, = t.ask("explain", "default/pod", "-o", "json")
    assert row["verdict"] == "refuse" and row["reason"] == "NodeNotReady" and row["remedy"], row
    assert row["cacheVerdict"] == "act" and row["live"]["outcome"] == "refused", row
    assert row["lastRefusal"]["id"] == 9 and row["lastRefusal"]["reason"] == "PodReady", row  # the newest, and its own
    assert row["lastRefusal"]["endedAt"] == "1970-01-01T00:00:09.000Z" and row["lastRefusal"]["remedy"], row
    text = t.ask("explain", "default/pod")
    assert "refuse" in text and "last refused 1970-01-01T00:00:09Z: PodReady" in text, text
    assert "GRANT" not in t.text() and len(re.findall("TRY id=", t.text())) == 2


def explain_agrees_with_a_worker_that_would():
    row, = ready().ask("explain", "default/pod", "-o", "json")
    assert row["verdict"] == "act" and row["live"]["outcome"] == "would", row


def explain_says_that_no_worker_answered():
    t = ready(worker="mute-on-try")
    row, = t.ask("explain", "default/pod", "-o", "json")
    assert row["verdict"] == "unclear" and row["live"] is None and row["cacheVerdict"] == "act", row


def plan_shows_the_newest_refusal():
    rows = {r["name"]: r for r in ready().ask("plan", "-o", "json")["items"]}
    assert rows["pod-1"]["lastRefusal"]["reason"] == "PodReady" and rows["pod-2"]["lastRefusal"]["id"] == 7, rows["pod-1"]
    assert rows["pod-3"]["lastRefusal"] is None


def worker_that_dies_over_a_question_is_said():
    t = ready(worker="die-on-try")
    said = t.ask("restore", "7", "--dry-run", code=1)
    assert "WorkerDied" in said, said


def question_without_a_worker_is_answered():
    t = Service(worker="die-before-ready")
    t.wait_for("child died", count=2)
    said = t.ask("restore", "7", "--dry-run", code=1)
    assert "NoWorker" in said, said


def answer_to_another_question_kills():
    t = ready(worker="wrong-try")
    t.ask("restore", "7", "--dry-run", code=1)
    t.wait_for("CTL_DRY_RUN_RESULT for a question it was not asked")


def restore_is_rehearsed_and_then_done():
    t = ready()
    said = t.ask("restore", "7", "9", "--dry-run", "-o", "json")
    assert said["dryRun"] and [r["id"] for r in said["items"]] == [7, 9], said
    assert all(r["outcome"] == "would" and r["target"] == "deployments.apps/default/web" for r in said["items"]), said
    assert "TRY id=7 action=2 origin=7" in t.text() and "INTENT" not in t.text()
    assert "repeat with --yes" in t.ask("restore", "7", code=64)
    assert "INTENT" not in t.text()
    t.ask("pause")  # an operator asks for a restore: a pause does not stop it
    said = t.ask("restore", "7", "--yes", "-o", "json")
    assert not said["dryRun"] and said["items"][0]["outcome"] == "done", said
    text = t.text()
    assert text.index("INTENT id=1") < text.index("GRANT id=1") < text.index("RECORD id=1")


def restore_that_nobody_asked_for_is_not_done():
    t = ready(reporter="unasked-restore")
    other = ready(reporter="other-restore")
    assert "the reporter has ended before it answered" in other.ask("restore", "7", "--dry-run", code=1)
    other.wait_for("an answer to another question than the one that was asked")
    time.sleep(0.5)
    assert "INTENT" not in t.text() + other.text() and "TRY" not in t.text() + other.text()


def a_watcher_cannot_have_anything_restored():
    t = Service(watcher="nominate-restore")
    t.wait_for("NOMINATE of a restore")
    t.wait_for('child ready role="watcher"', count=2)
    assert not re.search("INTENT|PREFETCH|GRANT|TRY", t.text())


def a_history_that_is_not_signed_puts_nothing_back():
    t = Service(watcher="ask-restore")
    t.wait_for("RESTORE_END id=8 outcome=refused reason=Busy")
    t.wait_for("RESTORE_END id=7 outcome=refused reason=OriginNotSigned")
    t.wait_for("a row of the history is not signed: nothing is put back by it")
    assert not re.search("INTENT|PREFETCH|GRANT|TRY", t.text())


def what_was_corrected_waits_while_it_is_paused():
    t = Service(watcher="ask-restore", reporter="paused-all")
    t.wait_for("RESTORE_END id=7 outcome=refused reason=Paused")
    assert not re.search("INTENT|PREFETCH|GRANT|TRY", t.text())


def a_history_that_answers_what_no_watcher_asked():
    t = Service(watcher="ask-restore", reporter="other-restore")
    t.wait_for("an answer to another question than the one that was asked")
    t.wait_for("RESTORE_END id=7 outcome=refused reason=Busy")
    assert not re.search("INTENT|PREFETCH|GRANT|TRY", t.text())


def a_restore_that_the_history_holds_open_is_not_done():
    t = Service(reporter="open-restore")    # and everything is paused
    t.wait_for("RECORD id=5 outcome=unconfirmed")
    t.wait_for("an earlier life was ended while it put replicas back")
    t.ask("resume")
    time.sleep(0.5)
    assert not re.search("INTENT|PREFETCH|GRANT|TRY", t.text())


def _on_terminal(t, answer, *args):
    """The command on a terminal of its own; what it printed, and its exit code."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(PROGRAM, [PROGRAM, *args, "--control-socket", os.path.join(t.dir, "control.sock")], {"TERM": "xterm"})
    said, code = b"", None
    while True:
        try:
            chunk = os.read(fd, 65536)
        except OSError:     # It is closed. Linux may say so while the last output is on its way: only after the exit all has come.
            if code is not None:
                break
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            continue
        said += chunk
        if b"[y/N]" in said and answer:
            os.write(fd, answer)
            answer = b""
    os.close(fd)
    return said.decode(), code


def a_terminal_is_asked_and_told():
    t = ready()
    said, code = _on_terminal(t, b"n\n", "restore", "7")
    assert code == 64 and "would" in said and "INTENT" not in t.text(), (code, said)
    said, code = _on_terminal(t, b"y\n", "restore", "7")
    assert code == 0 and "done" in said and said.index("would") < said.index("[y/N]") < said.index("done"), (code, said)
    t.wait_for("RECORD id=1 outcome=done")
    said, code = _on_terminal(t, b"", "plan")
    assert code == 0 and "asking workers: 200 of 200" in said and "\x1b[" in said, (code, said)


def shells_complete_with_what_is_known():
    t = ready()
    assert t.ask("names", "clusters").split() == ["test"]
    script = subprocess.run([PROGRAM, "completion", "bash"], capture_output=True, text=True, check=True).stdout
    own = f"ops-pod-cleaner() {{ '{PROGRAM}' \"$@\" --control-socket '{t.dir}/control.sock'; }}"
    out = subprocess.run(["bash", "--norc", "-c", f'{script}\n{own}\nCOMP_WORDS=(ops-pod-cleaner history --cluster ""); COMP_CWORD=3\n'
                          '_ops_pod_cleaner; printf "%s\\n" "${COMPREPLY[@]}"'], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["test"], out
    assert subprocess.run([PROGRAM, "names", "sinks", "--control-socket", "/nowhere"], capture_output=True).returncode == 69


def show_passes_rows_through():
    t = ready()
    assert t.ask("show", "7", "-o", "json") == {"evidence": "because", "quotes": []}
    assert "because" in t.ask("show", "7")


main(globals())

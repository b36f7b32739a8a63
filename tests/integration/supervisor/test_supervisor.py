#!/usr/bin/env python3
"""The real supervisor over children that misbehave on request. Prints one line a case and a count."""
import concurrent.futures
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

SUPERVISOR, FAKECHILD, PROGRAM = sys.argv[1], sys.argv[2], sys.argv[3]
GOOD = {"reporter": "ok", "watcher": "ok", "worker": "ok", "loader": "ok"}


def place(program, path):
    """A link where possible: a copy that is still open for writing in a fork of another case cannot be executed (ETXTBSY)."""
    try:
        os.link(program, path)
    except OSError:
        shutil.copy(program, path)


class Tree:
    """One supervisor with its log. Whatever becomes of the case, run() closes the trees of its thread."""

    opened = threading.local()

    def __init__(self, environment=None, **behaviour):
        Tree.opened.trees.append(self)
        self.dir = tempfile.mkdtemp(prefix="opc-supervisor-")
        place(SUPERVISOR, os.path.join(self.dir, "supervisor"))
        for role in GOOD:
            place(FAKECHILD, os.path.join(self.dir, role))
        self.config = os.path.join(self.dir, "config.yml")
        self.write(**behaviour)
        self.log = os.path.join(self.dir, "log")
        self.process = subprocess.Popen(
            [os.path.join(self.dir, "supervisor"), "--config", self.config, "--control-socket",
             os.path.join(self.dir, "control.sock")],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(self.log, "w"), env={"OPC_LOG_FORMAT": "text", **(environment or {})})

    def write(self, **behaviour):
        with open(self.config, "w") as f:
            for role, what in {**GOOD, **behaviour}.items():
                f.write(f"{role} {what}\n")

    def text(self):
        with open(self.log) as f:
            return f.read()

    def wait_for(self, pattern, count=1, limit=20.0):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if len(re.findall(pattern, self.text())) >= count:
                return
            time.sleep(0.02)
        raise AssertionError(f"{pattern!r} x {count} did not appear:\n{self.text()[-3000:]}")

    def wait_exit(self, limit=30.0):
        return self.process.wait(limit)

    def signal(self, sig):
        self.process.send_signal(sig)

    def ask(self, *args, code=0):
        """A command of a person; -> what it printed, JSON read where it was asked for."""
        r = subprocess.run([PROGRAM, *args, "--control-socket", os.path.join(self.dir, "control.sock")], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=60)
        assert r.returncode == code, (args, r.returncode, r.stdout, r.stderr)
        return json.loads(r.stdout) if "json" in args and code == 0 else r.stdout + r.stderr

    def children(self):
        out = subprocess.run(["ps", "-o", "pid=,stat=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        return [line.split() for line in out.stdout.splitlines()]

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir)


def starts_and_drains_in_order():
    t = Tree()
    t.wait_for("all processes are ready")
    t.signal(signal.SIGTERM)
    assert t.wait_exit() == 0
    order = re.findall(r"DRAIN (\w+)", t.text())
    assert sorted(order) == ["reporter", "watcher", "worker", "worker"], order
    assert order[-1] == "reporter", order


def second_signal_ends_at_once():
    t = Tree(watcher="ignore-drain")
    t.wait_for("all processes are ready")
    t.signal(signal.SIGTERM)
    t.wait_for("draining")
    began = time.monotonic()
    t.signal(signal.SIGTERM)
    assert t.wait_exit() == 0
    assert time.monotonic() - began < 2


def an_action_end_to_end():
    t = Tree(watcher="nominate")
    t.wait_for("SETTLED outcome=done")
    text = t.text()
    assert text.index("INTENT id=1") < text.index("GRANT id=1") < text.index("RECORD id=1") < text.index("SETTLED")


def worker_death_regrants_in_doubt():
    t = Tree(watcher="nominate", worker="die-on-first-grant")
    t.wait_for("SETTLED outcome=done")
    assert "GRANT id=1 verify_first=0" in t.text() and "GRANT id=1 verify_first=1" in t.text()


def result_of_a_dead_worker_counts():
    t = Tree(watcher="nominate", worker="die-after-result")
    t.wait_for("SETTLED outcome=done")
    assert len(re.findall("GRANT id=1", t.text())) == 1, t.text()


def a_lease_that_kills_workers_is_given_up():
    t = Tree(watcher="nominate", worker="die-on-grant")
    t.wait_for("SETTLED outcome=failed", limit=40)
    assert len(re.findall("GRANT id=1", t.text())) == 5


def result_for_a_foreign_lease_kills():
    t = Tree(watcher="nominate", worker="wrong-lease")
    t.wait_for("RESULT for a lease that it does not hold")


def bad_frame_kills_the_child_only():
    t = Tree(watcher="bad-frame")
    t.wait_for("bad message from watcher", count=2)
    assert t.process.poll() is None


def message_of_another_role_kills():
    t = Tree(worker="forbidden-message")
    t.wait_for(r"bad message from worker: \(sender\)")


def crash_loop_degrades():
    t = Tree(watcher="die-after-ready")
    t.wait_for("degraded, tried again slowly")
    assert len(re.findall("child died", t.text())) == 10
    assert t.process.poll() is None


def death_before_ready_backs_off():
    t = Tree(watcher="die-before-ready")
    time.sleep(2)
    deaths = len(re.findall("child died", t.text()))
    assert 2 <= deaths <= 6, deaths


def configuration_death_ends_with_78():
    t = Tree(worker="exit78")
    assert t.wait_exit() == 78


def temporary_death_of_the_history_ends_with_75():
    t = Tree(reporter="exit75")
    assert t.wait_exit() == 75


def invalid_configuration_ends_with_78():
    t = Tree(loader="invalid")
    assert t.wait_exit() == 78
    assert "config.yml:1:1: that is wrong" in t.text()


def a_loader_that_crashes_is_reported():
    t = Tree(loader="crash")
    assert t.wait_exit() == 75
    assert "the loader ended without settings" in t.text(), t.text()


def no_ready_within_ten_seconds_kills():
    t = Tree(watcher="never-ready")
    t.wait_for("not ready within 10 s", limit=20)


def a_hung_child_is_killed():
    t = Tree(watcher="silent")
    t.wait_for("hung: no heartbeat", limit=30)




def children_inherit_nothing():
    t = Tree(environment={"SECRET": "x", "LD_LIBRARY_PATH_X": "y", "NOTIFY_SOCKET": "/nowhere"}, reporter="world",
             watcher="world", worker="world")
    t.wait_for("WORLD worker cwd", count=2)
    t.wait_for("WORLD watcher cwd")
    text = t.text()
    # /dev/null, the log, one socket (the channel), the settings, what libevent made after exec; workers: the lock.
    for role, extra in (("watcher", set()), ("reporter", set()), ("worker", {"4"})):
        fds = dict(re.findall(rf"WORLD {role} fd (\d+) (\S+)", text))
        assert sum(target.startswith("socket:") for target in fds.values()) == 1, (role, fds)
        assert fds["3"].startswith("socket:") and fds["0"] == "/dev/null", (role, fds)
        for fd, target in fds.items():
            known = re.match(r"socket:|anon_inode:|/memfd:settings|/dev/null$", target) or target == t.log
            # A pipe with both its ends in one process is its own.
            known = known or (target.startswith("pipe:") and list(fds.values()).count(target) == 2)
            assert known or (fd in extra and target.endswith("control.sock.lock")), (role, fd, target)
        env = {e.split("=")[0] for e in re.findall(rf"WORLD {role} env (.*)", text)}
        assert env <= {"OPC_LOG_FORMAT", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"}, env
        assert re.findall(rf"WORLD {role} cwd (.*)", text)[0] == "/"


def reload_is_taken_by_all():
    t = Tree()
    t.wait_for("all processes are ready")
    t.write(watcher="other")
    t.signal(signal.SIGHUP)
    t.wait_for("COMMIT", count=4)
    assert set(re.findall(r"COMMIT (\w+) 2", t.text())) == {"reporter", "watcher", "worker"}


def unchanged_settings_are_not_sent():
    t = Tree()
    t.wait_for("all processes are ready")
    t.signal(signal.SIGHUP)
    time.sleep(1)
    assert "COMMIT" not in t.text() and "reload failed" not in t.text()


def one_refusal_keeps_all_on_the_old():
    t = Tree()
    t.wait_for("all processes are ready")
    t.write(worker="refuse-reload")
    t.signal(signal.SIGHUP)
    t.wait_for("worker: no thanks")
    assert "COMMIT" not in t.text()


def invalid_reload_keeps_the_old():
    t = Tree()
    t.wait_for("all processes are ready")
    t.write(loader="invalid")
    t.signal(signal.SIGHUP)
    t.wait_for("reload failed, the old settings stay in force")
    assert t.process.poll() is None and "COMMIT" not in t.text()


def second_instance_is_refused():
    t = Tree()
    t.wait_for("all processes are ready")
    r = subprocess.run([os.path.join(t.dir, "supervisor"), "--config", t.config, "--control-socket",
                        os.path.join(t.dir, "control.sock")], capture_output=True, text=True, timeout=20)
    assert r.returncode == 75, r
    assert "another instance" in r.stderr


def death_of_the_supervisor_kills_all():
    t = Tree()
    t.wait_for("all processes are ready")
    pids = [int(pid) for pid, _ in t.children()]
    assert len(pids) == 4
    t.process.kill()
    t.process.wait()
    end = time.monotonic() + 5
    while time.monotonic() < end and any(os.path.exists(f"/proc/{p}") for p in pids):
        time.sleep(0.05)
    assert not any(os.path.exists(f"/proc/{p}") for p in pids)


def stopped_child_is_killed_and_replaced():
    t = Tree()
    t.wait_for("all processes are ready")
    pid = int(re.findall(r'role="watcher".*?pid=(\d+)', t.text())[0])
    os.kill(pid, signal.SIGSTOP)
    t.wait_for("hung: no heartbeat", limit=30)
    t.wait_for('child ready role="watcher"', count=2)


def no_zombies_after_many_deaths():
    t = Tree(watcher="die-after-ready")
    t.wait_for("degraded")
    assert not [s for _, s in t.children() if s.startswith("Z")]


def odd_inheritance_is_normalised():
    d = Tree()
    d.wait_for("all processes are ready")
    d.signal(signal.SIGTERM)
    d.wait_exit()
    log = os.path.join(d.dir, "log2")
    with open(log, "w") as f:
        p = subprocess.Popen(["bash", "-c", f"exec <&- >&-; trap '' CHLD HUP; exec {d.dir}/supervisor --config {d.config} "
                              f"--control-socket {d.dir}/c.sock"], stderr=f, env={"OPC_LOG_FORMAT": "text", "PATH": os.environ["PATH"]},
                             stdout=subprocess.DEVNULL)
    d.log = log
    d.wait_for("all processes are ready")
    p.terminate()
    assert p.wait(30) == 0


def systemd_is_told():
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    path = tempfile.mktemp(prefix="opc-notify-")
    listener.bind(path)
    listener.settimeout(0.2)
    said = []

    def hear(what, limit=10):
        end = time.monotonic() + limit
        while not any(what in text for text in said):
            assert time.monotonic() < end, (what, said)
            try:
                said.append(listener.recv(4096).decode())
            except TimeoutError:
                pass

    t = Tree(environment={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "400000"})
    t.wait_for("all processes are ready")
    hear("READY=1")
    hear("WATCHDOG=1")
    hear("STATUS=4/4 processes")
    t.write(loader="invalid")
    t.signal(signal.SIGHUP)
    hear("RELOADING=1\nMONOTONIC_USEC=")
    hear("STATUS=reload failed: config.yml:1:1")
    t.signal(signal.SIGTERM)
    hear("STOPPING=1")
    assert t.wait_exit() == 0
    os.unlink(path)


# -- a person ---------------------------------------------------------------------------------------------


def pause_reaches_everybody_and_holds():
    t = Tree()
    t.wait_for("all processes are ready")
    said = t.ask("pause", "--reason", "release", "-o", "json")
    assert said["paused"] and said["duty"] is None and said["cluster"] is None, said
    t.wait_for(r"PAUSE reporter on=1 duty=-1 cluster= by=.*uid \d+")  # before the answer: it is on disk
    t.wait_for("PAUSE watcher on=1 duty=-1 cluster=")
    pauses = t.ask("status", "-o", "json")["pauses"]
    assert len(pauses) == 1 and pauses[0]["reason"] == "release" and "uid" in pauses[0]["by"], pauses
    assert "PAUSED: every duty of every cluster" in t.ask("status")
    t.ask("pause", "deleteEvictedPod", "test", "--for", "2h")
    assert len(t.ask("status", "-o", "json")["pauses"]) == 2
    t.ask("resume")
    t.wait_for("PAUSE watcher on=0", count=2)
    t.wait_for("PAUSE reporter on=0", count=2)
    assert t.ask("status", "-o", "json")["pauses"] == []


def resume_says_what_it_did_not_find():
    t = Tree()
    t.wait_for("all processes are ready")
    assert "nothing of that is paused" in t.ask("resume", code=1)
    t.ask("pause")
    assert "wider pause" in t.ask("resume", "errImagePull", code=1)
    assert "no cluster of that name" in t.ask("pause", "elsewhere", code=64)


def pause_ends_by_itself():
    t = Tree()
    t.wait_for("all processes are ready")
    t.ask("pause", "--for", "1s")
    t.wait_for("PAUSE watcher on=0")
    t.wait_for("PAUSE reporter on=0")
    assert t.ask("status", "-o", "json")["pauses"] == []


def paused_nominations_are_refused():
    t = Tree(reporter="paused", watcher="nominate-terminating")
    t.wait_for("SETTLED outcome=refused reason=Paused")
    assert "GRANT" not in t.text() and "INTENT" not in t.text()
    t.wait_for("PAUSE watcher on=1 duty=1")  # what the history holds, before anything else


def written_intents_are_refused_when_paused():
    # Both workers are busy with other leases when the pause comes; one lease waits.
    t = Tree(watcher="nominate-three", worker="stall")
    t.wait_for("GRANT", count=2)
    t.wait_for("INTENT id=3")
    t.ask("pause")
    t.wait_for("RECORD id=3 outcome=refused")
    t.wait_for("SETTLED outcome=refused reason=Paused")
    assert len(re.findall("GRANT", t.text())) == 2
    # What was granted may have been written: a worker that dies over it leaves it in doubt, and nobody touches it meanwhile.
    for pid in re.findall(r"GRANT id=1 .*pid=(\d+)", t.text()):
        os.kill(int(pid), signal.SIGKILL)
    t.wait_for('child ready role="worker"', count=3)
    time.sleep(0.5)
    assert len(re.findall("GRANT", t.text())) == 2 and "RECORD id=1" not in t.text()
    t.ask("resume")
    t.wait_for("GRANT id=1 verify_first=1")


def history_that_dies_over_a_pause_is_told_again():
    t = Tree(reporter="die-on-pause")
    t.wait_for("all processes are ready")
    assert "in force now" in t.ask("pause")
    t.write()  # the next one lives
    t.wait_for("PAUSE reporter on=1", count=2)
    assert len(t.ask("status", "-o", "json")["pauses"]) == 1


def resumed_while_the_history_was_away():
    t = Tree(reporter="paused")
    t.wait_for("all processes are ready")
    assert t.ask("status", "-o", "json")["pauses"][0]["reason"] == "from the history"
    t.ask("resume")
    pid = int(re.findall(r'role="reporter".*?pid=(\d+)', t.text())[0])
    os.kill(pid, signal.SIGKILL)  # the new one holds the old pause again
    t.wait_for('child ready role="reporter"', count=2)
    t.wait_for("PAUSE reporter on=0 duty=1", count=2)
    assert t.ask("status", "-o", "json")["pauses"] == []


def plan_asks_workers_about_what_is_due():
    t = Tree()
    t.wait_for("all processes are ready")
    plan = t.ask("plan", "-o", "json")
    assert plan["counts"]["deleteEvictedPod"] == {"now": 200, "later": 0, "held": 1, "refused": 1, "gone": 0, "unclear": 0}, plan["counts"]
    assert len(re.findall("TRY id=", t.text())) == 200 and "GRANT" not in t.text() and "INTENT" not in t.text()
    first = plan["rows"][0]
    assert first["when"] == "now" and first["target"] == "deployments.apps/default/web" and first["replicas"] == 3, first
    assert {r["pod"] for r in plan["rows"]} == {f"pod-{i}" for i in range(202)}
    text = t.ask("plan")
    assert "NOW" in text and "pod-201" in text and "held" in text
    assert "no cluster of that name" in t.ask("plan", "--cluster", "elsewhere", code=64)


def worker_that_dies_over_a_question_is_said():
    t = Tree(worker="die-on-try")
    t.wait_for("all processes are ready")
    said = t.ask("restore", "7", "--dry-run", code=1)
    assert "WorkerDied" in said, said


def question_without_a_worker_is_answered():
    t = Tree(worker="die-before-ready")
    t.wait_for("child died", count=2)
    said = t.ask("restore", "7", "--dry-run", code=1)
    assert "NoWorker" in said, said


def answer_to_another_question_kills():
    t = Tree(worker="wrong-try")
    t.wait_for("all processes are ready")
    t.ask("restore", "7", "--dry-run", code=1)
    t.wait_for("CTL_TRIED for a question it was not asked")


def restore_is_rehearsed_and_then_done():
    t = Tree()
    t.wait_for("all processes are ready")
    said = t.ask("restore", "7", "9", "--dry-run", "-o", "json")
    assert said["dryRun"] and [r["id"] for r in said["rows"]] == [7, 9], said
    assert all(r["outcome"] == "would" and r["target"] == "deployments.apps/default/web" for r in said["rows"]), said
    assert "TRY id=7 action=2 origin=7" in t.text() and "INTENT" not in t.text()
    assert "repeat with --yes" in t.ask("restore", "7", code=64)
    assert "INTENT" not in t.text()
    t.ask("pause")  # a restore is what a person asks for: a pause does not hold it
    said = t.ask("restore", "7", "--yes", "-o", "json")
    assert not said["dryRun"] and said["rows"][0]["outcome"] == "done", said
    text = t.text()
    assert text.index("INTENT id=1") < text.index("GRANT id=1") < text.index("RECORD id=1")


def show_passes_rows_through():
    t = Tree()
    t.wait_for("all processes are ready")
    assert t.ask("show", "7", "-o", "json") == {"evidence": "because"}
    assert "because" in t.ask("show", "7")


CASES = [systemd_is_told, starts_and_drains_in_order, second_signal_ends_at_once, an_action_end_to_end, worker_death_regrants_in_doubt,
         result_of_a_dead_worker_counts, a_lease_that_kills_workers_is_given_up, result_for_a_foreign_lease_kills,
         bad_frame_kills_the_child_only, message_of_another_role_kills, crash_loop_degrades, death_before_ready_backs_off,
         configuration_death_ends_with_78, temporary_death_of_the_history_ends_with_75, invalid_configuration_ends_with_78,
         a_loader_that_crashes_is_reported,
         no_ready_within_ten_seconds_kills, a_hung_child_is_killed, children_inherit_nothing, reload_is_taken_by_all,
         unchanged_settings_are_not_sent, one_refusal_keeps_all_on_the_old, invalid_reload_keeps_the_old,
         second_instance_is_refused, death_of_the_supervisor_kills_all, stopped_child_is_killed_and_replaced,
         no_zombies_after_many_deaths, odd_inheritance_is_normalised, pause_reaches_everybody_and_holds,
         resume_says_what_it_did_not_find, pause_ends_by_itself, paused_nominations_are_refused,
         written_intents_are_refused_when_paused, history_that_dies_over_a_pause_is_told_again, resumed_while_the_history_was_away,
         plan_asks_workers_about_what_is_due, worker_that_dies_over_a_question_is_said, question_without_a_worker_is_answered, answer_to_another_question_kills,
         restore_is_rehearsed_and_then_done, show_passes_rows_through]


def run(case):
    began = time.monotonic()
    Tree.opened.trees = []
    try:
        case()
        print(f"ok {case.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
        return True
    except Exception as e:  # noqa: BLE001 - every failure is reported the same way
        print(f"FAIL {case.__name__}: {type(e).__name__}: {e}", flush=True)
        return False
    finally:
        for tree in Tree.opened.trees:
            tree.close()


def main():
    only = sys.argv[4] if len(sys.argv) > 4 else ""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(run, [c for c in CASES if only in c.__name__]))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    sys.exit(not all(results))


main()

#!/usr/bin/env python3
"""The real supervisor over children that misbehave on request."""
import concurrent.futures
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from service import Service, main, ready, scratch  # noqa: E402


def starts_and_drains_in_order():
    t = ready()
    t.signal(signal.SIGTERM)
    assert t.wait_exit() == 0
    order = re.findall(r"DRAIN (\w+)", t.text())
    assert sorted(order) == ["reporter", "watcher", "worker", "worker"], order
    assert order[-1] == "reporter", order


def the_history_waits_for_the_last_worker():
    t = ready(worker="ignore-drain")
    t.signal(signal.SIGTERM)
    t.wait_for("DRAIN worker", count=2)
    states = {p["role"]: p["state"] for p in t.ask("status", "-o", "json")["processes"]}
    assert states["worker"] == "draining" and states["reporter"] == "ready", states
    assert "DRAIN reporter" not in t.text()


def second_signal_ends_at_once():
    t = ready(watcher="ignore-drain")
    t.signal(signal.SIGTERM)
    t.wait_for("draining")
    began = time.monotonic()
    t.signal(signal.SIGTERM)
    assert t.wait_exit() == 0
    assert time.monotonic() - began < 8     # of the 12 s that a child has


def a_signal_before_the_first_settings_ends_at_once():
    t = Service(loader="hangs")
    t.wait_for("LOADER hangs")
    t.signal(signal.SIGTERM)
    assert t.wait_exit(20) == 0     # of the 30 s that a loader has


def an_action_end_to_end():
    t = Service(watcher="nominate")
    t.wait_for("NOMINATION_RESULT outcome=done")
    text = t.text()
    assert text.index("INTENT id=1") < text.index("GRANT id=1") < text.index("RECORD id=1") < text.index("NOMINATION_RESULT")


def worker_death_regrants_in_doubt():
    t = Service(watcher="nominate", worker="die-on-first-grant")
    t.wait_for("NOMINATION_RESULT outcome=done")
    assert "GRANT id=1 verify_first=0" in t.text() and "GRANT id=1 verify_first=1" in t.text()


def result_of_a_dead_worker_counts():
    t = Service(watcher="nominate", worker="die-after-result")
    t.wait_for("NOMINATION_RESULT outcome=done")
    assert len(re.findall("GRANT id=1", t.text())) == 1, t.text()


def a_lease_that_kills_workers_is_given_up():
    t = Service(watcher="nominate", worker="die-on-grant")
    t.wait_for("NOMINATION_RESULT outcome=unconfirmed", limit=40)
    assert len(re.findall("GRANT id=1", t.text())) == 5


def a_lease_that_kills_workers_takes_others_with_it_once():
    t = Service(watcher="nominate-many", worker="die-on-second")
    t.wait_for("NOMINATION_RESULT outcome=unconfirmed", limit=40)
    t.wait_for("NOMINATION_RESULT outcome=done", count=7, limit=40)  # what its first holder held beside it
    grants = re.findall(r"GRANT id=(\d+) verify_first=(\d)", t.text())
    assert [v for i, v in grants if i == "2"] == ["0", "1", "1", "1", "1"], grants
    again = [i for i, v in grants if v == "1" and i != "2"]
    assert len(again) == len(set(again)) == 7, grants


def idle_workers_read_ahead():
    t = Service(watcher="nominate-many", worker="stall")
    t.wait_for("GRANT", count=16)
    ahead = re.findall(r"PREFETCH id=(\d+) pid=(\d+)", t.text())
    assert sorted(i for i, _ in ahead) == ["1", "2"], ahead  # afterwards both are at work
    for i, pid in ahead:
        assert re.search(f"PREFETCH id={i} pid={pid}\n(.*\n)*.*GRANT id={i} verify_first=0 pid={pid}", t.text()), t.text()


def result_for_a_foreign_lease_kills():
    t = Service(watcher="nominate", worker="wrong-lease")
    t.wait_for("RESULT for a lease that it does not hold")


def behind_a_protocol_error_only_results_count():
    t = Service(watcher="nominate", worker="babble")
    t.wait_for("NOMINATION_RESULT outcome=done")
    assert len(re.findall("broke the protocol", t.text())) == 1, t.text()  # two wrong RESULTs, one line
    assert len(re.findall("GRANT id=1 ", t.text())) == 1, t.text()  # the right one behind them says what was done


def an_intent_with_a_taken_id_gets_another():
    t = Service(watcher="nominate", reporter="id-taken")
    t.wait_for("NOMINATION_RESULT outcome=refused reason=Busy")
    t.wait_for("NOMINATION_RESULT outcome=done")
    assert "GRANT id=1 " not in t.text() and "GRANT id=2 " in t.text()


def bad_frame_kills_the_child_only():
    t = Service(watcher="bad-frame")
    t.wait_for("bad message from watcher", count=2)
    assert t.process.poll() is None


def message_of_another_role_kills():
    t = Service(worker="forbidden-message")
    t.wait_for(r"bad message from worker: \(sender\)")


def crash_loop_degrades():
    t = Service(watcher="crash-after-ready")
    t.wait_for("process crash-looping")
    assert len(re.findall("child died", t.text())) == 10
    assert t.process.poll() is None
    time.sleep(0.1)
    cluster, = t.ask("status", "-o", "json", code=1)["clusters"]
    assert cluster["failingMs"] > 0 and not cluster["judged"], cluster  # who waits for it does not wait for ever


def kill_loop_degrades_later():
    """SIGKILL again and again, as by the OOM killer: three times as many lives, then as slow as any other loop."""
    t = Service(watcher="die-after-ready")
    t.wait_for("process crash-looping")
    assert len(re.findall("child died", t.text())) == 30
    assert t.process.poll() is None


def who_begins_anew_for_new_settings_is_not_broken():
    t = Service(reporter="exit0-when-ready")
    t.wait_for("process crash-looping")
    assert len(re.findall("child begins anew", t.text())) == 30 and "child died" not in t.text(), t.text()


def death_before_ready_backs_off():
    t = Service(watcher="die-before-ready")
    t.wait_for("child died")
    time.sleep(2)
    deaths = len(re.findall("child died", t.text()))
    assert deaths <= 6, deaths
    t.wait_for("child died", count=2)


def configuration_death_ends_with_78():
    t = Service(worker="exit78")
    assert t.wait_exit() == 78


def who_was_ready_once_ends_no_other():
    t = Service(watcher="exit78-when-ready")
    t.wait_for('child died role="watcher"', count=2)
    assert t.process.poll() is None


def temporary_death_of_the_history_ends_with_75():
    t = Service(reporter="exit75")
    assert t.wait_exit() == 75


def a_watcher_that_ends_at_the_start_is_started_again():
    t = Service(watcher="exit75", reporter="never-ready")
    t.wait_for('child died role="watcher"', count=2)
    assert t.process.poll() is None


def clusters_are_watched_while_the_history_is_opened():
    t = Service(reporter="never-ready")
    t.wait_for('child ready role="watcher"')


def a_lack_of_descriptors_does_not_end_the_service():
    t = ready()
    hold, (_, most) = os.path.join(t.dir, "hold"), resource.prlimit(t.process.pid, resource.RLIMIT_NOFILE)
    open(hold, "w").close()
    before = {pid for pid, _ in t.children()}
    t.kill("worker")
    t.wait_until("the next one", lambda: any(t.is_program(pid, "worker") for pid, _ in t.children() if pid not in before))
    # The next one is up and says HELLO as soon as it may; there is no descriptor to give it the settings with.
    fds = {int(fd) for fd in os.listdir(f"/proc/{t.process.pid}/fd")}
    resource.prlimit(t.process.pid, resource.RLIMIT_NOFILE, (min(set(range(len(fds) + 1)) - fds), most))
    os.unlink(hold)
    t.wait_for("cannot hand its settings")
    resource.prlimit(t.process.pid, resource.RLIMIT_NOFILE, (most, most))
    t.wait_for('child ready role="worker"', count=3)


def invalid_configuration_ends_with_78():
    t = Service(loader="invalid")
    assert t.wait_exit() == 78
    assert "config.yml:1:1: that is wrong" in t.text()


def a_loader_that_crashes_is_reported():
    t = Service(loader="crash")
    assert t.wait_exit() == 75
    assert "the loader ended without settings" in t.text(), t.text()


def a_loader_of_another_build_is_not_believed():
    t = Service(loader="other-build")
    assert t.wait_exit() == 75
    assert "the loader is of another build" in t.text() and "all processes are ready" not in t.text(), t.text()


def a_loader_of_another_build_may_end_before_it_is_killed():
    t = ready()
    known, hold = {pid for pid, _ in t.children()}, os.path.join(t.dir, "hold")
    open(hold, "w").close()
    t.reload(loader="other-build", watcher="other")
    end = time.monotonic() + 10
    while time.monotonic() < end and not {pid for pid, _ in t.children()} - known:
        time.sleep(0.02)
    t.signal(signal.SIGSTOP)
    os.unlink(hold)  # it says all that it has to say, to nobody yet
    while time.monotonic() < end and not [s for _, s in t.children() if s.startswith("Z")]:
        time.sleep(0.02)
    assert [s for _, s in t.children() if s.startswith("Z")], t.children()
    t.signal(signal.SIGCONT)
    t.wait_for("reload failed, the old settings stay in force")
    assert "COMMIT" not in t.text(), t.text()


def settings_of_a_loader_that_failed_are_not_taken():
    """Whole, but it says itself that it failed; the end is missing; a part is missing."""
    for how in "fails-late", "no-end", "no-worker-settings":
        t = Service(loader=how)
        assert t.wait_exit() == 75, how
        assert "the loader ended without settings" in t.text() and "child ready" not in t.text(), (how, t.text())


def settings_of_a_reload_that_failed_are_not_taken():
    t = ready()
    for n, how in enumerate(("fails-late", "no-end", "no-worker-settings", "other-build"), 1):
        t.reload(loader=how, watcher="other")
        t.wait_for("reload failed, the old settings stay in force", count=n)
    assert t.process.poll() is None and "COMMIT" not in t.text(), t.text()



def a_cluster_that_cannot_be_loaded_stops_no_other():
    t = ready(loader="second-bad")
    assert len(t.children()) == 4, t.children()  # reporter, and the watcher and workers of the first
    assert "cluster not loaded" in t.text() and 'cluster="second"' in t.text(), t.text()
    status = t.ask("status", "-o", "json", code=1)
    assert [(c["cluster"], c["waiting"], c["problem"]) for c in status["clusters"]] == [
        ("test", False, ""), ("second", True, "/etc/kubeconfig: cannot be read")], status
    assert status["phase"] == "degraded" and status["quietMs"] == 0, status
    assert not status["clusters"][1]["judged"] and status["clusters"][0]["failingMs"] == 0 < status["clusters"][1]["failingMs"], status
    trouble, = status["troubles"]
    assert (trouble["trouble"], trouble["severity"], trouble["cluster"], trouble["detail"]) == (
        "cluster-waits", "blind", "second", "/etc/kubeconfig: cannot be read"), trouble
    text = t.ask("status", code=1)
    assert ": degraded, " in text.splitlines()[0] and text.splitlines()[1].startswith("TROUBLE in cluster second (for "), text
    assert "cluster not loaded" in text and "cluster test: https://192.0.2.1:6443" in text and " -- remedy: " in text, text
    assert t.ask("status", "--quiet", code=1) == ""
    t.write(loader="second-good")  # it comes up by itself
    t.wait_for('child ready role="worker" cluster="second"', count=2)
    t.wait_for('child ready role="watcher" cluster="second"')
    status = t.ask("status", "-o", "json")
    assert not any(c["problem"] or c["failingMs"] for c in status["clusters"]) and not status["troubles"] and status["phase"] == "running", status
    t.wait_for('a trouble is over trouble="cluster-waits" cluster="second"')
    assert "child died" not in t.text() and len(re.findall("cluster not loaded", t.text())) == 1, t.text()


def a_list_that_takes_its_time_is_no_trouble():
    for watcher, error in (("list-begins", None), ("list-slow", "no list")):  # as at every start with a large cluster
        t = ready(watcher=watcher)
        time.sleep(2.5)  # it is looked for once a second
        status = t.ask("status", "-o", "json")
        assert not status["troubles"] and status["phase"] == "running" and (status["clusters"][0]["error"] or None) == error, status
        assert not status["clusters"][0]["judged"] and status["quietMs"] < 100, status
        assert "cluster unreachable" not in t.text(), t.text()
    t = ready(watcher="list-refused")
    t.wait_for("cluster unreachable")
    assert [x["trouble"] for x in t.ask("status", "-o", "json", code=1)["troubles"]] == ["cluster-unseen"]


def a_single_cluster_that_cannot_be_loaded_is_waited_for():
    t = ready(loader="all-bad")  # the service manager is told, too
    assert len(t.children()) == 1, t.children()
    assert t.ask("status", "-o", "json", code=1)["phase"] == "blind"
    t.write(loader="ok")
    t.wait_for('child ready role="watcher" cluster="test"')


def a_cluster_that_a_reload_cannot_load_keeps_its_credential():
    t = ready(loader="second-good")
    t.write(loader="second-bad", watcher="other")  # with its new policy
    assert "cluster second stays on the credential that it has: /etc/kubeconfig" in t.ask("reload")
    t.wait_for("COMMIT watcher 2", count=2)
    status = t.ask("status", "-o", "json", code=1)
    assert [x["trouble"] for x in status["troubles"]] == ["credential-kept"], status
    second = status["clusters"][1]
    assert second["problem"] and not second["waiting"] and second["error"] and second["nextLoad"], second
    assert second["server"] == "https://192.0.2.1:6443", second
    t.kill("watcher")  # a new one starts with what is in force
    t.wait_for("SETTINGS watcher [234]", count=3)
    t.write(loader="second-good", watcher="other")
    t.ask("reload")
    assert not t.ask("status", "-o", "json")["clusters"][1]["problem"]


def a_reload_waits_for_a_load_that_is_under_way():
    t = ready(loader="second-bad")
    hold = os.path.join(t.dir, "hold")
    open(hold, "w").close()
    end = time.monotonic() + 10
    while len(t.children()) < 5:  # the load that tries the second cluster again
        assert time.monotonic() < end
        time.sleep(0.02)
    t.write(loader="second-good")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asked = pool.submit(t.ask, "reload")
        time.sleep(0.3)
        assert not asked.done()
        os.unlink(hold)
        assert "configuration reloaded" in asked.result()
    t.wait_for('child ready role="watcher" cluster="second"')


def no_ready_within_ten_seconds_kills():
    t = Service(watcher="never-ready")
    t.wait_for("not ready within 10s", limit=40)


def a_hung_child_is_killed():
    t = Service(watcher="silent")
    t.wait_for("hung: no heartbeat", limit=30)


def children_inherit_nothing():
    t = Service(environment={"SECRET": "x", "OPC_LOG_LEVEL": "debug", "LD_LIBRARY_PATH_X": "y", "NOTIFY_SOCKET": "/nowhere"}, reporter="world",
             watcher="world", worker="world")
    t.wait_for("WORLD worker cwd", count=2)
    for role in ("watcher", "reporter"):
        t.wait_for(f"WORLD {role} cwd")
    text = t.text()
    # /dev/null, the pipe of the log, one socket (the channel), the settings, what libevent made after exec; workers: the lock.
    for role, extra in (("watcher", set()), ("reporter", set()), ("worker", {"4"})):
        fds = dict(re.findall(rf"WORLD {role} fd (\d+) (\S+)", text))
        assert sum(target.startswith("socket:") for target in fds.values()) == 1, (role, fds)
        assert fds["3"].startswith("socket:") and fds["0"] == "/dev/null", (role, fds)
        assert fds["1"] == fds["2"] and fds["1"].startswith("pipe:") and t.log not in fds.values(), (role, fds)
        for fd, target in fds.items():
            known = re.match(r"socket:|anon_inode:|/memfd:settings|/dev/null$", target)
            # A pipe with both its ends in one process is its own.
            known = known or (target.startswith("pipe:") and list(fds.values()).count(target) == 2)
            assert known or (fd in extra and target.endswith("control.sock.lock")), (role, fd, target)
        env = dict(e.split("=", 1) for e in re.findall(rf"WORLD {role} env (.*)", text))
        assert env.pop("GNUTLS_NO_IMPLICIT_INIT") == "1", "each child has 0.2 MB of tables that nobody asks for"
        assert "OPC_LOG_LEVEL" in env and set(env) <= {"OPC_LOG_FORMAT", "OPC_LOG_LEVEL", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"}, env
        assert re.findall(rf"WORLD {role} cwd (.*)", text)[0] == "/"


def the_loader_inherits_nothing_that_changes_its_code():
    """Also a name that only begins like a forbidden one; what plugins need it has."""
    t = ready(environment={"KEPT": "x", "LD_LIBRARY_PATH_X": "y", "GLIBC_TUNABLES_X": "z", "OPENSSL_CONF": "a", "WATCHDOG_PID": "1"}, loader="world")
    names = {e.split("=")[0] for e in re.findall("WORLD loader env (.*)", t.text())}
    assert "KEPT" in names, names
    assert "GNUTLS_NO_IMPLICIT_INIT" not in names, "a plugin may count on it"
    bad = {n for n in names if n.startswith(("LD_", "GLIBC_TUNABLES", "OPENSSL_", "NOTIFY_SOCKET", "WATCHDOG_"))}
    assert not bad, bad


def reload_is_taken_by_all():
    t = ready()
    t.reload(watcher="other")
    t.wait_for("COMMIT", count=4)
    assert set(re.findall(r"COMMIT (\w+) 2", t.text())) == {"reporter", "watcher", "worker"}


def a_changed_file_is_loaded_by_itself():
    t = ready(loader="watched")
    t.write(loader="watched", watcher="other")
    t.wait_for("COMMIT", count=4)
    assert 'a file has changed: the settings are loaded again name="config.yml"' in t.text(), t.text()
    t.write(loader="watched-invalid")  # refused, and the next one is heard of all the same
    t.wait_for("reload failed, the old settings stay in force")
    t.write(loader="watched", worker="other")
    t.wait_for("COMMIT reporter 4")


def a_changed_file_waits_for_no_retry():
    t = ready(loader="watched")
    t.write(loader="watched-slow")  # in force without the cluster that hangs, which gets its time at once
    t.wait_for("COMMIT reporter 2")
    t.wait_for("LOADER hangs")
    t.write(loader="watched", watcher="other")
    t.wait_for("COMMIT reporter [34]", limit=15)  # the retry would have taken 25 s


def a_change_is_loaded_once():
    t = ready(loader="watched")
    t.write(watcher="other")  # this loader has nothing watched: what was watched before goes on
    t.wait_for("COMMIT", count=4)
    time.sleep(9)  # the next one would have begun after 5
    assert t.text().count("a file has changed") == 1, t.text()
    t.write(loader="watched", worker="other")
    t.wait_for("COMMIT reporter 3")


def a_loader_that_is_not_believed_watches_nothing():
    t = ready(loader="watched-pipe")
    t.write(watcher="other")
    t.reload()  # the supervisor is not stuck in what it was given
    t.wait_for("COMMIT", count=4)


def ready_during_a_reload_catches_up():
    # A worker starts again while the watcher is thinking: it becomes READY after the offer, and before all have agreed.
    t = ready(worker="slow-ready", watcher="slow-ack")
    t.write(worker="slow-ready", watcher="slow-ack", reporter="other")
    t.kill("worker")
    t.wait_for("SETTINGS worker 1", count=3)   # the next one has the settings of before
    t.reload()
    t.wait_for("COMMIT worker 2", count=2)
    for role, pid in re.findall(r"COMMIT (\w+) 2 pid=(\d+)", t.text()):
        assert re.search(rf"SETTINGS {role} 2 pid={pid}\n(.*\n)*COMMIT {role} 2 pid={pid}", t.text()), t.text()


def a_sighup_before_the_history_is_open_is_not_lost():
    t = Service(reporter="slow-ready")
    t.wait_for("SETTINGS watcher 1")
    t.reload(reporter="slow-ready", watcher="other")
    t.wait_for("SETTINGS watcher 2")


def fixed_settings_are_not_reloaded():
    t = ready()
    t.write(loader="other-lease")
    assert "leaderElection.name changed: restart" in t.ask("reload", code=78)
    assert "SETTINGS watcher 2" not in t.text()
    t.write(watcher="other")  # what else is changed is still taken
    t.reload()
    t.wait_for("COMMIT watcher")


def unchanged_settings_are_not_sent():
    t = ready()
    t.reload()
    time.sleep(1)
    assert "COMMIT" not in t.text() and "reload failed" not in t.text()


def who_refuses_settings_is_started_again_with_them():
    t = ready()
    t.reload(worker="refuse-reload")
    t.wait_for("it does not take its settings", count=2)
    t.wait_for("no thanks", count=2)
    t.wait_for("COMMIT", count=2)  # the reporter and the watcher go on with them
    t.wait_for(r"SETTINGS worker 2", count=4)  # offered, and at the start of the next life
    assert t.process.poll() is None and "reload failed" not in t.text()


def invalid_reload_keeps_the_old():
    t = ready()
    t.reload(loader="invalid")
    t.wait_for("reload failed, the old settings stay in force")
    assert t.process.poll() is None and "COMMIT" not in t.text()


def second_instance_is_refused():
    t = ready()
    r = subprocess.run([os.path.join(t.dir, "supervisor"), "--config", t.config,
                        "--control-socket=" + os.path.join(t.dir, "control.sock")], capture_output=True, text=True, timeout=20)
    assert r.returncode == 75, r
    assert "another instance" in r.stderr


def death_of_the_supervisor_kills_all():
    t = ready()
    pids = [int(pid) for pid, _ in t.children()]
    assert len(pids) == 4
    t.process.kill()
    t.process.wait()
    end = time.monotonic() + 5
    while time.monotonic() < end and any(os.path.exists(f"/proc/{p}") for p in pids):
        time.sleep(0.05)
    assert not any(os.path.exists(f"/proc/{p}") for p in pids)


def stopped_child_is_killed_and_replaced():
    t = ready()
    t.kill("watcher", signal.SIGSTOP)
    t.wait_for("hung: no heartbeat", limit=30)
    t.wait_for('child ready role="watcher"', count=2)


def no_zombies_after_many_deaths():
    t = Service(watcher="die-after-ready")
    t.wait_for("process crash-looping")
    assert not [s for _, s in t.children() if s.startswith("Z")]


def odd_inheritance_is_normalised():
    d = ready()
    d.signal(signal.SIGTERM)
    d.wait_exit()
    log = os.path.join(d.dir, "log2")
    with open(log, "w") as f:
        p = scratch.start(["bash", "-c", f"exec <&- >&-; trap '' CHLD HUP; exec {d.dir}/supervisor --config {d.config} "
                              f"--control-socket={d.dir}/c.sock"], stderr=f, env={"OPC_LOG_FORMAT": "text", "PATH": os.environ["PATH"]},
                             stdout=subprocess.DEVNULL)
    d.log = log
    d.wait_for("all processes are ready")
    p.terminate()
    assert p.wait(30) == 0


def only_a_socket_is_replaced():
    d = ready()
    d.signal(signal.SIGTERM)
    d.wait_exit()
    for name, kind in (("notes", "file"), ("old", "socket")):
        path = os.path.join(d.dir, name)
        if kind == "file":
            with open(path, "w") as f:
                f.write("mine")
        else:
            socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind(path)
        d.log = os.path.join(d.dir, f"log-{name}")
        with open(d.log, "w") as f:
            p = scratch.start([os.path.join(d.dir, "supervisor"), "--config", d.config, "--control-socket=" + path], stderr=f,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env={"OPC_LOG_FORMAT": "text"})
        if kind == "file":
            assert p.wait(20) == 78 and "is no socket" in d.text(), d.text()
            with open(path) as f:
                assert f.read() == "mine"
        else:
            d.wait_for("all processes are ready")
            p.terminate()
            assert p.wait(30) == 0


def the_lock_cannot_be_written():
    t = ready()
    pid = re.findall(r'ready role="worker".*?pid=(\d+)', t.text())[0]
    with open(f"/proc/{pid}/fdinfo/4") as f:
        flags = int(re.search(r"flags:\s+(\d+)", f.read())[1], 8)
    assert os.readlink(f"/proc/{pid}/fd/4").endswith("control.sock.lock") and flags & os.O_ACCMODE == os.O_RDONLY, oct(flags)


def systemd_does_not_wait_for_who_does_not_start():
    """It would end the whole service when its time is over."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    path = str(scratch.folder("notify") / "socket")
    listener.bind(path)
    listener.settimeout(20)
    t = Service(watcher="die-before-ready", environment={"NOTIFY_SOCKET": path})
    while "READY=1" not in listener.recv(4096).decode():
        pass
    t.wait_for("some processes do not start: all others are ready")
    assert "all processes are ready" not in t.text()
    t.signal(signal.SIGTERM)
    assert t.wait_exit() == 0
    os.unlink(path)


def systemd_is_told():
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    path = str(scratch.folder("notify") / "socket")
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

    t = ready(environment={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "400000"})
    hear("READY=1")
    hear("WATCHDOG=1")
    hear("STATUS=4/4 processes")
    t.ask("pause")
    hear("processes, paused: ")
    t.reload(loader="invalid")
    hear("RELOADING=1\nMONOTONIC_USEC=")
    hear("STATUS=reload failed: config.yml:1:1")
    t.signal(signal.SIGTERM)
    hear("STOPPING=1")
    assert t.wait_exit() == 0
    os.unlink(path)


main(globals())

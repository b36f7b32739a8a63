"""Cases on a booted machine, one after the other: each finds it as the one before has left it."""
import base64
import contextlib
import json
import pathlib
import re
import shutil
import sqlite3
import time

from harness.objects import Objects
from harness.servers import Apisim
from harness.wait import until

import page_commands
from answers import answer
from lab import machine

TOP = pathlib.Path(__file__).resolve().parents[3]
UNIT, TWO = "ops-pod-cleaner.service", "ops-pod-cleaner@two.service"
SOCKETS = {UNIT: "/run/ops-pod-cleaner/control.sock", TWO: "/run/ops-pod-cleaner@two/control.sock"}
CONFIG, KUBECONFIG = "/etc/ops-pod-cleaner/config.yml", "/etc/ops-pod-cleaner/kubeconfig"
PRIORITY = {"debug": "7", "info": "6", "warn": "4", "error": "3"}
SOON = 90       # seconds that a busy machine may take for what takes one
SCHEMA = TOP / "reporter" / "history" / "schema.def"
WATCHDOG = 10   # seconds instead of the unit's 30


@contextlib.contextmanager
def at_work(world):
    """The machine, and outside of it an API server that it reaches on the loopback that they share."""
    world.version("old.deb", "0.0.1-1")
    world.version("next.deb", "99.0-1")
    shutil.copy(world.package, world.packages)      # under its own name, too
    write_history(world.packages / "history.db")
    world.share = page_commands.Share("boot")
    world.server = Apisim(world.folder / "apisim", world.build)
    world.server.start()
    world.objects = Objects(world.server, "boot")
    world.machine = machine.Machine(world.root, world.packages, world.folder / "boot.log")
    try:
        yield world
    finally:
        world.server.stop()


# --- what cases ask and do ---

def write_history(path):
    """A history with one action of just now, as the program before the upgrade left it."""
    text = re.sub(r"/\*.*?\*/", "", SCHEMA.read_text(), flags=re.S)
    tables = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', text)).replace('\\"', '"')
    version = re.search(r"DB_SCHEMA_VERSION (\d+)", SCHEMA.with_name("db.c").read_text())[1]
    now = int(time.time() * 1000)
    intent = (1, now, "default", 0, 1, "shop", "web-1", "pod-1", "7", "pod-1", now, "Evicted", b"", 0, 0, 0, "", "", 0, 0, 0, 0, 0, "")
    result = (1, now, now, 0, "Deleted", b"", 200, "", "", "", -1, 0, "", b"", "", 0, "")
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(tables)
        db.execute(f"INSERT INTO intents VALUES({', '.join('?' * len(intent))})", intent)
        db.execute(f"INSERT INTO results VALUES({', '.join('?' * len(result))})", result)
        db.execute(f"PRAGMA user_version = {version}")
        db.commit()


def kubeconfig(server):
    """The server's, with the certificate in it: files outside are not in the machine."""
    ca = base64.b64encode(pathlib.Path(server.ca).read_bytes()).decode()
    return re.sub("certificate-authority: .*", f"certificate-authority-data: {ca}", server.kubeconfig())


def ask(world, *args, unit=UNIT):
    return answer(world.machine.do("ops-pod-cleaner", *args, "-o", "json", "--control-socket", SOCKETS[unit]))


def status(world, unit=UNIT):
    """None while nobody answers."""
    done = world.machine.call("ops-pod-cleaner", "status", "-o", "json", "--control-socket", SOCKETS[unit])
    return answer(done.stdout) if done.returncode in (0, 1) else None


def history(world, unit=UNIT):
    answer = ask(world, "history", "--limit", "10000", unit=unit)
    return answer if isinstance(answer, list) else answer["actions"]


def main_pid(world, unit=UNIT):
    return int(world.machine.property(unit, "MainPID"))


def is_active(world, unit=UNIT):
    return world.machine.property(unit, "ActiveState") == "active" and main_pid(world, unit) > 0


def is_synced(world, unit=UNIT):
    now = status(world, unit)
    return now and now["clusters"] and all(c["synced"] for c in now["clusters"])


def processes(world, unit=UNIT):
    """Everything in the unit's control group."""
    return world.machine.property(unit, "TasksCurrent") not in ("0", "[not set]")


def wait_synced(world, unit=UNIT):
    until(f"{unit} to know its cluster", lambda: is_synced(world, unit), SOON, 0.3)


def evicted_pod(world):
    world.objects.ns("default")
    pod = world.objects.pod("default")
    world.objects.finish(pod, "Evicted", at=time.time() - 7200)     # it is kept for an hour
    return pod


def install(world, name):
    world.machine.do("dpkg", "--force-confold", "-i", f"/packages/{name}")


# --- cases ---

def the_unit_is_active_and_waits_for_its_cluster(world):
    install(world, "old.deb")
    assert is_active(world), world.machine.call("systemctl", "status", UNIT).stdout
    now = until("an answer", lambda: status(world), SOON, 0.3)
    assert now["mode"] == "observe" and now["clusters"][0]["waiting"], now
    assert "kubeconfig" in now["clusters"][0]["problem"], now


def an_upgrade_keeps_the_history(world):
    world.machine.do("systemctl", "stop", UNIT)
    world.machine.sh("""rm -rf /var/lib/ops-pod-cleaner/*
		install -d -o ops-pod-cleaner -g ops-pod-cleaner -m 0700 /var/lib/ops-pod-cleaner/history
		install -o ops-pod-cleaner -g ops-pod-cleaner -m 0600 /packages/history.db /var/lib/ops-pod-cleaner/history/history.db""")
    install(world, "new.deb")
    assert is_active(world), world.machine.call("systemctl", "status", UNIT).stdout
    until("an answer", lambda: status(world), SOON, 0.3)
    rows = history(world)
    first = next((r for r in rows if r["id"] == 1), None)
    assert first and (first["uid"], first["outcome"], first["reason"]) == ("pod-1", "done", "Deleted"), (len(rows), first)
    files = world.machine.sh("cd /var/lib/ops-pod-cleaner; find . -name 'history.db' | sort").split()
    assert files == ["./history/history.db"], files
    world.machine.sh(f"systemctl stop {UNIT}; rm -rf /var/lib/ops-pod-cleaner/*; systemctl start {UNIT}")


def a_kubeconfig_is_enough_and_nothing_is_written(world):
    world.machine.write(KUBECONFIG, kubeconfig(world.server))
    world.machine.do("systemctl", "reload", UNIT)
    wait_synced(world)
    world.pod = evicted_pod(world)
    until("what would be done", lambda: [r for r in history(world) if r["outcome"] == "would"], SOON, 0.3)
    assert world.objects.get(world.pod), "deleted in mode: observe"


def its_sandbox_is_whole(world):
    now = status(world)
    assert {one["role"] for one in now["processes"]} == {"reporter", "watcher", "worker"}, now["processes"]
    for one in now["processes"]:
        parts = one["sandbox"].split(",")
        assert "seccomp" in parts and any(re.fullmatch(r"landlock\d+", part) for part in parts), one


def systemctl_reload_takes_a_changed_configuration(world):
    before = main_pid(world)
    world.machine.sh(f"sed -i 's/^mode: observe/mode: enforce/' {CONFIG}")
    world.machine.do("systemctl", "reload", UNIT)
    assert status(world)["mode"] == "enforce", "reload returns before the settings are in force"
    until("the evicted pod to be deleted", lambda: not world.objects.get(world.pod), SOON)
    assert main_pid(world) == before, "it was restarted"


def systemctl_reload_refuses_a_wrong_configuration(world):
    world.machine.sh(f"cp -p {CONFIG} /root/good; echo 'no such key: 1' >>{CONFIG}")
    done = world.machine.call("systemctl", "reload", UNIT)
    world.machine.sh(f"cp -p /root/good {CONFIG}")
    assert done.returncode != 0, "a wrong configuration was accepted"
    assert is_active(world) and status(world)["mode"] == "enforce"


def the_watchdog_restarts_what_hangs(world):
    assert world.machine.property(UNIT, "WatchdogUSec") == "30s"
    world.machine.sh(f"""mkdir -p /etc/systemd/system/{UNIT}.d
		printf '[Service]\\nWatchdogSec={WATCHDOG}\\n' >/etc/systemd/system/{UNIT}.d/watchdog.conf
		systemctl daemon-reload; systemctl restart {UNIT}""")
    wait_synced(world)
    before, rows = main_pid(world), len(history(world))
    world.machine.sh(f"kill -STOP {before}")
    until("a new one", lambda: is_active(world) and main_pid(world) != before, SOON + WATCHDOG, 0.5)
    wait_synced(world)
    assert any("Watchdog timeout" in line for line in world.machine.journal("-u", UNIT)), "not by the watchdog"
    assert len(history(world)) >= rows > 0, "the history is gone"
    pod = evicted_pod(world)
    until("its work to go on", lambda: not world.objects.get(pod), SOON)


def one_instance_a_cluster(world):
    world.machine.sh(f"""sed 's/^mode: enforce/mode: observe\\nmetricsListen: 127.0.0.1:9465/' {CONFIG} >/etc/ops-pod-cleaner/two.yml
		cp {KUBECONFIG} /etc/ops-pod-cleaner/two.kubeconfig
		systemd-tmpfiles --create ops-pod-cleaner.conf; systemctl enable --now {TWO}""")
    wait_synced(world, TWO)
    modes = [status(world, unit)["mode"] for unit in (UNIT, TWO)]
    assert modes == ["enforce", "observe"], modes
    kept = world.machine.sh("ls /var/lib/ops-pod-cleaner@two/history; stat -c %a%U /var/lib/ops-pod-cleaner@two").split()
    assert "history.db" in kept and "700ops-pod-cleaner" in kept, kept
    assert len({main_pid(world, unit) for unit in (UNIT, TWO)}) == 2


def an_upgrade_restarts_every_instance_and_keeps_what_is_ours(world):
    before = [main_pid(world, unit) for unit in (UNIT, TWO)]
    rows = len(history(world))
    install(world, "next.deb")
    for unit, pid in zip((UNIT, TWO), before):
        assert is_active(world, unit) and main_pid(world, unit) != pid, unit
        wait_synced(world, unit)
    assert status(world)["mode"] == "enforce", "the configuration was replaced"
    assert len(history(world)) >= rows, "the history is gone"


def the_journal_has_priorities(world):
    seen = set()
    for line in world.machine.do("journalctl", "-b", "-o", "json", "-u", UNIT, "-u", TWO).splitlines():
        entry = json.loads(line)
        if entry.get("SYSLOG_IDENTIFIER") != "ops-pod-cleaner" or not str(entry["MESSAGE"]).startswith("{"):
            continue
        level = json.loads(entry["MESSAGE"])["level"]
        assert entry["PRIORITY"] == PRIORITY[level], entry["MESSAGE"]
        seen.add(level)
    assert "info" in seen and seen & {"warn", "error"}, seen
    warnings = world.machine.journal("-u", UNIT, "-p", "warning")
    assert any("cluster not loaded" in line and "kubeconfig" in line for line in warnings), warnings
    assert not any('"level":"info"' in line for line in warnings), warnings


def it_stops_in_order(world):
    for unit in (UNIT, TWO):
        world.machine.do("systemctl", "stop", unit)
        result = [world.machine.property(unit, name) for name in ("ActiveState", "Result", "ExecMainStatus")]
        assert result == ["inactive", "success", "0"], (unit, result)
        assert not processes(world, unit), f"processes of {unit} are left"
        killed = [line for line in world.machine.journal("-u", unit)[-30:] if "SIGKILL" in line]
        assert not killed, killed


def removed_at_work_and_purged(world):
    world.machine.do("systemctl", "start", UNIT, TWO)
    world.machine.do("dpkg", "-r", "ops-pod-cleaner")
    assert not is_active(world) and not is_active(world, TWO), "still at work"
    left = world.machine.sh("find /proc -maxdepth 1 -user ops-pod-cleaner")
    assert not left and not processes(world) and not processes(world, TWO), f"processes are left: {left}"
    world.machine.sh("test -f /var/lib/ops-pod-cleaner/history/history.db; test -f /etc/ops-pod-cleaner/kubeconfig")
    world.machine.sh(f"rm -r /etc/systemd/system/{UNIT}.d; dpkg -P ops-pod-cleaner")
    left = world.machine.sh("find / -xdev -name '*ops-pod-cleaner*' -not -path '/proc/*' -not -path '/sys/*' 2>/dev/null || true").split()
    assert not left, left


# --- what the pages have an operator type, on the machine as it was before anything of ours ---

def what_make_install_leaves_is_set_up(world):
    """README's way without a package: the files that `make install` puts there, as the package has them, and two commands."""
    world.machine.sh("dpkg-deb --fsys-tarfile /packages/new.deb | tar -x --keep-directory-symlink -C /; if getent passwd ops-pod-cleaner >/dev/null; then userdel ops-pod-cleaner; fi")
    for command in world.share.of("README.md", "sudo systemd-*"):
        world.machine.sh(world.share.typed(command))
    made = world.machine.sh("getent passwd ops-pod-cleaner; stat -c '%U %a %n' /etc/ops-pod-cleaner")
    assert "/usr/sbin/nologin" in made and "\nroot 750 /etc/ops-pod-cleaner" in made, made
    world.machine.sh("dpkg-deb -c /packages/new.deb | sed -n 's,^-.* [.]/,/,p' | xargs rm -f; rm -rf /etc/ops-pod-cleaner")


def the_readme_makes_it_a_service(world):
    world.machine.write("/root/kubeconfig", kubeconfig(world.server), owner="root:root")
    for command in (*world.share.of("README.md", "sudo apt *"), *world.share.of("README.md", "sudo install *"), *world.share.of("README.md", "sudo systemctl *")):
        world.machine.sh("cd /root; " + world.share.typed(command))
    wait_synced(world)
    assert status(world)["mode"] == "observe" and world.machine.call("systemctl", "is-enabled", UNIT).stdout == "enabled\n"


def who_is_in_the_group_may_look(world):
    """And reads no credential."""
    world.machine.sh("useradd --no-create-home lisa")
    ask_as = ("setpriv", "--reuid", "lisa", "--regid", "lisa", "--init-groups")
    denied = world.machine.call(*ask_as, "ops-pod-cleaner", "status")
    assert denied.returncode == 77 and "join the group" in denied.stderr, denied
    commands = [c for page in ("README.md", "docs/troubleshooting.md") for c in world.share.of(page, "sudo usermod *")]
    for command in commands:
        world.machine.sh(world.share.typed(command))
    said = world.machine.call(*ask_as, "ops-pod-cleaner", "status", "-o", "json")
    assert said.returncode in (0, 1) and json.loads(said.stdout)["phase"] == "running", said
    assert world.machine.call(*ask_as, "ops-pod-cleaner", "pause").returncode == 77
    assert world.machine.call(*ask_as, "cat", KUBECONFIG).returncode != 0


def its_state_is_saved_as_the_page_says(world):
    pod = evicted_pod(world)
    until("something to be kept", lambda: [r for r in history(world) if r["uid"] == pod["metadata"]["uid"]], SOON, 0.3)
    for command in world.share.of("docs/upgrade.md"):
        world.machine.sh(world.share.typed(command))
        if " cp " in command.text:
            world.machine.sh("cmp /root/history/history.db /var/lib/ops-pod-cleaner/history/history.db; test -s /root/supervisor.state")
        elif " start " in command.text or " restart " in command.text:
            wait_synced(world)
    assert [r for r in history(world) if r["uid"] == pod["metadata"]["uid"]], "the history is gone"


def what_troubleshooting_looks_at_is_there(world):
    for command in (*world.share.of("docs/troubleshooting.md", "systemctl *"), *world.share.of("docs/troubleshooting.md", "journalctl *")):
        said = world.machine.sh(world.share.typed(command))
        wanted = {"systemctl": "active (running)", "journalctl -u": "ops-pod-cleaner", "journalctl -k": ""}
        assert next(word for start, word in wanted.items() if command.text.startswith(start)) in said, said[-500:]


def every_command_of_the_pages_was_typed(world):
    world.share.check_all_ran()


def the_machine_powers_off(world):
    assert world.machine.power_off() == 0


CASES = (the_unit_is_active_and_waits_for_its_cluster, an_upgrade_keeps_the_history, a_kubeconfig_is_enough_and_nothing_is_written,
         its_sandbox_is_whole, systemctl_reload_takes_a_changed_configuration, systemctl_reload_refuses_a_wrong_configuration,
         the_watchdog_restarts_what_hangs, one_instance_a_cluster, an_upgrade_restarts_every_instance_and_keeps_what_is_ours,
         the_journal_has_priorities, it_stops_in_order, removed_at_work_and_purged, what_make_install_leaves_is_set_up,
         the_readme_makes_it_a_service, who_is_in_the_group_may_look, its_state_is_saved_as_the_page_says, what_troubleshooting_looks_at_is_there,
         every_command_of_the_pages_was_typed, the_machine_powers_off)

"""A machine in systemd-nspawn over a root that stays as it is: what happens in it is gone with it."""
import pathlib
import subprocess

import scratch
from harness.wait import until

# nspawn's own list of system calls takes Landlock away; the kernel of a machine of its own would not.
NSPAWN = ["systemd-nspawn", "--quiet", "--volatile=overlay", "--register=no", "--keep-unit",
          "--system-call-filter=landlock_create_ruleset landlock_add_rule landlock_restrict_self"]
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", "HOME": "/root"}


def run_once(root, packages, script, timeout=120):
    """What a shell in it prints, without a boot: as where an image is made."""
    return subprocess.run([*NSPAWN, "--pipe", "-D", root, f"--bind-ro={packages}:/packages", "/bin/sh", "-eu", "-c", script],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False, env=ENVIRONMENT)


def cover(folder, upper):
    """From now on what this room writes to that folder goes to a file system in memory, at the empty `upper`."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", upper], check=True)
    for name in ("over", "work"):
        (upper / name).mkdir()
    subprocess.run(["mount", "-t", "overlay", "-o", f"lowerdir={folder},upperdir={upper}/over,workdir={upper}/work", "overlay", folder], check=True)


class Machine:
    """Booted; `packages` is its /packages."""

    def __init__(self, root, packages, log):
        self.log = log
        with open(log, "wb") as out:
            self.nspawn = scratch.start([*NSPAWN, "-b", "--console=pipe", "-D", root, f"--bind-ro={packages}:/packages"],
                                        stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=ENVIRONMENT)
        self.leader = until("the first process of the machine", self._find_leader, 60)
        until("the machine to be up", lambda: self.call("systemctl", "is-system-running").stdout.strip() in ("running", "degraded"), 120, 0.3)

    def _find_leader(self):
        if self.nspawn.poll() is not None:
            raise AssertionError(f"it did not boot: {pathlib.Path(self.log).read_text(errors='replace')[-1000:]}")
        # nspawn's child is the first process once it runs systemd.
        children = pathlib.Path(f"/proc/{self.nspawn.pid}/task/{self.nspawn.pid}/children").read_text().split()
        found = [int(pid) for pid in children if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "systemd"]
        return found[0] if found else None

    def call(self, *command, text=None, timeout=120):
        """A command in the machine: its result, whatever it is."""
        return subprocess.run(["nsenter", "-t", str(self.leader), "-a", "--", *map(str, command)], input=text, capture_output=True,
                              text=True, timeout=timeout, check=False, env=ENVIRONMENT)

    def do(self, *command, text=None):
        """What a command that has to succeed prints."""
        done = self.call(*command, text=text)
        assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.returncode}: {done.stdout[-600:]} {done.stderr[-600:]}"
        return done.stdout

    def sh(self, script):
        return self.do("sh", "-euc", script)

    def write(self, path, text, mode="0640", owner="root:ops-pod-cleaner"):
        self.do("sh", "-euc", 'umask 077; cat >"$1"; chown "$3" "$1"; chmod "$2" "$1"', "sh", path, mode, owner, text=text)

    def property(self, unit, name):
        return self.do("systemctl", "show", "--value", "-p", name, unit).strip()

    def journal(self, *options):
        """Messages of this boot, oldest first."""
        return self.do("journalctl", "-b", "--no-pager", "-o", "cat", *options).splitlines()

    def power_off(self, timeout=90):
        self.call("systemctl", "poweroff")
        return self.nspawn.wait(timeout)

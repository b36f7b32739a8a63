"""Cases that boot nothing: the package itself, and its life in a root where no systemd runs."""
import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess

import page_commands
from lab import base, machine

TOP = pathlib.Path(__file__).resolve().parents[3]

PROGRAMS = ("usr/bin/ops-pod-cleaner", *(f"usr/libexec/ops-pod-cleaner/{name}" for name in ("loader", "reporter", "supervisor", "watcher", "worker")))
FILES = (*PROGRAMS, "lib/systemd/system/ops-pod-cleaner.service", "lib/systemd/system/ops-pod-cleaner@.service",
         "usr/lib/sysusers.d/ops-pod-cleaner.conf", "usr/lib/tmpfiles.d/ops-pod-cleaner.conf", "etc/ops-pod-cleaner/config.yml",
         "usr/bin/kubectl-ops_pod_cleaner", "usr/share/man/man1/kubectl-ops_pod_cleaner.1.gz", "usr/share/man/man8/ops-pod-cleaner.8.gz", "usr/share/man/man5/ops-pod-cleaner.yml.5.gz",
         "usr/share/bash-completion/completions/ops-pod-cleaner", "usr/share/zsh/site-functions/_ops-pod-cleaner",
         "usr/share/fish/vendor_completions.d/ops-pod-cleaner.fish", "usr/share/doc/ops-pod-cleaner/README.md", "usr/share/doc/ops-pod-cleaner/docs/troubleshooting.md",
         "usr/share/doc/ops-pod-cleaner/changelog.gz", "usr/share/doc/ops-pod-cleaner/copyright",
         "usr/share/doc/ops-pod-cleaner/examples/rbac.yaml", "usr/share/doc/ops-pod-cleaner/examples/monitoring/alerts.yml",
         "usr/share/doc/ops-pod-cleaner/examples/monitoring/dashboard.json")
IN_USR = ("/usr/bin/ops-pod-cleaner", "/usr/bin/kubectl-ops_pod_cleaner", "/usr/libexec/ops-pod-cleaner/supervisor", "/usr/share/man/man8/ops-pod-cleaner.8",
          "/usr/lib/systemd/system/ops-pod-cleaner.service")
# The pages for those who work on the program name these of the source; the changelog is installed as changelog.gz.
SOURCE_ONLY = {"CHANGELOG.md", "model/kubernetes.def", "tests/node/README.md", "tests/e2e/README.md", "tests/torture/README.md"}
# What it prints stands between these, a line each; a path is told with owner and mode.
LIFE = """
mark() { echo "== $1"; }
tree() { find / -xdev \\( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /packages \\) -prune -o -print | sort; }
tree >/tmp/before
dpkg -i /packages/new.deb >/tmp/out 2>&1 || { cat /tmp/out; exit 1; }
mark installed
stat -c '%A %U:%G %n' /etc/ops-pod-cleaner /etc/ops-pod-cleaner/config.yml
getent passwd ops-pod-cleaner
ops-pod-cleaner version
ops-pod-cleaner config check --strict /etc/ops-pod-cleaner/config.yml | head -1
ops-pod-cleaner config print /etc/ops-pod-cleaner/config.yml | grep ^mode
bash -n /usr/share/bash-completion/completions/ops-pod-cleaner
systemctl is-enabled ops-pod-cleaner
dpkg --verify ops-pod-cleaner
echo token >/etc/ops-pod-cleaner/kubeconfig
mkdir -p /var/lib/ops-pod-cleaner@two /var/lib/ops-pod-cleaner/history
touch /var/lib/ops-pod-cleaner/history/history.db
dpkg -r ops-pod-cleaner >/tmp/out 2>&1 || { cat /tmp/out; exit 1; }
mark removed
tree >/tmp/after
diff /tmp/before /tmp/after | grep '^[<>]' || true
dpkg -P ops-pod-cleaner >/tmp/out 2>&1 || { cat /tmp/out; exit 1; }
cat /tmp/out
mark purged
tree >/tmp/after
diff /tmp/before /tmp/after | grep '^[<>]' || true
"""


@dataclasses.dataclass
class World:
    """The package that was built, the root it goes to, a folder for this run, and the build with the API server."""
    package: pathlib.Path
    root: pathlib.Path
    folder: pathlib.Path
    build: str

    @property
    def packages(self):
        """What the machine sees as /packages: versions before, now and after."""
        folder = self.folder / "packages"
        if not folder.exists():
            folder.mkdir()
            shutil.copy(self.package, folder / "new.deb")
        return folder

    def version(self, name, version):
        """That file of /packages is the same package under another version."""
        base.other_version(self.package, version, self.folder).rename(self.packages / name)


@contextlib.contextmanager
def at_work(world):
    yield world


def lintian_has_nothing_to_say(world):
    changes = next(world.package.parent.glob("*.changes"))
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", changes], capture_output=True, text=True, check=False,
                          env={**os.environ, "TMPDIR": str(world.folder)})    # it leaves files behind
    said = [line for line in done.stdout.splitlines() if re.match(r"[EW]: ", line)]
    assert done.returncode == 0 and not said, "\n".join(said or [done.stdout, done.stderr])


def everything_is_in_it(world):
    listed = subprocess.run(["dpkg-deb", "-c", world.package], capture_output=True, text=True, check=True).stdout
    paths = re.findall(r" \./(\S+)$", listed, re.M)
    missing = [path for path in FILES if path not in paths]
    assert not missing, f"not in the package: {missing}"
    loose = [line for line in listed.splitlines() if re.match(r"-.......w|-....w|-..s|-.....s", line) or " root/root " not in line]
    assert not loose, loose
    conffiles = subprocess.run(["dpkg-deb", "-I", world.package, "conffiles"], capture_output=True, text=True, check=True).stdout
    assert conffiles.split() == ["/etc/ops-pod-cleaner/config.yml"], conffiles


def every_name_in_its_pages_is_in_it(world):
    """Links of README and the pages, their pictures, and the files that README names; what only the source has is named in no README."""
    root = world.folder / "unpacked"
    subprocess.run(["dpkg-deb", "-x", world.package, root], check=True)
    dead = dead_names(root)
    assert not dead, f"named, but not in the package: {dead}"


def dead_names(root):
    """(page, name) of what is named in the documentation of an unpacked package, and is not there."""
    doc = root / "usr/share/doc/ops-pod-cleaner"
    assert (doc / "README.md").is_file() and (doc / "docs" / "quick-start.md").is_file(), sorted(doc.rglob("*"))[:20]
    dead = []
    for page in sorted(doc.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        name = str(page.relative_to(doc))
        links = (link for found in re.findall(r'\]\(([^)#\s]+)|(?:src|srcset)="([^"]+)"', text) for link in found if link and "://" not in link)
        paths = re.findall(r"`(/(?:usr|etc|lib)/[^`\s]+)`", text) if name == "README.md" else []
        dead += [(name, link) for link in links if not (page.parent / link).exists() and os.path.normpath(page.relative_to(doc).parent / link) not in SOURCE_ONLY]
        dead += [(name, path) for path in paths if not (root / path[1:]).exists()]
        assert name != "README.md" or not [link for link in SOURCE_ONLY if link in text], "README of the package names files of the source"
    return dead


def installs_removes_and_purges_where_nothing_runs(world):
    done = machine.run_once(world.root, world.packages, LIFE)
    assert done.returncode == 0, f"{done.returncode}: {done.stdout[-1500:]} {done.stderr[-500:]}"
    parts = {part.split("\n", 1)[0]: part.split("\n", 1)[1].splitlines() for part in done.stdout.split("== ")[1:]}
    installed = "\n".join(parts["installed"])
    for wanted in (r"drwxr-x--- root:root /etc/ops-pod-cleaner$", r"-rw-r----- root:ops-pod-cleaner /etc/ops-pod-cleaner/config.yml$",
                   r"^ops-pod-cleaner:x:\d+:\d+:.*:/var/lib/ops-pod-cleaner:/usr/sbin/nologin$", r"^ops-pod-cleaner \d", r"config.yml: ok$",
                   r"^mode: observe$", r"^enabled$"):
        assert re.search(wanted, installed, re.M), f"{wanted} is not in:\n{installed}"
    assert len(parts["installed"]) == 7, f"dpkg --verify says more:\n{installed}"
    kept = {line[2:] for line in parts["removed"] if "/var/lib/dpkg/" not in line and "/var/lib/systemd/" not in line}
    own = {path for path in kept if "ops-pod-cleaner" in path}
    assert {"/etc/ops-pod-cleaner/config.yml", "/etc/ops-pod-cleaner/kubeconfig", "/var/lib/ops-pod-cleaner/history/history.db"} <= own, own
    assert not [path for path in own if path.startswith(("/usr", "/lib"))], own
    left = [line[2:] for line in parts["purged"] if "ops-pod-cleaner" in line]
    assert not left, f"left behind: {left}"


def a_clone_is_installed_and_taken_away(world):
    """make, as the pages have it typed, where /usr is this machine's and what is written to it is gone with the room."""
    share = page_commands.Share("install")
    upper = world.folder / "usr"
    upper.mkdir()
    machine.cover("/usr", upper)
    for page in ("docs/quick-start.md", "README.md"):
        for command in share.of(page):
            done = subprocess.run(["bash", "-c", share.typed(command)], cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                                  env=page_commands.environment(DESTDIR=""))
            assert done.returncode == 0, f"{command}: {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}"
            if command.text.endswith("make install"):
                assert not [path for path in IN_USR if not os.path.exists(path)], command
            elif command.text.endswith(" version"):
                assert re.match(r"ops-pod-cleaner \d", done.stdout), done.stdout
    left = [path for path in IN_USR if os.path.exists(path)]
    assert not left, f"make uninstall leaves {left}"
    share.check_all_ran()


CASES = (lintian_has_nothing_to_say, everything_is_in_it, every_name_in_its_pages_is_in_it, installs_removes_and_purges_where_nothing_runs,
         a_clone_is_installed_and_taken_away)

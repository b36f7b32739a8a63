"""A minimal Debian with what the package depends on, made once and kept beside the binaries of tests/cluster; and packages to put in it."""
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

from kit import parts       # of tests/node: the cache and what this Debian is

MORE = ("systemd", "systemd-sysv", "dbus", "ca-certificates")      # what boots


def depends(package):
    """The first choice of everything it depends on, without versions."""
    text = subprocess.run(["dpkg-deb", "-f", package, "Depends"], check=True, capture_output=True, text=True).stdout
    return [re.split(r"[ (|]", one.strip())[0] for one in text.split(",")]


def codename():
    facts = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    if facts.get("ID") != "debian":
        raise parts.Unavailable("this is no Debian, whose packages the root is made of")
    return facts["VERSION_CODENAME"]


def root(package):
    """The folder of that Debian, and a lock that keeps others from booting it as long as it is open."""
    names = ",".join(sorted({*depends(package), *MORE}))
    key = hashlib.sha256(f"{codename()} {names}".encode()).hexdigest()[:12]
    cache = parts.cache()
    cache.mkdir(parents=True, exist_ok=True)
    folder, half = cache / f"root-{key}", cache / "root-tmp"
    lock = open(cache / "root.lock", "w", encoding="ascii")
    fcntl.flock(lock, fcntl.LOCK_EX)
    if not folder.exists():
        print(f"package: making {folder}, once", file=sys.stderr, flush=True)
        for old in (half, *cache.glob("root-*/")):
            shutil.rmtree(old, ignore_errors=True)
        done = subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", f"--include={names}", codename(), half], check=False,
                              stdout=sys.stderr, env={**os.environ, "TMPDIR": str(cache)})
        if done.returncode:
            raise parts.Unavailable("mmdebstrap cannot make a root of Debian's packages")
        half.rename(folder)
    return folder, lock


def other_version(package, version, folder):
    """The same package under another version: what comes before or after it."""
    tree, out = folder / f"tree-{version}", folder / f"ops-pod-cleaner_{version}.deb"
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"(?m)^Version: .*", f"Version: {version}", control.read_text()))
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-b", tree, out], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)
    return out

"""The programs of a node: containerd, runc and busybox out of Debian's packages, and the kubelet of tests/cluster.

The packages are unpacked into the cache of tests/cluster and never installed: no service starts, nothing of the machine
changes.
"""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[3]
CLUSTER = TOP / "tests" / "cluster"
PACKAGES = ("containerd", "runc", "busybox-static")
WANTED = ("usr/bin/containerd", "usr/bin/containerd-shim-runc-v2", "usr/bin/ctr", "usr/sbin/runc", "bin/busybox")
PLUGINS = ("containernetworking-plugins",)
PLUGINS_WANTED = ("usr/lib/cni/bridge", "usr/lib/cni/host-local")


class Unavailable(Exception):
    """Why the parts cannot be had on this machine."""


def say(text):
    print(f"node: {text}", file=sys.stderr, flush=True)


def cache():
    """The cache folder as tests/cluster/lib.sh names it."""
    command = f". {CLUSTER}/lib.sh; cluster_cache"
    path = subprocess.run(["bash", "-euo", "pipefail", "-c", command], check=True, capture_output=True, text=True).stdout.strip()
    return pathlib.Path(path).absolute()


def release():
    """This Debian and its architecture: another one has other packages."""
    facts = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return f"{facts.get('ID', 'linux')}-{facts.get('VERSION_ID', '0')}_{os.uname().machine}".replace('"', "")


def download(folder, lists, packages):
    """`apt-get download`; lists: a folder for package lists of our own, where those of the machine are missing or old."""
    options = ["-o", "APT::Sandbox::User=root"]
    if lists:
        (lists / "partial").mkdir(parents=True)
        options += ["-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache::pkgcache={lists}/pkgcache.bin"]
        subprocess.run(["apt-get", *options, "-q", "update"], cwd=folder, check=True, stdout=sys.stderr)
    done = subprocess.run(["apt-get", *options, "-q", "download", *packages], cwd=folder, check=False, stdout=sys.stderr)
    return done.returncode == 0


def unpack(into, packages, wanted):
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            raise Unavailable(f"there is no {tool}: the node's programs are Debian packages")
    for old in into.parent.glob("node-tmp.*"):      # of runs that were killed: we hold the lock
        shutil.rmtree(old)
    with tempfile.TemporaryDirectory(prefix="node-tmp.", dir=into.parent) as name:
        folder = pathlib.Path(name)
        if not download(folder, None, packages) and not download(folder, folder / "lists", packages):
            raise Unavailable(f"apt-get cannot download {', '.join(packages)}")
        (folder / "root").mkdir()
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, folder / "root"], check=True)
        missing = [path for path in wanted if not (folder / "root" / path).exists()]
        if missing:
            raise Unavailable(f"the packages lack {', '.join(missing)}")
        shutil.rmtree(into, ignore_errors=True)
        (folder / "root").rename(into)


def debian(name="node", packages=PACKAGES, wanted=WANTED):
    """The folder with the unpacked packages."""
    folder = cache()
    folder.mkdir(parents=True, exist_ok=True)
    into = folder / f"{name}-{release()}"
    with open(folder / "node.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not all((into / path).exists() for path in wanted):
            say(f"unpacking {', '.join(packages)} into {into}, once")
            unpack(into, packages, wanted)
    return into


def plugins():
    """The folder with the programs that give pods a network of their own."""
    return debian("node-cni", PLUGINS, PLUGINS_WANTED) / "usr" / "lib" / "cni"


def binaries():
    """The folder with the control plane and the kubelet, built when they are not there."""
    path = ""
    for option in ([], ["--kubelet"]):
        path = subprocess.run([CLUSTER / "build", *option], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return pathlib.Path(path)


def helm():
    """What renders the chart, and what the plugin of kubectl is called by."""
    subprocess.run([CLUSTER.parent / "chart" / "build"], check=True, stdout=subprocess.DEVNULL)


def program():
    """The archive with the program's own image, made of the tree as it is."""
    root = pathlib.Path(os.environ.get("OPC_BUILD_ROOT") or TOP / "build").absolute()
    subprocess.run([TOP / "deploy" / "image" / "build"], check=True, stdout=sys.stderr)
    return root / "image" / "ops-pod-cleaner.tar"


def version():
    return re.search(r"^project\(\S+ VERSION (\S+)", (TOP / "CMakeLists.txt").read_text(), re.M).group(1)

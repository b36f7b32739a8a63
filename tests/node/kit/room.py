"""The room a node lives in: network, mounts and processes of its own, and cgroups below one folder.

Whatever happens in it ends with it: when the process that made it is gone the kernel kills what is left inside, and with
that go mounts and network. The cgroups alone have names outside; `sweep` takes them away.
"""
import fcntl
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile

import scratch

SWEEP = pathlib.Path(__file__).resolve().parent / "sweep"
ROOM = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"]
# The first process of a room adopts orphans, and a shell that waits buries them.
FIRST = ["sh", "-c", '"$@" & wait $!', "sh"]
CGROUPS = pathlib.Path("/sys/fs/cgroup")
CONTROLLERS = ("cpu", "cpuset", "memory", "pids")
# What a kubelet sets in the kernel of the whole machine: in the room it sees files of ours there, as it wants them.
KERNEL = {"vm/overcommit_memory": 1, "vm/panic_on_oom": 0, "kernel/panic": 10, "kernel/panic_on_oops": 1,
          "kernel/keys/root_maxkeys": 1000000, "kernel/keys/root_maxbytes": 25000000}
# Where a node's programs write without asking.
PRIVATE = ("/run", "/var/lib", "/var/log")
SHORT = "/run/node"         # the room's folder inside: sockets have short names
MEMORY = 3 << 30            # all of the room together
MEMORY_FREE, DISK_FREE = 4 << 30, 3 << 30
ADDRESS = "10.123.0.1"      # a kubelet does not take one of 127.0.0.0/8


def why_not(folder):
    """Why this machine cannot run a node, or None."""
    if os.geteuid() != 0:
        return "a node needs root"
    for tool in ("unshare", "mount", "setpriv"):
        if not shutil.which(tool):
            return f"there is no {tool}"
    free = int(next(line.split()[1] for line in open("/proc/meminfo", encoding="ascii") if line.startswith("MemAvailable"))) << 10
    if free < MEMORY_FREE:
        return f"{free >> 20} MB of memory are free, {MEMORY_FREE >> 20} are needed"
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < DISK_FREE:
        return f"{disk.f_bavail * disk.f_frsize >> 20} MB of {folder} are free, {DISK_FREE >> 20} are needed"
    return why_no_room() or why_no_cgroups()


def why_no_room():
    try_it = "mount -t tmpfs tmpfs /run && mount --bind /dev/null /proc/sys/kernel/panic"
    done = subprocess.run([*ROOM, "sh", "-c", try_it], capture_output=True, text=True, check=False)
    return f"no namespaces of our own: {done.stderr.strip()}" if done.returncode else None


def hierarchies():
    """Folders below which cgroups are made: one a controller, or one for all."""
    if (CGROUPS / "cgroup.controllers").exists():
        return [CGROUPS]
    return sorted({(CGROUPS / name).resolve() for name in os.listdir(CGROUPS) if (CGROUPS / name / "cgroup.procs").exists()})


def why_no_cgroups():
    unified = CGROUPS / "cgroup.controllers"
    if unified.exists():
        given = (CGROUPS / "cgroup.subtree_control").read_text().split()
        missing = [name for name in (*CONTROLLERS, "hugetlb") if name in unified.read_text().split() and name not in given]
        missing += [name for name in CONTROLLERS if name not in unified.read_text().split()]
    else:
        missing = [name for name in CONTROLLERS if not (CGROUPS / name / "cgroup.procs").exists()]
    if missing:
        return f"no cgroups for {', '.join(missing)}"
    probe = f"opc-node-{os.getpid()}"
    try:
        for top in hierarchies():
            (top / probe).mkdir()
            (top / probe).rmdir()
    except OSError as e:
        return f"cgroups cannot be made: {e}"
    return None


def make_cgroups(name):
    """The cgroup of that name, taken away when the folder that scratch made is."""
    for top in hierarchies():
        (top / name / "own").mkdir(parents=True)
        for key in ("memory.limit_in_bytes", "memory.max"):
            if (top / name / key).exists():
                (top / name / key).write_text(str(MEMORY))


def enter(name):
    """This process, and what it starts, into the part of that cgroup that is not the kubelet's."""
    for top in hierarchies():
        if top.name != "cpuset":    # its groups begin without a processor
            (top / name / "own" / "cgroup.procs").write_text(str(os.getpid()))


def run(folder, command, limit):
    """The command in a room of its own whose files are in `folder`; its exit code, None when it took longer than that."""
    name = folder.name
    scratch.at_end(folder, SWEEP, name)
    make_cgroups(name)
    process = scratch.start([*ROOM, *FIRST, *command])
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        process.kill()
        process.wait()
        subprocess.run([SWEEP, name], check=False)


def bind(text, path, folder):
    """A file of ours with that text over the one of the machine."""
    file = folder / path.strip("/").replace("/", ".")
    file.write_text(text)
    subprocess.run(["mount", "--bind", file, path], check=True)


def furnish(folder):
    """Inside: what the programs of a node expect to find. `folder` is the room's, from here on also SHORT."""
    for path in PRIVATE:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", path], check=True)
    os.mkdir(SHORT)
    subprocess.run(["mount", "--bind", folder, SHORT], check=True)
    folder = pathlib.Path(SHORT, "machine")
    folder.mkdir()
    tempfile.tempdir = SHORT
    for key, value in KERNEL.items():
        if os.path.exists(f"/proc/sys/{key}"):
            bind(f"{value}\n", f"/proc/sys/{key}", folder)
    bind(f"127.0.0.1 localhost\n{ADDRESS} node-1 registry.test\n", "/etc/hosts", folder)
    resolver = os.path.realpath("/etc/resolv.conf")
    if os.path.exists(resolver):
        bind("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n", resolver, folder)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        raise_link(s, b"lo")
        fcntl.ioctl(s, 0x8916, ifreq(b"lo:1", ADDRESS))     # SIOCSIFADDR


def ifreq(name, address):
    return struct.pack("16sHH4s8x", name, socket.AF_INET, 0, socket.inet_aton(address))


def raise_link(s, name):
    flags = struct.unpack("16sH14x", fcntl.ioctl(s, 0x8913, struct.pack("16sH14x", name, 0)))[1]    # SIOCGIFFLAGS
    fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", name, flags | 1))                                  # SIOCSIFFLAGS, IFF_UP

"""What processes have open. Connections to servers come and go; of everything else there is no more at the end than after READY."""
import collections
import os
import re

# Of each child the supervisor has a channel, a pipe for its log and a descriptor of the process, of each cluster settings of two roles.
OF_A_CHILD = {"socket": 1, "pipe": 1, "anon_inode:[pidfd]": 1}
OF_A_CLUSTER = {"/memfd:settings (deleted)": 2}


def unix_sockets():
    """Their inodes. Every other socket is a connection; of one that was reset no table of the kernel tells."""
    with open("/proc/net/unix", encoding="ascii", errors="replace") as file:
        return {line.split()[6] for line in file.readlines()[1:]}


def opened(pid, unix):
    """Counter of what the process has open, by kind or path, or None when it is gone."""
    found = collections.Counter()
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                name = os.readlink(f"/proc/{pid}/fd/{fd}")
            except FileNotFoundError:
                continue        # closed meanwhile
            kind, inode = re.fullmatch(r"(?:(socket|pipe):\[(\d+)\])?.*", name).groups()
            if kind != "socket" or inode in unix:
                found[kind or name.replace(f"/proc/{pid}/", "/proc/self/")] += 1
    except OSError:
        return None
    return found


def is_confined(pid):
    """Has it a sandbox? Without one libcurl makes a pair of sockets or a pipe for each client, when that is used first."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            return "Seccomp:\t2" in file.read()
    except OSError:
        return True


def of_tree(tree):
    """[(role, Counter)] of [(pid, role)]; of the supervisor without what it has of each child and cluster."""
    unix = unix_sockets()
    found = []
    for pid, role in tree:
        open_ = opened(pid, unix)
        if open_ and role != "supervisor" and not is_confined(pid):
            open_ = collections.Counter({name: n for name, n in open_.items() if name not in ("socket", "pipe")})
        if open_ is not None:
            found.append((role, open_))
    roles = [role for role, _ in found]
    for role, open_ in found:
        if role == "supervisor":
            open_.subtract({name: n * (len(roles) - 1) for name, n in OF_A_CHILD.items()})
            for name, n in OF_A_CLUSTER.items():    # they stay when it drains and the watchers end; one more is the reporter's
                open_[name] = open_[name] - n * roles.count("watcher") if "watcher" in roles else min(open_[name], 1)
    return found


def leaked(after_ready, now):
    """What a process has open that none of its role had after READY: a text, or None. Both are of of_tree()."""
    for role, open_ in now:
        more = [open_ - before for other, before in after_ready if other == role]
        if more and all(more):
            return f"a {role} has more open than after READY: {dict(more[-1])}"
    return None

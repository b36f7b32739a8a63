"""What the kernel knows of a process, and of this machine."""
import os
import pathlib
import platform
import re
import statistics
import subprocess
import threading
import time

TOP = pathlib.Path(__file__).resolve().parents[2]


def _kb(path, names):
    found = {}
    for line in path.read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in names:
            found[name] = int(rest.split()[0]) * 1024
    return found


def pss(pid):
    """Bytes; a page that n processes share counts 1/n for each."""
    return _kb(pathlib.Path("/proc", str(pid), "smaps_rollup"), {"Pss"})["Pss"]


def pss_parts(pid):
    """The same by what is mapped: libraries, program (its own file), data (of no file)."""
    parts, kind = {"libraries": 0, "program": 0, "data": 0}, "data"
    for line in pathlib.Path("/proc", str(pid), "smaps").read_text().splitlines():
        name, _, rest = line.partition(":")
        if "-" in name:
            kind = "libraries" if ".so" in rest else "program" if rest.split()[-1].startswith("/") else "data"
        elif name == "Pss":
            parts[kind] += int(rest.split()[0]) * 1024
    return parts


def anonymous(pid):
    """Bytes of resident memory that is no file's: what is given back of mapped code after the start says nothing of the data."""
    return _kb(pathlib.Path("/proc", str(pid), "status"), {"RssAnon"})["RssAnon"]


class Peak(threading.Thread):
    """The most anonymous memory of a process until stop(); find() tells its pid as soon as there is one."""

    def __init__(self, find):
        super().__init__(daemon=True)
        self.find, self.most, self.ended = find, 0, threading.Event()
        self.start()

    def run(self):
        pid = None
        while not self.ended.wait(0.01 if pid else 0.05):
            try:
                pid = pid or self.find()
                self.most = max(self.most, anonymous(pid) if pid else 0)
            except (OSError, KeyError):
                pid = None      # not there yet, or not any more

    def stop(self):
        self.ended.set()
        self.join()
        return self.most


def cpu_seconds(pid):
    """Time on a CPU, to the nanosecond, of all its threads."""
    tasks = pathlib.Path("/proc", str(pid), "task").iterdir()
    return sum(int((t / "schedstat").read_text().split()[0]) for t in tasks) / 1e9


def cpu_of_roles(processes):
    """{role: seconds} of [(pid, role)]."""
    spent = {}
    for pid, role in processes:
        spent[role] = spent.get(role, 0) + cpu_seconds(pid)
    return spent


def system_seconds(pid):
    """Of its time on a CPU what the kernel spent for it, in hundredths."""
    fields = pathlib.Path("/proc", str(pid), "stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[12]) / os.sysconf("SC_CLK_TCK")


def wakeups(pid):
    """How often it has gone to sleep, and so how often it was woken."""
    text = pathlib.Path("/proc", str(pid), "status").read_text()
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", text, re.M).group(1))


def core_waits(processes):
    """{pid: (role, seconds it was ready to run and waited for a core, how often it ran)} of [(pid, role)]: run_delay of the kernel's schedstat."""
    waits = {}
    for pid, role in processes:
        _, delay, times = pathlib.Path("/proc", str(pid), "schedstat").read_text().split()
        waits[pid] = role, int(delay) / 1e9, int(times)
    return waits


def fdatasync(folder, rounds=100):
    """Milliseconds that a page appended to a file takes until it is on the disk: the median."""
    times = []
    with open(folder / "page", "wb", buffering=0) as page:
        for _ in range(rounds):
            begin = time.perf_counter()
            page.write(bytes(4096))
            os.fdatasync(page.fileno())
            times.append((time.perf_counter() - begin) * 1000)
    return median(times)


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))]


def median(values):
    return statistics.median(values)


def output_of(*command, **more):
    try:
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True, **more).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def describe(build):
    """Lines: what this was measured on."""
    cpu = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo", encoding="utf-8") if l.startswith("model name")), platform.machine())
    memory_kb = next(int(l.split()[1]) for l in open("/proc/meminfo", encoding="utf-8") if l.startswith("MemTotal"))
    system = next((l.split("=", 1)[1].strip().strip('"') for l in open("/etc/os-release", encoding="utf-8") if l.startswith("PRETTY_NAME")), "?")
    gcc = (output_of("gcc", "--version").splitlines() or ["?"])[0]
    return [f"{os.cpu_count()} × {cpu}, {memory_kb / 1048576:.0f} GiB", f"{system}, Linux {platform.release()}",
            f"{gcc}, hardened release build",
            f"{output_of(build / 'bin' / 'ops-pod-cleaner', 'version') or '?'}, {time.strftime('%Y-%m-%d')}"]

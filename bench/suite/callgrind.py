"""Instructions, counted by callgrind: the same on every machine with one compiler, however busy it is."""
import re
import shutil
import subprocess


def _collected(folder, function, command):
    """Instructions within a function and what it calls; None when they cannot be counted."""
    tool = ["valgrind", "--tool=callgrind", f"--toggle-collect={function}", f"--callgrind-out-file={folder}/callgrind"]
    done = subprocess.run([str(c) for c in (*tool, *command)], capture_output=True, text=True, check=False)
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    return int(found.group(1)) if done.returncode == 0 and found and found.group(1) != "0" else None


def profile(folder, function, count, command, most):
    """[(function, instructions)] of one of many things, by what each function takes itself, the most first; files are left out."""
    if not shutil.which("valgrind") or _collected(folder, function, command(count)) is None:
        return []
    out = subprocess.run(["callgrind_annotate", "--auto=no", f"{folder}/callgrind"], capture_output=True, text=True, check=True).stdout
    taken = {}
    for number, name in re.findall(r"^\s*([\d,]+) \([\s\d.]+%\)\s+\S+:([A-Za-z_]\w*)", out, re.M):
        taken[name] = taken.get(name, 0) + int(number.replace(",", "")) / count
    return sorted(taken.items(), key=lambda t: -t[1])[:most]


def each(folder, function, count, command):
    """Of one of many things, command(how many): the difference of two runs, so that the start does not count. None: not counted."""
    if not shutil.which("valgrind"):
        return None
    few, many = (_collected(folder, function, command(n)) for n in (count, 2 * count))
    return (many - few) / count if few and many else None

"""The cache alone, without a network: bench_cache, and the same under callgrind."""
import re
import subprocess

from . import callgrind

GROWTH = (10_000, 50_000, 150_000, 1_000_000)
ROUNDS = 5              # the best counts: others use this machine too
INSTRUCTIONS = 2_000    # pods under callgrind


def figures(binary, *args):
    """{line of text: number} of its table."""
    out = subprocess.run([str(c) for c in (binary, *args)], check=True, capture_output=True, text=True).stdout
    return {name.strip(): float(value) for name, value in re.findall(r"^(\S.*?)\s{2,}([\d.]+)$", out, re.M)}


def best(runs):
    return {name: min(r[name] for r in runs) for name in runs[0]}


def measure(run):
    binary = run.build / "bench" / "bench_cache"
    runs = {pods: [] for pods in GROWTH}
    for i in range(ROUNDS):             # in turns: what slows this machine down for a while slows all of them
        run.say(f"the cache alone, round {i + 1} of {ROUNDS}")
        for pods in GROWTH:
            runs[pods].append(figures(binary, pods))
    per_size = {pods: best(of_size) for pods, of_size in runs.items()}
    rows = [[f"{pods:,}", *(f"{f[n]:.0f}" if n in f else "–" for n in COLUMNS)] for pods, f in per_size.items()]
    first, last, main = per_size[GROWTH[0]], per_size[GROWTH[-1]], per_size[150_000]
    decode, put, size = "decode, ns a pod", "put, ns a pod", "bytes a pod, as counted"
    run.values["growth_cpu"] = (last[decode] + last[put]) / (first[decode] + first[put])
    run.values["growth_bytes"] = last[size] / first[size]
    run.values["pod_cpu"] = (main[decode] + main[put]) / 1000
    run.known["growth_put"] = (first[put], last[put])
    run.table("The cache alone", f"One core, no network; best of {ROUNDS}. Bytes and nanoseconds a pod.", ["pods", *HEADERS], rows)
    parts = [[name, f"{main[name]:.0f}"] for name in PARTS]
    run.table("The bytes of a pod", f"In a cache of {150_000:,} pods, four to an owner. A record holds the uid (16 bytes), the revision (8), two links of the "
              "list of its owner's pods (8), and the facts.", ["", "bytes"], parts)
    run.known["pod_parts"] = ", ".join(f"{size} {name.removeprefix('of them ')}" for name, size in parts)
    instructions(run, binary)


def instructions(run, binary):
    counted, decode = (callgrind.each(run.folder, "take", INSTRUCTIONS, lambda n, how=how: [binary, how, n]) for how in ("--instructions", "--decode"))
    if not counted or not decode:
        return
    where = callgrind.profile(run.folder, "take", 2 * INSTRUCTIONS, lambda n: [binary, "--instructions", n], FUNCTIONS)
    run.values["pod_instructions"] = counted
    run.known["pod_decode"] = decode
    run.table("Instructions", f"Counted by callgrind over {INSTRUCTIONS:,} pods: the same on every machine with this compiler. Of a function, what it takes itself, with "
              "what the compiler has put into it.",
              ["", "instructions a pod"], [["decode and store", f"{counted:.0f}"], ["of them to decode", f"{decode:.0f}"], *([f"`{n}`", f"{v:.0f}"] for n, v in where)])


FUNCTIONS = 10          # of the profile
PARTS = ("of them its record", "its owner", "its place in the index", "its handle", "texts")
COLUMNS = ("bytes a pod, as counted", "decode, ns a pod", "put, ns a pod", "relist, ns a pod", "change, ns an event", "sweep, ns a pod",
           "unpack and judge, ns a pod")
HEADERS = ("bytes", "decode", "put", "put again", "change", "sweep", "unpack and judge")

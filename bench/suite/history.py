"""What an action costs in the reporter: instructions, told to a sink and not, by bench_history under callgrind; and bytes of the history."""
import subprocess

from . import callgrind

DELETIONS = 2_000
DEFAULT_MIB = 512       # historyMegabytes
# what bench_history calls it -> what it is
KINDS = {"deletion": "an evicted pod deleted, with the kubelet's message",
         "pull": "a workload scaled to 0, with a registry's answer for each of two more containers",
         "crash": "a crash loop scaled to 0, with 40 lines of its log (4 KB)"}


def size(folder):
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())


def bytes_of(run, *kind):
    """By the growth of the files between as many actions and twice as many."""
    sizes = []
    for n in (DELETIONS, 2 * DELETIONS):
        folder = run.new_folder("history")
        subprocess.run([run.build / "bench" / "bench_history", folder, str(n), *kind], check=True)
        sizes.append(size(folder))
    return (sizes[1] - sizes[0]) / DELETIONS


def measure(run):
    binary = run.build / "bench" / "bench_history"

    def of(*told):
        return callgrind.each(run.folder, "take", DELETIONS, lambda n: [binary, run.new_folder("history"), n, *told])
    run.say("bytes an action")
    rows = [(what, bytes_of(run, kind), bytes_of(run, kind, "bare")) for kind, what in KINDS.items()]
    run.table("An action in the history", "Growth of the files, by action, with the words of kubelet, registry and log that are kept with it, and without them; "
              f"{DEFAULT_MIB} MiB is the default of `historyMegabytes`.", ["", "bytes an action", "without the words", f"actions in {DEFAULT_MIB} MiB"],
              [[what, f"{each:,.0f}", f"{bare:,.0f}", f"{(DEFAULT_MIB << 20) / each:,.0f}"] for what, each, bare in rows])
    run.say(f"{DELETIONS:,} deletions in the history alone, and told")
    alone, told = of(), of("told")
    if not alone or not told:
        return
    run.values["telling"] = told / alone
    run.table("A deletion in the reporter", "Counted by callgrind: intent and result decoded and committed, 50 deletions at a time; and told to a sink, 1,000 in a "
              "message, on ten nodes.", ["", "instructions a deletion"], [["decoded and written down", f"{alone:.0f}"], ["told as well", f"{told:.0f}"]])

"""What a deletion costs in the reporter, told to a sink and not: bench_history under callgrind."""
from . import callgrind

DELETIONS = 2_000


def measure(run):
    binary = run.build / "bench" / "bench_history"

    def of(*told):
        return callgrind.each(run.folder, "take", DELETIONS, lambda n: [binary, run.new_folder("history"), n, *told])
    run.say(f"{DELETIONS:,} deletions in the history alone, and told")
    alone, told = of(), of("told")
    if not alone or not told:
        return
    run.values["telling"] = told / alone
    run.table("A deletion in the reporter", "Counted by callgrind: intent and result decoded and committed, 50 deletions at a time; and told to a sink, 1,000 in a "
              "message, on ten nodes.", ["", "instructions a deletion"], [["decoded and written down", f"{alone:.0f}"], ["told as well", f"{told:.0f}"]])

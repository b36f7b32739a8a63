"""The tables as text and as docs/benchmarks.md, and the two charts."""
import textwrap

from . import goals, machine, svg

WIDTH = 128


def as_text(tables):
    lines = []
    for title, note, headers, rows in tables:
        widths = [max(len(str(r[i]).replace("`", "")) for r in [headers, *rows]) for i in range(len(headers))]
        lines += ["", title, *textwrap.wrap(note, 110, initial_indent="  ", subsequent_indent="  ")]
        for row in [headers, *rows]:
            cells = [c.replace("`", "").ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))]
            lines.append("    " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def table(headers, rows):
    head = ["| " + " | ".join(headers) + " |", "|" + "|".join(["---"] + ["---:"] * (len(headers) - 1)) + "|"]
    return head + ["| " + " | ".join(row) + " |" for row in rows]


def goal_table(run):
    n = sum(g.verdict(run.values.get(g.key)) == "met" for g in goals.GOALS)
    return (f"Goals: {n} of {len(goals.GOALS)} met", "Ratios are of things measured beside one another in this run.",
            ["", "goal", "measured", "verdict"], goals.rows(run.values))


def limit_table(run):
    n = sum(g.verdict(run.values.get(g.key)) == "met" for g in goals.LIMITS)
    return (f"The next limits: {n} of {len(goals.LIMITS)} met", "What the same figures are to become.", ["", "goal", "measured", "verdict"],
            goals.rows(run.values, goals.LIMITS))


def as_markdown(run):
    title, note, headers, rows = goal_table(run)
    lines = ["# Benchmarks", "", "Written by `make bench` (`bench/run`). Servers, measured programs and load generators share one machine, and figures of a",
             "run move with it. The peer is the usual design on client-go, an informer and a queue, in `bench/peers/`.", "",
             *[f"- {m}" for m in machine.describe(run.build)], "", f"## {title}", "", note, "", *table(headers, rows)]
    title, note, headers, rows = limit_table(run)
    lines += ["", f"## {title}", "", note, "", *table(headers, rows)]
    if run.notes:
        lines += ["", *[line for text in run.notes for line in textwrap.wrap(f"- {text}", WIDTH, subsequent_indent="  ")]]
    if run.lines["memory"]:
        lines += ["", "## Memory and time against pods", "", "![memory against pods](bench-memory.svg)", "",
                  "![time to a complete cache against pods](bench-sync.svg)"]
    for title, note, headers, rows in run.tables:
        lines += ["", f"## {title}", "", *textwrap.wrap(note, WIDTH), "", *table(headers, rows)]
    return "\n".join(lines) + "\n"


def write(run, docs):
    docs.mkdir(parents=True, exist_ok=True)
    (docs / "benchmarks.md").write_text(as_markdown(run), encoding="utf-8")
    names = list(dict.fromkeys([*run.lines["memory"], *run.lines["sync"]]))
    charts = (("memory", "Memory of all processes", "MB"), ("sync", "From the start to a complete cache, on apisim", "s"))
    for kind, title, unit in charts if names else ():
        (docs / f"bench-{kind}.svg").write_text(svg.chart(title, "pods", unit, run.lines[kind], names), encoding="utf-8")

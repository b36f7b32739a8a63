"""The figures of a run, as text and as docs/torture.md."""
from . import feed

ROLES = ("worker", "watcher", "reporter", "supervisor", "tree", "loader", "starting")


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else None


def seconds(value):
    return "-" if value is None else f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"


def healing(torture):
    """[(role, kills, p50, p99, worst)] with the kills of which one could tell."""
    rows = []
    for role in (*ROLES, None):
        kills = [k for i in torture.instances for k in i.kills if role in (None, k.role)]
        times = [k.healed - k.t for k in kills if k.healed]
        if kills:
            rows.append((role or "all", len(kills), quantile(times, 0.5), quantile(times, 0.99), max(times, default=None)))
    return rows


def waits(torture):
    """[(what, objects, p50, p99, worst)]: from due to done, of what became due in the fire."""
    rows = []
    for kind in ("evicted", "terminating", "finished", "workload"):
        times = [took for thing, took in torture.result.took if thing.kind == kind]
        if times:
            rows.append((kind, len(times), quantile(times, 0.5), quantile(times, 0.99), max(times)))
    return rows


def figures(torture):
    v, f = torture.result, torture.facts
    lines = [f"     {v.due:,} due, {v.done:,} done ({v.cut_off} by a write that was cut off), fire for {f['fire']:.0f} s",
             f"     faults: {', '.join(f'{n} {what}' for what, n in sorted(f['faults'].items()))}",
             f"     history: {f['history']}"]
    for name, n, *rest in healing(torture):
        lines.append(f"     {name:11} {n:6,} kills, ready again after p50 {seconds(rest[0])}, p99 {seconds(rest[1])}, worst {seconds(rest[2])}")
    for name, n, *rest in waits(torture):
        lines.append(f"     {name:11} {n:6,} done, from due to done p50 {seconds(rest[0])}, p99 {seconds(rest[1])}, worst {seconds(rest[2])}")
    return lines


def write(path, torture):
    path.write_text("\n".join(figures(torture)) + "\n", encoding="utf-8")


HOURS = feed.HOURS

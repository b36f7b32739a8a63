"""The figures of a run, as text and as docs/torture.md."""
import os
import platform
import time

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
        if kills or role is None:
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
    """As lines under the verdict."""
    v, f = torture.result, torture.facts
    lines = [f"     {v.due:,} due, {v.done:,} done, {v.cut_off} of them by a write whose answer was lost; fire for {f['fire']:.0f} s",
             f"     the oracle knew the object of {f['checked']:,} writes as it was when it was written",
             f"     faults: {', '.join(f'{n} {what}' for what, n in sorted(f['faults'].items()))}",
             f"     histories: {', '.join(f'{n} {what}' for what, n in sorted(f['history'].items()))}"]
    if f["early"]:
        lines.append(f"     {len(f['early'])} less than a second before their threshold (at most {max(f['early']):.2f} s), by a clock that was stepped so")
    for name, n, *rest in healing(torture):
        lines.append(f"     {name:11} {n:6,} kills, ready again after p50 {seconds(rest[0])}, p99 {seconds(rest[1])}, worst {seconds(rest[2])}")
    for name, n, *rest in waits(torture):
        lines.append(f"     {name:11} {n:6,} done, from due to done p50 {seconds(rest[0])}, p99 {seconds(rest[1])}, worst {seconds(rest[2])}")
    return lines


def table(headers, rows):
    lines = ["| " + " | ".join(headers) + " |", "|---" + "|---:" * (len(headers) - 1) + "|"]
    return lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]


FAULTS = {"kill": "SIGKILL of a child", "kill-supervisor": "SIGKILL of a supervisor", "kill-tree": "SIGKILL of a whole tree",
          "stop-apiserver": "SIGSTOP of the API server", "restart-apiserver": "restart of the API server", "restart-etcd": "restart of etcd",
          "fill-disk": "full disk under the state directory", "step-clock": "step of the wall clock"}
KINDS = {"evicted": "evicted pods", "terminating": "pods stuck in Terminating", "finished": "finished pods", "workload": "workloads without their image"}


def headline(torture):
    v = torture.result
    settled = torture.facts["settled"]
    calm = f"All was settled {seconds(settled)} after the last fault." if settled is not None else "**Not all was settled in time.**"
    _, kills, p50, p99, _ = healing(torture)[-1]
    return (f"**{kills:,} kills{' survived' if v.ok else ''}: {len(v.lost)} of {v.due:,} due objects lost, {len(v.double)} done twice, {len(v.wrong)} wrong writes.** "
            f"Killed processes were ready again after {seconds(p50)} (p50), {seconds(p99)} (p99). {calm}")


def as_markdown(torture):
    o, f = torture.options, torture.facts
    lines = ["# Torture", "", "Written by `make torture` (`tests/torture/run`); [tests/torture/README.md](../tests/torture/README.md) says what happens in it "
             "and how it is judged.", "", headline(torture), "",
             f"- {o.instances} instances with {torture.workers} workers each on one etcd, kube-apiserver and kube-controller-manager, all on one machine with "
             f"{os.cpu_count()} CPUs, Linux {platform.release()}, {platform.machine()}",
             f"- {torture.version}, {time.strftime('%Y-%m-%d')}",
             f"- seed {o.seed}, {o.seconds:g} s, {f['fire']:.0f} s under fire; {len(torture.things):,} objects made", "",
             "## Verdict", "", *table(["", ""], [[text, "ok" if good else "**no**"] for good, text in torture.checks]), "",
             "## How fast it healed", "", "From the kill until the process that takes the place is ready; for a supervisor or a tree, until all its processes "
             "are. Children that were killed before they were ready count as well.", "",
             *table(["killed", "kills", "p50", "p99", "worst"], [[n, f"{k:,}", *map(seconds, times)] for n, k, *times in healing(torture)]), "",
             "## How long due actions had to wait", "", "From the moment it became due until the API server had answered the write, under fire and in the "
             "calm behind it.", "",
             *table(["", "done", "p50", "p99", "worst"], [[KINDS[n], f"{k:,}", *map(seconds, times)] for n, k, *times in waits(torture)]), "",
             "## What happened", "",
             *table(["", "times"], [[FAULTS[what], f"{n:,}"] for what, n in sorted(f["faults"].items(), key=lambda row: list(FAULTS).index(row[0]))])]
    if f["early"]:
        lines += ["", f"{len(f['early'])} of the acts came less than a second before their threshold, {max(f['early']):.2f} s at most: a clock that is off by less "
                  "than a second cannot be told from the API server's."]
    return "\n".join([*lines, *[f"\nLeft out: {reason}." for reason in f.get("left out", ())]]) + "\n"


def write(path, torture):
    path.write_text(as_markdown(torture), encoding="utf-8")

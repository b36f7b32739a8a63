"""The goals: what was measured against what was wanted."""
from dataclasses import dataclass

MB = 1e6


@dataclass
class Goal:
    key: str
    text: str
    limit: float
    unit: str
    form: str = "{:.0f}"
    at_least: bool = False

    def wanted(self):
        return f"{'≥' if self.at_least else '≤'} {self.show(self.limit)}"

    def show(self, value):
        return f"{self.form.format(value)} {self.unit}".strip()

    def verdict(self, value):
        if value is None:
            return "not measured"
        return "met" if (value >= self.limit if self.at_least else value <= self.limit) else "missed"


GOALS = (
    Goal("pod_bytes", "memory per pod, growth of the watcher's PSS, 150,000 pods of 8 KB", 200, "bytes"),
    Goal("tree_150k", "whole tree, 150,000 pods", 60, "MB", "{:.1f}"),
    Goal("tree_1m", "whole tree, 1,000,000 pods", 250, "MB", "{:.1f}"),
    Goal("peak_first", "peak of the watcher in the first list, against the steady state", 1.1, "×", "{:.2f}"),
    Goal("peak_relist", "peak of the watcher in a relist, against the steady state", 1.1, "×", "{:.2f}"),
    Goal("sync_plain", "first synchronisation against curl, 150,000 pods, plain", 1.2, "×", "{:.2f}"),
    Goal("sync_tls", "first synchronisation against curl, 150,000 pods, TLS", 1.2, "×", "{:.2f}"),
    Goal("sync_real", "first synchronisation against curl, real server", 1.05, "×", "{:.2f}"),
    Goal("pod_cpu", "CPU per pod, decode and store, 8 KB of protobuf", 1.5, "µs", "{:.2f}"),
    Goal("growth_cpu", "CPU per pod in the cache at 1,000,000 against 10,000", 1.15, "×", "{:.2f}"),
    Goal("growth_bytes", "bytes per pod in the cache at 1,000,000 against 10,000", 1.15, "×", "{:.2f}"),
    Goal("telling", "instructions of a deletion in the reporter, told to a sink against not", 1.2, "×", "{:.2f}"),
    Goal("latency_p50", "eviction → DELETE, 150,000 pods, 1,000 events/s beside it, p50", 2, "ms", "{:.2f}"),
    Goal("latency_p99", "the same, p99", 10, "ms", "{:.2f}"),
    Goal("latency_real", "eviction → DELETE, real server, p50 as part of the faster peer's", 1, "×", "{:.2f}"),
    Goal("deletions", "deletions, 4 workers", 5000, "a second", "{:.0f}", True),
    Goal("deletions_default", "deletions, default workers, as part of the best fixed number's, round by round", 0.95, "×", "{:.2f}", True),
    Goal("deletions_default_real", "the same, real server", 0.95, "×", "{:.2f}", True),
    Goal("deletions_real", "deletions, real server, as part of those of client-go by protobuf without limit, round by round", 0.95, "×", "{:.2f}", True),
    Goal("idle_wakeups", "wake-ups of the idle tree that no heartbeat causes", 0.5, "a second", "{:.2f}"),
    Goal("idle_tree", "whole tree, 100 pods, no worker", 12, "MB", "{:.1f}"),
    Goal("fleet_memory", "whole tree, 100 clusters of 1,000 pods", 250, "MB"),
    Goal("fleet_sync", "the same, start to the last complete list", 3, "s", "{:.2f}"),
    Goal("fleet_wakeups", "the same, wake-ups a second and cluster while nothing happens", 0.3, "", "{:.2f}"),
    Goal("fleet_first", "the same, eviction → DELETE in a cluster without a worker", 60, "ms", "{:.1f}"),
    Goal("fleet_fairness", "eviction → DELETE, p99, beside 5,000 evictions in another cluster, against without", 2, "×", "{:.2f}"),
    Goal("fleet_told", "eviction → message of a chat, p99, beside them, against without", 2, "×", "{:.2f}"),
)

# Where it is to go from there.
LIMITS = (
    Goal("deletions_floor", "deletions, default workers, as part of those of libcurl that only reads and deletes, round by round", 0.95, "×", "{:.2f}", True),
    Goal("deletions_real", "deletions, real server, as part of those of client-go by protobuf without limit, round by round", 1, "×", "{:.2f}", True),
    Goal("pod_instructions", "instructions a pod, decode and store", 7000, "", "{:,.0f}"),
    Goal("idle_tree", "whole tree, 100 pods, no worker", 6, "MB", "{:.1f}"),
    Goal("tree_1m", "whole tree, 1,000,000 pods", 110, "MB", "{:.1f}"),
    Goal("burst_bytes", "memory per pod after bursts of changes, 150,000 pods of 8 KB", 130, "bytes"),
    Goal("plan_wall", "`plan` of 10,000 pods without an instance, start to end", 0.5, "s", "{:.2f}"),
    Goal("plan_list", "the same, against curl of the list", 2, "×", "{:.1f}"),
    Goal("scale_off", "formulas of docs/scale.md against three other trees, the worst", 15, "%", "{:.0f}"),
)


def rows(values, of=GOALS):
    """[text, goal, measured, verdict] of each."""
    out = []
    for g in of:
        value = values.get(g.key)
        out.append([g.text, g.wanted(), "–" if value is None else g.show(value), g.verdict(value)])
    return out


def missed(values, of=GOALS):
    return [g for g in of if g.verdict(values.get(g.key)) != "met"]

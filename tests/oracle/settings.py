"""What a run was configured to do, read from its configuration by the oracle's own reading."""
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

DUTIES = {"deleteEvictedPod": "evicted", "delteEvictedPod": "evicted", "deleteTerminatingPod": "terminating",
          "delteTerminatingPod": "terminating", "errImagePull": "image_pull", "deleteFinishedPod": "finished",
          "crashLoop": "crash_loop"}
LEFT_BEHIND = ("NodeShutdown", "Terminated", "Shutdown", "NodeAffinity", "NodePorts", "TaintToleration", "PodOSNotSupported",
               "PodOSSelectorNodeLabelDoesNotMatch", "SysctlForbidden", "TopologyAffinityError", "SMTAlignmentError", "NodeLost", "OutOf*",
               "UnexpectedAdmissionError", "ContainerStatusUnknown", "Preempting")
UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
KNOWN_SLACK = 2 # seconds that the supervisor believes of a watcher beyond what it was told itself
BUDGETS = {"maxPerMinute": 60, "maxPerHour": 3600, "maxPerDay": 86400, "maxPerNamespaceHour": 3600}


@dataclass
class Policy:
    """namespaces: a set of what its list holds, or None for none. hours: seconds. The dictionaries are by duty: evicted, terminating, ..."""
    evicted: object = None
    terminating: object = None
    image_pull: object = None
    finished: object = None
    crash_loop: object = None
    evicted_hours: float = 0.0                      # how long an evicted pod is kept
    evicted_keep: int = 0                           # so many of an owner are kept, the last to be evicted
    finished_hours: float = 0.0
    finished_reasons: tuple = LEFT_BEHIND
    finished_phases: tuple = ("Failed",)
    include_jobs: bool = False                      # of deleteFinishedPod
    evicted_jobs: bool = False                      # includeJobs of deleteEvictedPod
    include_bare_pods: bool = False
    crash_loop_hours: float = 0.0
    crash_loop_counts: int = 0
    terminating_hours: float = 0.0
    image_pull_hours: float = 0.0
    finish: float = 60.0                            # a half-deleted pod is due again so long after its deadline
    observe: bool = False
    unreachable_nodes: bool = False
    causes_named: set = field(default_factory=set)
    fresh_attempt: bool = False
    ordinal_stuck: bool = False                     # a pod that holds up the order of its StatefulSet is deleted
    suspend_jobs: bool = False
    suspend_cron_jobs: bool = False
    announce: dict = field(default_factory=dict)    # seconds
    budgets: dict = field(default_factory=dict)     # duty -> {key: number}
    windows: dict = field(default_factory=dict)     # duty -> [text]
    zone: str = ""
    excluded: tuple = ()                            # what excludeNamespaces holds
    labels: dict = field(default_factory=dict)      # namespace -> [(since when, its labels)], where a list asks for them
    corrected: set = field(default_factory=set)     # duties whose replicas come back when a person has corrected the workload
    restore: bool = False                           # a person puts back whatever this program took
    restores: dict = field(default_factory=dict)    # (namespace, name) -> replicas that a person asked to put back
    objected: bool = False                          # a webhook objects to marks: replicas are written without one
    leaves_zero: bool = False                       # this server's autoscalers leave a 0 alone that they did not make (from 1.37 on)

    @property
    def causes(self):
        """Of a failed pull, that may lead to an act: those that the operator names, else all that are known and do not heal by themselves."""
        return self.causes_named or {"permanent", "auth", "misconfigured"}

    def _labels(self, ns, at):
        labels = {}
        for since, then in self.labels.get(ns, ()):
            labels = then if since <= at else labels
        return labels

    def excludes(self, ns, at=float("inf")):
        return means(self.excluded, ns, self._labels(ns, at))

    def covers(self, duty, ns, at=float("inf")):
        namespaces = getattr(self, duty)
        return (namespaces is not None and means(namespaces, ns, self._labels(ns, at)) and not self.excludes(ns, at)
                and (ns in namespaces or not ns.startswith("kube-")))

    def configure(self, config):
        """Take over what one configuration (a dict) says; several programs of one run add up."""
        overrides = [o for o in config.get("overrides") or [] if isinstance(o, dict)]
        for part in [config, *overrides]:
            for key, duty in DUTIES.items():
                if isinstance(part.get(key), dict):
                    self._section(duty, part[key])
        self.zone = config.get("timeZone", self.zone)
        self.excluded = texts(config.get("excludeNamespaces", self.excluded))
        if "finishDeletionsAfter" in config:
            self.finish = seconds(config["finishDeletionsAfter"])

    def _section(self, duty, section):
        if duty == "image_pull":
            causes = section.get("causes") or []
            self.causes_named |= set(causes.split(",") if isinstance(causes, str) else causes)
            self.fresh_attempt |= seconds(section.get("freshAttempt", "0s")) > 0
            self.ordinal_stuck |= section.get("ordinalStuck") == "delete"
            self.suspend_jobs |= bool(section.get("suspendJobs"))
            self.suspend_cron_jobs |= bool(section.get("suspendCronJobs"))
        if duty == "evicted":
            self.evicted_keep = section.get("keepNewest", self.evicted_keep)
            self.evicted_jobs |= bool(section.get("includeJobs"))
        if duty == "finished":
            self.finished_reasons = texts(section.get("reasons")) or self.finished_reasons
            self.finished_phases = texts(section.get("phases")) or self.finished_phases
            self.include_jobs |= bool(section.get("includeJobs"))
            self.include_bare_pods |= bool(section.get("includeBarePods"))
        if duty in ("image_pull", "crash_loop") and section.get("restore") == "whenTemplateChanges":
            self.corrected.add(duty)
        if duty == "crash_loop":
            self.crash_loop_counts = section.get("counts", self.crash_loop_counts)
        if "announce" in section:
            self.announce[duty] = seconds(section["announce"])
        found = {key: int(section[key]) for key in BUDGETS if section.get(key)}
        if found:
            self.budgets.setdefault(duty, {}).update(found)
        if section.get("windows"):
            self.windows[duty] = section["windows"] if isinstance(section["windows"], list) else [section["windows"]]


def wild(pattern, text):
    """Does a pattern with * match?"""
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), text) is not None


def means(items, ns, labels):
    """Is ns in a list of names, patterns and label:KEY=VALUE? What stands behind a ! is taken away, from all where nothing else is said."""
    def hit(item):
        key, _, value = item.removeprefix("label:").partition("=")
        return key in labels and wild(value, labels[key]) if item.startswith("label:") else wild(item, ns)

    minus = [item[1:] for item in items if item.startswith("!")]
    plus = [item for item in items if not item.startswith("!")] or (["*"] if minus else [])
    return any(map(hit, plus)) and not any(map(hit, minus))


def texts(value):
    """A list, or a text with commas."""
    return tuple(value.split(",") if isinstance(value, str) else value or ())


def seconds(text):
    """A Go duration."""
    return sum(float(n) * UNITS[unit] for n, unit in re.findall(r"([\d.]+)(ns|us|µs|ms|s|m|h|d)", str(text)))


NAMES = {n: i for i, n in enumerate("sun mon tue wed thu fri sat".split())}
NAMES.update({n: i + 1 for i, n in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split())})


def field_has(text, value, low, high):
    for part in text.lower().split(","):
        span, _, step = part.partition("/")
        if span in ("*", "?"):
            first, last = low, high
        else:
            first, _, last = span.partition("-")
            first = NAMES.get(first) if first in NAMES else int(first)
            last = (NAMES.get(last) if last in NAMES else int(last)) if last else (high if step else first)
        if first <= value <= last and (value - first) % int(step or 1) == 0:
            return True
    return False


def fires(spec, at):
    """Does the schedule fire in that minute? Five fields, or six with the seconds first."""
    fields = spec.split()
    minute, hour, day, month, weekday = fields[-5:]
    days = [field_has(day, at.day, 1, 31), field_has(weekday, at.isoweekday() % 7, 0, 6)]
    both = day in ("*", "?") or weekday in ("*", "?")       # either of them, when both are given
    return (field_has(minute, at.minute, 0, 59) and field_has(hour, at.hour, 0, 23) and field_has(month, at.month, 1, 12)
            and (all(days) if both else any(days)))


def window_open(text, t, zone):
    """Is "CRON for DURATION" open at t (Unix seconds)? Looks back minute by minute for its opening."""
    m = re.fullmatch(r"(?:(?:CRON_)?TZ=(\S+)\s+)?(.*\S)\s+for\s+(\S+)", text.strip())
    tz = ZoneInfo(m.group(1) or zone) if (m.group(1) or (zone and zone != "Local")) else None
    now = datetime.fromtimestamp(t, tz)
    at = now.replace(second=0, microsecond=0)
    while now - at < timedelta(seconds=seconds(m.group(3))):
        if fires(m.group(2), at):
            return True
        at -= timedelta(minutes=1)
    return False

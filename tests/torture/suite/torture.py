"""One run: calm, ten kills a minute of each role, the fire, calm again, the verdict."""
import functools
import json
import pathlib
import shutil
import subprocess
import sys
import time

import scratch
from harness.clock import Clock
from harness.disk import Disk
from harness.servers import TESTS, Cluster, judge as oracle
from oracle import logs

from . import feed, judge, measure, page, schedule, telling
from .faults import Fire
from .instance import Instance

DISK = 128 << 20        # bytes a state directory may hold
WORKERS = 6             # of each instance. All together hold fewer leases (8 each) than the API server takes requests of one user
THINGS_PER_SECOND = 24  # over all instances
AFTER = 3.0             # seconds for a write too many to show
START = 10.0            # seconds of a run that are not fire
MEASURE = 150.0         # more of them, where the speed is measured
MEASURE_FROM = 300      # seconds: a shorter run is fire alone
BACKLOG = 3000          # pods for one measurement of the speed
DETAILS = 12            # lines of what failed that are shown
QUIET = 10.0            # seconds between two signs of life where there is no terminal
WARM_UP = 60.0          # seconds of ten kills a minute before the speed is measured under them


def control_plane():
    """Builds it if need be; why there is none, or None."""
    built = subprocess.run([TESTS / "cluster" / "build"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    sys.stderr.write(built.stderr)
    return (built.stderr.strip().splitlines() or ["tests/cluster/build failed"])[-1] if built.returncode else None


def slim(obj):
    """What a judge needs of an object."""
    if isinstance(obj, dict) and isinstance(obj.get("metadata"), dict):
        obj["metadata"].pop("managedFields", None)
        if obj.get("kind") == "Pod":
            obj.get("spec", {}).clear()
    return obj


class Torture:
    workers = WORKERS

    def __init__(self, options):
        self.options = options
        self.folder = scratch.folder("torture")
        self.terminal = sys.stdout.isatty()
        self.begin, self.phase = time.monotonic(), "start"
        self.width, self.printed = 0, ("", 0.0)     # of the line on a terminal; what was printed elsewhere, and when
        self.instances, self.feeds, self.things, self.listeners = [], [], [], []
        self.checks, self.speeds, self.facts = [], {}, {}

    # --- what the person sees ---

    def say(self, text):
        seconds = int(time.monotonic() - self.begin)
        line = f"{seconds // 60}:{seconds % 60:02d}  {self.phase:5}  {self.kills():6,} kills  {self.made():6,} made  {text}"
        if self.terminal:
            line = line[:shutil.get_terminal_size().columns - 1]
            print("\r" + line.ljust(self.width), end="", flush=True)
            self.width = len(line)
        elif text != self.printed[0] or time.monotonic() - self.printed[1] > QUIET:
            self.printed = (text, time.monotonic())
            print(line, flush=True)

    def stay(self, text):
        """A line that stays."""
        if self.terminal and self.width:
            print("\r" + " " * self.width + "\r", end="")
            self.width = 0
        print(text, flush=True)

    def kills(self):
        return sum(len(i.kills) for i in self.instances)

    def made(self):
        return sum(len(f.things) for f in self.feeds) + len(self.things)

    def check(self, good, text, details=()):
        self.checks.append((bool(good), text))
        self.stay(("ok   " if good else "FAIL ") + text + "".join(f"\n     {d}" for d in details[:DETAILS])
                  + (f"\n     … {len(details) - DETAILS} more" if len(details) > DETAILS else ""))

    # --- the run ---

    def run(self):
        o = self.options
        self.stay(f"torture: seed {o.seed}, {o.seconds:g} s, {o.instances} instances, {o.kills_per_second:g} kills a second")
        try:
            self.start()
            if o.seconds >= MEASURE_FROM:
                self.measure_speed()
            self.burn()
            self.settle()
            self.end()
            self.verdict()
        finally:
            for instance in self.instances:
                instance.ending.set()
                instance.destroy()
            for listeners in self.listeners:
                listeners.close()
            if o.keep:
                self.stay(f"files: {self.folder}")
                self.server.stop()
                scratch.keep(self.folder)
            else:
                scratch.remove(self.folder)
        bad = [text for good, text in self.checks if not good]
        if o.page:
            page.write(pathlib.Path(o.page), self)
        self.stay(f"{len(self.checks) - len(bad)} passed, {len(bad)} failed, {len(self.facts.get('left out', ()))} skipped")
        return 1 if bad or not self.checks else 0

    def start(self):
        self.server = Cluster(self.folder / "cluster")
        self.server.start()
        self.server.admin.on_object = lambda obj: self.server.states.add(slim(json.loads(json.dumps(obj))))
        program = self.folder / "program"
        self.clock = Clock.copy(self.options.build, program)
        self.disks = []
        rate = THINGS_PER_SECOND / self.options.instances
        kubeconfig = self.folder / "kubeconfig"
        kubeconfig.write_text(self.server.kubeconfig("cleaner"))
        for number in range(self.options.instances):
            source = feed.Feed(self.server, number, rate, self.options.seed)
            listeners = telling.Listeners()
            self.listeners.append(listeners)
            instance = Instance(number, program, self.folder / f"instance-{number}", {**source.config(), **listeners.config(), "workers": WORKERS}, kubeconfig)
            self.feeds.append(source)
            self.instances.append(instance)
            self.mount(instance)
        self.version = self.instances[0].ask_plain("version").stdout.strip()
        for instance in self.instances:
            instance.run()
        self.say("all instances are ready")

    def mount(self, instance):
        if not Disk.possible():
            self.facts["left out"] = ["a full disk: only root can mount a file system of its own for the state directory"]
            return
        disk = Disk(instance.state, DISK)
        disk.mount(functools.partial(scratch.at_end, self.folder))
        self.disks.append(disk)

    def measure_speed(self):
        """In calm before and after, for a machine is not equally fast all the time."""
        self.phase = "calm"
        calm = [self.drain("calm-before", 120)]
        self.phase = "pace"
        pacer = measure.Pacer(self.instances)
        pacer.start()
        begin = time.monotonic()
        self.speeds["paced"] = self.drain("paced", 120, lambda: time.sleep(max(0.0, WARM_UP - (time.monotonic() - begin))))
        pacer.stop()
        self.phase = "calm"
        calm.append(self.drain("calm-after", 120))
        self.speeds["calm"] = sum(calm) / 2 if all(calm) else None
        self.facts["paced kills"] = pacer.kills

    def drain(self, name, limit, warm_up=lambda: None):
        """Deletions a second of a backlog."""
        backlog = measure.Backlog(self.server, self.instances, self.feeds, name, BACKLOG)
        self.say(f"paused, while {BACKLOG:,} pods are evicted")
        backlog.pause()
        backlog.fill()
        self.things += backlog.things
        warm_up()
        self.say("resumed")
        speed = backlog.drain(limit)
        self.say(f"{speed:.0f} deletions a second" if speed else "too few deletions")
        return speed

    def burn(self):
        self.phase = "fire"
        o = self.options
        seconds = max(10.0, o.seconds - START - (MEASURE if o.seconds >= MEASURE_FROM else 0.0))
        plan = schedule.draw(o.seed, o.lanes.split(","), seconds, o.instances, o.kills_per_second)
        self.fire_at = time.time()
        for source in self.feeds:
            source.start()
        fire = Fire(plan, self.instances, self.server, self.disks, self.clock, self.say)
        fire.burn(seconds)
        self.phase = "calm"
        self.say("the fire is out")
        self.calm_at = time.time()
        for source in self.feeds:
            source.stop()
            self.things += source.things
        self.facts.update(fire=seconds, faults=fire.done, trouble=[t for f in self.feeds for t in f.trouble],
                          asked_again=sum(f.objects.admin.asked_again for f in self.feeds))
        for source in self.feeds:
            source.things = []
        # A slow control plane is still making the last of them; what became due in the calm has its whole time.
        self.calm_at = max([self.calm_at] + [t.due for t in self.things])

    # --- the end ---

    def left(self):
        """{uid: what is left of it} in all namespaces of the run."""
        left = {}
        for source in self.feeds:
            for ns in source.spaces.values():
                for pod in source.objects.all_pods(ns):
                    meta, status = pod["metadata"], pod.get("status") or {}
                    left[meta["uid"]] = (f"still there, {status.get('phase')} {status.get('reason') or ''}, deletionTimestamp "
                                         f"{meta.get('deletionTimestamp')}, grace {meta.get('deletionGracePeriodSeconds')}")
            for top in source.objects.admin.get(feed_path(source.spaces["pull"])).get("items") or []:
                if top["spec"].get("replicas"):
                    left[top["metadata"]["uid"]] = f"still has {top['spec']['replicas']} replicas"
        return left

    def open_things(self, left):
        return [t for t in self.things if t.fate in (feed.DELETE, feed.SCALE) and t.uid in left]

    def settle(self):
        """Until nothing is due any more, and a little longer."""
        for source in self.feeds:
            source.objects.admin.stopped.clear()
        open_now = self.open_things(self.left())
        while open_now and time.time() - self.calm_at < self.options.calm:
            self.say(f"{len(open_now)} left")
            time.sleep(1)
            open_now = self.open_things(self.left())
        self.facts["settled"] = None if open_now else max(0.0, time.time() - self.calm_at)
        self.facts["unsettled"] = [f"{t}: due {time.time() - t.due:.0f} s ago" for t in open_now]
        time.sleep(AFTER)
        self.facts["history"] = self.histories()

    def histories(self):
        """{outcome: rows}, of all instances."""
        counts = {}
        for instance in self.instances:
            try:
                outcomes = [row["outcome"] for row in instance.history("--refusals")]
            except (AssertionError, subprocess.TimeoutExpired) as e:
                outcomes = [f"not told: {e}"]
            for outcome in outcomes:
                counts[outcome] = counts.get(outcome, 0) + 1
        return counts

    def end(self):
        codes = []
        for instance in self.instances:
            try:
                codes.append(instance.end())
            except AssertionError as e:
                codes.append(str(e))
        self.facts["codes"] = codes
        self.left_at_end = self.left()

    def check_telling(self):
        figures, wrong = {}, []
        for instance, listeners in zip(self.instances, self.listeners):
            full_times = self.disks[instance.number].full_times if self.disks else ()
            found, bad = telling.judge(listeners, instance.state, full_times)
            wrong += [f"instance {instance.number}: {text}" for text in bad]
            figures = {key: figures.get(key, 0) + n for key, n in found.items()}
        self.check(not wrong, f"{figures['told']:,} actions told in {figures['messages']:,} messages, "
                              f"{figures['again']} of the chat's {figures['chat']:,} as a repetition", wrong)

    def requests(self):
        """All writes of the audit log."""
        found = []
        with open(self.server.audit, "rb") as file:
            for line in file:
                request = logs.parse_line(line)
                if request and request.is_write:
                    request.answer = slim(request.answer)
                    found.append(request)
        return found

    def verdict(self):
        self.say("judging")
        requests = self.requests()
        v = self.result = judge.judge(self.things, requests, self.server.is_program, self.left_at_end)
        policy = oracle.Policy(evicted=set(), terminating=set(), image_pull=set(), finished=set(), crash_loop=set(), terminating_hours=feed.HOURS,
                               image_pull_hours=feed.HOURS, finished_hours=feed.HOURS)
        for source in self.feeds:
            for duty, kind in (("evicted", "evicted"), ("terminating", "terminating"), ("finished", "finished"), ("image_pull", "pull")):
                getattr(policy, duty).add(source.spaces[kind])
            policy.configure(source.config())
        report = oracle.check(requests, policy, self.server.states, self.server.is_program)
        self.facts["checked"] = report.checked
        exits = [f"instance {i.number} ended with {code} by itself, {n} times" for i in self.instances for code, n in i.exits.items() if code != 75]
        early, findings = judge.split_early(report.findings, "clocks" in self.options.lanes)
        self.facts["early"] = early
        v.lost.sort(key=lambda text: text.count("\n"))      # those that nobody even tried first
        self.check(not v.lost, f"{len(v.lost)} of {v.due:,} due objects lost, {v.lost_in_a_write} of them by a write that was cut off", v.lost)
        self.check(not v.double, f"{len(v.double)} done twice", v.double)
        self.check(not v.wrong, f"{len(v.wrong)} wrong writes", v.wrong)
        self.check(not findings, f"{len(findings)} findings of the oracle", [str(f) for f in findings])
        settled = self.facts["settled"]
        self.check(settled is not None, f"settled {settled:.1f} s after the last fault" if settled is not None else f"not settled within {self.options.calm:g} s",
                   self.facts["unsettled"])
        self.check(not exits and not any(self.facts["codes"]), f"exit codes at the end: {self.facts['codes']}", exits)
        self.check_telling()
        planned = self.facts["fire"] * self.options.kills_per_second
        if "kills" in self.options.lanes:
            self.check(self.kills() >= 0.9 * planned, f"{self.kills():,} kills")
        if self.options.seconds >= MEASURE_FROM:
            calm, paced = self.speeds["calm"], self.speeds["paced"]
            told = [f"{speed:.0f}" if speed else f"too few of {BACKLOG:,}" for speed in (paced, calm)]
            self.check(calm and paced and paced >= 0.8 * calm, f"{told[0]} deletions a second with ten kills a minute of each role, {told[1]} in calm")
        trouble = self.facts["trouble"]
        self.check(len(trouble) < 0.01 * len(self.things), f"{len(trouble)} objects could not be made, for the control plane was too slow", trouble)
        for reason in self.facts.get("left out", ()):
            self.stay(f"skip {reason}")
        for line in page.figures(self):
            self.stay(line)


def feed_path(ns):
    return f"/apis/apps/v1/namespaces/{ns}/deployments"

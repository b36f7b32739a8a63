"""What a scenario is, and what it is given."""
import functools
import pathlib
import re
import subprocess
import time
import traceback
import uuid
import zlib

import scratch

from .client import Client
from .disk import Disk
from .forward import Forward
from .objects import KINDS, Objects
from .program import Program
from .proxy import Proxy
from .servers import judge
from .sink import Sink
from .wait import Timeout, never, until

SCENARIOS = []
SANITIZER = re.compile(r"ERROR: (Address|Leak|Memory|Thread)Sanitizer|runtime error:")


class Skip(Exception):
    pass


class Scenario:
    def __init__(self, fn, name, servers, alone, timeout, needs):
        self.fn, self.name, self.servers, self.alone, self.timeout, self.needs = fn, name, servers, alone, timeout, needs


PREFIXES = set()    # of the scenarios of this run: two of them may share a server

PLURALS = {"Pod": "pods", **{kind: row[1] for kind, row in KINDS.items()}}


def scenario(name, servers=("apisim", "cluster"), alone=False, timeout=120, needs=()):
    """alone: nothing else may run on the server meanwhile (it acts in every namespace, or disturbs the server).
    needs: capabilities of capabilities.py; where the server lacks one the scenario is skipped."""
    def register(fn):
        SCENARIOS.append(Scenario(fn, name, servers, alone, timeout, needs))
        return fn
    return register


def seconds(text):
    unit = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
    for suffix in ("ms", "s", "m", "h"):
        if text.endswith(suffix):
            return float(text[:-len(suffix)]) * unit[suffix]
    raise ValueError(text)


def new_prefix():
    """Of the namespaces of one scenario, and of no other."""
    while (prefix := "e" + uuid.uuid4().hex[:6]) in PREFIXES:
        pass
    PREFIXES.add(prefix)
    return prefix


class Test:
    """One run of a scenario: its namespaces, its program, its part of the server's log."""

    def __init__(self, runner, server, name, folder):
        self.runner, self.server, self.name = runner, server, name
        self.build = runner.build
        self.dir = pathlib.Path(folder)
        self.dir.mkdir(parents=True)
        self.admin = server.admin
        self.prefix = new_prefix()
        self.objects = Objects(server, self.prefix)
        self.programs, self.closing = [], []
        self.pairs = set()                  # kubeconfigs with the credentials of watcher and workers
        self.policy = judge.Policy(evicted=set(), terminating=set(), image_pull=set(), finished=set(),
                                   crash_loop=set())
        self.is_mine = server.is_program    # whose requests are the program's
        self.note = ""
        self.complete = True                # False: the scenario ends before all that is due can be done
        self.started = len(server.log())

    # --- making things ---

    def ns(self, name=None, create=True):
        return self.objects.ns(name, create)

    def write(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return path

    def script(self, name, text):
        """One that may be run at once. Another process writes it: what this one has open for writing while it forks for another scenario
        cannot be executed (ETXTBSY)."""
        path = self.dir / name
        subprocess.run(["install", "-m", "700", "/dev/stdin", path], input=text, text=True, check=True)
        return path

    def kubeconfig(self, user=None, proxy=None):
        """Of that user; without one the watcher's and, as context `writer`, the workers'."""
        if user is None:
            path = self.write(f"kubeconfig-{uuid.uuid4().hex[:4]}", self.server.kubeconfig_pair(proxy))
            self.pairs.add(str(path))
            return path
        name = f"kubeconfig-{user}-{uuid.uuid4().hex[:4]}"
        if proxy:
            return self.write(name, self.server.kubeconfig(user, proxy.url, proxy.ca))
        return self.write(name, self.server.kubeconfig(user))

    def proxy(self):
        proxy = Proxy(self.server.url, self.runner.authority, self.server.ca)
        self.closing.append(proxy)
        return proxy

    def forward(self, scheme, names=(), authority=None):
        """A proxy that the program is told of, unlike proxy(): scheme and names as in forward.py."""
        forward = Forward(scheme, names, authority)
        self.closing.append(forward)
        return forward

    def sink(self, *script, secret=None, kind="feishu", authority=None):
        """With an authority it is https."""
        sink = Sink(script, secret, kind=kind, authority=authority)
        self.closing.append(sink)
        return sink

    def disk(self, program):
        """A small one of its own for the state directory of a program that was not started yet."""
        if not Disk.possible():
            raise Skip("only root can mount a file system of its own for the state directory")
        disk = Disk(program.state, 8 << 20)
        disk.mount(functools.partial(scratch.at_end, self.runner.folder))
        self.closing.append(disk)
        return disk

    def config(self, restarts=None, hours="2s", **more):
        """A configuration with those duties on (evicted, terminating, image_pull, finished, crash_loop), in those namespaces,
        and the oracle told the same."""
        config = {}
        for duty, key in judge.DUTY_KEYS.items():
            spaces = more.pop(duty, None)
            if spaces is None:
                continue
            spaces = [spaces] if isinstance(spaces, str) else list(spaces)
            config[key] = {"enable": True, "namespaces": spaces}
            getattr(self.policy, duty).update(spaces)
            if duty != "evicted":
                config[key]["hours"] = hours
                setattr(self.policy, duty + "_hours", seconds(hours))
        if restarts:
            config["tooManyRestart"] = {"enable": True, **restarts}
        if more.get("mode") == "observe":
            self.policy.observe = True
        for key, value in more.items():     # further keys of a duty's section join those above
            config[key] = {**config[key], **value} if isinstance(config.get(key), dict) and isinstance(value, dict) else value
        self.policy.configure(config)
        return config

    def program(self, config, kubeconfig="", start=True, **more):
        if isinstance(config, dict):
            self.policy.configure(config)
        if kubeconfig == "":
            kubeconfig = self.kubeconfig()
        program = Program(self.build, self.dir / f"p{len(self.programs)}", config, kubeconfig,
                          writer_context="writer" if str(kubeconfig) in self.pairs else None,
                          tools=self.runner.tools if self.build == self.runner.build else None, **more)
        self.programs.append(program)
        return program.start() if start else program

    def run(self, proxy=None, **config):
        """The usual one: these duties, started and ready."""
        return self.program(self.config(**config), self.kubeconfig(proxy=proxy) if proxy else "")

    # --- the server's log ---

    def requests(self):
        """The program's own requests in the namespaces of this scenario, in order."""
        spaces = set(self.objects.namespaces)
        return [r for r in self.server.log()[self.started:] if self.is_mine(r) and r.ns in spaces]

    def writes(self, dry=False):
        """What was done. Events and marks only tell of it, a Lease of who does it, and they have scenarios of their own."""
        return [r for r in self.requests()
                if r.is_write and r.dry_run == dry and r.resource not in ("events", "leases") and not judge.is_mark(r)]

    def writes_on(self, obj, dry=False):
        meta = obj["metadata"] if isinstance(obj, dict) else obj.top["metadata"]
        return [r for r in self.writes(dry) if r.ns == meta["namespace"] and r.name == meta["name"]]

    def wait_write(self, obj, timeout=30, code=None, dry=False):
        """The first write on that pod or workload (with that status)."""
        name = obj["metadata"]["name"] if isinstance(obj, dict) else obj.name
        return until(f"a write on {name}", lambda: next(
            (r for r in self.writes_on(obj, dry) if code is None or r.code == code), None), timeout)

    def no_write_before(self, what, at):
        """None is made before that time, Unix seconds, by the server's log: a busy machine may look too late."""
        def early():
            return [r for r in self.writes() if r.t < at]
        self.never(what, early, at - time.time())
        assert not early(), f"{what}: {early()}"

    def expect(self, deleted=(), forced=(), scaled=(), failed=(), patched=(), dry=False):
        """Exactly these writes were made and no other. failed: [(object, status)] that were refused by the server.
        patched: objects that were themselves patched (announced, suspended)."""
        wanted = self._wanted(deleted, forced, scaled)
        for obj in patched:
            top = obj if isinstance(obj, dict) else obj.top
            wanted.append(("patch", PLURALS[top["kind"]], top["metadata"]["name"], top["metadata"]["uid"], None))
        writes = self.writes(dry)
        lines = "\n      ".join(str(r) for r in writes)
        self._same(writes, wanted, lines)
        refused = sorted((r.name, r.code) for r in writes if not r.ok)
        names = sorted((o["metadata"]["name"] if isinstance(o, dict) else o.name, code) for o, code in failed)
        assert refused == names, f"expected refused writes {names}; the server saw\n      {lines or 'no write'}"
        if not dry:
            assert not self.writes(True) or self.policy.observe, "dry runs outside mode observe"

    def expect_success(self, deleted=(), forced=(), scaled=()):
        """Exactly these writes succeeded; what the server refused beside them does not matter here."""
        self._same(self.writes(), self._wanted(deleted, forced, scaled), "(many)")

    @staticmethod
    def _wanted(deleted, forced, scaled):
        wanted = [("delete", "pods", p["metadata"]["name"], p["metadata"]["uid"], None) for p in deleted]
        wanted += [("delete", "pods", p["metadata"]["name"], p["metadata"]["uid"], 0) for p in forced]
        return wanted + [("patch", "scale", w.name, w.uid, None) for w in scaled]

    @staticmethod
    def _same(writes, wanted, lines):
        got = [(r.verb, "scale" if judge.kind_of(r) == "scale" else r.resource, r.name, r.uid, r.grace) for r in writes if r.ok]
        # a plain DELETE of an evicted pod may name a grace period or not: a pod that has failed goes at once
        plain = {w[:4] for w in wanted if w[4] is None}
        got = sorted(str(g[:4] + (None,) if g[:4] in plain else g) for g in got)
        wanted = sorted(map(str, wanted))
        missing = [w for w in wanted if w not in got]
        extra = list(got)
        for w in wanted:
            if w in extra:
                extra.remove(w)
        assert not missing and not extra, \
            f"missing writes {missing}, unexpected writes {extra}; the server saw\n      {lines or 'no write'}"

    def judge(self):
        """The oracle's word on every request of this scenario."""
        spaces = set(self.objects.namespaces)
        log = [r for r in self.server.log()[self.started:] if r.ns in spaces or r.resource == "nodes"]
        report = judge.check(log, self.policy, self.server.states, self.is_mine)
        assert report.ok, "the oracle: " + "\n      ".join(str(f) for f in report.findings)
        return report

    def expect_complete(self):
        """The oracle's word on what is left: each pod that is due is in the history of a program that still runs, refusals included."""
        running = [p for p in self.programs if p.process and p.process.poll() is None]
        if not running or self.policy.observe or self.policy.budgets or self.policy.windows or not self.complete:
            return
        told = {row["uid"] for p in running for row in p.history("--refusals")}
        pods = [p for ns in self.objects.namespaces for p in self.objects.all_pods(ns)]
        left = [f"{p['metadata']['namespace']}/{p['metadata']['name']}: {why}"
                for p, why in judge.left_undone(pods, self.policy, told, time.time())]
        assert not left, f"the oracle: due, yet neither done nor refused: {'; '.join(left)}"

    # --- waiting ---

    until = staticmethod(until)
    never = staticmethod(never)

    def wait_history(self, program, timeout=30, **fields):
        """A row of the history with these values."""
        def find():
            for row in program.history("--refusals"):
                if all(row[k] == v for k, v in fields.items()):
                    return row
            return None
        try:
            return until(f"history row {fields}", find, timeout, every=0.1)
        except Timeout as e:
            raise Timeout(f"{e}; the history holds {program.history('--refusals')}") from None

    def canary(self, ns, timeout=30):
        """An evicted pod that must go: all that was to be seen before it has been judged when it is gone."""
        pod = self.objects.evict(self.objects.pod(ns))
        self.wait_write(pod, timeout)
        return pod

    # --- the end ---

    def finish(self, failed):
        """Stop everything. A program that was still running must end cleanly."""
        trouble = []
        for program in self.programs:
            try:
                if not failed and program.process and program.process.poll() is None:
                    trouble += filter(None, [program.leaked()])
                    code = program.stop()
                    if code != 0:
                        trouble.append(f"the program ended with {code} after SIGTERM")
            except Exception as e:
                trouble.append(str(e))
            finally:
                program.destroy()
            trouble += [line for line in program.log().splitlines() if SANITIZER.search(line)][:3]
        for thing in self.closing:
            if isinstance(thing, Proxy):
                trouble += [f"proxy hook: {e!r}" for e in thing.errors]
            thing.close()
        return trouble

    def abort(self):
        """From another thread: end what it waits for."""
        for program in self.programs:
            program.destroy()

    def tails(self):
        text = []
        for i, program in enumerate(self.programs):
            text.append(f"--- log of program {i} ({program.log_path})")
            text += program.log().splitlines()[-40:]
        spaces = set(self.objects.namespaces)
        text.append("--- requests")
        log = [r for r in self.server.log()[self.started:] if r.ns in spaces or (self.is_mine(r) and not r.ns)]
        text += [str(r) for r in log[-40:]]
        return "\n".join("    " + line for line in text)


def folder_name(scenario_name):
    """Sockets lie below it, and the name of one holds 107 bytes."""
    name = scenario_name.replace("/", "-")
    return name if len(name) <= 40 else f"{name[:31]}-{zlib.crc32(name.encode()):08x}"


def execute(runner, server, one, tests):
    """(failure or None, skip or None, details, seconds, note)."""
    begin = time.monotonic()
    test = Test(runner, server, one.name, runner.folder / server.name / folder_name(one.name))
    tests.append(test)
    failure = skip = None
    try:
        one.fn(test)
        test.expect_complete()
    except Skip as e:
        skip = str(e)
    except AssertionError as e:
        failure = str(e) or traceback.format_exc()
    except Exception:
        failure = traceback.format_exc()
    trouble = test.finish(failure is not None)
    if not failure and not skip:
        try:
            test.judge()
        except AssertionError as e:
            failure = str(e)
    if not failure and trouble:
        failure = "; ".join(trouble)
    details = test.tails() if failure else ""
    if not runner.keep:
        test.objects.cleanup()
    return failure, skip, details, time.monotonic() - begin, test.note

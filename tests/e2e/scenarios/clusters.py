"""Clusters that come and go while the program runs: by a reload, and as files of a folder."""
import re
import resource
import time

from harness.port import free_port
from harness.scenario import scenario

from .surface import another_cluster, fetch
from .switches import switch


class Two:
    """Two servers with one namespace each, and a program that may be given either."""

    def __init__(self, t):
        self.t, self.ns = t, t.ns()
        self.elsewhere, self.there = another_cluster(t, self.ns)
        self.kubeconfigs = {"here": t.kubeconfig("cleaner"), "there": t.write("kubeconfig-there", self.elsewhere.kubeconfig("cleaner"))}

    def config(self, *names, **more):
        clusters = [{"name": n, "kubeconfig": str(self.kubeconfigs[n])} for n in names]
        return {**self.t.config(evicted=self.ns), "workers": {"min": 1, "max": 2}, **({"clusters": clusters} if clusters else {}), **more}

    def start(self, *names, **more):
        self.program = self.t.program(self.config(*names, **more), kubeconfig=None)
        if names:
            self.becomes(*names)
        return self.program

    def reload(self, *names, **more):
        self.program.write_config(self.config(*names, **more))
        self.program.reload()

    def names(self):
        return [c["cluster"] for c in self.program.status()["clusters"]]

    def becomes(self, *names, limit=15):
        self.t.until(f"clusters {names}", lambda: self.names() == list(names) and all(c["synced"] for c in self.program.status()["clusters"]), limit)

    def canary_there(self):
        """A pod that is deleted in the other cluster."""
        pod = self.there.evict(self.there.pod(self.ns))
        self.t.until("the pod elsewhere to go", lambda: not self.there.get(pod), 15)
        return pod

    def pids_of(self, name):
        return {c["pid"] for c in self.program.status()["processes"] if c.get("cluster") == name}


@switch("clusters")
def come_and_go(t):
    """An entry that is added is worked in, one that is removed is left, and comes back as itself; the other one's processes go on."""
    two = Two(t)
    program = two.start("here")
    gone = [t.canary(two.ns)]
    here = two.pids_of("here")
    two.reload("here", "there")
    two.becomes("here", "there")
    two.canary_there()
    two.reload("here")
    two.becomes("here")
    stays = two.there.evict(two.there.pod(two.ns))
    gone.append(t.canary(two.ns))
    assert two.there.get(stays), "a cluster that is configured no more was worked in"
    assert "there" not in program.ask("explain", f"{two.ns}/{stays['metadata']['name']}").stdout
    two.reload("there", "here")
    two.becomes("here", "there")
    t.until("what waited there to go", lambda: not two.there.get(stays), 15)
    assert here <= two.pids_of("here"), "a process of the cluster that stayed was started again"
    assert not any(word in program.log() for word in ("is killed", "broke the protocol")), program.log()
    rows = [r for r in program.history() if r["outcome"] == "done"]
    assert sorted({r["cluster"] for r in rows}) == ["here", "there"], rows
    t.expect(deleted=gone)


@switch("clusters[].name")
def another_name(t):
    """The same cluster under another name is another one: the old one ends before the new one begins."""
    two = Two(t)
    program = two.start("here")
    gone = [t.canary(two.ns)]
    two.kubeconfigs["new"] = two.kubeconfigs["here"]
    two.reload("new")
    two.becomes("new")
    gone.append(t.canary(two.ns))
    for pod in gone:
        t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done")
    assert [r["cluster"] for r in program.history() if r["outcome"] == "done"] == ["here", "new"], program.history()
    t.expect(deleted=gone)


@switch("clustersFrom")
def files(t):
    """Each file is a cluster, called as the file; one that comes or goes is noticed without a reload."""
    two = Two(t)
    folder = t.dir / "clusters.d"
    folder.mkdir()

    def put(name):
        temporary = folder / f".{name}"
        temporary.write_text(two.kubeconfigs[name].read_text())
        temporary.chmod(0o600)
        temporary.rename(folder / f"{name}.kubeconfig")

    put("here")
    (folder / "README").write_text("not a kubeconfig")
    program = two.start(clustersFrom=f"{folder}/*.kubeconfig")
    two.becomes("here")
    gone = [t.canary(two.ns)]
    put("there")
    two.becomes("here", "there", limit=20)
    two.canary_there()
    (folder / "broken.kubeconfig").write_text("apiVersion: [\n")
    t.until("the broken one to be told", lambda: two.names() == ["here", "there", "broken"], 20)
    gone.append(t.canary(two.ns))
    (folder / "broken.kubeconfig").unlink()
    (folder / "there.kubeconfig").unlink()
    two.becomes("here", limit=20)
    (folder / "here.kubeconfig").unlink()
    t.until("the refusal", lambda: "no file in" in program.log() and "matches *.kubeconfig" in program.log(), 20)
    gone.append(t.canary(two.ns))       # the settings before stay in force
    assert two.names() == ["here"]
    t.expect(deleted=gone)


@scenario("reload/cluster-leaves-at-work", servers=("apisim",))
def leaves_at_work(t):
    """A cluster goes in the middle of a storm: what was begun ends, what waited is refused with its reason, nothing is left open."""
    two = Two(t)
    program = two.start("here", "there")
    pods = [two.there.evict(two.there.pod(two.ns)) for _ in range(300)]
    t.until("work there", lambda: any(not two.there.get(p) for p in pods[:40]), 15)
    two.reload("here")
    two.becomes("here", limit=60)
    gone = [t.canary(two.ns)]
    t.wait_history(program, uid=gone[0]["metadata"]["uid"], outcome="done")
    rows = program.history()
    assert all(r["outcome"] for r in rows), [r for r in rows if not r["outcome"]]
    left = [p for p in pods if two.there.get(p)]
    time.sleep(2)
    assert left == [p for p in pods if two.there.get(p)], "somebody still works there"
    t.expect(deleted=gone)


@scenario("reload/cluster-that-is-paused", servers=("apisim",))
def is_paused(t):
    """The pause of a cluster goes with it from what is shown, and holds again when it comes back."""
    two = Two(t)
    program = two.start("here", "there")
    program.ask("pause", "there", check=True)
    two.reload("here")
    two.becomes("here")
    t.until("nothing to tell of", lambda: program.ask("status", "-q").returncode == 0, 15)
    assert not program.status()["pauses"], program.status()
    two.reload("here", "there")
    two.becomes("here", "there")
    stays = two.there.evict(two.there.pod(two.ns))
    gone = [t.canary(two.ns)]
    assert [p["cluster"] for p in program.status()["pauses"]] == ["there"] and two.there.get(stays)
    program.ask("resume", "there", check=True)
    t.until("what waited there to go", lambda: not two.there.get(stays), 15)
    t.expect(deleted=gone)


@scenario("reload/paused-cluster-is-renamed", servers=("apisim",))
def paused_is_renamed(t):
    """A cluster that is paused and comes by another name stays paused, for what the pause was and as long as it was."""
    two = Two(t)
    program = two.start("here", "there")
    program.ask("pause", "deleteEvictedPod", "there", "--for", "1h", "--reason", "migration", check=True)
    before = program.status()["pauses"]
    two.kubeconfigs["new"] = two.kubeconfigs["there"]
    two.reload("here", "new")
    two.becomes("here", "new", limit=60)
    stays = two.there.evict(two.there.pod(two.ns))
    gone = [t.canary(two.ns)]
    after = program.status()["pauses"]
    assert [p["cluster"] for p in after] == ["new"] and {**after[0], "cluster": "there"} == before[0], (before, after)
    assert two.there.get(stays), "a paused cluster was worked in under its new name"
    program.stop()
    program.start()
    assert program.status()["pauses"] == after and two.there.get(stays)
    program.ask("resume", "new", check=True)
    t.until("what waited there to go", lambda: not two.there.get(stays), 15)
    t.expect(deleted=gone)


@scenario("reload/clusters-that-find-no-room", servers=("apisim",))
def no_room(t):
    """More clusters than there are descriptors for: the log says so, those that are not watched are troubles, and the others go on."""
    two = Two(t)
    folder = t.dir / "clusters.d"
    folder.mkdir()
    for i in range(40):
        (folder / f"c{i:02d}.yaml").write_text(two.kubeconfigs["there"].read_text())
        (folder / f"c{i:02d}.yaml").chmod(0o600)
    program = t.program(two.config("here"), kubeconfig=None, start=False)
    program.preexec = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (150, 150))
    two.program = program.start()
    assert "a limit is too low" not in program.log(), program.log()
    two.reload("here", clustersFrom=f"{folder}/*.yaml")
    t.until("the warning", lambda: "a limit is too low" in program.log(), 20)

    def unseen():
        status = program.status()
        blind = {c["cluster"] for c in status["clusters"] if not c["synced"]}
        return len(status["clusters"]) == 41 and blind and blind == {x["cluster"] for x in status["troubles"] if x["trouble"] == "cluster-unseen"}
    t.until("each that is not watched to be a trouble", unseen, 40)
    assert "Too many open files" in program.ask("status").stdout, program.status()["troubles"]
    t.expect(deleted=[t.canary(two.ns)])
    assert program.stop() == 0


@scenario("reload/cluster-in-trouble-goes", servers=("apisim",), timeout=120)
def in_trouble(t):
    """The alarm of a cluster that cannot be loaded ends when the cluster is configured no more."""
    two = Two(t)
    sink = t.sink(kind="webhook")
    two.kubeconfigs["broken"] = t.write("broken", "apiVersion: [\n")
    sinks = {"sinks": [sink.settings(tell=["attention"])], "tell": {"gather": "1s"}}
    two.program = t.program(two.config("here", "broken", **sinks), kubeconfig=None, start=False)
    two.program.start(wait=False)
    told = lambda word: any(word in p.text for p in sink.accepted)     # noqa: E731
    t.until("the alarm", lambda: told("broken"), 60)
    n = len(sink.accepted)
    two.reload("here", **sinks)
    two.becomes("here")
    t.until("its end", lambda: any("broken" in p.text for p in sink.accepted[n:]), 90)
    t.expect(deleted=[t.canary(two.ns)])


@scenario("clusters/one-that-is-not-loaded-is-ours", servers=("apisim",))
def not_loaded_is_ours(t):
    """Without election no other replica leads a cluster that cannot be loaded: the report names it as one without an answer, and does not leave it out."""
    ns, port = t.ns(), free_port()
    clusters = [{"name": "here", "kubeconfig": str(t.kubeconfig("cleaner"))}, {"name": "gone", "kubeconfig": "/nowhere/kubeconfig"}]
    program = t.program({**t.config(evicted=ns), "clusters": clusters, "metricsListen": f"127.0.0.1:{port}"}, kubeconfig=None, start=False).start(wait=False)

    def leads():
        try:
            return set(re.findall(r'^opc_leader\{cluster="(\w+)"\} 1', fetch(port, "/metrics")[1], re.M))
        except OSError:     # it has not begun yet
            return set()
    t.until("both to be led here", lambda: leads() == {"here", "gone"}, 15)

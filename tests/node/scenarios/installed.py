"""The program as an operator installs it: from the chart, as pods, where Pod Security `restricted` is enforced."""
import fnmatch
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from harness.objects import pod_path
from harness.program import ready_in
from harness.scenario import scenario

from kit import pods, room
from kit.node import PROGRAM
from scenarios.evicted import is_evicted

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "chart"))
import chart  # noqa: E402
import page_commands  # noqa: E402

PLUGIN = pathlib.Path(__file__).resolve().parents[3] / "cli" / "kubectl-ops_pod_cleaner"
SELECTOR = "app.kubernetes.io/name=ops-pod-cleaner"
SETS = f"/apis/apps/v1/namespaces/{chart.NAME}/statefulsets/{chart.NAME}"
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{chart.NAME}/leases/{chart.NAME}"
ROLES = {"reporter", "watcher", "worker"}
HOLDS = ("nnp", "nocaps", "landlock", "seccomp")     # of the sandbox
WITHOUT_RIGHTS = ("--set", "rbac.create=false,admissionPolicy.create=false")
MERGE = "application/merge-patch+json"


class Release:
    """The chart on the server of this test, with those namespaces in the configuration."""

    def __init__(self, t, *spaces):
        self.t = t
        t.is_mine = lambda request: request.user.startswith(f"system:serviceaccount:{chart.NAME}:")
        t.policy.evicted = set(spaces)
        t.admin.post("/api/v1/namespaces", {"metadata": {"name": chart.NAME, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})
        self.rights = []
        self.render(spaces)     # the rights are those of all of them, from the start
        for kind, name, document in chart.documents(self.render(spaces[:1])):
            if kind.startswith("Validating"):       # the other scenarios' has that name
                document = document.replace("ame: ops-pod-cleaner-writer", "ame: ops-pod-cleaner-chart")
            code, answer = t.admin.request("POST", chart.path_of(kind, document), document, "application/yaml", fieldValidation="Strict")
            assert code == 201, f"{kind} {name}: {code} {answer}"

    def render(self, spaces):
        config = {"mode": "enforce", "deleteEvictedPod": {"enable": True, "namespaces": list(spaces)}, "sandbox": "require"}
        values = {"config": config, "apiServer": f"https://{room.ADDRESS}:{self.t.server.port}",
                  "persistence": {"enabled": False},    # nobody makes volumes here
                  "image": {"repository": PROGRAM.split(":", maxsplit=1)[0], "tag": PROGRAM.split(":")[1], "pullPolicy": "Never"}}
        path = self.t.write("values.json", json.dumps(values))
        if not self.rights:
            plain = self.t.write("config.yml", chart.config_of(chart.render("--values", path, *WITHOUT_RIGHTS)))
            plain.chmod(0o600)
            self.rights = [f"{name}.manifest={self.t.write(name, self.printed(plain, *more))}"
                           for name, more in (("rbac", ()), ("admissionPolicy", ("--admission",)))]
        return chart.render("--values", path, *[word for right in self.rights for word in ("--set-file", right)])

    def printed(self, config, *more):
        return subprocess.run([self.t.build / "bin" / chart.NAME, "rbac", "--config", config, *more], check=True,
                              capture_output=True, text=True).stdout

    def pods(self):
        return sorted(self.t.admin.get(pod_path(chart.NAME), labelSelector=SELECTOR).get("items") or [], key=lambda p: p["metadata"]["name"])

    def are_ready(self, other_than=()):
        found = self.pods()
        return len(found) == 2 and all(pods.is_ready(p) and not p["metadata"].get("deletionTimestamp") and
                                       p["metadata"]["uid"] not in other_than for p in found) and found

    def leader(self):
        holder = (self.t.admin.find(LEASE) or {}).get("spec", {}).get("holderIdentity") or ""
        return next((p for p in self.pods() if holder.startswith(p["metadata"]["name"])), None)

    def ask(self, pod, *args):
        done = self.t.server.execute(pod, "/usr/bin/ops-pod-cleaner", *args)
        return done.stdout

    def status(self, pod):
        text = self.ask(pod, "status", "-o", "json")
        status = json.loads(text) if text.startswith("{") else {"error": text}
        return None if "error" in status else status

    def processes(self, pod):
        """As its status names them, as soon as it answers."""
        return self.t.until("its status", lambda: self.status(pod), 20, every=0.5)["processes"]

    def configure(self, *spaces):
        """As `helm upgrade` changes the Secret. A kubelet looks at a mounted one about once a minute, or when its pod changes."""
        text = chart.config_of(self.render(spaces))
        self.write_config(text)
        self.touch_until(lambda: all(self.generation(p) > 1 for p in self.pods()))
        # A token that is read again may bring the settings along just before: whoever did not notice the file notices the next one.
        if not self.both_noticed():
            self.write_config(f"{text}\n# again\n")
            self.touch_until(self.both_noticed)

    def write_config(self, text):
        self.t.admin.patch(f"/api/v1/namespaces/{chart.NAME}/secrets/ops-pod-cleaner-config", {"stringData": {"config.yml": text}}, MERGE)

    def touch_until(self, is_so):
        end = time.monotonic() + 90
        while not is_so():
            assert time.monotonic() < end, [self.ask(p, "status") for p in self.pods()]
            for pod in self.pods():
                self.t.admin.patch(pod_path(chart.NAME, pod["metadata"]["name"]), {"metadata": {"annotations": {"touched": str(time.time())}}}, MERGE)
            time.sleep(2)

    def both_noticed(self):
        said = [line for line in self.logs() if "a file has changed: the settings are loaded again" in line]
        return len({line.split(" ")[0] for line in said}) == 2

    def logs(self):
        """The last lines of every container of the program."""
        for path in sorted(self.t.server.home.glob(f"podlogs/{chart.NAME}_*/*/*.log")):
            yield from [f"{path.parts[-3][:40]} {path.name}: {line[:300]}" for line in path.read_text(errors="replace").splitlines()[-25:]]

    def generation(self, pod):
        return (self.status(pod) or {}).get("generation", 0)

    def type(self, text):
        """What an operator types: kubectl finds the plugin on the PATH, and that the pod that leads."""
        folder = self.t.script("kubectl-ops_pod_cleaner", PLUGIN.read_text()).parent
        server = self.t.server
        env = {**os.environ, "PATH": f"{folder}:{server.tools}:{chart.tools()}:{os.environ['PATH']}", "KUBECONFIG": str(server.dir / "kubeconfig"),
               "HOME": str(folder), "CONTAINERD_ADDRESS": str(server.home / "containerd.sock"), "CONTAINERD_SNAPSHOTTER": "native"}
        return subprocess.run(["bash", "-c", text], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)

    def remove(self):
        self.t.admin.request("DELETE", SETS, {"propagationPolicy": "Foreground"})
        self.t.until("the pods of the program to be gone", lambda: not self.pods(), 60)


def evicted(t, ns, name):
    """A pod that a kubelet evicts, in a while."""
    return pods.pod(t, ns, name, pods.container("dd if=/dev/zero of=/v/f bs=1M count=40; sleep 3600", volumeMounts=[{"name": "v", "mountPath": "/v"}]),
                    volumes=[{"name": "v", "emptyDir": {"sizeLimit": "10Mi"}}])


def wait_gone(t, *found):
    """Evicted, and then deleted by the program."""
    for pod in found:
        t.until(f"{pod['metadata']['name']} to be evicted", lambda pod=pod: is_evicted(t.server.records.last(pod)), 60, every=0.2)
        t.wait_write(pod, 60)


def kill_children(t, release, pod):
    """SIGKILL of all at once: new ones come, and the kubelet notices nothing."""
    before = {number: name for number, name in t.server.processes_of(pod) if name in ROLES}
    assert set(before.values()) == ROLES, t.server.processes_of(pod)
    for number in before:
        os.kill(number, signal.SIGKILL)

    def replaced():
        now = [name for number, name in t.server.processes_of(pod) if name in ROLES and number not in before]
        status = release.status(pod)
        return len(now) == len(before) and status and ready_in(status)
    t.until("the processes to be replaced", replaced, 40)


def restarts(found):
    return {pod["metadata"]["name"]: pods.statuses(pod)[0]["restartCount"] for pod in found}


def ask_the_leader(release, leader):
    """The words of the documentation, by a kubectl and the exec of a kubelet."""
    done = release.type("kubectl ops_pod_cleaner status -o json")
    assert done.returncode == 0 and not done.stderr, done
    numbers = {row["pid"] for row in json.loads(done.stdout)["processes"]}
    assert numbers == {row["pid"] for row in release.processes(leader)}, done.stdout
    assert "evicted" in release.type("kubectl ops_pod_cleaner history --since 1h").stdout.lower()
    unknown = release.type("kubectl ops_pod_cleaner statsu")
    assert unknown.returncode == 64 and "status" in unknown.stderr, unknown


# What the pages have typed and ends by itself -> what it shows.
SHOWN = {"kubectl ops_pod_cleaner status": "running", "kubectl -n * exec *": "deleteEvictedPod", "kubectl -n * logs ops-*": '"level":', "sudo ctr *": "ops-pod-cleaner"}


def type_what_the_pages_show(release, share):
    for pattern, word in SHOWN.items():
        for command in [c for c in share.commands if fnmatch.fnmatchcase(c.text, pattern)]:
            done = release.type(share.typed(command))
            assert done.returncode == 0 and word in done.stdout, f"{command}: {done}"


def pause_every_replica(release, share):
    """A standby that was not told would act as soon as it leads."""
    def paused():
        return [bool((release.status(pod) or {}).get("pauses")) for pod in release.pods()]
    command, = share.of("README.md", "kubectl ops_pod_cleaner pause")
    done = release.type(share.typed(command))
    assert done.returncode == 0 and paused() == [True, True], (done, paused())
    done = release.type("kubectl ops_pod_cleaner resume")
    assert done.returncode == 0 and paused() == [False, False], (done, paused())


def look_at_the_status_page(release, share):
    """kubectl's port-forward, which goes on until it is ended."""
    text, = (share.typed(c) for c in share.of("docs/pod.md", "* port-forward *"))
    done = release.type(f"{text} & for i in $(seq 100); do curl -sf http://127.0.0.1:9464/ && break; sleep 0.1; done; kill $!")
    assert "<html" in done.stdout, done


def look_at_the_log_before(release, share):
    """Of a container that has died: the first process of one is killed, and its kubelet starts it again."""
    text, = (share.typed(c) for c in share.of("docs/troubleshooting.md", "* logs --previous *"))
    pod = release.pods()[0]
    assert pod["metadata"]["name"] in text, text
    os.kill(next(number for number, name in release.t.server.processes_of(pod) if name not in ROLES), signal.SIGKILL)
    release.t.until("its container to be started again", lambda: restarts(release.pods())[pod["metadata"]["name"]] == 1, 60)
    done = release.type(text)
    assert done.returncode == 0 and '"level":' in done.stdout, done


def is_confined(release, pod, *roles):
    """At least these run there, and every process in its whole sandbox."""
    found = {row["role"]: row["sandbox"] for row in release.processes(pod)}
    assert set(roles) <= set(found), found
    assert all(word in row and f"no {word}" not in row for row in found.values() for word in HOLDS), found


@scenario("installed/from-the-chart", servers=("node",), timeout=200)
def from_the_chart(t):
    """Probes, sandbox, killed processes, a changed configuration, a rollout: two pods, evicted ones go, each once."""
    first, second = t.ns(), t.ns()
    release = Release(t, first, second)
    share = page_commands.Share("node", image=os.environ["OPC_NODE_PROGRAM"])
    try:
        gone = [evicted(t, first, "one")]
        started = t.until("both pods to be Ready", release.are_ready, 60)
        leader = t.until("one to lead", release.leader, 30)
        for pod in started:
            is_confined(release, pod, "reporter", "watcher")
        wait_gone(t, *gone)
        is_confined(release, leader, "reporter", "watcher", "worker")   # it has acted
        ask_the_leader(release, leader)
        type_what_the_pages_show(release, share)
        pause_every_replica(release, share)
        look_at_the_status_page(release, share)
        kill_children(t, release, leader)
        gone.append(evicted(t, first, "two"))
        late = evicted(t, second, "elsewhere")
        t.until("it to be evicted", lambda: is_evicted(t.server.records.last(late)), 60, every=0.2)
        assert not t.writes_on(late)
        release.configure(first, second)
        gone.append(late)
        wait_gone(t, *gone)
        assert set(restarts(release.pods()).values()) == {0} and release.are_ready(), release.pods()
        gone.append(evicted(t, first, "during"))
        for command in share.of("docs/pod.md", "* rollout restart *"):
            done = release.type(share.typed(command))
            assert done.returncode == 0, done
        t.until("the rollout", lambda: release.are_ready({p["metadata"]["uid"] for p in started}), 120)
        gone.append(evicted(t, second, "afterwards"))
        wait_gone(t, *gone)
        ended = [pods.ends(t.server.records.last(pod)) for pod in started]
        assert all(end[0][0] == "Completed" for end in ended if end), ended
        assert set(restarts(release.pods()).values()) == {0}, release.pods()
        t.expect(deleted=gone)
        look_at_the_log_before(release, share)
        share.check_all_ran()
    except BaseException:
        print(*release.logs(), sep="\n", file=sys.stderr)
        raise
    finally:
        release.remove()

"""Ways to reach a cluster, and what a credential allows."""
import pathlib
import re
import resource
import textwrap
import time
import urllib.request

from harness.mail import MailServer
from harness.port import free_port
from harness.proxy import Answer
from harness.scenario import scenario
from harness.servers import Apisim
from harness.tls import Authority


@scenario("credentials/in-cluster")
def in_cluster(t):
    """As a pod: service account directory and KUBERNETES_SERVICE_*, no kubeconfig anywhere."""
    ns = t.ns()
    env = {"OPC_SERVICEACCOUNT_DIR": str(t.server.service_account), "KUBERNETES_SERVICE_HOST": t.server.host,
           "KUBERNETES_SERVICE_PORT": str(t.server.port)}
    t.program(t.config(evicted=ns), kubeconfig=None, env=env)
    t.expect(deleted=[t.canary(ns)])


@scenario("credentials/system-trust")
def system_trust(t):
    """Where the kubeconfig and a sink name no authority, the certificates of SSL_CERT_FILE count, and a reload reads them again."""
    ns, authority = t.ns(), Authority(t.dir / "tls")
    mail = MailServer(authority=authority)
    text = t.server.kubeconfig("cleaner")
    assert f"    certificate-authority: {t.server.ca}\n" in text
    own = pathlib.Path(t.server.ca).read_text()
    bundle = t.write("bundle.crt", own)
    config = t.config(evicted=ns, tell={"gather": "1s"}, sinks=[
        {"name": "mail", "type": "email", "from": "a@example.org", "to": ["b@example.org"], "url": f"smtp://localhost:{mail.port}"}])
    program = t.program(config, t.write("kubeconfig", text.replace(f"    certificate-authority: {t.server.ca}\n", "")),
                        env={"SSL_CERT_FILE": str(bundle)})
    t.expect(deleted=[t.canary(ns)])
    t.until("the mail server is not believed", lambda: "certificate" in program.ask("status").stdout, 20)
    assert not mail.accepted
    bundle.write_text(own + authority.ca.read_text())
    program.ask("reload", check=True)
    t.until("what was done is told", lambda: mail.accepted, 60)


@scenario("credentials/home-and-environment")
def home(t):
    """$KUBECONFIG wins over ~/.kube/config; ~/.kube/config is found when there is nothing else."""
    ns = t.ns()
    program = t.program(t.config(evicted=ns), kubeconfig=None, start=False)
    (program.dir / ".kube").mkdir()
    (program.dir / ".kube" / "config").write_text(t.server.kubeconfig("cleaner", token="not-a-token"))
    program.env["KUBECONFIG"] = str(t.kubeconfig("cleaner"))
    program.start()
    gone = [t.canary(ns)]
    assert program.stop() == 0
    del program.env["KUBECONFIG"]
    (program.dir / ".kube" / "config").write_text(t.server.kubeconfig("cleaner"))
    program.start()
    gone.append(t.canary(ns))
    t.expect(deleted=gone)


def troubles(program):
    """Clusters that could not be loaded, and why; None while nobody answers."""
    status = program.status()
    return status and {c["cluster"]: c["problem"] for c in status["clusters"] if c["problem"]}


def plugin(t, command):
    """A kubeconfig whose credential is what this shell command prints."""
    script = t.script(f"plugin-{command.split()[0]}", f"#!/bin/sh\n{command}\n")
    text = t.server.kubeconfig("cleaner")
    return text.replace(f"    token: {t.server.tokens['cleaner']}", f"    exec: {{command: {script}, interactiveMode: Never, "
                        "apiVersion: client.authentication.k8s.io/v1}")


@scenario("credentials/none")
def none(t):
    """No credential anywhere: it waits, `status` says what to do, and once there is one it works."""
    ns = t.ns()
    program = t.program(t.config(evicted=ns), kubeconfig=None, start=False)
    program.start(wait=False)
    t.until("its trouble in status", lambda: "kubeconfig" in (troubles(program) or {}).get("default", ""), 10)
    t.until("the headline", lambda: program.status()["phase"] == "blind", 10)
    text = program.ask("status", check=True).stdout
    assert "TROUBLE in cluster default (for " in text and ": blind, " in text and "--kubeconfig FILE" in text, text
    (program.dir / ".kube").mkdir()
    (program.dir / ".kube" / "config").write_text(t.server.kubeconfig("cleaner"))
    program.wait_ready(40)
    t.expect(deleted=[t.canary(ns)])


@scenario("credentials/waited-for", timeout=180)
def waited_for(t):
    """A name that does not resolve, then a file that is broken, a plugin that hangs, one that fails: the program waits for its only
    cluster, and works when it can be reached. It tells the service manager's side no less: it is up, and answers."""
    ns = t.ns()
    good = t.server.kubeconfig("cleaner")
    kubeconfig = t.write("kubeconfig-late", t.server.kubeconfig("cleaner", url="https://no-such.invalid"))
    program = t.program(t.config(evicted=ns), kubeconfig, start=False)
    program.start(wait=False)
    for what, text in (("cannot be resolved", None), ("not valid YAML", "a: ["), ("did not end in time", plugin(t, "exec sleep 1000")),
                       ("failed (exit 3)", plugin(t, "echo no >&2; exit 3"))):
        if text:
            kubeconfig.write_text(text)
        t.until(what, lambda: what in (troubles(program) or {}).get("default", ""), 60)
        assert not program.pids("watcher") and not program.pids("worker"), program.tree()
    kubeconfig.write_text(good)
    assert program.ask("reload", timeout=60).returncode == 0
    program.wait_ready(20)
    t.expect(deleted=[t.canary(ns)])


@scenario("credentials/one-bad-cluster", timeout=180)
def one_bad_cluster(t):
    """Of five clusters one can be loaded: it works as if it were alone, and no other is forgotten. A kubeconfig that is taken away later
    leaves the cluster its credential, and the settings of the reload are in force there."""
    ns, second = t.ns(), t.ns()
    other = Apisim(t.dir / "other", t.build)
    other.start()
    t.closing.append(other)
    good = t.kubeconfig("cleaner")
    late = t.dir / "kubeconfig-late"
    bad = {"absent": t.dir / "no-such-file", "nameless": t.write("kubeconfig-nameless", other.kubeconfig("cleaner", url="https://no-such.invalid")),
           "hangs": t.write("kubeconfig-hangs", plugin(t, "exec sleep 8")), "late": late}
    config = {**t.config(evicted=ns, workers=2), "metricsListen": f"127.0.0.1:{free_port()}"}
    config["clusters"] = [{"name": name, "kubeconfig": str(path)} for name, path in {"good": good, **bad}.items()]
    program = t.program(config, kubeconfig=None, start=False)
    program.start(wait=False)
    t.until("the good one to be synced", lambda: [c["cluster"] for c in (program.status() or {"clusters": []})["clusters"] if c["synced"]] == ["good"], 20)
    t.expect(deleted=[t.canary(ns)])
    assert set(troubles(program)) == set(bad), troubles(program)
    assert len(program.pids("watcher")) == 1 and len(program.pids("worker")) == 2, program.tree()

    def in_trouble():
        metrics = urllib.request.urlopen(f"http://{config['metricsListen']}/metrics", timeout=5).read().decode()
        return {name for name in ("good", *bad) if f'opc_watch_trouble{{cluster="{name}"}} 1' in metrics}
    t.until("the metrics to say so", lambda: in_trouble() == set(bad), 20)
    late.write_text(other.kubeconfig("cleaner"))
    t.until("the late one to be synced", lambda: [c["cluster"] for c in program.status()["clusters"] if c["synced"]] == ["good", "late"], 90)
    good.rename(t.dir / "gone")
    config["deleteEvictedPod"]["namespaces"] = [second]
    t.policy.evicted.add(second)
    t.complete = False      # what is left in the first is not due any more
    program.write_config(config)
    answer = program.ask("reload", timeout=60)
    assert answer.returncode == 0 and "cluster good stays on the credential that it has" in answer.stderr, answer
    left = t.objects.evict(t.objects.pod(ns))
    gone = t.canary(second)
    assert t.objects.get(left) and t.objects.get(gone) is None
    assert "good" in troubles(program) and len(program.pids("watcher")) == 2, program.tree()


@scenario("credentials/client-certificate", servers=("cluster",))
def certificate(t):
    """A client certificate instead of a token."""
    ns = t.ns()
    t.program(t.config(evicted=ns), t.server.dir / "kubeconfig-cert")
    t.expect(deleted=[t.canary(ns)])


@scenario("credentials/many-clusters", servers=("apisim",), timeout=120)
def many_clusters(t):
    """A hundred clusters in one tree: all are seen, the last one is acted in, and an idle one has no worker."""
    ns = t.ns()
    other = Apisim(t.dir / "other", t.build)
    other.start()
    t.closing.append(other)
    files = [t.write(f"kubeconfig-{i}", other.kubeconfig("cleaner")) for i in range(99)] + [t.kubeconfig("cleaner")]
    config = {**t.config(evicted=ns), "clusters": [{"name": f"c{i}", "kubeconfig": str(path)} for i, path in enumerate(files)]}
    program = t.program(config, kubeconfig=None, start=False)
    program.start(wait=False)
    t.until("all to be synced", lambda: sum(c["synced"] for c in (program.status() or {"clusters": []})["clusters"]) == len(files), 60)
    t.expect(deleted=[t.canary(ns)])
    assert len(program.pids("watcher")) == len(files) and len(program.pids("worker")) == 1, program.tree()
    assert t.wait_history(program, outcome="done")["cluster"] == "c99"
    twice = [line for line in program.log().splitlines() if "two clusters have one API server" in line]
    assert len(twice) == 98 and '"cluster":"c1","other":"c0"' in "".join(twice) and '"c99"' not in "".join(twice), twice[:3]


@scenario("credentials/no-room", servers=("apisim",), timeout=60)
def no_room(t):
    """A limit that is too low for all workers is told at the start with its remedy, and the work goes on; config check tells what is needed."""
    ns, elsewhere = t.ns(), Apisim(t.dir / "elsewhere", t.build)
    elsewhere.start()
    t.closing.append(elsewhere)
    other = t.write("kubeconfig-other", elsewhere.kubeconfig("cleaner"))
    clusters = [{"name": name, "kubeconfig": str(path)} for name, path in (("first", t.kubeconfig("cleaner")), ("second", other))]
    program = t.program({**t.config(evicted=ns), "workers": {"min": 0, "max": 8}, "clusters": clusters}, kubeconfig=None, start=False)
    program.preexec = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    program.start()
    assert "a limit is too low" not in program.log(), "raised to what it may have"
    program.stop()
    program.preexec = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    program.start()
    assert "open files of the supervisor: up to 126 are needed, 100 are allowed; raise LimitNOFILE=" in program.log(), program.log()
    t.expect(deleted=[t.canary(ns)])
    said = " ".join(program.ask_plain("config", "check", str(program.config_path)).stdout.split())
    assert "Needs: processes: 4 (idle), 20 (at most); open files of the supervisor: 126; memory: 14 MiB + 110 B per pod" in said, said


@scenario("credentials/two-clusters", timeout=90)
def two_clusters(t):
    """Two clusters in one tree: each pod is deleted in its own, the history tells which; one going away leaves the other."""
    ns = t.ns()
    other = Apisim(t.dir / "other", t.build)
    other.start()
    t.closing.append(other)
    a = t.kubeconfig("cleaner")
    b = t.write("kubeconfig-other", other.kubeconfig("cleaner"))
    config = t.config(evicted=ns)
    config["clusters"] = [{"name": "first", "kubeconfig": str(a), "workers": 1},
                          {"name": "second", "kubeconfig": str(b), "workers": 2}]
    program = t.program(config, kubeconfig=None)
    assert len(program.pids("watcher")) == 2 and len(program.pids("worker")) == 3, program.tree()
    from harness.objects import Objects
    there = Objects(other, t.prefix)
    there.ns(ns)
    here_pod = t.objects.evict(t.objects.pod(ns, "same-name"))
    there_pod = there.evict(there.pod(ns, "same-name"))
    t.wait_write(here_pod)

    def deletes():
        return [r for r in other.log() if r.verb == "delete" and other.is_program(r)]

    t.until("the DELETE in the other cluster", deletes, 10)
    t.wait_history(program, uid=here_pod["metadata"]["uid"], cluster="first", outcome="done")
    t.wait_history(program, uid=there_pod["metadata"]["uid"], cluster="second", outcome="done")
    t.expect(deleted=[here_pod])
    assert [r.uid for r in deletes()] == [there_pod["metadata"]["uid"]]
    other.stop()
    time.sleep(0.5)
    t.expect(deleted=[here_pod, t.canary(ns)])


@scenario("credentials/one-namespace")
def one_namespace(t):
    """A credential that may list one namespace only: the program lists just those it is configured for."""
    ns = t.ns("only-here")
    program = t.program(t.config(evicted=ns), t.kubeconfig("cleaner-ns"))
    pod = t.objects.evict(t.objects.pod(ns))
    t.wait_write(pod, code=403)     # it may read there, not delete
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="forbidden", reason="Forbidden")


@scenario("credentials/one-namespace-simulated")
def one_namespace_simulated(t):
    """The same on both servers: listing all namespaces is answered 403, those that are configured are served."""
    ns, second, proxy = t.ns(), t.ns(), t.proxy()
    proxy.before("GET", r"^/api/v1/pods$", lambda _: Answer(403, reason="Forbidden"), times=10**6)
    program = t.run(proxy, evicted=[ns, second])
    gone = [t.canary(ns), t.canary(second)]
    t.expect(deleted=gone)
    assert program.is_ready()


@scenario("credentials/read-only")
def read_only(t):
    """A credential that may only read (real RBAC): every write is refused with 403 and written down as forbidden."""
    ns = t.ns()
    program = t.program(t.config(evicted=ns), t.kubeconfig("cleaner-reader"))
    pod = t.objects.evict(t.objects.pod(ns))
    t.wait_write(pod, code=403)
    t.wait_history(program, uid=pod["metadata"]["uid"], outcome="forbidden", reason="Forbidden")
    assert t.objects.get(pod)


@scenario("credentials/reader-and-writer")
def split(t):
    """Watcher and workers with credentials of their own: the reader never writes, the writer never watches."""
    ns = t.ns()
    config = t.config(evicted=ns)
    config["clusters"] = [{"name": "one", "kubeconfig": str(t.kubeconfig("cleaner-reader")),
                           "writerKubeconfig": str(t.kubeconfig("cleaner-writer"))}]
    t.program(config, kubeconfig=None)
    pod = t.canary(ns)
    t.expect(deleted=[pod])
    mine = [r for r in t.server.log()[t.started:] if r.user in ("cleaner-reader", "cleaner-writer") and r.ns in ("", ns)]
    assert {r.user for r in t.writes()} == {"cleaner-writer"}
    assert not [r for r in mine if r.verb == "watch" and r.user == "cleaner-writer"]


@scenario("credentials/token-file")
def token_file(t):
    """A token in a file that changes: the new one is used, without a restart."""
    ns = t.ns()
    token = t.write("token", t.server.tokens["cleaner"] + "\n")
    text = t.server.kubeconfig("cleaner").replace(f"    token: {t.server.tokens['cleaner']}", f"    tokenFile: {token}")
    program = t.program(t.config(evicted=ns), t.write("kubeconfig-file", text))
    gone = [t.canary(ns)]
    generation = program.status()["generation"]
    token.write_text(t.server.tokens["cleaner-writer"] + "\n")
    program.reload()
    t.until("the new token to be in force", lambda: program.status()["generation"] > generation, 20)
    gone.append(t.canary(ns))
    t.expect(deleted=gone)
    assert t.writes()[-1].user == "cleaner-writer", t.writes()[-1]


@scenario("credentials/refused", timeout=90)
def refused(t):
    """A token that is refused: no crash, no hot loop, and it says so in status; it works once the token is right."""
    ns = t.ns()
    kubeconfig = t.write("kubeconfig-bad", t.server.kubeconfig("cleaner", token="wrong"))
    program = t.program(t.config(evicted=ns), kubeconfig, start=False)
    program.start(wait=False)
    before = len(t.server.log())
    time.sleep(4)
    assert program.process.poll() is None, f"it ended with {program.process.returncode}"
    tries = [r for r in t.server.log()[before:] if r.code == 401]
    assert len(tries) < 40, f"{len(tries)} tries in 4 s"
    kubeconfig.write_text(t.server.kubeconfig("cleaner"))
    program.reload()
    program.wait_ready(40)
    t.expect(deleted=[t.canary(ns)])


DEPLOY = pathlib.Path(__file__).resolve().parents[3] / "deploy" / "kustomize" / "ops-pod-cleaner.yaml"


@scenario("credentials/in-cluster-apart")
def in_cluster_apart(t):
    """The kubeconfigs of deploy/kustomize, with the files that a pod mounts: the reader reads, the writer writes."""
    ns, files = t.ns(), {}
    for role, secrets in (("reader", "/var/run/secrets/ops-pod-cleaner/reader"), ("writer", "/var/run/secrets/kubernetes.io/serviceaccount")):
        folder = t.dir / f"mounted-{role}"
        folder.mkdir()
        (folder / "token").write_text(t.server.tokens[f"cleaner-{role}"])
        (folder / "ca.crt").write_bytes(pathlib.Path(t.server.ca).read_bytes())
        text = textwrap.dedent(re.search(rf"^  {role}: \|\n((?:    .*\n)+)", DEPLOY.read_text(), re.M)[1])
        assert text.count(secrets) == 2 and "https://kubernetes.default.svc\n" in text, text
        files[role] = str(t.write(role, text.replace(secrets, str(folder)).replace("https://kubernetes.default.svc", t.server.url)))
    program = t.program({**t.config(evicted=ns), "kubeconfig": files["reader"], "writerKubeconfig": files["writer"]}, kubeconfig=None)
    t.expect(deleted=[t.canary(ns)])
    assert {r.user for r in t.writes()} == {"cleaner-writer"}
    assert not program.status()["clusters"][0]["sharedCredential"]


@scenario("credentials/shared-is-told")
def shared(t):
    """One credential for both: the log, status and a metric say so, until a reload gives the workers their own."""
    ns, port = t.ns(), free_port()
    config = {**t.config(evicted=ns), "metricsListen": f"127.0.0.1:{port}"}
    one, both = str(t.kubeconfig("cleaner")), t.server.kubeconfig_pair()
    program = t.program({**config, "kubeconfig": one}, kubeconfig=None)

    def metric():
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
        return int(re.search(r"^opc_shared_credential{.*} (\d)", text, re.M)[1])

    def told():
        text = program.ask("status", check=True).stdout
        return program.status()["clusters"][0]["sharedCredential"], "one credential" in text, metric()

    t.until("all three to say so", lambda: told() == (True, True, 1), 10)
    assert program.log().count("watcher and workers have one credential") == 1, program.log()
    # Two names of the same credential are one.
    program.write_config({**config, "kubeconfig": one, "writerKubeconfig": str(t.kubeconfig("cleaner"))})
    program.ask("reload", check=True)
    time.sleep(0.5)
    assert told() == (True, True, 1), told()
    program.write_config({**config, "kubeconfig": str(t.write("pair", both)), "writerContext": "writer"})
    program.reload()
    t.until("none to say so", lambda: told() == (False, False, 0), 10)
    assert program.log().count("watcher and workers have one credential") == 1, program.log()

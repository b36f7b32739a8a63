"""What `ops-pod-cleaner rbac` prints is enough for its configuration, and not more: deploy/ is printed so."""
import json
import pathlib
import subprocess
import time
import uuid

from harness.client import Client
from harness.objects import path_of
from harness.scenario import scenario
from harness.servers import PATHS
from scenarios.alone import Alone
from scenarios.switches import duty_config, policy_of, victim

HOME = "/api/v1/namespaces/ops-pod-cleaner"
USER = "system:serviceaccount:ops-pod-cleaner:ops-pod-cleaner-"
REVIEWS = ("selfsubjectaccessreviews", "leases", "events")
KINDS = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Rollout")


def printed(t, config, *args):
    path = t.write(f"rbac-{uuid.uuid4().hex[:4]}.yml", config)
    return subprocess.run([pathlib.Path(t.build) / "bin" / "ops-pod-cleaner", "rbac", "--config", path, *args], check=True,
                          capture_output=True, text=True).stdout


def token_of(t, account):
    answer = t.admin.post(f"{HOME}/serviceaccounts/ops-pod-cleaner-{account}/token",
                          {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    return answer["status"]["token"]


def two_accounts(t, config, ns, guarded):
    """Applies what is printed for that configuration, bound in that namespace; the tokens of reader and writer."""
    text = printed(t, config, "--namespace", ns)
    if guarded:     # the bindings only: the policy's name is another one's
        policy = printed(t, config, "--admission", "--namespace", ns)
        text += "".join("---\n" + document for document in policy.split("---\n") if "RoleBinding" in document)
    for document in text.split("---\n"):
        path = PATHS.get(next(line.split(":")[1].strip() for line in document.splitlines() if line.startswith("kind:")))
        home = path.replace("namespaces/ops-pod-cleaner/role", f"namespaces/{ns}/role") if f"namespace: {ns}}}" in document else path
        code, answer = t.admin.request("POST", home, document, "application/yaml", fieldValidation="Strict")
        assert code in (201, 409), f"{code} {answer}: {document}"
    if guarded:
        t.server.wall(USER + "writer", t.write("wall.yml", config), f"before-{ns}", token_of(t, "writer"), ns)
    return token_of(t, "reader"), token_of(t, "writer")


def start(t, ns, tokens, **config):
    pair = t.server.kubeconfig(token=tokens[0]).replace("contexts:\n", "contexts:\n- name: writer\n  context: {cluster: test, user: writer}\n")
    pair += f"- name: writer\n  user:\n    token: {tokens[1]}\n"
    t.is_mine = lambda r: r.user.startswith(USER) and r.ns == ns
    t.policy.configure(config)
    return t.program({**config, "writerContext": "writer"}, t.write("kubeconfig-accounts", pair))


def in_use(ns):
    return f"""
errImagePull: {{enable: true, namespaces: {ns}, hours: 2s}}
deleteEvictedPod: {{enable: true, namespaces: {ns}}}
deleteTerminatingPod: {{enable: true, namespaces: {ns}, hours: 2s}}
"""


@scenario("rbac/deploy", servers=("cluster",), alone=True)
def enough(t):
    """With what is printed all duties act, the way from pod to owner and the mark included; the policy refuses nothing of it."""
    ns = t.ns()
    try:
        tokens = two_accounts(t, in_use(ns), ns, guarded=True)
        sink = t.sink()
        config = t.config(evicted=ns, terminating=ns, image_pull=ns, hours="2s",
                          restarts={"namespaces": ns, "hours": "0s", "counts": 1, "duration": "*/2 * * * * *", "apiurl": sink.url})
        start(t, ns, tokens, **config)
        evicted = t.objects.evict(t.objects.pod(ns))
        stuck = t.objects.pod(ns)
        t.objects.stop_containers(stuck)
        stuck = t.objects.terminate(stuck, 1)
        workloads = [t.objects.workload(kind, ns, 1) for kind in KINDS]
        for workload in workloads:
            workload.fail_to_pull()
        for obj in (evicted, stuck, *workloads):
            t.wait_write(obj, 15)
        for workload in workloads:
            t.until(f"the mark of {workload.name}", lambda w=workload: "ops-pod-cleaner.io/scaled-down-by" in (
                t.admin.get(path_of(w.top["kind"], ns, w.name))["metadata"].get("annotations") or {}), 20)
        refused = [r for r in t.requests() if r.code == 403 and not r.dry_run]
        assert not refused, f"refused: {[str(r) for r in refused]}"
        assert {r.user for r in t.writes()} == {USER + "writer"}
        t.expect(deleted=[evicted], forced=[stuck], scaled=workloads)
    finally:
        t.server.unwall(f"before-{ns}")


def accounts_of_its_own(t, config, ns):
    """Applies what is printed for that configuration, and nothing else is bound to these accounts: their prefix, and their tokens."""
    policy = printed(t, config, "--admission")
    text = printed(t, config) + "".join("---\n" + d for d in policy.split("---\n") if "RoleBinding" in d)
    for document in text.replace("ops-pod-cleaner-", f"ops-pod-cleaner-{ns}-").split("---\n"):
        path = PATHS.get(next(line.split(":")[1].strip() for line in document.splitlines() if line.startswith("kind:")))
        code, answer = t.admin.request("POST", path, document, "application/yaml", fieldValidation="Strict")
        assert code in (201, 409), f"{code} {answer}: {document}"
    return USER + ns + "-", {account: token_of(t, f"{ns}-{account}") for account in ("reader", "writer")}


def not_refused(t, program, ns):
    """The requests of that account and that namespace, of which none was refused, nor any outside of it."""
    mine = [r for r in t.server.log()[t.started:] if r.user.startswith(program) and r.ns in ("", ns, "ops-pod-cleaner")]
    refused = [str(r) for r in mine if r.code in (401, 403)]
    assert mine and not refused, refused
    return mine


def of_each_duty(duty):
    @scenario(f"rbac/onlooker-{duty}", servers=("cluster",))
    def onlooker(t):
        """With what is printed for a duty alone the reader's account is enough for `plan`, `explain` and mode observe; then both act."""
        ns = t.ns()
        config = {**duty_config(duty, ns), "mode": "observe", "leaderElection": {"name": f"{ns}-lease"}}

        def go_on(restarts):
            """A crash counts from the first sight."""
            if duty == "crashLoop":
                t.objects.loop(obj.pods(), restarts)

        prefix, tokens = accounts_of_its_own(t, json.dumps(config), ns)
        home = t.server.kubeconfig(token=tokens["reader"]).replace("user: test}", "user: test, namespace: ops-pod-cleaner}")
        t.is_mine = lambda r: r.user.startswith(prefix) and r.ns == ns
        t.policy = policy_of(config)
        t.policy.observe = True
        reader = t.write("kubeconfig-reader", home)
        obj = victim(t, duty, ns)
        pod = obj if isinstance(obj, dict) else obj.pods()[0]
        time.sleep(1.5)
        alone = Alone(t, config, reader)
        rows = alone.plan("-n", ns)["items"]
        assert [r["name"] for r in rows if r["duty"] == duty], rows
        not_refused(t, prefix, ns)
        program = t.program(config, reader)
        go_on(60)
        t.wait_history(program, ns=ns, outcome="would")
        assert program.ask_json("plan")["items"] and program.ask("explain", f"{ns}/{pod['metadata']['name']}", check=True)
        assert not [r for r in not_refused(t, prefix, ns) if r.dry_run], "it may not even ask"
        program.stop()
        pair = home.replace("contexts:\n", "contexts:\n- name: writer\n  context: {cluster: test, user: writer}\n")
        config = {**config, "mode": "enforce", "writerContext": "writer"}
        t.policy = policy_of(config)
        t.program(config, t.write("kubeconfig-pair", pair + f"- name: writer\n  user:\n    token: {tokens['writer']}\n"))
        go_on(200)
        t.wait_write(obj, 20)
        assert {r.user for r in not_refused(t, prefix, ns) if r.is_write and r.ns == ns and r.resource not in REVIEWS} == {prefix + "writer"}

    return onlooker


for acting in ("deleteEvictedPod", "deleteFinishedPod", "deleteTerminatingPod", "errImagePull", "crashLoop"):
    of_each_duty(acting)


@scenario("rbac/unguarded", servers=("cluster",))
def unguarded(t):
    """Without the policy nothing is bound that allows to change all of an object: scaled, and each mark is refused once."""
    ns = t.ns()
    tokens = two_accounts(t, in_use(ns), ns, guarded=False)
    start(t, ns, tokens, **t.config(image_pull=ns, hours="1s"))
    workloads = [t.objects.workload(kind, ns, 1) for kind in KINDS]
    for workload in workloads:
        workload.fail_to_pull()
    for workload in workloads:
        t.wait_write(workload, 15)
    t.until("a refusal for each", lambda: len([r for r in t.requests() if r.code == 403]) >= len(workloads), 15)
    time.sleep(1)
    marks = [r for r in t.requests() if r.code == 403]
    assert all(r.verb == "patch" and not r.subresource for r in marks), [str(r) for r in marks]
    assert sorted(r.name for r in marks) == sorted(w.name for w in workloads), [str(r) for r in marks]
    t.expect(scaled=workloads)


@scenario("rbac/no-more", servers=("cluster",))
def no_more(t):
    """What none of the duties needs is refused to either account; what the one may, the other may not."""
    ns = t.ns()
    reader, writer = (Client(t.server.url, token, t.server.ca) for token in two_accounts(t, in_use(ns), ns, guarded=False))
    pods = f"/api/v1/namespaces/{ns}/pods"
    for client, allowed, forbidden in ((reader, ("GET", pods), ("DELETE", pods + "/x")), (writer, ("GET", pods + "/x"), ("GET", pods + "?watch=true"))):
        assert client.request(*allowed)[0] in (200, 404)
        for method, path in (forbidden, ("GET", "/api/v1/secrets"), ("GET", f"/api/v1/namespaces/{ns}/configmaps"), ("DELETE", pods),
                             ("DELETE", path_of("Deployment", ns, "x")), ("PATCH", path_of("Deployment", ns, "x")),
                             ("PATCH", pods + "/x"), ("DELETE", "/api/v1/nodes/node-1"), ("POST", pods),
                             ("GET", pods + "/x/log"), ("DELETE", f"/api/v1/namespaces/{ns}"), ("GET", "/api/v1/namespaces")):
            code, answer = client.request(method, path, None if method in ("GET", "DELETE") else {}, "application/merge-patch+json"
                                          if method == "PATCH" else "application/json")
            assert code == 403, f"{method} {path}: {code} {answer}"


@scenario("rbac/plan-names-what-it-may-not-read", servers=("cluster",))
def plan_names_what_it_may_not_read(t):
    """Where rights forbid one of the namespaces `plan` says so, by an exit code, too: "nothing to do" would be said of what nobody has seen."""
    ns = t.ns()
    pod = t.objects.evict(t.objects.pod(ns))
    program = t.program({**t.config(evicted=ns), "deleteEvictedPod": {"enable": True, "namespaces": ["only-here", ns]}},
                        t.kubeconfig("cleaner-ns"))
    for words in ((), ("-n", ns), ("--detailed-exitcode", "-n", ns)):    # others evict in only-here
        said = program.ask("plan", *words)
        assert said.returncode == 75 and "cluster default: not all of it can be read, and nothing is known of the rest: pods of " in said.stdout, said
    looked, = json.loads(program.ask("plan", "-o", "json").stdout)["looked"]
    assert "RBAC does not allow to list and watch here" in looked["unread"], looked
    t.objects.force_delete(pod)
    # Names that may be read are enough: nothing of the cluster is missed, from the first answer on.
    names = Alone(t, {**t.config(evicted=ns), "deleteEvictedPod": {"enable": True, "namespaces": ["only-here"]}}, t.kubeconfig("cleaner-ns"))
    for _ in range(8):
        assert "not all of it" not in names.call("plan", code=0).stdout

"""What deploy/rbac.yaml gives is enough, and not more."""
import pathlib
import subprocess
import time

from harness.client import Client
from harness.objects import path_of
from harness.scenario import scenario

FILE = pathlib.Path(__file__).resolve().parents[3] / "deploy" / "rbac.yaml"
ACCOUNT = "/api/v1/namespaces/ops-pod-cleaner/serviceaccounts/ops-pod-cleaner"
USER = "system:serviceaccount:ops-pod-cleaner:ops-pod-cleaner"
GROUP = "/apis/rbac.authorization.k8s.io/v1"
PATHS = {"Namespace": "/api/v1/namespaces", "ServiceAccount": "/api/v1/namespaces/ops-pod-cleaner/serviceaccounts",
         "Role": GROUP + "/namespaces/ops-pod-cleaner/roles", "RoleBinding": GROUP + "/namespaces/ops-pod-cleaner/rolebindings",
         "ClusterRole": GROUP + "/clusterroles", "ClusterRoleBinding": GROUP + "/clusterrolebindings"}


def apply(server, document):
    """The server itself reads the YAML."""
    kind = next(line.split(":")[1].strip() for line in document.splitlines() if line.startswith("kind:"))
    answer = subprocess.run(["curl", "-sS", "--cacert", server.ca, "-H", f"Authorization: Bearer {server.tokens['admin']}",
                             "-H", "Content-Type: application/yaml", "--data-binary", "@-", "-w", "\n%{http_code}",
                             server.url + PATHS[kind] + "?fieldValidation=Strict"], input=document, capture_output=True, text=True, check=True)
    code = answer.stdout.rsplit("\n", 1)[1]
    assert code in ("201", "409"), f"{kind}: {answer.stdout}"


def service_account(t):
    for document in FILE.read_text().split("\n---\n"):
        apply(t.server, document)
    return t.admin.post(ACCOUNT + "/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})["status"]["token"]


@scenario("rbac/deploy", servers=("cluster",))
def enough(t):
    """With the roles of deploy/rbac.yaml all duties act, the way from pod to owner included."""
    token = service_account(t)
    ns = t.ns()
    t.is_mine = lambda r: r.user == USER and r.ns == ns
    sink = t.sink()
    config = t.config(evicted=ns, terminating=ns, image_pull=ns, hours="2s",
                      restarts={"namespaces": ns, "hours": "0s", "counts": 1, "duration": "*/2 * * * * *", "apiurl": sink.url})
    t.program(config, t.write("kubeconfig-account", t.server.kubeconfig(token=token)))
    evicted = t.objects.evict(t.objects.pod(ns))
    stuck = t.objects.pod(ns)
    t.objects.stop_containers(stuck)
    stuck = t.objects.terminate(stuck, 1)
    workloads = [t.objects.workload(kind, ns, 1) for kind in ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Rollout")]
    for workload in workloads:
        workload.fail_to_pull()
    for obj in (evicted, stuck, *workloads):
        t.wait_write(obj, 15)
    time.sleep(1)
    refused = [r for r in t.requests() if r.code == 403]
    marks = [r for r in refused if r.verb == "patch" and not r.subresource and r.name in [w.name for w in workloads]]
    assert refused == marks, f"refused: {[str(r) for r in refused]}"
    assert len(marks) == len(workloads), f"one try to mark each, not {len(marks)}"
    t.expect(deleted=[evicted], forced=[stuck], scaled=workloads)


@scenario("rbac/marker", servers=("cluster",))
def marker(t):
    """With ops-pod-cleaner-marker bound in its namespace, what was scaled to 0 is marked; nothing is refused."""
    token = service_account(t)
    ns = t.ns()
    t.is_mine = lambda r: r.user == USER and r.ns == ns
    t.admin.post(f"{GROUP}/namespaces/{ns}/rolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "marker", "namespace": ns},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "ops-pod-cleaner-marker"},
        "subjects": [{"kind": "ServiceAccount", "name": "ops-pod-cleaner", "namespace": "ops-pod-cleaner"}]})
    t.program(t.config(image_pull=ns, hours="1s"), t.write("kubeconfig-account", t.server.kubeconfig(token=token)))
    workloads = [t.objects.workload(kind, ns, 1) for kind in ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Rollout")]
    for workload in workloads:
        workload.fail_to_pull()
    for workload in workloads:
        t.until(f"the mark of {workload.name}", lambda w=workload: "ops-pod-cleaner.io/scaled-down-by" in (
            t.admin.get(path_of(w.top["kind"], ns, w.name))["metadata"].get("annotations") or {}), 20)
    assert not [str(r) for r in t.requests() if r.code == 403]
    t.expect(scaled=workloads)


@scenario("rbac/no-more", servers=("cluster",))
def no_more(t):
    """What none of the duties needs is refused to the service account."""
    client = Client(t.server.url, service_account(t), t.server.ca)
    ns = t.ns()
    for method, path in (("GET", "/api/v1/secrets"), ("GET", f"/api/v1/namespaces/{ns}/configmaps"), ("DELETE", f"/api/v1/namespaces/{ns}/pods"),
                         ("DELETE", path_of("Deployment", ns, "x")), ("PATCH", path_of("Deployment", ns, "x")),
                         ("PATCH", f"/api/v1/namespaces/{ns}/pods/x"), ("DELETE", "/api/v1/nodes/node-1"), ("POST", f"/api/v1/namespaces/{ns}/pods"),
                         ("GET", f"/api/v1/namespaces/{ns}/pods/x/log"), ("DELETE", f"/api/v1/namespaces/{ns}")):
        code, answer = client.request(method, path, None if method in ("GET", "DELETE") else {}, "application/merge-patch+json"
                                      if method == "PATCH" else "application/json")
        assert code == 403, f"{method} {path}: {code} {answer}"

"""The two API servers that every scenario runs on: apisim, and the real control plane of tests/cluster."""
import os
import pathlib
import re
import secrets
import shlex
import subprocess
import threading
import time

import scratch
from oracle import judge, logs

from . import capabilities
from .client import AGENT, Client
from .tls import Authority
from .wait import until

TESTS = pathlib.Path(__file__).resolve().parents[2]
RBAC, ADMISSION = "/apis/rbac.authorization.k8s.io/v1", "/apis/admissionregistration.k8s.io/v1"
# Where what stands in deploy/ goes.
PATHS = {"Namespace": "/api/v1/namespaces", "ServiceAccount": "/api/v1/namespaces/ops-pod-cleaner/serviceaccounts",
         "Role": RBAC + "/namespaces/ops-pod-cleaner/roles", "RoleBinding": RBAC + "/namespaces/ops-pod-cleaner/rolebindings",
         "ClusterRole": RBAC + "/clusterroles", "ClusterRoleBinding": RBAC + "/clusterrolebindings",
         "ValidatingAdmissionPolicy": ADMISSION + "/validatingadmissionpolicies",
         "ValidatingAdmissionPolicyBinding": ADMISSION + "/validatingadmissionpolicybindings"}


class Server:
    """name, url, ca (file or None), tokens {user: token}, audit (path), has_controllers."""
    name = ""
    own = False
    has_controllers = False
    _capabilities = None

    def _ready(self):
        self.states = judge.States()
        self._lock = threading.Lock()
        self._log = logs.Log(self.audit)
        self.admin = Client(self.url, self.tokens["admin"], self.ca, self._seen)

    def _seen(self, obj):
        with self._lock:
            self.states.add(obj)
            for item in obj.get("items") or []:
                self.states.add(item)

    def capabilities(self):
        """{name: YES, OFF or NO}, of capabilities.py."""
        if self._capabilities is None:
            self._capabilities = capabilities.measure(self.admin)
        return self._capabilities

    def log(self):
        """All requests so far, as a list of its own."""
        with self._lock:
            return list(self._log.read())

    def is_program(self, request):
        return request.user.startswith("cleaner")

    def node(self, name, ready="True", taints=()):
        """Create (or replace) a node whose condition Ready is `ready`; None: none at all."""
        self.admin.request("DELETE", f"/api/v1/nodes/{name}")
        if ready is None:
            return
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.admin.post("/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "spec": {"taints": list(taints)},
            "status": {"capacity": {"pods": "10000"}, "allocatable": {"pods": "10000"},
                       "conditions": [{"type": "Ready", "status": ready, "reason": "Test", "lastHeartbeatTime": now,
                                       "lastTransitionTime": now}]}})

    def kubeconfig(self, user="cleaner", url=None, ca=None, token=None):
        """Text of a kubeconfig for that user of this server, or of a proxy before it."""
        url, ca = url or self.url, ca or self.ca
        lines = ["apiVersion: v1", "kind: Config", "clusters:", "- name: test", "  cluster:", f"    server: {url}"]
        if ca:
            lines.append(f"    certificate-authority: {ca}")
        lines += ["contexts:", "- name: test", "  context: {cluster: test, user: test}", "current-context: test",
                  "users:", "- name: test", "  user:", f"    token: {token or self.tokens[user]}", ""]
        return "\n".join(lines)

    def kubeconfig_pair(self, proxy=None):
        """The watcher's credential, and as context `writer` the workers'."""
        text = self.kubeconfig("cleaner-reader", proxy.url, proxy.ca) if proxy else self.kubeconfig("cleaner-reader")
        text = text.replace("contexts:\n", "contexts:\n- name: writer\n  context: {cluster: test, user: writer}\n")
        return text + f"- name: writer\n  user:\n    token: {self.tokens['cleaner-writer']}\n"


class Cluster(Server):
    name = "cluster"
    has_controllers = True

    def __init__(self, folder, build=None):
        self.given = os.environ.get("OPC_E2E_CLUSTER")      # one that runs already, and goes on running
        self.build = build
        self.dir = pathlib.Path(self.given or folder)
        self.dir.mkdir(parents=True, exist_ok=True)

    def start(self):
        if not self.given:
            scratch.at_end(self.dir.parent, TESTS / "cluster" / "down", self.dir)
            subprocess.run([TESTS / "cluster" / "up", self.dir], check=True)
        self.attach()

    def attach(self):
        env = {}
        for line in (self.dir / "env").read_text().splitlines():
            key, _, value = line.partition("=")
            env[key] = shlex.split(value)[0] if value else ""
        self.url, self.ca, self.audit = env["SERVER"], env["CA_FILE"], env["AUDIT_LOG"]
        self.host, self.port, self.etcd_url = env["HOST"], int(env["PORT"]), env["ETCD_URL"]
        self.tokens = {"admin": env["TOKEN_ADMIN"], "cleaner": env["TOKEN_CLEANER"],
                       "cleaner-reader": env["TOKEN_CLEANER_READER"], "cleaner-writer": env["TOKEN_CLEANER_WRITER"],
                       "cleaner-ns": env["TOKEN_CLEANER_NS"]}
        self.service_account = self.dir / "serviceaccount"
        self._ready()
        if self.build:
            self.wall("cleaner-writer", TESTS / "e2e" / "policy.yml", "ops-pod-cleaner-writer")

    def wall(self, user, config, name, token=None, ns="default", more=()):
        """From now on the admission policy of that configuration, under that name, stands before that user."""
        copy = self.dir / f"{name}.yml"     # a clone may be writable for a group
        copy.write_text(pathlib.Path(config).read_text())
        copy.chmod(0o600)
        text = subprocess.run([pathlib.Path(self.build) / "bin" / "ops-pod-cleaner", "rbac", "--admission", "--config", copy,
                               "--writer", user, "--kinds", "fleets.example.com", *more],
                              check=True, capture_output=True, text=True).stdout
        for document in [d for d in re.split("^---\n", text, flags=re.M) if "kind: Validating" in d]:
            self.apply(document.replace("ame: ops-pod-cleaner-writer", f"ame: {name}"))
        client = Client(self.url, token or self.tokens[user], self.ca)
        event = {"metadata": {"generateName": "probe-"}, "involvedObject": {"namespace": ns}}
        until(f"the admission policy before {user}", lambda: name in str(
            client.request("POST", f"/api/v1/namespaces/{ns}/events", event, dryRun="All")[1]), 20)

    def unwall(self, name):
        for kind in ("ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"):
            self.admin.request("DELETE", f"{PATHS[kind]}/{name}")

    def apply(self, document):
        """The server itself reads the YAML; what is there already goes first."""
        kind, name = (re.search(rf"^(?:metadata: {{)?{key}: ([^\s,}}]+)", document, re.M)[1] for key in ("kind", "name"))
        path = PATHS[kind]
        code, answer = self.admin.request("POST", path, document, "application/yaml", fieldValidation="Strict")
        if code == 409 and kind.startswith("Validating"):
            self.admin.request("DELETE", f"{path}/{name}")
            code, answer = self.admin.request("POST", path, document, "application/yaml", fieldValidation="Strict")
        assert code in (201, 409), f"{kind} {name}: {code} {answer}"

    def stop(self):
        if not self.given:
            subprocess.run([TESTS / "cluster" / "down", self.dir], check=False)


class Apisim(Server):
    """`build` is the folder it was built in; `fill` are more of its flags; without `answers` the log holds no objects;
    `host_name` stands in its certificate, which `authority` signed if there is one already."""
    name = "apisim"
    own = True              # costs nothing to start: each scenario has one of its own
    USERS = {"admin": "", "cleaner": "", "cleaner-writer": "",
             "cleaner-reader": ":+get,list,watch/pods:+get,list,watch/namespaces:+get,list,create,patch/leases",
             "cleaner-ns": ":+get,list,watch/pods@only-here:+get/namespaces"}

    def capabilities(self):
        """It takes whatever a new server takes."""
        return {name: capabilities.YES for name in capabilities.CAPABILITIES}

    def __init__(self, folder, build, fill=(), tls=True, answers=True, host_name="localhost", authority=None):
        self.dir, self.authority = pathlib.Path(folder), authority
        self.binary = pathlib.Path(build) / "tests" / "bin" / "apisim"
        self.fill = list(fill)
        self.tls, self.answers, self.host_name = tls, answers, host_name
        self.process = None

    def start(self, timeout=60):
        self.dir.mkdir(parents=True, exist_ok=True)
        authority = self.authority or Authority(self.dir, self.host_name)
        self.tokens = {user: secrets.token_hex(16) for user in self.USERS}
        self.audit, self.ca, self.host = self.dir / "requests.log", str(authority.ca) if self.tls else None, "127.0.0.1"
        port = self.dir / "port"
        command = [self.binary, "--listen", "127.0.0.1:0", "--port-file", port, "--request-log", self.audit, *self.fill]
        command += ["--log-answers"] if self.answers else []
        command += ["--tls-cert", authority.cert, "--tls-key", authority.key] if self.tls else []
        for user, rules in self.USERS.items() if self.tls else ():     # nobody sends a token without TLS
            command += ["--token", f"{self.tokens[user]}={user}{rules}"]
        with open(self.dir / "apisim.log", "wb") as log:
            self.process = scratch.start(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)
        until("apisim to listen", lambda: port.exists() or self.process.poll() is not None, timeout)
        if self.process.poll() is not None:
            raise AssertionError(f"apisim ended at once: {(self.dir / 'apisim.log').read_text()}")
        self.port = int(port.read_text())
        self.url = f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"
        self._ready()
        self.service_account = self.dir / "serviceaccount"
        self.service_account.mkdir()
        (self.service_account / "token").write_text(self.tokens["cleaner"])
        (self.service_account / "ca.crt").write_bytes(authority.ca.read_bytes())
        (self.service_account / "namespace").write_text("only-here")
        if not self.fill:
            for number in (1, 2, 3):
                self.node(f"node-{number}")

    def is_program(self, request):
        return super().is_program(request) if self.tls else request.agent != AGENT

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    close = stop

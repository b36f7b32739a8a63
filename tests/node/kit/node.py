"""The server of tests/node: the control plane of tests/cluster with a real node in it."""
import http.client
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import threading
import time

from harness.client import STRATEGIC
from harness.servers import Cluster, TESTS
from harness.tls import Authority
from harness.wait import until

from . import images, parts, pods, room
from .pods import IMAGE, NAME
from .registry import Registry

PROGRAM = f"docker.io/library/ops-pod-cleaner:{parts.version()}"
BESIDE = "node-2"       # another node, kept Ready by this program, so that losing the real one is not losing all

PROTOBUF = "application/vnd.kubernetes.protobuf"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
CONTAINERD = """version = 2
root = "{dir}/containerd/root"
state = "{dir}/containerd/state"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
                    "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "{dir}/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "{dir}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{image}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "{dir}/hosts"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{dir}/cni"
"""
HOST = """server = "http://{host}"
[host."http://{host}"]
  capabilities = ["pull", "resolve"]
"""
# Most pods use the network of the room; the others reach it by a bridge.
CNI = {"cniVersion": "1.0.0", "name": "pods", "plugins": [{
    "type": "bridge", "bridge": "pods0", "isGateway": True,
    "ipam": {"type": "host-local", "subnet": "10.124.0.0/24", "dataDir": "/run/pods", "routes": [{"dst": "0.0.0.0/0"}]}}]}
KUBELET = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
    "cgroupDriver": "cgroupfs", "failSwapOn": False, "oomScoreAdj": 0,
    "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
    "authorization": {"mode": "AlwaysAllow"}, "address": room.ADDRESS,
    "resolvConf": "", "serializeImagePulls": False, "registryBurst": 60,
    "nodeStatusUpdateFrequency": "2s", "nodeStatusReportFrequency": "2s", "nodeLeaseDurationSeconds": 8,
    "evictionHard": {"memory.available": "50Mi", "nodefs.available": "50Mi", "imagefs.available": "50Mi"},
    "evictionPressureTransitionPeriod": "5s", "imageGCHighThresholdPercent": 100, "localStorageCapacityIsolation": True,
    "volumeStatsAggPeriod": "2s",
}


class Node(Cluster):
    name = "node"

    def __init__(self, folder, build=None):
        super().__init__(folder, build)
        self.home = self.dir / "node"
        self.static = self.home / "static"      # manifests of pods that the kubelet runs by itself
        self.records = Records()
        self.processes = {}
        self.ended = threading.Event()

    def start(self):
        self.static.mkdir(parents=True)
        self.root, self.bin = parts.debian(), parts.binaries()
        self.tools = pathlib.Path(os.environ.get("OPC_NODE_CONTAINERD") or self.root / "usr/bin")
        busybox = (self.root / "bin" / "busybox").read_bytes()
        self.registry = Registry(busybox, Authority(self.home / "authority", "registry.test"))
        self.start_containerd(busybox)
        subprocess.run([TESTS / "cluster" / "up", self.dir, "--real-nodes", room.ADDRESS], check=True)
        self.attach()
        self.start_kubelet()
        until("the node to be Ready", lambda: self.ready(NAME), 60, every=0.2)
        for target in (self.watch_pods, self.keep_beside):
            threading.Thread(target=target, daemon=True).start()
        until("the other node", lambda: self.ready(BESIDE), 20, every=0.2)

    def stop(self):
        self.ended.set()    # everything else ends with the room
        if os.environ.get("OPC_NODE_RECORD"):
            self.records.write(pathlib.Path(os.environ["OPC_NODE_RECORD"]))

    # --- its programs ---

    def launch(self, name, *command, **env):
        with open(self.home / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                [str(c) for c in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env={**os.environ, "PATH": f"{self.tools}:{self.root}/usr/sbin:{os.environ['PATH']}", **env})

    def log_of(self, name):
        return (self.home / f"{name}.log").read_text(errors="replace")

    def start_containerd(self, busybox):
        (self.home / "cni").mkdir()
        (self.home / "cni" / "10-pods.conflist").write_text(json.dumps(CNI))
        (self.home / "containerd.toml").write_text(CONTAINERD.format(dir=self.home, image=IMAGE, plugins=parts.plugins()))
        for host in ("127.0.0.1", room.ADDRESS):
            plain = f"{host}:{self.registry.plain}"
            (self.home / "hosts" / plain).mkdir(parents=True)
            (self.home / "hosts" / plain / "hosts.toml").write_text(HOST.format(host=plain))
        self.archive = self.home / "tools.tar"
        images.Image(busybox).archive(IMAGE, self.archive)
        self.launch("containerd", self.tools / "containerd", "--config", self.home / "containerd.toml")
        until("containerd", lambda: self.ctr("version").returncode == 0, 30, every=0.2)
        self.import_image()
        self.import_image(os.environ["OPC_NODE_PROGRAM"])

    def ctr(self, *command):
        return subprocess.run([self.tools / "ctr", "-a", self.home / "containerd.sock", "-n", "k8s.io", *command],
                              capture_output=True, text=True, check=False)

    def import_image(self, archive=None):
        local = ["--local"] if "--local" in self.ctr("images", "import", "--help").stdout else []   # containerd 2 does it elsewhere
        done = self.ctr("images", "import", *local, "--snapshotter", "native", archive or self.archive)
        assert done.returncode == 0, f"the image cannot be imported: {done.stderr}"

    def start_kubelet(self, **changes):
        config = {**KUBELET, "cgroupRoot": f"/{os.environ['OPC_NODE_CGROUP']}", "podLogsDir": str(self.home / "podlogs"),
                  "containerRuntimeEndpoint": f"unix://{self.home}/containerd.sock",
                  "staticPodPath": str(self.static), "fileCheckFrequency": "2s", "volumePluginDir": str(self.home / "plugins"), **changes}
        (self.home / "kubelet.yaml").write_text(json.dumps(config))
        self.launch("kubelet", self.bin / "kubelet", "--config", self.home / "kubelet.yaml", "--kubeconfig",
                    self.dir / "kubeconfig-node", "--root-dir", self.home / "kubelet", "--cert-dir", self.home / "pki",
                    "--hostname-override", NAME, "--node-ip", room.ADDRESS)

    def stop_kubelet(self, how=signal.SIGTERM):
        self.processes["kubelet"].send_signal(how)
        self.processes["kubelet"].wait(20)

    def restart_kubelet(self, **changes):
        self.stop_kubelet()
        self.start_kubelet(**changes)

    def signal_kubelet(self, how):
        self.processes["kubelet"].send_signal(how)

    def container_of(self, pod):
        """The only container of that pod, as the runtime calls it."""
        return pods.statuses(pod)[0]["containerID"].removeprefix("containerd://")

    def execute(self, pod, *command):
        """A command in the only container of that pod."""
        return self.ctr("task", "exec", "--exec-id", os.urandom(4).hex(), self.container_of(pod), *command)

    def processes_of(self, pod):
        """[(pid here, name)] of all that run in the only container of that pod, the first one first."""
        wanted, found = self.container_of(pod), []
        for folder in sorted(pathlib.Path("/proc").glob("[0-9]*"), key=lambda f: int(f.name)):
            try:
                if wanted in (folder / "cgroup").read_text():
                    found.append((int(folder.name), (folder / "comm").read_text().strip()))
            except OSError:
                pass    # gone meanwhile
        return found

    def shim_of(self, pod):
        """The process id of the shim that stands between the runtime and the containers of that pod."""
        wanted = f'labels."io.kubernetes.pod.uid"=={pod["metadata"]["uid"]},labels."io.cri-containerd.kind"==sandbox'
        sandbox = self.ctr("containers", "ls", "-q", wanted).stdout.strip()
        assert sandbox, f"no sandbox of {pod['metadata']['name']}"
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"containerd-shim-runc-v2") and sandbox.encode() in words:
                return int(folder.name)
        raise AssertionError(f"no shim of {pod['metadata']['name']}")

    # --- nodes ---

    def node_object(self, name):
        return self.admin.find(f"/api/v1/nodes/{name}")

    def condition(self, name, kind):
        found = self.node_object(name) or {}
        return next((c["status"] for c in (found.get("status") or {}).get("conditions") or [] if c["type"] == kind), None)

    def taints(self, name):
        return {(taint["key"], taint["effect"]) for taint in (self.node_object(name)["spec"].get("taints") or [])}

    def ready(self, name):
        return self.condition(name, "Ready") == "True"

    def keep_beside(self):
        self.node(BESIDE)
        while not self.ended.wait(2):
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            self.admin.request("PATCH", f"/api/v1/nodes/{BESIDE}/status", {"status": {"conditions": [
                {"type": "Ready", "status": "True", "reason": "Test", "lastHeartbeatTime": now}]}}, STRATEGIC)

    # --- what is seen ---

    def keep(self, name, pod):
        """The pod as it is now, as JSON, as protobuf, and its STATUS as the server prints it, under that name among the records."""
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        for _ in range(20):
            before, proto, table = self.admin.get(path), self.get_as(PROTOBUF, path), json.loads(self.get_as(TABLE, path))
            after = self.admin.get(path)
            if before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]:
                self.records.kept[name] = after, proto, table["rows"][0]["cells"][2]
                return after
        raise AssertionError(f"{name} does not stand still")

    def get_as(self, media, path):
        connection = self.connect()
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.tokens['admin']}", "Accept": media})
        return connection.getresponse().read()

    def connect(self):
        return http.client.HTTPSConnection(self.host, self.port, context=ssl.create_default_context(cafile=self.ca))

    def bind(self, pod):
        """The scheduler's last step. The step before, to find a node that fits, is not taken: some pods are to be turned away."""
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}/binding"
        self.admin.request("POST", path, {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod["metadata"]["name"]},
                                          "target": {"apiVersion": "v1", "kind": "Node", "name": pods.NAME}})

    def watch_pods(self):
        """Every version of every pod, as JSON, into the records and to the oracle; and every new pod onto the node."""
        version = ""
        while not self.ended.is_set():
            try:
                connection = self.connect()
                connection.request("GET", f"/api/v1/pods?watch=1&resourceVersion={version}",
                                   headers={"Authorization": f"Bearer {self.tokens['admin']}"})
                for line in connection.getresponse():
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        version = ""
                        break
                    version = event["object"]["metadata"]["resourceVersion"]
                    self._seen(event["object"])
                    self.records.add(event["object"])
                    if event["type"] == "ADDED" and not event["object"]["spec"].get("nodeName"):
                        self.bind(event["object"])
            except (OSError, http.client.HTTPException):
                time.sleep(0.2)


class Records:
    """Every version of every pod that was seen: (when, pod), by uid."""

    def __init__(self):
        self.by_uid, self.kept, self.lock = {}, {}, threading.Lock()

    def add(self, pod):
        with self.lock:
            self.by_uid.setdefault(pod["metadata"]["uid"], []).append((time.time(), pod))

    def of(self, pod):
        with self.lock:
            return list(self.by_uid.get(pod["metadata"]["uid"], []))

    def last(self, pod):
        rows = self.of(pod)
        return rows[-1][1] if rows else None

    def ended(self, ns, app):
        """Reasons with which containers ended, of pods with that label."""
        return {reason for _, pod in self.all() if pod["metadata"]["namespace"] == ns
                and (pod["metadata"].get("labels") or {}).get("app") == app for reason, _ in pods.ends(pod)}

    def waiting(self, ns, app):
        """What the kubelet said of the containers that wait, in order: (reason, message), of pods with that label."""
        return [said for _, pod in sorted(self.all(), key=lambda row: row[0])
                if pod["metadata"]["namespace"] == ns and (pod["metadata"].get("labels") or {}).get("app") == app
                for said in pods.waits(pod)]

    def all(self):
        with self.lock:
            return [row for rows in self.by_uid.values() for row in rows]

    def write(self, folder):
        """What was seen, for whoever wants to read it: each distinct (what, reason, message) once, and every version of every pod."""
        folder.mkdir(parents=True, exist_ok=True)
        rows = {}
        for _, pod in sorted(self.all(), key=lambda row: row[0]):
            meta, status = pod["metadata"], pod.get("status") or {}
            what = (meta.get("labels") or {}).get("app") or meta["name"]
            for said in [*pods.waits(pod), *pods.ends(pod), (status.get("reason", ""), status.get("message", ""))]:
                if said != ("", ""):
                    rows.setdefault((what, *said))
        (folder / "messages.tsv").write_text("".join("\t".join(row).replace("\n", "\\n") + "\n" for row in rows))
        (folder / "kept.tsv").write_text("".join(f"{name}\t{status}\n" for name, (_, _, status) in sorted(self.kept.items())))
        for name, (pod, proto, _) in self.kept.items():
            (folder / f"{name}.json").write_text(json.dumps(pod, indent=2) + "\n")
            (folder / f"{name}.pb").write_bytes(proto)
        (folder / "versions.jsonl").write_text("".join(json.dumps([when, pod]) + "\n" for when, pod in self.all()))

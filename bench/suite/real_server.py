"""The real control plane of tests/cluster, with pods that nobody created one by one: one is created through the API server and completed
there, and its stored form is then written to etcd under other names and uids of the same length. The API server learns of them by its watch.
"""
import os
import signal

from harness.etcd import Etcd, Mould
from harness.servers import Cluster
from harness.wait import until

from . import actions
from .subjects import NAMESPACE

BATCH = 100         # pods in one transaction of etcd
STATED = "checkout-api-7d9f8b6c5-x2x4b"
DROPPED_META = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "ownerReferences", "namespace")
DROPPED_SPEC = ("priority", "priorityClassName", "preemptionPolicy")     # admission wants to set them


class RealServer(Cluster):
    def __init__(self, run):
        super().__init__(run.new_folder("cluster"))
        self.run = run

    def start(self):
        self.run.say("a real API server")
        super().start()
        # It would hold all pods too, and delete those without an owner.
        os.kill(int((self.dir / "kube-controller-manager.pid").read_text()), signal.SIGTERM)
        self.etcd = Etcd(self.etcd_url)
        for name in (NAMESPACE, "shop"):
            self.admin.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        return self

    def processes(self):
        """[(pid, role)]"""
        return [(int((self.dir / f"{name}.pid").read_text()), role) for name, role in (("kube-apiserver", "API server"), ("etcd", "etcd"))]

    def pod(self, name):
        """The sample under that name, as one may create it."""
        meta = {k: v for k, v in self.run.sample["metadata"].items() if k not in DROPPED_META}
        spec = {k: v for k, v in self.run.sample["spec"].items() if k not in DROPPED_SPEC}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "name": name}, "spec": {**spec, "nodeName": "node-1"}}

    def _mould(self, namespace, name, status):
        path = f"/api/v1/namespaces/{namespace}/pods"
        self.admin.call("POST", path, self.pod(name))
        self.admin.call("PATCH", f"{path}/{name}/status", {"status": status}, actions.MERGE)
        # The sample's 8 KB are with its managedFields; those of two writes by hand are twice as large.
        managed = self.run.sample["metadata"]["managedFields"]
        pod = self.admin.call("PATCH", f"{path}/{name}", {"metadata": {"managedFields": managed}}, actions.MERGE)
        return Mould(self.etcd, namespace, pod)

    def _fill(self, mould, count):
        """The names, once the API server has learnt of the last."""
        names = mould.fill(count, self.run.say, BATCH)
        path = f"/api/v1/namespaces/{mould.namespace}/pods/{names[-1]}"
        until("the API server to know all pods", lambda: self.admin.request("GET", path, resourceVersion="0")[0] == 200, 300, every=0.5)
        return names

    def fill(self, pods):
        self.run.say(f"{pods:,} pods, written straight to etcd")
        self._fill(self._mould("shop", STATED, self.run.sample["status"]), pods)
        self.evicted = self._mould(NAMESPACE, f"evicted-{STATED}", actions.EVICTED["status"])
        self.admin.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods/{self.evicted.name}", {"gracePeriodSeconds": 0})

    def evict(self, pods):
        """So many evicted pods, while nobody watches; their names."""
        return self._fill(self.evicted, pods)

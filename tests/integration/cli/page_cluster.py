"""The cluster of the pages: an API server in memory with a small shop, the same every time, and a chat.

    node-1 to node-3    Ready
    shop/cart           two pods that serve, one that was evicted
    shop/web            three pods whose image does not exist
    shop/queue          one pod stuck in Terminating since two hours, all of its containers have ended
    shop/files          the same, held by a finalizer
    shop/pay            one pod that restarted 14 times
"""
import time

from harness.objects import Objects, Workload, conditions, container_status, running, stamp
from harness.servers import Apisim
from harness.sink import Sink

HOUR = 3600


class Named(Workload):
    """A Deployment whose pods have the names that the pages show."""

    def __init__(self, objects, name, revision, suffixes):
        self.suffixes, self.fixed = suffixes, revision
        super().__init__(objects, "Deployment", "shop", len(suffixes), name, {})

    def _make_pods(self):
        self.revision = self.fixed
        self.replica_set = self._make_replica_set(self.revision, self.replicas)
        self.made = [self.named_pod(suffix) for suffix in self.suffixes]

    def named_pod(self, suffix, **spec):
        labels = {**self.labels, "pod-template-hash": self.revision}
        return self.objects.pod("shop", f"{self.name}-{self.revision}-{suffix}", owner=self.replica_set, labels=labels, **spec)


class PageCluster:
    def __init__(self, folder, build):
        self.server = Apisim(folder, build)
        self.server.start()
        self.sink = Sink()
        self.objects = Objects(self.server, "page")
        self._age(-2 * HOUR)        # all of it happened two hours ago
        self._fill()
        self._age(0)

    def _age(self, seconds):
        self.server.admin.post("/_sim/clock-skew", None, seconds=seconds)

    def _fill(self):
        o, at = self.objects, time.time() - 2 * HOUR
        o.ns("shop")
        cart = Named(o, "cart", "7d9f8c6b5", ["k2m4x", "t9wqz"])
        for pod in cart.made:
            self._serve(pod, at)
        o.evict(cart.named_pod("lq5hn"))
        for pod in Named(o, "web", "5f6d7c8b9", ["4jtrh", "8zmxp", "vd2ks"]).made:
            o.fail_to_pull(pod)
        for name, finalizers in (("queue", ()), ("files", ("example.com/unmount",))):
            pod = Named(o, name, "6b8d9f7c4", []).named_pod("h7c2v", finalizers=finalizers)
            o.stop_containers(pod)
            o.terminate(pod)
        for pod in Named(o, "pay", "84c5f9d7b", ["p6xnd"]).made:
            o.crash(pod, 14)

    def _serve(self, pod, at):
        self.objects.status(pod, phase="Running", conditions=conditions("True"), startTime=stamp(at),
                            containerStatuses=[container_status("main", running(at), True, started=True)])

    def kubeconfig(self):
        """One that kubectl would write, with a context of a name."""
        text = self.server.kubeconfig("cleaner")
        return text.replace("name: test", "name: shop").replace("cluster: test, user: test", "cluster: shop, user: shop").replace(
            "current-context: test", "current-context: shop")

    def close(self):
        self.server.stop()
        self.sink.close()

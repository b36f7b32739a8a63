"""Pods that a real kubelet evicts."""
import os

from harness.scenario import scenario

from kit import pods

FILL = "dd if=/dev/zero of={file} bs=1M count=40; sleep 3600"


def status(found):
    return (found or {}).get("status") or {}


def is_evicted(found):
    return status(found).get("phase") == "Failed" and status(found).get("reason") == "Evicted"


def wait_evicted(t, pod, timeout=60):
    t.until(f"{pod['metadata']['name']} to be evicted", lambda: is_evicted(t.server.records.last(pod)), timeout, every=0.2)
    return t.server.records.last(pod)


@scenario("evicted/over-its-limits", servers=("node",), timeout=120)
def limits(t):
    """A volume and a container that grow beyond their limits: the kubelet evicts both pods, the program removes their records."""
    ns = t.ns()
    volume = pods.pod(t, ns, "volume", pods.container(FILL.format(file="/v/f"), volumeMounts=[{"name": "v", "mountPath": "/v"}]),
                      volumes=[{"name": "v", "emptyDir": {"sizeLimit": "10Mi"}}])
    disk = pods.pod(t, ns, "disk", pods.container(FILL.format(file="/tmp/f"),
                                                  resources={"limits": {"ephemeral-storage": "10Mi"}}))
    said = {name: status(wait_evicted(t, pod))["message"] for name, pod in (("volume", volume), ("disk", disk))}
    assert 'Usage of EmptyDir volume "v" exceeds the limit "10Mi"' in said["volume"], said
    assert "ephemeral local storage usage exceeds the total limit of containers 10Mi" in said["disk"], said
    for name, pod in (("volume", volume), ("disk", disk)):
        t.server.keep(f"evicted-{name}", pod)
    program = t.run(evicted=ns)
    for pod in (volume, disk):
        t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done", reason="Evicted")
    t.expect(deleted=[volume, disk])


def under_pressure(t, signal, threshold, sign):
    """Three pods meet a kubelet that thinks that it has too little: one without requests, one with, one that comes later."""
    ns = t.ns()
    poor = pods.pod(t, ns, "poor", pods.container())
    rich = pods.pod(t, ns, "rich", pods.container(resources={"requests": {"memory": "8Mi"}}))
    t.until("the pods to run", lambda: all(pods.is_ready(t.objects.get(pod)) for pod in (poor, rich)), 40, every=0.2)
    try:
        hard = {"memory.available": "50Mi", "nodefs.available": "50Mi", "imagefs.available": "50Mi", signal: threshold}
        t.server.restart_kubelet(evictionHard=hard, enforceNodeAllocatable=[])
        for pod in (poor, rich):
            wait_evicted(t, pod)
        late = pods.pod(t, ns, "late", pods.container())
        wait_evicted(t, late)
        said = {pod["metadata"]["name"]: t.server.keep(f"{sign}-{pod['metadata']['name']}", pod) for pod in (poor, rich, late)}
    finally:
        t.server.restart_kubelet()
        t.server.import_image()
    assert not status(said["late"]).get("containerStatuses"), "the kubelet took the pod in"
    program = t.run(evicted=ns)
    for pod in (poor, rich, late):
        t.wait_history(program, uid=pod["metadata"]["uid"], outcome="done", reason="Evicted")
    t.expect(deleted=[poor, rich, late])
    t.note = "; ".join(sorted({status(pod)["message"].split(". ")[0].split(": [")[-1] for pod in said.values()}))


@scenario("evicted/memory-pressure", servers=("node",), alone=True)
def memory(t):
    """A node short of memory evicts what runs and turns away what comes; the program removes all three records."""
    total = int(next(line.split()[1] for line in open("/proc/meminfo", encoding="ascii") if line.startswith("MemTotal")))
    under_pressure(t, "memory.available", f"{total - 65536}Ki", "memory")


@scenario("evicted/disk-pressure", servers=("node",), alone=True)
def disk(t):
    """The same of a node short of disk."""
    disk = os.statvfs(t.server.home)
    under_pressure(t, "nodefs.available", str((disk.f_bavail + (disk.f_blocks - disk.f_bfree) // 2) * disk.f_frsize), "disk")

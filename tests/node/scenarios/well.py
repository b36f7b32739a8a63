"""Pods that are well, and a pod that belongs to the node."""
import json

from harness.objects import pod_path
from harness.scenario import scenario

from kit import pods


@scenario("well/is-left-alone", servers=("node",))
def well(t):
    """A real pod that runs and is Ready, with every duty on: nothing is done, and explain says none of every duty."""
    ns = t.ns()
    pod = pods.pod(t, ns, "runs", pods.container())
    t.until("the pod to be Ready", lambda: pods.is_ready(t.objects.get(pod)), 30, every=0.2)
    t.server.keep("well", pod)
    program = t.run(evicted=ns, terminating=ns, image_pull=ns, finished=ns, crash_loop=ns, hours="1s", crashLoop={"counts": 1})
    t.never("a write", t.writes, 2)
    verdicts = {row["duty"]: (row["verdict"], row["reason"]) for row in program.ask_json("explain", f"{ns}/runs")}
    assert len(verdicts) >= 5 and {verdict for verdict, _ in verdicts.values()} == {"none"}, verdicts
    assert verdicts["errImagePull"] == ("none", "NotFailing") and verdicts["deleteEvictedPod"] == ("none", "NotEvicted"), verdicts
    t.expect()


@scenario("well/with-everything", servers=("node",))
def everything(t):
    """Init, sidecar, main and ephemeral containers in one pod: the kubelet reports each in its own list, nothing is done."""
    ns = t.ns()
    pod = pods.pod(t, ns, "full", pods.container(), pods.container(name="other", ports=[{"containerPort": 8080}]),
                   labels={"app": "full", "pod-template-hash": "1"}, volumes=[{"name": "v", "emptyDir": {"medium": "Memory"}}],
                   initContainers=[pods.container("true", name="first"), pods.container(name="beside", restartPolicy="Always")])
    t.until("the pod to be Ready", lambda: pods.is_ready(t.objects.get(pod)), 40, every=0.2)
    debug = {**pods.container("exit 7"), "name": "debug", "targetContainerName": "main"}
    t.admin.patch(pod_path(ns, "full", "ephemeralcontainers"), {"spec": {"ephemeralContainers": [debug]}})
    t.until("the ephemeral one to end", lambda: "terminated" in str(t.objects.get(pod)["status"].get("ephemeralContainerStatuses")), 40, every=0.2)
    kept = t.server.keep("well-with-everything", pod)
    assert [len(kept["status"][f"{kind}ontainerStatuses"]) for kind in ("initC", "c", "ephemeralC")] == [2, 2, 1], kept["status"]
    program = t.run(evicted=ns, terminating=ns, image_pull=ns, finished=ns, crash_loop=ns, hours="1s", crashLoop={"counts": 1})
    t.never("a write", t.writes, 2)
    verdicts = {row["verdict"] for row in program.ask_json("explain", f"{ns}/full")}
    assert verdicts == {"none"}, verdicts
    t.expect()


@scenario("well/mirror", servers=("node",))
def mirror(t):
    """The record of a static pod, which the kubelet itself makes: refused, for who deletes it changes nothing on the node."""
    ns = t.ns()
    image = f"127.0.0.1:{t.server.registry.plain}/missing/static:v1"
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "static", "namespace": ns},
                "spec": pods.spec(pods.container(None, image))}
    program = t.run(image_pull=ns, hours="1s")
    file = t.server.static / f"{ns}.json"
    file.write_text(json.dumps(manifest))
    try:
        name = f"static-{pods.NAME}"
        pod = t.until("the mirror", lambda: t.admin.find(pod_path(ns, name)), 40, every=0.2)
        t.until("it to fail", lambda: pods.waits(t.objects.get(pod)), 40, every=0.2)
        t.server.keep("mirror", pod)
        t.until("its refusal", lambda: pods.told(program, pod, "errImagePull")[:2] == ("refuse", "MirrorPod"), 20, every=0.3)
        t.expect()
    finally:
        file.unlink()

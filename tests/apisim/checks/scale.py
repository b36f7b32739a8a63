"""The scale subresource."""
from .common import DEPLOYMENTS, status_is, test, workload
from simlib import JSON_PATCH


@test()
def scale_of_builtins(s):
    for path in (DEPLOYMENTS, DEPLOYMENTS.replace("deployments", "replicasets"), DEPLOYMENTS.replace("deployments", "statefulsets"),
                 "/api/v1/namespaces/default/replicationcontrollers"):
        w = workload(s, path, spec={"replicas": 3, "selector": {"app": "w"}} if "controllers" in path else None)
        c = s.get(path + "/w/scale")
        assert (c["kind"], c["apiVersion"]) == ("Scale", "autoscaling/v1")
        for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp"):
            assert c["metadata"][key] == w["metadata"][key], key
        assert c["spec"] == {"replicas": 3} and c["status"] == {"replicas": 0, "selector": "app=w"}, c
        wrong = s.patch(path + "/w/scale", {"metadata": {"uid": "u"}, "spec": {"replicas": 0}}, 409)
        status_is(wrong, 409, "Conflict", f"Precondition failed: UID in precondition: u, UID in object meta: {w['metadata']['uid']}")
        status_is(s.patch(path + "/w/scale", {"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 0}}, 409), 409, "Conflict",
                  "the object has been modified")
        status_is(s.patch(path + "/w/scale", {"spec": {"replicas": -1}}, 422), 422, "Invalid", "must be greater than or equal to 0")
        dry = s.patch(path + "/w/scale", {"spec": {"replicas": 0}}, dryRun="All")
        assert dry["metadata"]["resourceVersion"] == w["metadata"]["resourceVersion"]
        assert s.get(path + "/w")["spec"]["replicas"] == 3
        zero = s.patch(path + "/w/scale", {"metadata": {"uid": w["metadata"]["uid"],
                                                        "resourceVersion": w["metadata"]["resourceVersion"]}, "spec": {"replicas": 0}})
        assert zero["spec"] == {}, "0 replicas are left out"
        now = s.get(path + "/w")
        assert now["spec"]["replicas"] == 0 and now["metadata"]["generation"] == 2
        put = s.call("PUT", path + "/w/scale", {**zero, "spec": {"replicas": 5}})
        assert put["spec"]["replicas"] == 5
        status_is(s.call("PUT", path + "/w/scale", {**zero, "spec": {"replicas": 6}}, 409), 409, "Conflict")
        other = {**put, "metadata": {"name": "w", "uid": "u"}}
        status_is(s.call("PUT", path + "/w/scale", other, 409), 409, "Conflict", "StorageError: invalid object, Code: 4", "UID in precondition: u,")
        ops = [{"op": "test", "path": "/metadata/uid", "value": w["metadata"]["uid"]},
               {"op": "test", "path": "/spec/replicas", "value": 4}, {"op": "replace", "path": "/spec/replicas", "value": 0}]
        s.patch(path + "/w/scale", ops, 422, type=JSON_PATCH)
        ops[1]["value"] = 5
        assert s.patch(path + "/w/scale", ops, type=JSON_PATCH)["spec"] == {}
        s.get(path + "/no/scale", 404)


@test()
def scale_of_custom_resources(s):
    rollouts, fleets = "/apis/argoproj.io/v1alpha1/namespaces/default/rollouts", "/apis/example.com/v1/namespaces/default/fleets"
    r = workload(s, rollouts)
    s.patch(rollouts + "/w/status", {"status": {"HPAReplicas": 2, "selector": "a=b"}})
    c = s.get(rollouts + "/w/scale")
    assert c["spec"] == {"replicas": 3} and c["status"] == {"replicas": 2, "selector": "a=b"}, c
    assert s.patch(rollouts + "/w/scale", {"metadata": {"uid": "not this"}, "spec": {"replicas": 1}})["spec"] == {"replicas": 1}
    status_is(s.patch(rollouts + "/w/scale", {"metadata": {"resourceVersion": r["metadata"]["resourceVersion"]},
                                              "spec": {"replicas": 0}}, 409), 409, "Conflict")
    workload(s, fleets, spec={"size": 4})
    assert s.patch(fleets + "/w/scale", {"spec": {"replicas": 0}})["spec"] == {}
    assert s.get(fleets + "/w")["spec"] == {"size": 0}
    workload(s, fleets.replace("fleets", "widgets"), spec={"size": 4})
    s.get(fleets.replace("fleets", "widgets") + "/w/scale", 404)

"""Tokens, and who may do what."""
import json

from .common import DEPLOYMENTS, PODS, TOKENS, pod, status_is, test, workload
from simlib import at


@test(*TOKENS)
def tokens_and_access(s):
    s.token = "t-admin"
    code, _, body = s.request("GET", PODS, token="wrong")
    assert code == 401
    status_is(json.loads(body), 401, "Unauthorized", "Unauthorized")
    assert s.raw(b"GET /api HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 401 ")
    assert s.request("GET", "/readyz", token="wrong")[0] == 200
    s.post(PODS, pod("a"))
    denied = s.delete(PODS + "/a", expect=403, token="t-clean")
    status_is(denied, 403, "Forbidden", 'pods "a" is forbidden: User "cleaner" cannot delete resource "pods" in API group "" in the '
              'namespace "default"')
    workload(s, DEPLOYMENTS)
    denied = s.patch(DEPLOYMENTS + "/w/scale", {}, 403, token="t-clean")
    status_is(denied, 403, "Forbidden", 'cannot patch resource "deployments/scale" in API group "apps"')
    s.patch(DEPLOYMENTS + "/w", {}, token="t-clean")
    s.get("/api/v1/namespaces/secret/pods", 403, token="t-clean")
    s.get("/api/v1/pods", token="t-clean")
    wide = s.get("/api/v1/pods", 403, token="t-ns")
    status_is(wide, 403, "Forbidden", 'pods is forbidden: User "one" cannot list resource "pods" in API group "" at the cluster scope')
    s.get("/api/v1/namespaces/only-here/pods", token="t-ns")
    s.get("/api/v1/nodes", 403, token="t-ns")
    s.admin("deny", {"user": "cleaner", "verb": "get", "resource": "pods"})
    s.get(PODS + "/a", 403, token="t-clean")
    s.get(PODS + "/a")
    s.admin("deny", method="DELETE")
    s.get(PODS + "/a", token="t-clean")
    s.delete(PODS + "/a", expect=403, token="t-clean")
    s.admin("token", {"token": "t-new=fresh"})
    s.get(PODS + "/a", token="t-new")
    s.admin("token?token=t-new", method="DELETE")
    s.get(PODS + "/a", 401, token="t-new")
    users = {e["user"] for e in s.log()}
    assert users == {"admin", "cleaner", "one", "fresh", ""}, users

"""The pages: the status page as a browser asks for it."""
import http.client
import re
import xml.etree.ElementTree as tree

from harness.port import free_port
from harness.scenario import scenario


def ask(port, method="GET", path="/", **headers):
    """The status, the headers and the text of an answer."""
    conn = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        conn.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = conn.getresponse()
        return response.status, response.headers, response.read().decode()
    finally:
        conn.close()


def words(page):
    """What a reader sees of it; a page that is not well-formed raises."""
    root = tree.fromstring(page)
    return re.sub(r"\s+", " ", " ".join(root.find("body").itertext()))


@scenario("page/status")
def status(t):
    """The page at /: the action, the pause and its author, the cluster; in the language of the browser; strict headers, nothing secret."""
    ns, port = t.ns(), free_port()
    sink = t.sink()
    restarts = {"namespaces": ns, "duration": "@every 1h", "apiurl": sink.url}
    config = t.config(evicted=ns, restarts=restarts, metricsListen=f"127.0.0.1:{port}")
    program = t.program({**config, "crashLoop": {"enable": True, "namespaces": [ns], "windows": ["0 0 29 2 * for 1h"]}})
    pod = t.canary(ns)
    name = pod["metadata"]["name"]
    t.expect(deleted=[pod])
    t.until("the action on the page", lambda: name in words(ask(port)[2]), 20)
    program.ask("pause", "--reason", "incident <17>", check=True)
    t.until("the pause on the page", lambda: "incident <17>" in words(ask(port)[2]), 20)
    held = t.objects.evict(t.objects.pod(ns))
    t.until("what the pause blocks", lambda: re.search(r"deleteEvictedPod blocked 1 ", words(ask(port)[2])), 20)
    code, headers, page = ask(port)
    assert code == 200 and headers["Content-Type"] == "text/html; charset=utf-8", headers
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'sha256-"), headers
    assert "unsafe" not in headers["Content-Security-Policy"] and headers["Referrer-Policy"] == "no-referrer", headers
    assert headers["Cache-Control"] == "no-store" and headers["X-Content-Type-Options"] == "nosniff", headers
    assert "Set-Cookie" not in headers, headers
    seen = words(page)
    for wanted in ("ready", "mode: enforce", "paused", "At 0", f"{ns}/{name}", "the kubelet evicted this pod", "Next report", "Next window 2028-02-29", "actions by the hour"):
        assert wanted in seen, f"{wanted!r} is not in {seen}"
    for never in ("<script", "<form", "<input", "style=", "http://", "https://", t.server.tokens["cleaner"]):
        assert never not in page, f"{never} is on the page"
    chinese = words(ask(port, Accept_Language="fr;q=0.9, zh-CN;q=0.8, en;q=0.5")[2])
    assert "运行状态" in chinese and "Pod 已被 kubelet 驱逐" in chinese, chinese
    code, headers, text = ask(port, "HEAD")
    assert code == 200 and not text and int(headers["Content-Length"]) > 1000, headers
    for path in ("/", "/metrics", "/readyz?verbose", "/livez"):          # DNS rebinding: another's name that has come to mean this machine
        code, headers, text = ask(port, path=path, Host=f"evil.example.com:{port}")
        assert code == 421 and "127.0.0.1" in text and name not in text, (path, code, text)
        assert ask(port, path=path, Host=f"localhost:{port}")[0] == 200, path
    assert ask(port, "POST")[0] == 405 and ask(port, path="/status")[0] == 404
    program.ask("resume", check=True)
    t.wait_write(held)
    t.expect(deleted=[pod, held])


@scenario("page/report")
def report(t):
    """`report -o html`: a page of its own with what restarts, as text, a drawing of the last hours and the namespace on its map."""
    ns = t.ns()
    restarts = {"namespaces": ns, "hours": "0s", "status": "CrashLoopBackOff", "counts": 2, "duration": "0 0 4 1 1 *", "msgtitle": "what restarts",
                "apiurl": t.sink().url}
    pod = t.objects.crash(t.objects.pod(ns), 7)
    program = t.program(t.config(restarts=restarts))
    found = program.ask("report", "-o", "html", timeout=60)
    assert found.returncode == 0, found
    seen = words(found.stdout)
    for wanted in ("what restarts", f"{ns}/{pod['metadata']['name']}", "7"):
        assert wanted in seen, f"{wanted!r} is not in {seen}"
    for never in ("<script", "style=", "http://", "https://", "src="):
        assert never not in found.stdout, f"{never} is on the page"

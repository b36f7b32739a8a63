"""HTTP and TLS."""
import json

from .common import PODS, TOKENS, pod, test
from .deletion import force_deletion_is_two_events
from .objects import create_get_update_delete
from .wire import protobuf_list, protobuf_watch
from simlib import PROTOBUF, envelope, every, fields


@test()
def keep_alive_and_pipelining(s):
    conn = s.connect()
    for i in range(50):
        conn.request("GET", "/readyz")
        assert conn.getresponse().read() == b"ok"
    body = json.dumps(pod("ch")).encode()
    conn.request("POST", PODS, iter([body[:20], body[20:]]), {"Transfer-Encoding": "chunked"}, encode_chunked=True)
    answer = conn.getresponse()
    assert answer.status == 201 and json.loads(answer.read())["metadata"]["name"] == "ch"
    conn.close()
    out = s.raw(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n" * 3, enough=lambda out: out.count(b"\r\n\r\nok") == 3)
    assert out.count(b"HTTP/1.1 200 OK") == 3, out
    assert s.raw(b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    out = s.raw(b"GET /" + b"x" * 100000)
    assert out == b"" or out.startswith(b"HTTP/1.1 400 "), out     # closed with bytes unread: the answer may be lost
    out = s.raw(b"POST " + PODS.encode() + b" HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 34\r\n\r\n"
                b'{"metadata":{"name":"e"},"spec":{}', enough=lambda out: b"HTTP/1.1 400 " in out)
    assert out.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 400 "), out


@test(tls=True)
def over_tls(s):
    create_get_update_delete(s)
    s.delete(PODS + "/a", {"gracePeriodSeconds": 0})
    force_deletion_is_two_events(s)
    protobuf_list(s)


@test(tls=True)
def records_and_requests_over_tls(s):
    """However requests are cut into records, and whatever of them comes at once, each is answered."""
    sock = s.connect()
    sock.connect()
    big = json.dumps(pod("big", annotations={"x": "y" * 100_000})).encode()
    post = f"POST {PODS} HTTP/1.1\r\nContent-Length: {len(big)}\r\n\r\n".encode() + big
    ready = b"GET /readyz HTTP/1.1\r\n\r\n"
    for piece in (ready[:7], ready[7:], ready + ready + post[:9], post[9:] + ready):
        sock.sock.sendall(piece)
    out = b""
    while out.count(b"HTTP/1.1 ") < 5 or not out.endswith(b"\r\n\r\nok"):
        piece = sock.sock.recv(65536)
        assert piece, out[-200:]
        out += piece
    assert out.count(b"HTTP/1.1 200 OK") == 4 and out.count(b"HTTP/1.1 201 Created") == 1
    assert [r["path"] for r in s.log()] == ["/readyz"] * 3 + [PODS, "/readyz"]
    sock.close()


@test("--bookmark-period", 100, tls=True)
def watch_over_tls(s):
    protobuf_watch(s)


@test("--fill", 3000, tls=True)
def many_readers_over_tls(s):
    code, headers, body = s.request("GET", "/api/v1/pods", accept=PROTOBUF)
    assert code == 200 and len(body) == int(headers["Content-Length"]) > 20e6
    assert len(every(fields(envelope(body)[1]), 2)) == 3000
    assert len(s.get("/api/v1/pods")["items"]) == 3000


@test(*TOKENS, tls=True)
def access_over_tls(s):
    s.token = "t-admin"
    s.post(PODS, pod("a"))
    assert s.request("GET", PODS, token="wrong")[0] == 401
    s.delete(PODS + "/a", expect=403, token="t-clean")

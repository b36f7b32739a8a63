"""Starts apisim and talks to it: http.client, JSON, and a protobuf reader of a few lines."""
import http.client
import json
import pathlib
import socket
import ssl
import struct
import sys
import time
from urllib.parse import urlencode

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import scratch  # noqa: E402

PROTOBUF = "application/vnd.kubernetes.protobuf"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
MAGIC = b"k8s\x00"


class Sim:
    """One apisim process."""

    def __init__(self, binary, *flags, tls=None, token=None):
        self.dir = scratch.folder("apisim")
        self.log_path = self.dir / "requests.log"
        self.token = token
        self.tls = None
        args = [str(binary), "--listen", "127.0.0.1:0", "--port-file", str(self.dir / "port"),
                "--request-log", str(self.log_path), *map(str, flags)]
        if tls:
            args += ["--tls-cert", str(tls[0]), "--tls-key", str(tls[1])]
            self.tls = ssl.create_default_context(cafile=str(tls[0]))
        self.process = scratch.start(args)
        deadline = time.time() + 60
        while not (self.dir / "port").exists():
            if self.process.poll() is not None or time.time() > deadline:
                raise RuntimeError(f"apisim did not start: {args}")
            time.sleep(0.01)
        self.port = int((self.dir / "port").read_text())

    def connect(self, timeout=20):
        if self.tls:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=self.tls)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def raw(self, data, timeout=20, limit=1 << 20, enough=None):
        """Bytes as they come, for requests http.client would not make: until it closes, they are enough(bytes), or nothing came for so long."""
        s = socket.create_connection(("127.0.0.1", self.port), timeout)
        s.sendall(data)
        out = b""
        try:
            while len(out) < limit:
                piece = s.recv(65536)
                if not piece:
                    break
                out += piece
                if enough and enough(out):
                    break
        except (socket.timeout, ConnectionResetError):
            pass
        s.close()
        return out

    def request(self, method, path, body=None, type="application/json", accept="application/json", token=None, **query):
        """(status, headers, bytes)"""
        if query:
            path += "?" + urlencode(query)
        headers = {"Accept": accept, "User-Agent": "selftest"}
        if token or self.token:
            headers["Authorization"] = "Bearer " + (token or self.token)
        data = None
        if body is not None:
            data = body if isinstance(body, (bytes, str)) else json.dumps(body)
            headers["Content-Type"] = type
        conn = self.connect()
        try:
            conn.request(method, path, data, headers)
            answer = conn.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            conn.close()

    def call(self, method, path, body=None, expect=200, **more):
        """The decoded JSON; fails when the status is not the expected one."""
        status, _, raw = self.request(method, path, body, **more)
        assert status == expect, f"{method} {path}: {status} instead of {expect}: {raw[:400]!r}"
        return json.loads(raw) if raw else None

    def get(self, path, expect=200, **more):
        return self.call("GET", path, expect=expect, **more)

    def post(self, path, body, expect=201, **more):
        return self.call("POST", path, body, expect, **more)

    def patch(self, path, body, expect=200, type=MERGE, **more):
        return self.call("PATCH", path, body, expect, type=type, **more)

    def delete(self, path, body=None, expect=200, **more):
        return self.call("DELETE", path, body, expect, **more)

    def admin(self, what, body=None, method="POST", expect=200):
        return self.call(method, "/_sim/" + what, body, expect)

    def log(self):
        return [json.loads(line) for line in self.log_path.read_text().splitlines()]

    def stop(self):
        """Its exit code."""
        if self.process.poll() is None:
            self.admin("quit")
        return self.process.wait(60)

    def destroy(self):
        """Ends it, if it has not ended, and removes its files."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        scratch.remove(self.dir)


class Watch:
    """A watch: events are read one by one; protobuf frames come decoded as (type, kind, fields)."""

    def __init__(self, sim, path, protobuf=False, timeout=5, **query):
        self.protobuf = protobuf
        self.conn = sim.connect(timeout)
        headers = {"Accept": PROTOBUF if protobuf else "application/json"}
        if sim.token:
            headers["Authorization"] = "Bearer " + sim.token
        self.conn.request("GET", path + "?" + urlencode({"watch": "true", **query}), headers=headers)
        self.answer = self.conn.getresponse()
        self.status = self.answer.status

    def next(self):
        """The next event, None at the end of the stream."""
        if not self.protobuf:
            line = self.answer.readline()
            return json.loads(line) if line else None
        head = self.answer.read(4)
        if not head:
            return None
        frame = self.answer.read(struct.unpack(">I", head)[0])
        event = fields(frame)
        kind, raw = envelope(first(fields(first(event, 2)), 1))
        return first(event, 1).decode(), kind, raw

    def take(self, n):
        return [self.next() for _ in range(n)]

    def rest(self):
        events = []
        while True:
            event = self.next()
            if event is None:
                return events
            events.append(event)

    def close(self):
        self.conn.close()


# --- protobuf ---

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value, at


def fields(data):
    """[(number, value)] of one message; numbers as int, the rest as bytes."""
    out, at = [], 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            n, at = varint(data, at)
            value = data[at:at + n]
            assert len(value) == n, "a field is longer than its message"
            at += n
        else:
            raise AssertionError(f"wire type {tag & 7} is not used by Kubernetes")
        out.append((tag >> 3, value))
    return out


def first(message, number, otherwise=None):
    return next((v for n, v in message if n == number), otherwise)


def every(message, number):
    return [v for n, v in message if n == number]


def at(data, *path):
    """Value of nested fields by number, bytes or int; None when absent."""
    for number in path[:-1]:
        data = first(fields(data), number)
        if data is None:
            return None
    return first(fields(data), path[-1])


def envelope(data):
    """(kind, bytes of the object)"""
    assert data[:4] == MAGIC, data[:8]
    unknown = fields(data[4:])
    assert [n for n, _ in unknown] == [1, 2, 3, 4] and data.endswith(b"\x1a\x00\x22\x00"), unknown
    meta = fields(first(unknown, 1))
    assert first(meta, 1) == b"v1", meta
    return first(meta, 2).decode(), first(unknown, 2)

"""A registry that refuses in every way a registry can, and the name server that goes with it.

The first part of a repository's name says what happens to it: `missing/app`, `limited/app`. Statuses, headers and bodies are
those of real registries; what a kubelet makes of them is containerd's and its own.
"""
import http.server
import json
import socket
import socketserver
import ssl
import struct
import threading

from . import images

DOCKER_LIMIT = ("You have reached your pull rate limit. You may increase the limit by authenticating and upgrading: "
                "https://www.docker.com/increase-rate-limit")


def error(code, message):
    return json.dumps({"errors": [{"code": code, "message": message}]}).encode()


# repository: (status, headers, body) of its manifest
ANSWERS = {
    "missing": (404, {}, error("MANIFEST_UNKNOWN", "manifest unknown")),
    "noname": (404, {}, error("NAME_UNKNOWN", "repository name not known to registry")),
    "closed": (401, {"WWW-Authenticate": 'Basic realm="registry"'}, error("UNAUTHORIZED", "authentication required")),
    "denied": (403, {}, error("DENIED", "requested access to the resource is denied")),
    "limited": (429, {"Retry-After": "60"}, error("TOOMANYREQUESTS", DOCKER_LIMIT)),
    "broken": (500, {}, error("UNKNOWN", "unknown error")),
    "gateway": (502, {"Content-Type": "text/html"}, b"<html><title>502 Bad Gateway</title></html>"),
    "overloaded": (503, {}, b"Service Unavailable"),
    "slow": (504, {}, b"Gateway Timeout"),
    "teapot": (418, {}, b""),
    "portal": (200, {"Content-Type": "text/html"}, b"<html>please sign in</html>"),
    "ancient": (200, {"Content-Type": "application/vnd.docker.distribution.manifest.v1+prettyjws"},
                b'{"schemaVersion": 1, "name": "ancient/app", "tag": "v1", "fsLayers": [], "history": []}'),
}
# repository: (what the token service answers, what the registry says to whoever comes with a token)
TOKENS = {
    "hub": (200, {"token": "t"}),           # the image is private, or there is none: Docker Hub does not tell
    "secret": (403, {"details": "denied"}),
    "stranger": (401, {"details": "incorrect username or password"}),
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, headers=None, body=b""):
        self.send_response(status)
        for key, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        parts = self.path.split("?")[0].strip("/").split("/")
        if parts[0] == "token":
            status, body = TOKENS[parts[1]]
            return self.answer(status, {}, json.dumps(body).encode())
        if len(parts) < 5:
            return self.answer(200, {}, b"{}")
        what, kind, key = parts[1], parts[-2], parts[-1]
        self.server.registry.count(what, kind)
        if what in TOKENS:
            return self.answer(401, {"WWW-Authenticate": self.challenge(what)}, error("UNAUTHORIZED", "authentication required"))
        if what in ANSWERS:
            return self.answer(*ANSWERS[what])
        if what == "hangup":
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        return self.image(what, kind, key)

    do_HEAD = do_GET

    def challenge(self, what):
        more = ',error="insufficient_scope"' if self.headers.get("Authorization") else ""
        return f'Bearer realm="http://{self.headers["Host"]}/token/{what}",service="registry",scope="repository:{what}/app:pull"{more}'

    def image(self, what, kind, key):
        """`good`, `foreign` (of another processor), `torn` (a layer is lacking), `cut` (a layer ends early), `late` (not there
        the first two times that it is pulled: each asks twice)."""
        image = self.server.registry.images.get(what)
        if not image or (what == "late" and self.server.registry.asked[what] <= 4):
            return self.answer(*ANSWERS["missing"])
        if kind == "manifests":
            body = image.blobs.get(key) or image.index()
            media = images.MANIFEST if key in image.blobs else images.INDEX
            return self.answer(200, {"Content-Type": media, "Docker-Content-Digest": images.digest(body)}, body)
        body = image.blobs.get(key)
        if body is None or (what == "torn" and key == image.layer):
            return self.answer(404, {}, error("BLOB_UNKNOWN", "blob unknown to registry"))
        if what == "cut" and key == image.layer:
            self.close_connection = True
            return self.answer(200, {"Content-Length": str(len(body)), "Connection": "close"}, body[:1000])
        return self.answer(200, {"Content-Type": "application/octet-stream"}, body)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass                # whoever goes away early


class Registry:
    """plain: port of HTTP; tls: of HTTPS with a certificate that nobody trusts; closed: of nothing; mute: takes connections
    and says nothing."""

    def __init__(self, busybox, authority):
        self.images = {what: images.Image(busybox, mark=what) for what in ("good", "late", "torn", "cut")}
        self.images["foreign"] = images.Image(busybox, "s390x", "foreign")
        self.asked, self.lock = {}, threading.Lock()
        self.servers = [self.serve(), self.serve(authority)]
        self.plain, self.tls = (server.server_address[1] for server in self.servers)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.closed = s.getsockname()[1]
        threading.Thread(target=answer_names, daemon=True).start()

    def serve(self, authority=None):
        server = Server(("0.0.0.0", 0), Handler)
        server.registry = self
        if authority:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(authority.cert, authority.key)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def count(self, what, kind):
        with self.lock:
            self.asked[what] = self.asked.get(what, 0) + (kind == "manifests")


NXDOMAIN, SERVFAIL = 3, 2


def answer_names():
    """Port 53: `*.absent.test` does not exist, `*.ill.test` cannot be found out, of anything else there is no answer at all."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 53))
        while True:
            query, peer = s.recvfrom(1500)
            code = NXDOMAIN if b"\x06absent\x04test\x00" in query else SERVFAIL if b"\x03ill\x04test\x00" in query else None
            if code is not None:
                end = query.index(b"\x00", 12) + 5
                s.sendto(query[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, 0, 0, 0) + query[12:end], peer)

"""Stands between the program and the API server and calls back at the moment that matters.

    proxy.before("GET", r"/pods/web$", fn)   fn(request) runs when the request has been read and not yet forwarded
    proxy.after("DELETE", r"/pods/web$", fn)  fn(request) runs when the server has answered and the client not been told

fn may return an Answer (given instead of the server's), DROP (the connection is cut), or None (go on). Everything else
passes through, watches as they stream. It terminates TLS with a certificate of the run's own authority, so the real
server and apisim are met in the same way.
"""
import json
import re
import socket
import ssl
import threading
from urllib.parse import urlsplit

DROP = object()


class Answer:
    def __init__(self, code, body=None, reason="", headers=(), kind="application/json"):
        if body is None:
            body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code,
                    "reason": reason, "message": f"said by the test: {reason or code}"}
        self.code, self.body, self.headers, self.kind = code, body, headers, kind

    def wire(self):
        data = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        head = [f"HTTP/1.1 {self.code} Answer", f"Content-Type: {self.kind}", f"Content-Length: {len(data)}",
                "Connection: close", *self.headers]
        return "\r\n".join(head).encode() + b"\r\n\r\n" + data


class Req:
    def __init__(self, method, target, head, body):
        self.method, self.target, self.head, self.body = method, target, head, body
        self.path = urlsplit(target).path

    def __str__(self):
        return f"{self.method} {self.target}"


class Hook:
    def __init__(self, when, method, pattern, fn, times):
        self.when, self.method, self.pattern, self.fn, self.times = when, method, re.compile(pattern), fn, times
        self.calls = 0
        self.ran = threading.Event()


class Proxy:
    def __init__(self, upstream, authority, upstream_ca=None):
        self.upstream = urlsplit(upstream)
        self.context = authority.server_context()
        self.client_context = None
        if self.upstream.scheme == "https":
            self.client_context = ssl.create_default_context(cafile=upstream_ca)
            self.client_context.set_alpn_protocols(["http/1.1"])
        self.ca = authority.ca
        self.requests = []
        self.errors = []
        self.hooks = []
        self.cuts = []
        self.lock = threading.Lock()
        self.sockets = {}       # of which path; "" until it has been asked for
        self.closed = False
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.url = f"https://127.0.0.1:{self.port}"
        self.accepting = threading.Thread(target=self._accept, daemon=True)
        self.accepting.start()

    def before(self, method, pattern, fn, times=1):
        return self._hook("before", method, pattern, fn, times)

    def after(self, method, pattern, fn, times=1):
        return self._hook("after", method, pattern, fn, times)

    def _hook(self, *args):
        hook = Hook(*args)
        with self.lock:
            self.hooks.append(hook)
        return hook

    def cut_next(self, method, pattern, size):
        """One answer to such a request breaks off after that many bytes of its body (chunk sizes count). Cuts come one after another."""
        with self.lock:
            self.cuts.append((method, re.compile(pattern), size))

    def close(self):
        """Nobody waits in accept() afterwards: it would go on, and could take a connection of whoever has the descriptor next."""
        if self.closed:
            return
        self.closed = True
        self.listener.shutdown(socket.SHUT_RDWR)
        self.accepting.join()
        self.listener.close()
        self.cut()

    def cut(self, pattern=""):
        """End every connection that is open now, or those on which such a path was asked for. Its own thread closes it: a
        descriptor must not be reused under it."""
        with self.lock:
            for s in [s for s, path in self.sockets.items() if re.search(pattern, path)]:
                try:
                    socket.socket.shutdown(s, socket.SHUT_RDWR)
                except OSError:
                    pass

    def _accept(self):
        while not self.closed:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        server = None
        try:
            client.settimeout(600)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client = self.context.wrap_socket(client, server_side=True)
            with self.lock:
                self.sockets[client] = ""
            request = self._read_request(client)
            if not request:
                return
            with self.lock:
                self.sockets[client] = request.path
                self.requests.append(request)
            verdict = self._call("before", request)
            if verdict is None:
                server = self._forward(request)
                after = self._find("after", request)
                if after is None:
                    self._relay(server, client, self._room(request))
                    return
                answer = self._read_all(server)
                verdict = self._run(after, request)
                if verdict is None:
                    client.sendall(answer)
            if isinstance(verdict, Answer):
                client.sendall(verdict.wire())
        except (OSError, ssl.SSLError):
            pass
        except Exception as e:      # a hook's own failure must fail the scenario
            self.errors.append(e)
        finally:
            for s in (client, server):
                if s:
                    with self.lock:
                        self.sockets.pop(s, None)
                    s.close()

    def _find(self, when, request):
        with self.lock:
            for hook in self.hooks:
                if (hook.when == when and hook.method == request.method and hook.calls < hook.times
                        and hook.pattern.search(request.path)):
                    hook.calls += 1
                    return hook
        return None

    def _run(self, hook, request):
        try:
            return hook.fn(request)
        finally:
            hook.ran.set()

    def _call(self, when, request):
        hook = self._find(when, request)
        return self._run(hook, request) if hook else None

    def _read_request(self, client):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = client.recv(65536)
            if not piece:
                return None
            data += piece
        head, body = data.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        length = next((int(line.split(":", 1)[1]) for line in lines[1:] if line.lower().startswith("content-length:")), 0)
        while len(body) < length:
            piece = client.recv(65536)
            if not piece:
                return None
            body += piece
        return Req(method, target, lines, body)

    def _forward(self, request):
        server = socket.create_connection((self.upstream.hostname, self.upstream.port), timeout=600)
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.client_context:
            server = self.client_context.wrap_socket(server, server_hostname=self.upstream.hostname)
        with self.lock:
            self.sockets[server] = request.path
        lines = [line for line in request.head if not line.lower().startswith("connection:")] + ["Connection: close"]
        server.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + request.body)
        return server

    def _answer(self, server):
        """The answer in pieces, as they come. Its head is told to close: the next request is a connection of its own."""
        data = b""
        while b"\r\n\r\n" not in data:
            piece = server.recv(65536)
            if not piece:
                return
            data += piece
        head, body = data.split(b"\r\n\r\n", 1)
        length = re.search(rb"(?im)^content-length: *(\d+)", head)
        left = int(length.group(1)) if length else None     # None: chunked, or until the server closes
        piece = self._closing(data)
        seen, tail = len(body), body[-5:]
        while True:
            yield piece
            if seen == left or (left is None and tail == b"0\r\n\r\n"):
                return
            piece = server.recv(262144)
            if not piece:
                return
            seen, tail = seen + len(piece), (tail + piece)[-5:]

    def _room(self, request):
        """How many bytes of the answer's body may pass, None: all."""
        with self.lock:
            for cut in self.cuts:
                if cut[0] == request.method and cut[1].search(request.path):
                    self.cuts.remove(cut)
                    return cut[2]
        return None

    def _relay(self, server, client, room):
        for piece in self._answer(server):
            if room is not None:
                head = piece.find(b"\r\n\r\n") + 4 if piece.startswith(b"HTTP/") else 0
                piece = piece[:head + room]
                room -= len(piece) - head
            client.sendall(piece)
            if room == 0:
                return

    def _read_all(self, server):
        return b"".join(self._answer(server))

    @staticmethod
    def _closing(data):
        head, body = data.split(b"\r\n\r\n", 1)
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
        return b"\r\n".join(lines + [b"Connection: close"]) + b"\r\n\r\n" + body

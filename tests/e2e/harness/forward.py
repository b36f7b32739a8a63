"""A proxy as operators have one: HTTP, which opens tunnels (CONNECT) and forwards requests in clear (RFC 9110 7.6, 9.3.6), or SOCKS 5, which
is asked by name (RFC 1928). It alone knows the names of what lies behind it, and notes who was asked for.

`answer` is what it does to those who come: None (lets them through), a status (an HTTP proxy's answer; SOCKS refuses), or "cut" (closes).
"""
import socket
import struct
import threading

from .port import free_port

REFUSED = 2     # SOCKS: connection not allowed by ruleset


class Forward:
    """scheme: "http", "https" (with the certificate of that authority) or "socks5h". names: {"host:port": port of this machine}; an address is its own."""

    def __init__(self, scheme, names=(), authority=None):
        self.scheme, self.names, self.authority = scheme, dict(names), authority
        self.asked = []     # ("CONNECT", "host:port"), ("POST", "http://host/path"), ("SOCKS", "host:port")
        self.answer = None
        self.port = free_port()     # still its own when it comes up again
        self.listener = None
        self.up()

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def up(self):
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def down(self):
        self.listener.shutdown(socket.SHUT_RDWR)    # wakes who waits in accept()
        self.listener.close()

    def close(self):
        try:
            self.down()
        except OSError:
            pass        # it is down

    def _accept(self, listener):
        serve = self._serve_socks if self.scheme.startswith("socks") else self._serve_http
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._guard, args=(serve, client), daemon=True).start()

    def _guard(self, serve, client):
        with client:
            try:
                client.settimeout(600)
                if self.authority:
                    client = self.authority.server_context().wrap_socket(client, server_side=True)
                serve(client)
            except (OSError, EOFError):
                pass        # one of the two sides left

    def _server(self, place):
        """A connection to it, by a name that is known here or an address; None when there is no such name."""
        host, port = place.rsplit(":", 1)
        if place in self.names:
            return socket.create_connection(("127.0.0.1", self.names[place]), timeout=600)
        if host == "127.0.0.1":
            return socket.create_connection((host, int(port)), timeout=600)
        return None

    # --- HTTP ---

    def _serve_http(self, client):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += exactly(client, 1)
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        self.asked.append((method, target))
        if self.answer == "cut":
            return
        place = target if method == "CONNECT" else place_of(target)
        server = self._server(place) if self.answer is None else None
        if server is None:
            code = self.answer or 502
            more = "Proxy-Authenticate: Basic realm=\"the proxy\"\r\n" if code == 407 else ""
            client.sendall(f"HTTP/1.1 {code} No\r\n{more}Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
            return
        if method == "CONNECT":
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            path = "/" + target.split("/", 3)[3]
            kept = [line for line in lines[1:-2] if not line.lower().startswith(("connection:", "proxy-"))]
            server.sendall("\r\n".join([f"{method} {path} HTTP/1.1", *kept, "Via: 1.1 proxy", "Connection: close", "", ""]).encode("latin-1"))
        both_ways(client, server)

    # --- SOCKS 5 ---

    def _serve_socks(self, client):
        _, count = exactly(client, 2)
        exactly(client, count)
        client.sendall(b"\x05\x00")
        _, _, _, kind = exactly(client, 4)
        if kind == 3:
            host = exactly(client, exactly(client, 1)[0]).decode()
        else:
            host = socket.inet_ntoa(exactly(client, 4))
        place = f"{host}:{struct.unpack('>H', exactly(client, 2))[0]}"
        self.asked.append(("SOCKS", place))
        if self.answer == "cut":
            return
        server = self._server(place) if self.answer is None else None
        client.sendall(bytes([5, 0 if server else REFUSED, 0, 1, 0, 0, 0, 0, 0, 0]))
        if server:
            both_ways(client, server)


def exactly(connection, n):
    data = b""
    while len(data) < n:
        piece = connection.recv(n - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def place_of(target):
    """ "host:port" of a URL in clear."""
    authority = target.split("/", 3)[2]
    return authority if ":" in authority else f"{authority}:80"


def both_ways(client, server):
    """Until both sides have ended."""
    def copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass
    with server:
        back = threading.Thread(target=copy, args=(server, client), daemon=True)
        back.start()
        copy(client, server)
        back.join()

"""A small Kubernetes client: http.client, ssl, JSON. The same calls on apisim and on the real server."""
import http.client
import json
import ssl
import threading
from urllib.parse import urlencode, urlsplit

AGENT = "opc-e2e"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


class ApiError(Exception):
    def __init__(self, code, answer, what):
        message = answer.get("message") if isinstance(answer, dict) else str(answer)[:300]
        super().__init__(f"{what}: {code} {message}")
        self.code = code
        self.answer = answer


class Client:
    """Thread-safe: one kept-alive connection a thread. on_object sees every object the server answers."""

    def __init__(self, url, token=None, ca=None, on_object=None):
        self.url = url
        self.token = token
        self.on_object = on_object
        self._split = urlsplit(url)
        self._tls = None
        if self._split.scheme == "https":
            self._tls = ssl.create_default_context(cafile=ca)
        self._local = threading.local()

    def _connect(self):
        host, port = self._split.hostname, self._split.port
        if self._tls:
            return http.client.HTTPSConnection(host, port, timeout=30, context=self._tls)
        return http.client.HTTPConnection(host, port, timeout=30)

    def request(self, method, path, body=None, content_type="application/json", **query):
        """(status, decoded answer). Never raises for a status; reconnects once when the kept connection was closed."""
        if query:
            path += "?" + urlencode(query)
        headers = {"Accept": "application/json", "User-Agent": AGENT}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None
        if body is not None:
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            headers["Content-Type"] = content_type
        for attempt in (1, 2):
            conn = getattr(self._local, "conn", None)
            fresh = conn is None
            if fresh:
                conn = self._local.conn = self._connect()
            try:
                conn.request(method, path, data, headers)
                response = conn.getresponse()
                raw = response.read()
                break
            except (http.client.HTTPException, OSError):
                conn.close()
                self._local.conn = None
                if fresh or attempt == 2:
                    raise
        try:
            answer = json.loads(raw) if raw else {}
        except ValueError:
            answer = raw.decode(errors="replace")
        if isinstance(answer, dict) and self.on_object and response.status < 300:
            self.on_object(answer)
        return response.status, answer

    def call(self, method, path, body=None, content_type="application/json", **query):
        status, answer = self.request(method, path, body, content_type, **query)
        if status >= 300:
            raise ApiError(status, answer, f"{method} {path}")
        return answer

    def get(self, path, **query):
        return self.call("GET", path, **query)

    def find(self, path):
        """The object, or None when there is none."""
        status, answer = self.request("GET", path)
        if status == 404:
            return None
        if status >= 300:
            raise ApiError(status, answer, f"GET {path}")
        return answer

    def post(self, path, body, **query):
        return self.call("POST", path, body, **query)

    def patch(self, path, body, content_type=MERGE, **query):
        return self.call("PATCH", path, body, content_type, **query)

    def delete(self, path, grace=None, **query):
        body = None
        if grace is not None:
            body = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": grace}
        return self.call("DELETE", path, body, **query)

"""A chat that answers like Feishu's custom bot, and remembers what it was sent.

`script` is a list of answers, used in order, after which everything is accepted:
  0 or another int  HTTP 200 with {"code": that}
  "500", "429", …   that HTTP status
  ("slow", s)       accept after s seconds
  "drop"            close the connection without an answer
  "html"            HTTP 200 with a page that is no JSON
"""
import base64
import hashlib
import hmac
import http.server
import json
import threading
import time

LIMIT = 20 * 1024       # largest body the real one takes
MESSAGES = {9499: "Bad Request", 19021: "sign match fail or timestamp is not within one hour from current time",
            19024: "Key Words Not Found", 11232: "frequency limited"}


class Post:
    def __init__(self, t, path, headers, raw):
        self.t, self.path, self.headers, self.raw = t, path, headers, raw
        try:
            self.body = json.loads(raw)
        except ValueError:
            self.body = None
        self.answered = None    # code given, or what was done instead
        self.accepted = False

    def texts(self):
        """Every piece of text a reader would see, in order, whichever message type it is."""
        found = []

        def walk(node):
            if isinstance(node, dict):
                for key, value in node.items():
                    if key in ("content", "text", "title") and isinstance(value, str):
                        found.append(value)
                    else:
                        walk(value)
            elif isinstance(node, list):
                for item in node:
                    walk(item)
        walk(self.body)
        return found

    @property
    def text(self):
        return "\n".join(self.texts())


class Sink:
    def __init__(self, script=(), secret=None, path="/open-apis/bot/v2/hook/0123"):
        self.posts = []
        self.script = list(script)
        self.secret = secret
        self.on_post = None     # called with every post after it was noted and before it is answered
        self.lock = threading.Lock()
        sink = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                sink._take(self, Post(time.time(), self.path, dict(self.headers), raw))

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}{path}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    @property
    def accepted(self):
        with self.lock:
            return [p for p in self.posts if p.accepted]

    def _verdict(self, post):
        """What the real one would say of a body, before the script has its turn."""
        if post.body is None or len(post.raw) > LIMIT or post.body.get("msg_type") not in ("text", "post", "interactive"):
            return 9499
        if self.secret and not signature_is_right(post.body, self.secret):
            return 19021
        return 0

    def _take(self, handler, post):
        with self.lock:
            verdict = self._verdict(post)
            step = self.script.pop(0) if self.script and verdict == 0 else verdict
            post.answered = step
            self.posts.append(post)
        if self.on_post:
            self.on_post(post)
        if step == "drop":
            handler.close_connection = True
            handler.connection.close()
            return
        if isinstance(step, tuple):
            time.sleep(step[1])
            step = 0
        status, kind = 200, "application/json"
        if step == "html":
            kind, data = "text/html", b"<html><body>please log in</body></html>"
        elif isinstance(step, str):
            status, data = int(step), b'{"code":1,"msg":"server trouble"}'
        else:
            data = json.dumps({"code": step, "msg": "success" if step == 0 else MESSAGES.get(step, "error"), "data": {}})
            data = data.encode()
        post.accepted = step == 0
        try:
            handler.send_response(status)
            handler.send_header("Content-Type", kind)
            handler.send_header("Content-Length", str(len(data)))
            if status == 429:
                handler.send_header("Retry-After", "1")
            handler.end_headers()
            handler.wfile.write(data)
        except OSError:
            post.accepted = False


def signature_is_right(body, secret, now=None):
    stamp = body.get("timestamp")
    if not isinstance(stamp, str) or not stamp.isdigit() or abs((now or time.time()) - int(stamp)) > 3600:
        return False
    mac = hmac.new(f"{stamp}\n{secret}".encode(), b"", hashlib.sha256).digest()
    return body.get("sign") == base64.b64encode(mac).decode()

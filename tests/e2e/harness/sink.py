"""A place that news is sent to, of any type: it answers like the real one and remembers what it was sent.

KINDS is a table, one row a type: what the real one refuses, and how it says yes and no. `script` is a list of answers, used in order for
what the real one would take, after which everything is accepted:
  0 or another int  a code of its own: 0 is a yes, another one of its ways to refuse with HTTP 200
  "500", "429", …   that HTTP status (429 with Retry-After: 1)
  ("slow", s)       accept after s seconds
  "drop"            close the connection without an answer
  "cut"             close it in the middle of the answer
  "large"           HTTP 200 with far more than anybody says
  "html"            HTTP 200 with a login page
"""
import base64
import hashlib
import hmac
import html
import http.server
import json
import threading
import time
import urllib.parse


class Post:
    def __init__(self, t, path, headers, raw, kind):
        self.t, self.path, self.headers, self.raw, self.kind = t, path, headers, raw, kind
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
                    if key in ("content", "text", "title", "summary", "description", "lines", "command") and isinstance(value, str):
                        found.append(html.unescape(value))
                    elif key == "lines" and isinstance(value, list):
                        found.extend(value)
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

    @property
    def query(self):
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query, keep_blank_values=True))


# --- what each of them says to a message: 0 is a yes, else its code or an HTTP status as text ---

def sign_base64(key, message):
    return base64.b64encode(hmac.new(key.encode(), message.encode(), hashlib.sha256).digest()).decode()


def recent(stamp, unit=1):
    return isinstance(stamp, str) and stamp.isdigit() and abs(time.time() - int(stamp) / unit) <= 3600


def feishu(post, secret):
    body = post.body
    if not isinstance(body, dict) or len(post.raw) > 20 * 1024 or body.get("msg_type") not in ("text", "post", "interactive"):
        return 9499
    if body["msg_type"] == "interactive" and not isinstance(body.get("card", {}).get("elements"), list):
        return 11246
    if secret and not (recent(body.get("timestamp")) and body.get("sign") == sign_base64(f"{body['timestamp']}\n{secret}", "")):
        return 19021
    return 0


def dingtalk(post, secret):
    body, query = post.body, post.query
    if not isinstance(body, dict) or len(post.raw) > 20 * 1024 or body.get("msgtype") != "markdown" or not body["markdown"].get("title"):
        return 400402
    stamp = query.get("timestamp")
    if secret and not (recent(stamp, 1000) and query.get("sign") == sign_base64(secret, f"{stamp}\n{secret}")):
        return 310000
    return 0


def wecom(post, _):
    if not isinstance(post.body, dict) or post.body.get("msgtype") != "markdown":
        return 40008
    return 40058 if len(post.body["markdown"]["content"].encode()) > 4096 else 0


def slack(post, _):
    blocks = post.body.get("blocks") if isinstance(post.body, dict) else None
    if not isinstance(blocks, list) or not 0 < len(blocks) <= 50 or not post.body.get("text"):
        return "400"
    sizes = [len(b["text"]["text"]) <= {"header": 150, "section": 3000}[b["type"]] for b in blocks if "text" in b]
    return 0 if all(sizes) and len(post.raw) <= 13000 else "400"


def teams(post, _):
    if len(post.raw) > 28 * 1024:
        return "413"
    try:
        card = post.body["attachments"][0]
        good = post.body["type"] == "message" and card["contentType"] == "application/vnd.microsoft.card.adaptive" and \
            card["content"]["type"] == "AdaptiveCard" and card["content"]["body"]
    except (TypeError, KeyError, IndexError):
        good = False
    return 0 if good else "400"


def webhook(post, secret):
    body, stamp = post.body, post.headers.get("X-Ops-Pod-Cleaner-Timestamp")
    if not isinstance(body, dict) or body.get("apiVersion") != "ops-pod-cleaner.io/v1" or post.headers.get("X-Ops-Pod-Cleaner-Id") != body.get("id"):
        return "400"
    want = "sha256=" + hmac.new((secret or "").encode(), f"{stamp}.".encode() + post.raw, hashlib.sha256).hexdigest()
    return "401" if secret and not (recent(stamp) and post.headers.get("X-Ops-Pod-Cleaner-Signature") == want) else 0


def alertmanager(post, _):
    good = post.path == "/api/v2/alerts" and isinstance(post.body, list) and post.body and all(
        a["labels"].get("alertname") and all(a["labels"].values()) and a["endsAt"] >= a["startsAt"] for a in post.body)
    return 0 if good else "400"


MESSAGES = {9499: "Bad Request", 11246: "parse card json err", 19021: "sign match fail or timestamp is not within one hour from current time",
            19024: "Key Words Not Found", 11232: "frequency limited", 310000: "sign not match", 130101: "send too fast",
            400402: "miss param", 40058: "markdown.content exceed max length 4096", 93000: "invalid webhook url", 45009: "api freq out of limit"}


def json_code(code_key, text_key):
    return lambda code: (200, "application/json", json.dumps({code_key: code, text_key: MESSAGES.get(code, "error") if code else "ok"}))


def status(good, body=""):
    return lambda code: (good, "text/plain", body) if code == 0 else (int(code), "text/plain", "error")


# The secret of every address. No namespace, uid or time can hold it: what a log is searched for must not be there by chance.
TOKEN = "TokenOfTheBot"

# type: what it says to a message, how it says a code (0 is a yes), the path of its address, a code of its own that refuses
KINDS = {
    "feishu": (feishu, json_code("code", "msg"), f"/open-apis/bot/v2/hook/{TOKEN}", 19024),
    "dingtalk": (dingtalk, json_code("errcode", "errmsg"), f"/robot/send?access_token={TOKEN}", 310000),
    "wecom": (wecom, json_code("errcode", "errmsg"), f"/cgi-bin/webhook/send?key={TOKEN}", 93000),
    "slack": (slack, status(200, "ok"), f"/services/T0/B0/{TOKEN}", 403),
    "teams": (teams, status(202), f"/workflows/{TOKEN}/triggers/manual/paths/invoke?sig={TOKEN}", 403),
    "webhook": (webhook, status(204), f"/in/{TOKEN}", 403),
    "alertmanager": (alertmanager, status(200), "/", 400),
}


class Sink:
    def __init__(self, script=(), secret=None, path=None, kind="feishu", authority=None):
        self.posts = []
        self.script = list(script)
        self.secret, self.kind = secret, kind
        self.judge, self.say, own_path, self.refusal = KINDS[kind]
        self.on_post = None     # called with every post before it is noted and answered: who sees the post knows that this is over
        self.lock = threading.Lock()
        sink = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                sink._take(self, Post(time.time(), self.path, dict(self.headers), raw, kind))

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if authority:       # the handshake is the connection's own thread's
            self.server.socket = authority.server_context().wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        self.url = f"{'https' if authority else 'http'}://127.0.0.1:{self.port}{path or own_path}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    @property
    def accepted(self):
        with self.lock:
            return [p for p in self.posts if p.accepted]

    def settings(self, name=None, **more):
        """Its entry in `sinks`."""
        entry = {"name": name or self.kind, "type": self.kind, "url": self.url, **more}
        if self.secret:
            entry["secret"] = self.secret
        return entry

    def _take(self, handler, post):
        with self.lock:
            verdict = self.judge(post, self.secret)
            step = self.script.pop(0) if self.script and verdict == 0 else verdict
            post.answered = step
        if call := self.on_post:
            call(post)
        with self.lock:
            self.posts.append(post)
        if step == "drop":
            handler.close_connection = True
            handler.connection.close()
            return
        if isinstance(step, tuple):
            time.sleep(step[1])
            step = 0
        code, kind, data = 200, "text/html", "<html><body>please log in</body></html>"
        if step == "large":
            data = "x" * (1 << 20)
        elif isinstance(step, int):
            code, kind, data = self.say(step)
        elif step.isdigit():
            code, kind, data = int(step), "application/json", '{"code":1,"errcode":1,"msg":"server trouble"}'
        post.accepted = step == 0
        self._answer(handler, post, code, kind, data.encode(), step == "cut")

    @staticmethod
    def _answer(handler, post, code, kind, data, cut):
        try:
            handler.send_response(code)
            if code != 204:
                handler.send_header("Content-Type", kind)
                handler.send_header("Content-Length", str(len(data) + 100 * cut))
            if code == 429:
                handler.send_header("Retry-After", "1")
            handler.end_headers()
            if code != 204:
                handler.wfile.write(data)
            if cut:
                handler.close_connection = True
        except OSError:
            post.accepted = False

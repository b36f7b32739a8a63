"""`report send --test`, mails and alerts: what arrives, and what is said when it does not."""
import http.server
import json
import socket
import threading

from harness.mail import MailServer
from harness.scenario import scenario
from harness.tls import Authority

LOGIN = ("cleaner@example.org", "pass:word")


def config(t, ns, sinks, schedule="0 0 4 1 1 *"):
    """A report that is far away, unless the schedule says otherwise."""
    return t.config(restarts={"namespaces": ns, "hours": "0s", "status": "CrashLoopBackOff", "counts": 2, "duration": schedule,
                              "msgtitle": "restarts"}, sinks=sinks)


def mail_sink(server, authority=None, name="mail", password=LOGIN[1], **more):
    sink = {"name": name, "type": "email", "from": "cleaner@example.org", "to": ["ops@example.org", "night@example.org"],
            "url": f"smtp://{LOGIN[0].replace('@', '%40')}@localhost:{server.port}", "secret": password, **more}
    return {**sink, "caFile": str(authority.ca)} if authority else sink


class Alerts:
    """An Alertmanager's API: the alerts that were sent to it, and whether its labels and times are such."""

    def __init__(self):
        self.posts = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                alerts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                good = self.path == "/api/v2/alerts" and all(a["labels"].get("alertname") and a["endsAt"] >= a["startsAt"]
                                                            and all(a["labels"].values()) for a in alerts)
                outer.posts += alerts if good else []
                self.send_response(200 if good else 400)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@scenario("tell/send-test")
def send_test(t):
    """A test message by each kind of way, and for each way in which it fails: words, what to do, and an exit code."""
    ns, authority = t.ns(), Authority(t.dir / "tls")
    good, bad, gone, cut = t.sink(), t.sink(secret="right"), t.sink(19001), MailServer(["cut"])
    mails, refusing, alerts = MailServer(authority=authority, login=LOGIN), MailServer(["refuse"]), Alerts()
    feishu = {"type": "feishu", "language": "en"}
    sinks = [{**feishu, "name": "good", "url": good.url}, {**feishu, "name": "bad", "url": bad.url, "secret": "wrong"},
             {**feishu, "name": "gone", "url": gone.url},
             {**feishu, "name": "nobody", "url": f"http://127.0.0.1:{free_port()}/open-apis/bot/v2/hook/1"},
             {**feishu, "name": "no-dns", "url": "http://no-such-host.invalid/open-apis/bot/v2/hook/1"},
             {"name": "alerts", "type": "alertmanager", "url": alerts.url},
             mail_sink(mails, authority), mail_sink(mails, authority, "password", "another"),
             mail_sink(refusing, name="readers"), mail_sink(cut, name="cut")]
    wanted = {"good": (0, "the message was accepted"), "bad": (77, "secret or password is refused"),
              "gone": (78, "correct its url"), "nobody": (69, "not reached"), "no-dns": (78, "no-such-host.invalid"),
              "alerts": (0, "the message was accepted"), "mail": (0, "the message was accepted"),
              "password": (77, "535 5.7.8 Error: authentication failed"), "readers": (78, "550 5.1.1 no such user"),
              "cut": (75, "may have arrived"), "other": (64, "there is: good, bad, gone")}
    try:
        p = t.program(config(t, ns, sinks))
        for name, (code, words) in wanted.items():
            r = p.ask("report", "send", "--sink", name, "--test", timeout=60)
            assert r.returncode == code and words in r.stdout + r.stderr, f"{name}: {r.returncode}, {r.stdout}{r.stderr}"
            assert "hook" not in r.stdout + r.stderr, f"{name}: {r.stderr}"
        assert "a test" in good.accepted[0].text and "the sink good" in good.accepted[0].text, good.accepted[0].text
        mail = mails.accepted[0]
        assert mail.secure and mail.user == LOGIN[0] and mail.readers == ["ops@example.org", "night@example.org"]
        assert "a test" in mail.subject and "sink mail" in mail.part("plain") and "sink mail" in mail.part("html"), mail.raw
        assert mail.message["Auto-Submitted"] == "auto-generated" and "@example.org>" in mail.message["Message-ID"]
        assert [a["labels"]["alertname"] for a in alerts.posts] == ["OpsPodCleanerTest"], alerts.posts
        p.env["LANG"] = "zh_CN.UTF-8"
        chinese = p.ask("report", "send", "--sink", "bad", "--test")
        assert "密钥或密码被拒绝" in chinese.stderr, chinese.stderr
    finally:
        for server in (mails, refusing, cut, alerts):
            server.close()

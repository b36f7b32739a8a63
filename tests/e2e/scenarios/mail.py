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


@scenario("tell/preview")
def preview(t):
    """The report as of now on a terminal, as a page, and as each sink would get it; nothing is sent and nothing written down."""
    ns, sink, alerts, mails = t.ns(), t.sink(), Alerts(), MailServer()
    t.objects.crash(t.objects.workload("ReplicaSet", ns, 1).pods()[0], 40)
    other = t.objects.crash(t.objects.pod(t.ns()), 50)["metadata"]["name"]
    sinks = [{"name": "chat", "type": "feishu", "language": "zh", "url": sink.url}, mail_sink(mails),
             {"name": "alerts", "type": "alertmanager", "url": alerts.url, "language": "en"},
             {"name": "elsewhere", "type": "webhook", "url": alerts.url, "namespaces": ["no-such-*"]}]
    try:
        p = t.program(config(t, "*", sinks))
        t.until("the crashes to be seen", lambda: all(x in p.ask("report", timeout=60).stdout for x in (ns, other)), 30)
        text = p.ask("report", timeout=60, check=True).stdout
        assert "40" in text and text.startswith("restarts"), text
        lines = p.on_terminal(60, "report", timeout=60)
        assert max(map(len, lines)) <= 60 and any(ns in line for line in lines), lines
        page = p.ask("report", "-o", "html", timeout=60, check=True).stdout
        assert page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>") and ns in page, page[:300]
        document = json.loads(p.ask("report", "-o", "json", timeout=60, check=True).stdout)
        assert document["kind"] == "report" and document["sections"], document
        card = json.loads(p.ask("report", "preview", timeout=60, check=True).stdout)
        assert card["msg_type"] == "interactive" and ns in json.dumps(card), card
        chinese = p.ask("report", "preview", "--sink", "chat", "-o", "text", timeout=60, check=True).stdout
        assert any("一" <= c <= "鿿" for c in chinese) and ns in chinese, chinese
        mail = p.ask("report", "preview", "--sink", "mail", timeout=60, check=True).stdout
        assert "multipart/alternative" in mail and "To: ops@example.org" in mail, mail[:600]
        alert = json.loads(p.ask("report", "preview", "--sink", "alerts", timeout=60, check=True).stdout)
        assert alert[0]["labels"]["alertname"] == "OpsPodCleanerReport", alert
        nothing = p.ask("report", "preview", "--sink", "elsewhere", "-o", "text", timeout=60, check=True).stdout
        assert ns not in nothing and other not in nothing, nothing
        for words, code in ((("preview", "--sink", "x"), 64), (("send",), 64), (("show",), 64), (("--sink", "chat"), 64)):
            r = p.ask("report", *words)
            assert r.returncode == code and r.stderr, f"{words}: {r.returncode} {r.stderr}"
        assert not sink.posts and not alerts.posts and not mails.mails
    finally:
        mails.close()
        alerts.close()

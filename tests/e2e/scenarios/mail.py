"""`report send --test`, mails and alerts: what arrives, and what is said when it does not."""
import json
import shutil
import time
import urllib.request

from harness.daemon import Daemon
from harness.mail import MailServer
from harness.port import free_port
from harness.proxy import Answer
from harness.scenario import Skip, scenario
from harness.tls import Authority


LOGIN = ("cleaner@example.org", "pass:word")


def rfc3339(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def config(t, ns, sinks, schedule="0 0 4 1 1 *"):
    """A report that is far away, unless the schedule says otherwise."""
    return t.config(restarts={"namespaces": ns, "hours": "0s", "status": "CrashLoopBackOff", "counts": 2, "duration": schedule,
                              "msgtitle": "restarts"}, sinks=sinks)


def mail_sink(server, authority=None, name="mail", password=LOGIN[1], **more):
    sink = {"name": name, "type": "email", "from": "cleaner@example.org", "to": ["ops@example.org", "night@example.org"],
            "url": f"smtp://{LOGIN[0].replace('@', '%40')}@localhost:{server.port}", "secret": password, **more}
    return {**sink, "caFile": str(authority.ca)} if authority else sink


class Alertmanager(Daemon):
    """The real one, alone on a port of its own."""

    def __init__(self, t):
        program = shutil.which("prometheus-alertmanager")
        if not program:
            raise Skip("no Alertmanager here: scripts/deps installs it")
        settings = {"route": {"receiver": "none"}, "receivers": [{"name": "none"}]}
        address = f"127.0.0.1:{free_port()}"
        super().__init__(t, "alertmanager", address, [
            program, f"--config.file={t.write('alertmanager.json', json.dumps(settings))}", f"--storage.path={t.dir / 'alerts'}",
            f"--web.listen-address={address}", "--cluster.listen-address="])

    def alerts(self):
        """What is firing there now, by name."""
        with urllib.request.urlopen(f"{self.url}/api/v2/alerts", timeout=20) as answer:
            return {a["labels"]["alertname"]: a for a in json.load(answer)}


def forbidden(t, url, is_firing):
    """A right that is missing, until it is granted: is_firing(alert) says whether that is an alert at url."""
    ns, proxy = t.ns(), t.proxy()
    deny = proxy.before("DELETE", f"/namespaces/{ns}/pods/", lambda _: Answer(403, reason="Forbidden"), times=10**6)
    t.run(proxy, evicted=ns, tell={"gather": "1s"}, sinks=[{"name": "alerts", "type": "alertmanager", "url": url, "tell": ["attention"]}])
    pod = t.objects.evict(t.objects.pod(ns))
    t.until("the alert", lambda: is_firing("OpsPodCleanerForbidden"), 30)
    deny.times = 0
    t.until("the pod to be gone", lambda: t.objects.get(pod) is None, 40)
    t.until("the end of the alert", lambda: not is_firing("OpsPodCleanerForbidden"), 40)


@scenario("sinks/alertmanager", timeout=120)
def alertmanager(t):
    """What needs an operator is an alert that holds, and its end is the same alert, over."""
    sink = t.sink(kind="alertmanager")

    def newest(name):
        return next((a for p in reversed(sink.accepted) for a in p.body if a["labels"]["alertname"] == name), None)
    forbidden(t, sink.url, lambda name: newest(name) and newest(name)["endsAt"] > rfc3339(time.time() + 3600))
    ours = [a for p in sink.accepted for a in p.body if a["labels"]["alertname"] == "OpsPodCleanerForbidden"]
    assert len({json.dumps(a["labels"], sort_keys=True) for a in ours}) == 1, ours
    assert "rbac" in ours[0]["annotations"]["remedy"] and ours[-1]["endsAt"][:19] <= rfc3339(time.time()), ours


@scenario("sinks/alertmanager-itself", timeout=120)
def alertmanager_itself(t):
    """A real Alertmanager takes the alert, shows it, and drops it at its end."""
    real = Alertmanager(t)
    forbidden(t, real.url, lambda name: name in real.alerts())


@scenario("sinks/email", timeout=90)
def report_mail(t):
    """A report by mail, over TLS and with a login: refused for a while, then taken, the same mail; text, and the page of the report."""
    ns, authority = t.ns(), Authority(t.dir / "tls")
    server = MailServer(["451"], authority, LOGIN)
    try:
        pod = t.objects.crash(t.objects.pod(ns), 7)["metadata"]["name"]
        t.program(config(t, ns, [mail_sink(server, authority, language="zh")], schedule="*/2 * * * * *"))
        t.until("an accepted mail", lambda: server.accepted, 40)
        first, second = server.mails[:2]
        assert first.message["Message-ID"] == second.message["Message-ID"] and second.accepted and not first.accepted
        assert second.secure and second.user == LOGIN[0] and second.sender == "cleaner@example.org"
        assert pod in second.part("plain") and pod in second.part("html") and 'name="viewport"' in second.part("html"), second.part("html")[:500]
        assert 'lang="zh' in second.part("html") and all("（UTC），集群：" in second.part(part) for part in ("plain", "html")), second.part("plain")
        ids = [m.message["Message-ID"] for m in server.accepted]
        assert len(set(ids)) == len(ids), ids
    finally:
        server.close()


@scenario("tell/send-test")
def send_test(t):
    """A test message by each kind of way, and for each way in which it fails: words, what to do, and an exit code."""
    ns, authority = t.ns(), Authority(t.dir / "tls")
    good, bad, gone, cut = t.sink(), t.sink(secret="right"), t.sink(19001), MailServer(["cut"])
    mails, refusing, alerts = MailServer(authority=authority, login=LOGIN), MailServer(["refuse"]), t.sink(kind="alertmanager")
    feishu = {"type": "feishu", "language": "en"}
    sinks = [{**feishu, "name": "good", "url": good.url}, {**feishu, "name": "bad", "url": bad.url, "secret": "wrong"},
             {**feishu, "name": "gone", "url": gone.url},
             {**feishu, "name": "nobody", "url": f"http://127.0.0.1:{free_port()}/open-apis/bot/v2/hook/1"},
             {**feishu, "name": "no-dns", "url": "http://no-such-host.invalid/open-apis/bot/v2/hook/1"},
             {"name": "alerts", "type": "alertmanager", "url": alerts.url},
             mail_sink(mails, authority), mail_sink(mails, authority, "password", "another"),
             mail_sink(refusing, name="readers"), mail_sink(cut, name="cut")]
    wanted = {"good": (0, "the message was accepted"), "bad": (77, "secret or password is rejected"),
              "gone": (78, "fix its url"), "nobody": (69, "not reached"), "no-dns": (78, "no-such-host.invalid"),
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
        assert [a["labels"]["alertname"] for p in alerts.accepted for a in p.body] == ["OpsPodCleanerTest"], alerts.posts
        p.env["LANG"] = "zh_CN.UTF-8"
        chinese = p.ask("report", "send", "--sink", "bad", "--test")
        assert "密钥或密码被拒绝" in chinese.stderr, chinese.stderr
    finally:
        for server in (mails, refusing, cut):
            server.close()


@scenario("tell/preview")
def preview(t):
    """The report as of now on a terminal, as a page, and as each sink would get it; nothing is sent and nothing written down."""
    ns, second, sink, alerts, mails = t.ns(), t.ns(), t.sink(), t.sink(kind="alertmanager"), MailServer()
    t.objects.crash(t.objects.workload("ReplicaSet", ns, 1).pods()[0], 40)
    other = t.objects.crash(t.objects.pod(second), 50)["metadata"]["name"]
    sinks = [{"name": "chat", "type": "feishu", "language": "zh", "url": sink.url}, mail_sink(mails),
             {"name": "alerts", "type": "alertmanager", "url": alerts.url, "language": "en"},
             {"name": "elsewhere", "type": "webhook", "url": alerts.url, "namespaces": ["no-such-*"]}]
    try:
        p = t.program(config(t, [ns, second], sinks))      # those that others make on that server may be worse
        t.until("the crashes to be seen", lambda: all(x in p.ask("report", timeout=60).stdout for x in (ns, other)), 30)
        text = p.ask("report", timeout=60, check=True).stdout
        assert "40" in text and text.startswith("restarts"), text
        lines = p.on_terminal(60, "report", timeout=60)
        assert max(map(len, lines)) <= 60 and any(ns in line for line in lines), lines
        page = p.ask("report", "-o", "html", timeout=60, check=True).stdout
        assert page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>") and ns in page, page[:300]
        document = json.loads(p.ask("report", "-o", "json", timeout=60, check=True).stdout)
        assert document["news"] == "report" and document["sections"], document
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
        as_json = json.loads(p.ask("report", "preview", "--sink", "elsewhere", "-o", "json", timeout=60, check=True).stdout)
        assert as_json["sections"] == [] and as_json["lines"] == [nothing.strip()] and as_json["tone"] == "good", as_json
        page = p.ask("report", "preview", "--sink", "elsewhere", "-o", "html", timeout=60, check=True).stdout
        assert page.startswith("<!DOCTYPE html>") and "Nothing to report" in page and ns not in page, page[:300]
        for words, code in ((("preview", "--sink", "x"), 64), (("send",), 64), (("show",), 64), (("--sink", "chat"), 64)):
            r = p.ask("report", *words)
            assert r.returncode == code and r.stderr, f"{words}: {r.returncode} {r.stderr}"
        assert not sink.posts and not alerts.posts and not mails.mails
    finally:
        mails.close()

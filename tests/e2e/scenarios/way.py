"""The way to a sink, or to the API server, by a proxy; and what is said when the proxy is what fails."""
import ctypes
import os
import pathlib
import re
import socket
import threading

from harness.mail import MailServer
from harness.scenario import Skip, scenario
from harness.sink import TOKEN
from harness.tls import Authority

from .digest import Crasher, config as report_config
from .mail import LOGIN, mail_sink

CHAT, HOOK, MAIL = "chat.behind.test", "hook.behind.test", "mail.behind.test"
NOWHERE = "http://127.0.0.1:1"
# As a login shell may have it; the program goes by its own settings alone.
ENVIRONMENT = {**{name: NOWHERE for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "smtp_proxy")},
               "NO_PROXY": "*", "no_proxy": "*"}


class Behind:
    """A chat in https, a webhook in clear and a mail server, which only a proxy knows by their names."""

    def __init__(self, t):
        self.authority = Authority(t.dir / "tls", f"{CHAT},DNS:{MAIL}")
        self.chat, self.hook = t.sink(authority=self.authority), t.sink(kind="webhook")
        self.mails = MailServer(authority=self.authority, login=LOGIN)
        t.closing.append(self.mails)
        self.names = {f"{CHAT}:443": self.chat.port, f"{HOOK}:80": self.hook.port, f"{MAIL}:587": self.mails.port}

    def settings(self, proxy, mark=""):
        by = {"proxy": proxy.url}
        ca = {"caFile": str(self.authority.ca)}
        user = LOGIN[0].replace("@", "%40")
        return [self.chat.settings("chat" + mark, url=f"https://{CHAT}/open-apis/bot/v2/hook/{TOKEN}", **by, **ca),
                self.hook.settings("hook" + mark, url=f"http://{HOOK}/in/{TOKEN}", **by),
                mail_sink(self.mails, self.authority, "mail" + mark, url=f"smtp://{user}@{MAIL}:587", **by)]


def runs(texts):
    """Which runs they are of, in order; what is told beside reports is none."""
    return [int(found.group(1)) for found in (re.search(r"RESTARTS (\d+)", text) for text in texts) if found]


def through(t, scheme):
    ns, behind = t.ns(), Behind(t)
    proxy, near = t.forward(scheme, behind.names), t.sink()
    sinks = [*behind.settings(proxy), behind.chat.settings("alone", url=f"https://{CHAT}/open-apis/bot/v2/hook/{TOKEN}")]
    t.objects.crash(t.objects.pod(ns), 7)
    config = report_config(t, near, ns)
    config["sinks"] = sinks
    p = t.program(config, env=ENVIRONMENT)
    t.until("a message to each", lambda: behind.chat.accepted and behind.hook.accepted and behind.mails.accepted and near.accepted, 30)
    assert behind.mails.accepted[0].secure and behind.mails.accepted[0].user == LOGIN[0]
    for name in ("chat", "hook", "mail"):
        r = p.ask("report", "send", "--sink", name, "--test", timeout=60)
        assert r.returncode == 0, f"{name}: {r.stdout}{r.stderr}"
    # The names are the proxy's alone: who asks for one here does not find it.
    r = p.ask("report", "send", "--sink", "alone", "--test", timeout=60)
    assert r.returncode == 78 and CHAT in r.stderr, r.stderr
    tunnels = {("CONNECT", f"{CHAT}:443"), ("POST", f"http://{HOOK}/in/{TOKEN}"), ("CONNECT", f"{MAIL}:587")}
    assert set(proxy.asked) == (tunnels if scheme == "http" else {("SOCKS", place) for place in behind.names}), proxy.asked
    assert TOKEN not in p.log() and LOGIN[1] not in p.log(), "a secret is in the log"


for _scheme, _doc in (("http", "An HTTP proxy opens tunnels for https and mails, and forwards what is in clear"),
                      ("socks5h", "A SOCKS proxy connects by name, whatever is sent")):
    def _make(scheme):
        return lambda t: through(t, scheme)
    _fn = _make(_scheme)
    _fn.__doc__ = f"{_doc}; it looks up the names, and nobody asks the environment."
    scenario(f"sinks/by-{_scheme}", timeout=90)(_fn)


@scenario("sinks/proxy-fails", timeout=240)
def proxy_fails(t):
    """A proxy that refuses, fails, cuts or is down: the trouble says that it is the proxy, and names no secret; what waited arrives
    afterwards, all of it and in order."""
    ns, behind, near = t.ns(), Behind(t), t.sink()
    proxies = [t.forward(scheme, behind.names) for scheme in ("http", "socks5h")]
    crasher = Crasher(t, ns)
    config = report_config(t, near, ns, schedule="*/3 * * * * *")
    chat, hook, mail = behind.settings(proxies[0])
    config["sinks"] = [chat, behind.settings(proxies[1])[1], mail]
    p = t.program(config, env=ENVIRONMENT)

    def all_there():
        return [runs(x.text for x in behind.chat.accepted), runs(x.text for x in behind.hook.accepted),
                runs(m.part("plain") for m in behind.mails.accepted)]
    crasher.until("a message to each", lambda: all(all_there()), 30)
    for answer in (407, 502, "cut", "down"):
        for proxy in proxies:
            proxy.answer = answer
            if answer == "down":
                proxy.down()

        def detail():
            return "".join(x["detail"] for x in p.status()["troubles"] if x["trouble"] == "sink")
        crasher.until(f"the trouble ({answer})", lambda: all(f"{name}: the proxy: " in detail() for name in ("chat", "hook", "mail")), 60)
        assert answer not in (407, 502) or f"response {answer}" in detail(), detail()
        for name in ("chat", "hook", "mail"):
            r = p.ask("report", "send", "--sink", name, "--test", timeout=60)
            assert r.returncode == 69 and "the proxy refused the connection" in r.stderr and "the proxy: " in r.stderr, f"{r.returncode} {r.stderr}"
            assert TOKEN not in r.stderr and LOGIN[1] not in r.stderr, r.stderr
        assert "secret or proxy" in p.ask("status").stdout, p.ask("status").stdout
        for proxy in proxies:
            proxy.answer = None
            if answer == "down":
                proxy.up()
        if answer == 407:
            p.reload()      # what somebody has to correct is tried again seldom; this is how it is said
        t.until("the end of the trouble", lambda: not detail(), 60)
        t.until("all that waited", lambda: all(x == runs(y.text for y in near.accepted) for x in all_there()), 60)
    assert TOKEN not in p.log() and LOGIN[1] not in p.log(), "a secret is in the log"
    assert runs(x.text for x in near.accepted) == sorted(set(all_there()[0])), all_there()


@scenario("wire/proxy-url", timeout=90)
def proxy_url(t):
    """proxy-url of a kubeconfig, HTTP and SOCKS: every connection goes there, whatever the environment says."""
    ns = t.ns()
    for scheme in ("http", "socks5"):
        proxy = t.forward(scheme)
        path = t.kubeconfig()
        path.write_text(path.read_text().replace(f"    server: {t.server.url}\n", f"    server: {t.server.url}\n    proxy-url: {proxy.url}\n"))
        p = t.program(t.config(evicted=ns), path, env=ENVIRONMENT)
        t.canary(ns)
        place = t.server.url.removeprefix("https://")
        assert set(proxy.asked) == {("CONNECT" if scheme == "http" else "SOCKS", place)}, proxy.asked
        assert p.stop() == 0


@scenario("wire/proxy-url-https", timeout=120)
def proxy_url_https(t):
    """An https proxy, by its address and by its name: believed by the cluster's authority, and by no other; what fails there is the proxy's."""
    ns, authority = t.ns(), Authority(t.dir / "proxy")
    both = t.dir / "both.crt"
    both.write_text(authority.ca.read_text() + pathlib.Path(t.server.ca).read_text())
    text = t.server.kubeconfig_pair()
    for host, ca in (("127.0.0.1", both), ("localhost", both), ("localhost", t.server.ca)):
        proxy = t.forward("https", authority=authority)
        path = t.kubeconfig()
        path.write_text(text.replace(f"    server: {t.server.url}\n", f"    server: {t.server.url}\n    proxy-url: https://{host}:{proxy.port}\n")
                        .replace(f"certificate-authority: {t.server.ca}", f"certificate-authority: {ca}"))
        p = t.program(t.config(evicted=ns), path, env=ENVIRONMENT, start=False)
        p.start(wait=ca is both)
        if ca is both:
            t.canary(ns)
            assert set(proxy.asked) == {("CONNECT", t.server.url.removeprefix("https://"))}, proxy.asked
        else:
            t.until("the proxy in the log", lambda: "the proxy: " in p.log(), 30)
            assert not proxy.asked, proxy.asked
        assert p.stop() == 0


class Relay:
    """Another address of this machine at which a port of 127.0.0.1 is reached, until it dies with all that goes through."""

    def __init__(self, t, host, port):
        self.port, self.ends, self.listener = port, [], socket.create_server((host, port), backlog=64)
        self.used = threading.Event()
        t.closing.append(self)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.port))
            except OSError:
                return
            self.used.set()
            self.ends += [client, server]
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=pair, daemon=True).start()

    def _copy(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass        # it has died

    def close(self):
        for end in [self.listener, *self.ends]:
            try:
                end.shutdown(socket.SHUT_RDWR)      # wakes who waits in accept() or recv()
            except OSError:
                pass
            end.close()
        self.ends = []


def with_hosts(path):
    """Makes this process (before it becomes the program) see that file as /etc/hosts."""
    libc = ctypes.CDLL(None, use_errno=True)
    private, bind = 0x40000 | 0x4000, 0x1000
    if libc.unshare(0x20000) or libc.mount(b"none", b"/", None, private, None) or libc.mount(str(path).encode(), b"/etc/hosts", None, bind, None):
        raise OSError(ctypes.get_errno(), "a mount of its own")


@scenario("wire/several-addresses", timeout=90)
def several_addresses(t):
    """Of the API server's addresses one dies after its name was looked up: the next one serves at once, in the same processes."""
    if os.geteuid():
        raise Skip("only root can give a process an /etc/hosts of its own")
    ns, port = t.ns(), int(t.server.url.rsplit(":", 1)[1])
    first, second = Relay(t, "127.0.0.2", port), Relay(t, "127.0.0.3", port)
    hosts = t.write("hosts", "127.0.0.3 api.behind.test\n127.0.0.2 api.behind.test\n127.0.0.1 localhost\n")
    path = t.kubeconfig()
    path.write_text(path.read_text().replace(f"    server: {t.server.url}\n",
                                             f"    server: https://api.behind.test:{port}\n    tls-server-name: 127.0.0.1\n"))
    p = t.program(t.config(evicted=ns), path, start=False)
    p.preexec = lambda: with_hosts(hosts)
    p.start()
    t.canary(ns)
    assert first.used.is_set() and not second.used.is_set(), "not the one that answered first"
    watchers = p.pids("watcher")
    first.close()
    t.canary(ns)
    assert second.used.is_set()
    assert p.pids("watcher") == watchers and "child died" not in p.log(), "a process died of it"
    assert p.stop() == 0

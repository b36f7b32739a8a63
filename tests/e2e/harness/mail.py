"""A mail server that takes mails as a real one does: EHLO, STARTTLS, AUTH PLAIN, and then a mail, which it remembers.

`script` is a list of what becomes of the mails, in order, after which every one is accepted:
  "451", "550", …   that reply after DATA
  "refuse"          550 to every recipient
  "cut"             takes the whole mail and closes the connection without a reply
"""
import base64
import email
import email.policy
import socketserver
import ssl
import threading


class Mail:
    def __init__(self, sender, readers, raw, secure, user):
        self.sender, self.readers, self.raw, self.secure, self.user = sender, readers, raw, secure, user
        self.message = email.message_from_bytes(raw, policy=email.policy.default)
        self.accepted = False

    @property
    def subject(self):
        return str(self.message["Subject"])

    def part(self, kind):
        """The text of its part of that type: plain or html."""
        return self.message.get_body((kind,)).get_content()


class MailServer:
    """With an authority it offers STARTTLS, and a login only after it; login is (user, password)."""

    def __init__(self, script=(), authority=None, login=None):
        self.mails, self.script, self.login = [], list(script), login
        self.lock = threading.Lock()
        self.tls = None
        if authority:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(authority.cert, authority.key)
        outer = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    Session(outer, self.request).run()
                except OSError:
                    pass        # the other side left

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self.server.allow_reuse_address = self.server.daemon_threads = True
        self.server.server_bind()
        self.server.server_activate()
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    @property
    def accepted(self):
        with self.lock:
            return [m for m in self.mails if m.accepted]


class Session:
    def __init__(self, server, connection):
        self.server, self.connection = server, connection
        self.file = connection.makefile("rb")
        self.secure, self.user, self.sender, self.readers = False, None, None, []

    def say(self, text):
        self.connection.sendall(text.encode() + b"\r\n")

    def line(self):
        return self.file.readline().decode("utf-8", "replace").rstrip("\r\n")

    def run(self):
        self.say("220 mail.test ESMTP")
        while line := self.line():
            verb = line.split(" ")[0].split(":")[0].upper()
            if verb == "QUIT":
                self.say("221 2.0.0 bye")
                return
            if getattr(self, "on_" + verb.lower(), self.on_unknown)(line) is False:
                return

    def on_unknown(self, _):
        self.say("502 5.5.1 what?")

    def on_ehlo(self, _):
        self.say("250-mail.test")
        if self.server.tls and not self.secure:
            self.say("250-STARTTLS")
        elif self.server.login:
            self.say("250-AUTH PLAIN")
        self.say("250 8BITMIME")

    def on_starttls(self, _):
        self.say("220 2.0.0 go ahead")
        self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        self.file = self.connection.makefile("rb")
        self.secure = True

    def on_auth(self, line):
        words = line.split(" ")
        if len(words) < 3:
            self.say("334 ")
            words.append(self.line())
        _, user, password = base64.b64decode(words[2]).decode().split("\0")
        if (user, password) != self.server.login:
            self.say("535 5.7.8 Error: authentication failed")
        else:
            self.user = user
            self.say("235 2.7.0 ok")

    def on_mail(self, line):
        if self.server.login and not self.user:
            self.say("530 5.7.0 Authentication required")
            return
        self.sender, self.readers = line.split("<")[1].split(">")[0], []
        self.say("250 2.1.0 ok")

    def on_rcpt(self, line):
        if self.server.script[:1] == ["refuse"]:
            self.say("550 5.1.1 no such user")
            return
        self.readers.append(line.split("<")[1].split(">")[0])
        self.say("250 2.1.5 ok")

    def on_data(self, _):
        self.say("354 go on")
        lines = []
        while (raw := self.file.readline()) != b".\r\n":
            if not raw:
                return False
            assert len(raw) <= 1000 and raw.endswith(b"\r\n"), raw
            lines.append(raw[1:] if raw.startswith(b".") else raw)
        mail = Mail(self.sender, self.readers, b"".join(lines), self.secure, self.user)
        with self.server.lock:
            step = self.server.script.pop(0) if self.server.script else None
            mail.accepted = step is None
            self.server.mails.append(mail)
        if step == "cut":
            return False
        self.say(f"{step} 4.7.1 not now" if step else "250 2.0.0 queued")
        return True

"""The program in nothing but its image: a root folder that is read-only, as the image's user, with the environment that the image
names, and beside it only what a container runtime gives (proc, dev, hosts, resolv.conf, volumes).

All of it happens in namespaces of its own, where the name server is one of ours.
"""
import json
import os
import pathlib
import shutil
import socket
import socketserver
import struct
import subprocess
import tarfile
import threading

import harness  # noqa: F401
import scratch
from harness.program import yaml
from harness.wait import until

PROGRAM = "ops-pod-cleaner"
POINTS = ("proc", "dev", "var/run/secrets/kubernetes.io/serviceaccount")
FILES = ("etc/hosts", "etc/resolv.conf", "dev/null")
VOLUMES = (f"var/lib/{PROGRAM}", f"run/{PROGRAM}")
SECRETS = "var/run/secrets/kubernetes.io/serviceaccount"
CONFIG = f"etc/{PROGRAM}"


def unpack(archive, folder):
    """The image's root in that folder, and what a runtime puts the mounts on; returns the image's configuration."""
    with tarfile.open(archive) as tar:
        saved = json.load(tar.extractfile("manifest.json"))[0]
        with tarfile.open(fileobj=tar.extractfile(saved["Layers"][0]), mode="r:gz") as layer:
            layer.extractall(folder, numeric_owner=True)
        config = json.load(tar.extractfile(saved["Config"]))["config"]
    for point in POINTS:
        (folder / point).mkdir(parents=True, exist_ok=True)
    for file in FILES:
        (folder / file).touch()
    return config


def mount(*what):
    subprocess.run(["mount", *map(str, what)], check=True)


class Box:
    """One container. `image` is where unpack() put it; `config` a dict; `files` lie beside the configuration: name -> text."""

    def __init__(self, image, settings, folder, config, files=(), secrets=(), hosts="", env=()):
        self.settings, self.root, self.log = settings, folder / "root", folder / "log"
        self.env = dict(e.split("=", 1) for e in settings["Env"]) | dict(env)
        self.user, self.process = settings["User"], None
        self.root.mkdir(parents=True)
        mount("--bind", image, self.root)
        self._texts(folder / "config", CONFIG, {"config.yml": yaml({"metricsListen": "", "sandbox": "require", **config}) + "\n", **dict(files)})
        self._texts(folder / "secrets", SECRETS, dict(secrets))
        self._bind(folder / "hosts", "etc/hosts", f"127.0.0.1 localhost\n{hosts}\n")
        self._bind(folder / "resolv.conf", "etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:3\n")
        mount("--bind", "/dev/null", self.root / "dev" / "null")
        mount("--bind", "/proc", self.root / "proc")
        owner = self.user.split(":")[0]
        for volume in VOLUMES:
            mount("-t", "tmpfs", "-o", f"mode=700,uid={owner},gid={owner}", "tmpfs", self.root / volume)
        mount("-o", "remount,bind,ro", self.root)

    def _bind(self, file, point, text):
        file.write_text(text)
        mount("--bind", file, self.root / point)

    def _texts(self, folder, point, files):
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
        mount("--bind", folder, self.root / point)

    def write(self, name, text):
        (self.root / CONFIG / name).write_text(text)

    def command(self, *args):
        return [shutil.which("chroot") or "/usr/sbin/chroot", f"--userspec={self.user}", "--groups=", self.root, *self.settings["Entrypoint"], *args]

    def start(self, *args):
        with open(self.log, "ab") as log:
            self.process = scratch.start(self.command(*(args or self.settings["Cmd"])), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                         env=self.env)
        return self

    def ask(self, *args):
        return subprocess.run(list(map(str, self.command(*args))), env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=30, check=False)

    def status(self):
        answer = self.ask("status", "-o", "json")
        return json.loads(answer.stdout) if answer.returncode in (0, 1) else None

    def wait_synced(self):
        def look():
            assert self.process.poll() is None, f"it ended with {self.process.returncode}: {self.log.read_text()}"
            status = self.status()
            return status and status["clusters"] and all(c["synced"] for c in status["clusters"])
        try:
            until("the cache to be complete", look, 60, every=0.1)
        except AssertionError as e:
            raise AssertionError(f"{e}\n{self.log.read_text()}") from e

    def stop(self):
        self.process.terminate()
        return self.process.wait(60)


class Names(threading.Thread):
    """A name server on 127.0.0.1 that knows these names; `asked` are those it was asked for."""

    def __init__(self, *known):
        super().__init__(daemon=True)
        self.known, self.asked = {name.encode() for name in known}, []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))
        self.start()

    def run(self):
        while True:
            query, client = self.socket.recvfrom(512)
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1:at + 1 + query[at]])
                at += 1 + query[at]
            kind, name = struct.unpack(">H", query[at + 1:at + 3])[0], b".".join(labels)
            self.asked.append(name.decode())
            answers = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 1, 4) + b"\x7f\0\0\1" if name in self.known and kind == 1 else b""
            head = query[:2] + struct.pack(">HHHHH", 0x8180 if name in self.known else 0x8183, 1, bool(answers), 0, 0)
            self.socket.sendto(head + query[12:at + 5] + answers, client)


def pump(one, other):
    try:
        while data := one.recv(65536):
            other.sendall(data)
    except OSError:
        pass
    finally:
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Socks(socketserver.BaseRequestHandler):
    """SOCKS 5 without a password. Connects to this machine, whatever name is asked for."""

    def handle(self):
        s = self.request
        methods = s.recv(2)[1]
        s.recv(methods)
        s.sendall(b"\5\0")
        kind = s.recv(4)[3]
        target = s.recv(s.recv(1)[0]).decode() if kind == 3 else socket.inet_ntoa(s.recv(4))
        port = struct.unpack(">H", s.recv(2))[0]
        self.server.asked.append((kind == 3, target))
        s.sendall(b"\5\0\0\1\x7f\0\0\1\0\0")
        relay(s, port)


class Connect(socketserver.BaseRequestHandler):
    """An HTTP proxy that knows CONNECT alone."""

    def handle(self):
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.request.recv(1)
        host, _, port = head.split(b" ")[1].decode().rpartition(":")
        self.server.asked.append((head.startswith(b"CONNECT "), host))
        self.request.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        relay(self.request, int(port))


def relay(client, port):
    with socket.create_connection(("127.0.0.1", port)) as server:
        back = threading.Thread(target=pump, args=(server, client), daemon=True)
        back.start()
        pump(client, server)
        back.join()


def proxy(handler):
    """A proxy of that kind at work on a free port; `asked` are (as the proxy's protocol has it, target)."""
    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        asked = []

    server = Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server



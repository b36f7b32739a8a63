"""Images made of one static binary, as archives that containerd imports and as blobs that a registry serves."""
import gzip
import hashlib
import io
import json
import os
import tarfile

LAYER, CONFIG, MANIFEST = (f"application/vnd.oci.image.{what}" for what in ("layer.v1.tar+gzip", "config.v1+json", "manifest.v1+json"))
INDEX = "application/vnd.oci.image.index.v1+json"
HERE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
TOOLS = ("sh", "sleep", "dd", "cat", "true")


def digest(blob):
    return "sha256:" + hashlib.sha256(blob).hexdigest()


def add(tar, name, data=b"", kind=tarfile.REGTYPE, mode=0o755, link=""):
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.type, info.linkname = len(data), mode, kind, link
    tar.addfile(info, io.BytesIO(data))


def descriptor(media, blob, **more):
    return {"mediaType": media, "digest": digest(blob), "size": len(blob), **more}


def tar_of(rows):
    """rows: arguments of add() behind the archive."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for name, more in rows:
            add(tar, name, **more)
    return raw.getvalue()


def tools(busybox, mark):
    yield "mark", {"data": mark.encode(), "mode": 0o644}
    yield "bin", {"kind": tarfile.DIRTYPE}
    yield "tmp", {"kind": tarfile.DIRTYPE, "mode": 0o777}
    yield "bin/busybox", {"data": busybox}
    for tool in TOOLS:
        yield f"bin/{tool}", {"kind": tarfile.SYMTYPE, "link": "busybox"}


class Image:
    """blobs: digest -> bytes; manifest: its bytes. Of the same binary, another `mark` makes another image."""

    def __init__(self, busybox, architecture=None, mark="tools"):
        self.make(tar_of(tools(busybox, mark)), {"Env": ["PATH=/bin"], "Cmd": ["sleep", "infinity"]}, architecture or HERE)

    def make(self, raw, how, architecture):
        layer = gzip.compress(raw, 1, mtime=0)
        config = json.dumps({"architecture": architecture, "os": "linux", "config": how,
                             "rootfs": {"type": "layers", "diff_ids": [digest(raw)]}}).encode()
        self.manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": descriptor(CONFIG, config),
                                    "layers": [descriptor(LAYER, layer)]}).encode()
        self.blobs = {digest(blob): blob for blob in (layer, config, self.manifest)}
        self.layer, self.architecture = digest(layer), architecture

    def index(self, **annotations):
        platform = {"architecture": self.architecture, "os": "linux"}
        return json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": [
            descriptor(MANIFEST, self.manifest, platform=platform, annotations=annotations)]}).encode()

    def archive(self, name, path):
        """An OCI archive that is imported under that name."""
        with tarfile.open(path, "w") as tar:
            add(tar, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
            add(tar, "index.json", self.index(**{"io.containerd.image.name": name}))
            for key, blob in self.blobs.items():
                add(tar, "blobs/" + key.replace(":", "/"), blob)

"""What is in the archive of an image: a reader, and what has to be true of every one. Each case takes an Image."""
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import tarfile

import scratch

TOP = pathlib.Path(__file__).resolve().parents[2]
MAXIMUM = 12_000_000    # bytes to be pulled
NAME = "ops-pod-cleaner"
USER = 65532
PROGRAMS = {f"usr/bin/{NAME}"} | {f"usr/libexec/{NAME}/{role}" for role in ("supervisor", "watcher", "worker", "reporter", "loader")}
# All that may be in it, and nothing that is not needed to run it or to know what it is.
WANTED = [*map(re.escape, PROGRAMS), r"etc/(passwd|group|nsswitch\.conf)", r"etc/ssl/certs/ca-certificates\.crt", r"usr/share/zoneinfo/(?!posix/|right/).*",
          rf"usr/share/doc/{NAME}/(LICENSE|{NAME}\.spdx\.json)", r"usr/share/doc/[a-z0-9.+-]+/copyright"]
OWN_FOLDERS = {f"var/lib/{NAME}", f"run/{NAME}"}


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Image:
    """What an engine reads out of the archive."""

    def __init__(self, out):
        self.out, self.path = out, out / f"{NAME}.tar"
        with tarfile.open(self.path) as tar:
            self.files = {m.name: tar.extractfile(m).read() for m in tar.getmembers() if m.isfile()}
        self.index = json.loads(self.files["index.json"])
        self.manifest = self.blob(self.index["manifests"][0])
        self.config = self.blob(self.manifest["config"])
        self.layer = self.files["blobs/" + self.manifest["layers"][0]["digest"].replace(":", "/")]
        self.raw = gzip.decompress(self.layer)
        with tarfile.open(fileobj=io.BytesIO(self.raw)) as tar:
            self.members = tar.getmembers()
            self.texts = {m.name: tar.extractfile(m).read() for m in self.members if m.isfile()}
        self.links = {m.name: m.linkname for m in self.members if m.issym()}

    def blob(self, descriptor):
        return json.loads(self.files["blobs/" + descriptor["digest"].replace(":", "/")])


def is_an_oci_layout(image):
    """Every descriptor is true, and every blob is somebody's."""
    first = image.index["manifests"][0]
    seen = [first, image.manifest["config"], *image.manifest["layers"]]
    for one in seen:
        blob = image.files["blobs/" + one["digest"].replace(":", "/")]
        assert (sha256(blob), len(blob)) == (one["digest"], one["size"]), one
    assert len([name for name in image.files if name.startswith("blobs/")]) == len(seen) == 3, list(image.files)
    assert json.loads(image.files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    assert image.config["rootfs"]["diff_ids"] == [sha256(image.raw)]
    assert first["annotations"]["io.containerd.image.name"] == f"docker.io/library/{NAME}:{version()}", first


def is_what_docker_loads(image):
    saved = json.loads(image.files["manifest.json"])
    assert len(saved) == 1 and saved[0]["RepoTags"] == [f"{NAME}:{version()}"], saved
    assert sha256(image.files[saved[0]["Config"]]) == image.manifest["config"]["digest"]
    assert [sha256(image.files[path]) for path in saved[0]["Layers"]] == [image.manifest["layers"][0]["digest"]]


def version():
    return re.search(r"^project\(\S+ VERSION (\S+)", (TOP / "CMakeLists.txt").read_text(), re.M).group(1)


def says_what_it_is(image):
    settings = image.config["config"]
    labels = {key.removeprefix("org.opencontainers.image."): value for key, value in settings["Labels"].items()}
    commit = subprocess.run(["git", "log", "-1", "--format=%H %cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ"], cwd=TOP, check=False,
                            capture_output=True, text=True, env={**os.environ, "TZ": "UTC"}).stdout.split()
    if commit:
        assert labels["revision"].removesuffix("-changed") == commit[0], labels
        assert labels["created"] == image.config["created"] == commit[1] or os.environ.get("SOURCE_DATE_EPOCH"), (labels, commit)
    assert labels["version"] == version() and labels["licenses"] == "Apache-2.0", labels
    assert settings["User"] == f"{USER}:{USER}" and settings["Entrypoint"] == [f"/usr/bin/{NAME}"] and settings["Cmd"] == ["run"], settings


def is_small(image):
    assert len(image.layer) <= MAXIMUM, f"{len(image.layer)} bytes are to be pulled, {MAXIMUM} are allowed"


def holds_what_it_needs_and_nothing_else(image):
    odd = [name for name in {**image.texts, **image.links} if not any(re.fullmatch(pattern, name) for pattern in WANTED)]
    assert not odd, odd
    assert PROGRAMS <= set(image.texts), PROGRAMS - set(image.texts)
    assert f"{NAME}:x:{USER}:" in image.texts["etc/passwd"].decode() and f":x:{USER}:" in image.texts["etc/group"].decode()
    assert "hosts: files dns\n" in image.texts["etc/nsswitch.conf"].decode()    # what a pod's hostAliases say comes first
    assert image.texts["etc/ssl/certs/ca-certificates.crt"].count(b"BEGIN CERTIFICATE") > 50
    assert image.texts["usr/share/zoneinfo/Asia/Shanghai"][:4] == b"TZif"
    assert not [m.name for m in image.members if not (m.isfile() or m.isdir() or m.issym())]


def belongs_to_root_but_for_its_folders(image):
    for member in image.members:
        owner = USER if member.name in OWN_FOLDERS else 0
        assert (member.uid, member.gid) == (owner, owner), (member.name, member.uid, member.gid)
        assert member.issym() or member.mode & 0o6022 == 0 or member.name == "tmp", (member.name, oct(member.mode))
    assert {m.name for m in image.members if m.isfile() and m.mode & 0o111} == PROGRAMS
    assert OWN_FOLDERS <= {m.name for m in image.members if m.isdir()}


def needs_no_library(image):
    folder = scratch.folder("image-elf")
    for name in PROGRAMS:
        path = folder / pathlib.Path(name).name
        path.write_bytes(image.texts[name])
        text = subprocess.run(["readelf", "-Wdl", path], check=True, capture_output=True, text=True).stdout
        assert "INTERP" not in text and "(NEEDED)" not in text and re.search(r"FLAGS_1.*\bPIE\b", text), f"{name} is not static-pie"
        assert str(TOP).encode() not in image.texts[name], f"{name} holds the path of its source"


def has_a_bill_of_materials(image):
    """Every file with its sum, and every package whose code is linked in."""
    text = image.texts[f"usr/share/doc/{NAME}/{NAME}.spdx.json"]
    assert text == (image.out / f"{NAME}.spdx.json").read_bytes()
    bill = json.loads(text)
    sums = {f["fileName"].removeprefix("./"): {c["algorithm"]: c["checksumValue"] for c in f["checksums"]} for f in bill["files"]}
    told = {name for name in image.texts if not name.endswith(".spdx.json")}
    assert set(sums) == told, set(sums) ^ told
    for name in told:
        assert sums[name]["SHA256"] == hashlib.sha256(image.texts[name]).hexdigest(), name
    packages = {p["name"]: p["versionInfo"] for p in bill["packages"]}
    for name in ("libc6-dev", "libssl-dev", "libcurl4-openssl-dev", "libsqlite3-dev", "libevent-dev", "tzdata", "ca-certificates"):
        installed = subprocess.run(["dpkg-query", "-W", "-f", "${source:Version}", name], check=True, capture_output=True, text=True).stdout
        assert packages.get(name) == installed, (name, packages.get(name), installed)
        assert f"usr/share/doc/{name}/copyright" in image.texts, name
    ids = [row["SPDXID"] for row in (*bill["packages"], *bill["files"])]
    assert len(ids) == len(set(ids))
    related = {r["relatedSpdxElement"] for r in bill["relationships"]}
    assert related == set(ids), related ^ set(ids)


CASES = [is_an_oci_layout, is_what_docker_loads, says_what_it_is, is_small, holds_what_it_needs_and_nothing_else,
         belongs_to_root_but_for_its_folders, needs_no_library, has_a_bill_of_materials]

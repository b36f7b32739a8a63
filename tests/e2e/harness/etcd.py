"""Many pods, fast: written straight to etcd, past the API server, which learns of them by its watch."""
import base64
import http.client
import json
import random
import uuid
from urllib.parse import urlsplit


def random_name(length):
    return "".join(random.choice("bcdfghjklmnpqrstvwxz2456789") for _ in range(length))


class Etcd:
    def __init__(self, url):
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)

    def call(self, path, body):
        self.connection.request("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise AssertionError(f"etcd: {answer.status} {text[:300]}")
        return json.loads(text)

    def get(self, key):
        kvs = self.call("/v3/kv/range", {"key": base64.b64encode(key.encode()).decode()}).get("kvs")
        return base64.b64decode(kvs[0]["value"])

    def put(self, pairs):
        puts = [{"requestPut": {"key": base64.b64encode(k.encode()).decode(), "value": base64.b64encode(v).decode()}} for k, v in pairs]
        self.call("/v3/kv/txn", {"success": puts})


class Mould:
    """One pod as etcd holds it, and as many more as wished."""

    def __init__(self, etcd, namespace, pod):
        self.etcd, self.namespace = etcd, namespace
        self.name, self.uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        self.form = etcd.get(self.key(self.name))
        self.uids = {}      # by name, of its copies

    def key(self, name):
        return f"/registry/pods/{self.namespace}/{name}"

    def copy(self, name):
        self.uids[name] = str(uuid.uuid4())
        form = self.form.replace(self.name.encode(), name.encode()).replace(self.uid.encode(), self.uids[name].encode())
        return self.key(name), form

    def fill(self, count, say=None, batch=1):
        """The names; all of the length of the first one's. Pods of one batch have one resourceVersion, which no API server would give
        them: a watch that is cut among them loses the others, so more than one only while nobody watches."""
        tail = len(self.name.rsplit("-", 1)[1])
        stem, names = self.name[:-tail], {}     # in their order, each once
        while len(names) < count:
            names[stem + random_name(tail)] = True
        names = list(names)
        for at in range(0, count, batch):
            self.etcd.put([self.copy(name) for name in names[at:at + batch]])
            if say and at and at % 10_000 == 0:
                say(f"{at:,} of {count:,} pods written")
        return names

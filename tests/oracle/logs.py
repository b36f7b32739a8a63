"""Reads a server's request log into one form, whichever server wrote it.

apisim's --request-log and the audit log of a real kube-apiserver are both one JSON object a line; which one a line
comes from shows in its fields.
"""
import base64
import json
from dataclasses import dataclass, field
from datetime import datetime, timezone
from urllib.parse import parse_qs, urlsplit

WRITES = {"create", "update", "patch", "delete", "deletecollection"}


@dataclass
class Request:
    t: float                    # when the server received it, Unix seconds
    verb: str                   # as in an audit event: get, list, watch, create, update, patch, delete, ...
    resource: str = ""          # "pods", "deployments", "" for discovery
    subresource: str = ""
    group: str = ""
    ns: str = ""
    name: str = ""
    code: int = 0
    user: str = ""
    agent: str = ""
    path: str = ""
    query: dict = field(default_factory=dict)
    body: object = None
    answer: object = None
    object_uid: object = None   # as the log names it, without the object
    before: object = None       # the object as it was, where the log holds it
    t_end: float = 0.0

    @property
    def is_write(self):
        return self.verb in WRITES

    @property
    def dry_run(self):
        body = self.body if isinstance(self.body, dict) else {}
        return "All" in (self.query.get("dryRun") or []) or "All" in (body.get("dryRun") or [])

    @property
    def ok(self):
        return 200 <= self.code < 300

    @property
    def uid(self):
        """The uid the write is bound to, whatever kind of write it is."""
        body = self.body if isinstance(self.body, dict) else {}
        return (body.get("preconditions") or body.get("metadata") or {}).get("uid") or ""

    @property
    def rv(self):
        body = self.body if isinstance(self.body, dict) else {}
        return (body.get("preconditions") or body.get("metadata") or {}).get("resourceVersion") or ""

    @property
    def grace(self):
        body = self.body if isinstance(self.body, dict) else {}
        return body.get("gracePeriodSeconds")

    @property
    def seen(self):
        """Of a read of one object that was answered: its uid."""
        answer = self.answer if isinstance(self.answer, dict) else {}
        return self.object_uid or (answer.get("metadata") or {}).get("uid")

    @property
    def replicas(self):
        """Of a scale write: the count asked for; None when it does not name one."""
        body = self.body if isinstance(self.body, dict) else {}
        return (body.get("spec") or {}).get("replicas")

    def __str__(self):
        what = "/".join(x for x in (self.resource, self.subresource) if x)
        bound = f" uid={self.uid or '-'} rv={self.rv or '-'}" if self.is_write else ""
        extra = f" grace={self.grace}" if self.grace is not None else ""
        extra += f" replicas={self.replicas}" if self.replicas is not None else ""
        extra += " dryRun" if self.dry_run else ""
        when = datetime.fromtimestamp(self.t, timezone.utc).strftime("%H:%M:%S.%f")[:-3]
        return f"{when} {self.user} {self.verb} {what} {self.ns}/{self.name}{bound}{extra} -> {self.code}"


def parse_time(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() if text else 0.0


def from_audit(event):
    ref = event.get("objectRef") or {}
    url = urlsplit(event.get("requestURI", ""))
    return Request(
        t=parse_time(event.get("requestReceivedTimestamp")), t_end=parse_time(event.get("stageTimestamp")),
        verb=event.get("verb", ""), resource=ref.get("resource", ""), subresource=ref.get("subresource", ""),
        group=ref.get("apiGroup", ""), ns=ref.get("namespace", ""), name=ref.get("name", ""),
        code=(event.get("responseStatus") or {}).get("code", 0), user=(event.get("user") or {}).get("username", ""),
        agent=event.get("userAgent", ""), path=url.path, query=parse_qs(url.query),
        body=event.get("requestObject"), answer=event.get("responseObject"))


def parse_line(line):
    """One line of either log; None for a line that is no finished request."""
    event = json.loads(line)
    if event.get("kind") == "Event":
        return from_audit(event) if event.get("stage") in ("ResponseComplete", "Panic") else None
    return from_apisim(event)


def from_apisim(event):
    if event.get("stage") == "end":
        return None     # of a watch; its start was logged
    return Request(
        t=event["ts"], t_end=event.get("tsEnd", 0.0), verb=event.get("verb", ""), resource=event.get("resource", ""),
        subresource=event.get("subresource", ""), group=event.get("group", ""), ns=event.get("namespace", ""),
        name=event.get("name", ""), code=event.get("status", 0), user=event.get("user", ""),
        agent=event.get("agent", ""), path=event.get("path", ""), query=parse_qs(event.get("query", "")),
        body=event.get("body"), answer=event.get("answer"), object_uid=event.get("objectUid"), before=event.get("objectBefore"))


class Log:
    """Follows a log file. `requests` grows with every read()."""

    def __init__(self, path):
        self.path = path
        self.requests = []
        self._pos = 0
        self._rest = b""

    def read(self):
        try:
            with open(self.path, "rb") as f:
                f.seek(self._pos)
                data = f.read()
        except FileNotFoundError:
            return self.requests
        self._pos += len(data)
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            if line.strip():
                request = parse_line(line)
                if request:
                    self.requests.append(request)
        return self.requests

"""What is made while everything dies: pods and workloads that are due, and some that must not be touched."""
import http.client
import random
import threading
import time
from dataclasses import dataclass

from harness.client import ApiError, Client
from harness.objects import Objects, pod_path

DELETE, SCALE, EITHER, NEVER = "delete", "scale", "either", "never"     # what may happen to a thing; either: at most once
HOURS = 2.0         # threshold of the duties that have one, seconds
FINISH = "5s"       # when a half-deleted pod is finished: the calm is a minute
KINDS = {"evicted": 66, "terminating": 8, "finished": 8, "pull": 2, "successor": 6, "bystander": 10}
BYSTANDERS = ("running", "marked", "uncovered", "other-reason")
SPACES = ("evicted", "terminating", "finished", "pull", "uncovered")


@dataclass
class Thing:
    kind: str
    ns: str
    name: str
    uid: str
    fate: str = NEVER
    due: float = 0.0        # Unix seconds, from which on it is due for certain
    earliest: float = 0.0   # from which on it may be done: a request may have been answered at its second attempt only

    def __str__(self):
        return f"{self.ns}/{self.name} ({self.kind}, uid {self.uid})"


class Stopped(Exception):
    pass


class Patient(Client):
    """Asks again until the server has answered: what it is asked for is done in the end, however often it went away."""

    def __init__(self, server, stopped):
        super().__init__(server.url, server.tokens["admin"], server.ca, server.admin.on_object)
        self.stopped = stopped
        self.asked_again = 0

    def call(self, method, path, body=None, content_type="application/json", **query):
        while True:
            try:
                return super().call(method, path, body, content_type, **query)
            except ApiError as e:
                if e.code == 409 and method == "POST":     # it had been made, and the answer was lost
                    return self.get(f"{path}/{body['metadata']['name']}")
                if e.code == 404 and method == "DELETE":
                    return {}
                if e.code != 429 and e.code < 500:
                    raise
            except (OSError, http.client.HTTPException):
                pass
            self.asked_again += 1
            if self.stopped.wait(0.2):
                raise Stopped


class Feed(threading.Thread):
    """Makes things for one instance, so many a second, until stop()."""

    def __init__(self, server, number, per_second, seed):
        super().__init__(daemon=True)
        self.spaces = {kind: f"t{number}-{kind}" for kind in SPACES}
        self.rng = random.Random(f"{seed}-{number}")
        self.pause = 1.0 / per_second
        self.things, self.trouble = [], []
        self.ended = threading.Event()
        self.gave_up = threading.Event()
        self.objects = Objects(server, f"t{number}")
        self.objects.admin = Patient(server, self.gave_up)
        for ns in self.spaces.values():
            self.objects.ns(ns)

    def config(self):
        """Of the instance that has to deal with them."""
        hours = f"{HOURS:g}s"
        return {"finishDeletionsAfter": FINISH, "deleteEvictedPod": {"enable": True, "namespaces": [self.spaces["evicted"]]},
                "deleteTerminatingPod": {"enable": True, "namespaces": [self.spaces["terminating"]], "hours": hours},
                "deleteFinishedPod": {"enable": True, "namespaces": [self.spaces["finished"]], "hours": hours, "includeBarePods": True},
                "errImagePull": {"enable": True, "namespaces": [self.spaces["pull"]], "hours": hours}}

    def run(self):
        next_at = time.monotonic()
        try:
            while not self.ended.wait(max(0.0, next_at - time.monotonic())):
                next_at = max(next_at + self.pause * self.rng.uniform(0.5, 1.5), time.monotonic() - 5)
                kind = self.rng.choices(list(KINDS), list(KINDS.values()))[0]
                try:
                    getattr(self, "make_" + kind)()
                except (ApiError, AssertionError) as e:
                    self.trouble.append(f"{kind}: {e}")
        except Stopped:
            pass

    def stop(self):
        """No more of them; returns when the last one is as it was meant."""
        self.ended.set()
        self.join(60)
        self.gave_up.set()
        self.join()

    # --- one of each kind ---

    def note(self, kind, obj, fate=NEVER):
        meta = obj["metadata"]
        thing = Thing(kind, meta["namespace"], meta["name"], meta["uid"], fate)
        self.things.append(thing)
        return thing

    def becomes_due(self, thing, after, fate, fn, *args, **how):
        """It is due `after` seconds after fn has been done. Until that is answered nobody knows whether it is."""
        thing.fate, before = EITHER, time.time()
        try:
            answer = fn(*args, **how)
        except ApiError as e:
            if e.code != 404:       # an answer was lost, and the program has it deleted already
                raise
            answer = None
        thing.earliest = before + after
        thing.due = (time.time() if answer else before) + after
        thing.fate = fate
        return answer

    def make_evicted(self):
        pod = self.objects.pod(self.spaces["evicted"])
        self.becomes_due(self.note("evicted", pod), 0, DELETE, self.objects.evict, pod)

    def make_terminating(self):
        pod = self.objects.pod(self.spaces["terminating"])
        thing = self.note("terminating", pod)
        self.objects.stop_containers(pod)
        self.becomes_due(thing, 1 + HOURS, DELETE, self.objects.admin.delete, pod_path(thing.ns, thing.name), 1)

    def make_finished(self):
        pod = self.objects.pod(self.spaces["finished"])
        self.becomes_due(self.note("finished", pod), HOURS, DELETE, self.objects.finish, pod, "NodeShutdown")

    def make_pull(self):
        workload = self.objects.workload("Deployment", self.spaces["pull"], 1)
        thing = self.note("workload", workload.top)
        self.becomes_due(thing, HOURS, SCALE, workload.fail_to_pull)

    def make_successor(self):
        """An evicted pod that somebody else deletes as well, and at once another one of that name, which is well."""
        pod = self.objects.pod(self.spaces["evicted"])
        self.becomes_due(self.note("replaced", pod), 0, EITHER, self.objects.evict, pod)
        new = pod
        while new["metadata"]["uid"] == pod["metadata"]["uid"]:
            self.objects.force_delete(pod)
            new = self.objects.pod(self.spaces["evicted"], pod["metadata"]["name"])
        self.note("successor", new)
        self.objects.run(new)

    def make_bystander(self):
        kind = self.rng.choice(BYSTANDERS)
        marks = {"ops-pod-cleaner.io/ignore": "true"} if kind == "marked" else None
        pod = self.objects.pod(self.spaces["uncovered" if kind == "uncovered" else "evicted"], annotations=marks)
        self.note(kind, pod)
        if kind == "running":
            self.objects.run(pod)
        else:
            self.objects.evict(pod, "Shutdown" if kind == "other-reason" else "Evicted")

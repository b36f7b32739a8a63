"""What the oracle remembers of a log as it reads on."""
from dataclasses import dataclass, field


@dataclass
class Memory:
    """What earlier requests of the program did."""
    deleted: dict = field(default_factory=dict)     # uid -> when its successful DELETE had been answered
    looks: dict = field(default_factory=dict)       # uid -> reads of the pod less the DELETEs of it
    restored: set = field(default_factory=set)      # uids
    scaled: dict = field(default_factory=dict)      # uid -> replicas before, None when the log does not show them
    were: dict = field(default_factory=dict)        # uid -> the workload as it was scaled down, None when the log does not show it
    acts: list = field(default_factory=list)        # (duty, namespace, time)

    def look(self, r):
        if r.verb == "get" and r.resource == "pods" and r.seen:
            self.looks[r.seen] = self.looks.get(r.seen, 0) + 1

    def send(self, r):
        """A DELETE: did whoever sent it read the pod while it was there? One look is good for one DELETE."""
        self.looks[r.uid] = self.looks.get(r.uid, 0) - 1
        return self.looks[r.uid] >= 0

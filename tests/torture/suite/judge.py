"""The verdict on a run, from what the API server wrote down and from what is left.

Each thing that was due: exactly one write of the program that took effect, and it is done. Everything else: no write at all,
also none that was refused. A DELETE whose answer is an error of the server, or is none, counts only where the thing is gone and
no other write can have done it.
"""
import re
from dataclasses import dataclass, field

from oracle import judge as oracle

from . import feed

ACTS = ("delete", "scale", "suspend")      # beside them the program marks what it has scaled down

EARLY = 1.5         # seconds: Kubernetes' times are whole seconds, and a watch may be faster than an answer

TOO_EARLY = re.compile(r"(\d+\.\d+) s too early")
TOLD_BY_A_DATE = 1.0    # seconds: what the API server's clock is known to


def split_early(findings, clocks_step):
    """(seconds too early, other findings) of the oracle. A host's clock that is off by less than a second agrees with the server's Date
    headers, which are whole seconds: where the schedule steps it so, what comes that early is counted and no mistake."""
    early, others = [], []
    for finding in findings:
        found = TOO_EARLY.search(finding.text)
        if clocks_step and found and float(found[1]) < TOLD_BY_A_DATE:
            early.append(float(found[1]))
        else:
            others.append(finding)
    return early, others


@dataclass
class Verdict:
    due: int = 0
    done: int = 0
    cut_off: int = 0                                # of those done: by a write whose answer does not say so
    lost: list = field(default_factory=list)        # texts
    lost_in_a_write: int = 0                        # of those lost: by a write that began and whose end nobody knows
    double: list = field(default_factory=list)
    wrong: list = field(default_factory=list)
    took: list = field(default_factory=list)        # (thing, seconds from due to done)

    @property
    def ok(self):
        return not (self.lost or self.double or self.wrong)


def is_act(request):
    return request.is_write and not request.dry_run and request.resource not in ("leases", "events")


def may_have_taken_effect(request):
    return not request.ok and not 400 <= request.code < 500


def told(text, writes):
    return text + "".join(f"\n        {w}" for w in writes)


def judge(things, requests, is_program, left):
    """things: all that were made; requests: of the audit log; left: {uid: what is left of it, as text} at the end."""
    verdict, writes, known = Verdict(), {}, {t.uid for t in things}
    for request in requests:
        if not is_program(request) or not is_act(request):
            continue
        if request.uid not in known or not request.rv:
            if request.body is None and request.code >= 400:
                continue        # refused before its body was read
            verdict.wrong.append(told("a write on what is none of its business, or unbound", [request]))
        writes.setdefault(request.uid, []).append(request)
    for thing in things:
        judge_thing(thing, writes.get(thing.uid, []), left.get(thing.uid), verdict)
    return verdict


def judge_thing(thing, writes, left, verdict):
    acts = [w for w in writes if oracle.kind_of(w) in ACTS]
    effective = [w for w in acts if w.ok]
    if len(effective) > 1:
        verdict.double.append(told(f"{thing}: {len(effective)} writes took effect", writes))
    if thing.fate == feed.NEVER:
        if writes:
            verdict.wrong.append(told(f"{thing}: must not be touched", writes))
        elif not left:
            verdict.wrong.append(f"{thing}: must not be touched, and is gone")
        return
    if any(w.t < thing.earliest - EARLY for w in effective) and thing.fate != feed.EITHER:
        verdict.wrong.append(told(f"{thing}: before it was due", writes))
    if thing.fate == feed.EITHER:
        return
    verdict.due += 1
    if left:
        verdict.lost.append(told(f"{thing}: {left}", writes))
        verdict.lost_in_a_write += any(may_have_taken_effect(w) for w in acts)
        return
    if not effective and not any(may_have_taken_effect(w) for w in acts):
        verdict.wrong.append(told(f"{thing}: done, but by no write of the program", writes))
        return
    verdict.done += 1
    verdict.cut_off += not effective
    last = (effective or acts)[-1]
    verdict.took.append((thing, max(0.0, last.t_end - thing.due)))

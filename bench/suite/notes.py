"""What is known of goals that were missed: where the time goes, and what the floor is; all of it from the figures of this run."""
import os

from . import goals


def _deletions(run):
    spent, floor = run.known["deletion_cpu"], run.known["deletions_floor"]
    total, cores = sum(spent.values()), os.cpu_count()
    parts = ", ".join(f"{us:.0f} in the {role}" for role, us in sorted(spent.items(), key=lambda t: -t[1]))
    return (f"one deletion takes {total:.0f} µs of CPU ({parts}), so {cores} cores give at most {cores * 1e6 / total:.0f} a second. The floor, libcurl that "
            f"reads and deletes with as many connections and does nothing else, makes {floor:.0f}.")


def _deletions_real(run):
    floor, ratios, costs = (run.known["deletions_real_" + name] for name in ("floor", "ratios", "costs"))
    ours, peer = (", ".join(f"{us:.0f} in {role}" for role, us in sorted(c.items(), key=lambda t: -t[1])) for c in costs)
    return (f"{min(ratios):.2f} to {max(ratios):.2f} in the {len(ratios)} rounds. The API server is the limit on this machine, and a deletion is two requests, a fresh "
            f"read and the write, where the peer makes one. Microseconds of CPU of one: {ours}; with the peer {peer}. The floor, libcurl that reads and deletes and does "
            f"nothing else, makes {floor:.2f} × of what the peer makes.")


def _latency(suffix):
    def of_latency(run):
        spans, trip, disk = (run.known[name + suffix] for name in ("spans", "trip", "fdatasync"))
        return (f"medians of the steps: the server takes {spans.patch:.2f} ms for the eviction; {spans.way:.2f} ms after its answer the fresh read arrives (event, "
                f"judgement, nomination); the server takes {spans.read:.2f} ms for it, and after {spans.judge:.2f} ms more it has the DELETE (second "
                f"judgement, and the grant, which waits for the intent on disk since the nomination). The floor: one fdatasync takes {disk:.2f} ms on this disk in "
                f"this run, and one GET of libcurl, there and back, {trip:.2f} ms.")
    return of_latency


def _latency_real(run):
    return _latency("_real")(run) + " The peers neither read nor write down."


def _sync(key):
    def of_sync(run):
        r = run.known[key]
        text = (f"a reader that drops the same stream takes {r.floor:.2f} s where curl takes {r.curl:.2f} s for the list. The watcher needs {r.cpu:.2f} s of CPU, "
                f"{r.system:.2f} s of it in the kernel, which copies the bytes")
        if "pod_cpu" in run.values:
            text += f", and {run.values['pod_cpu'] * run.known['pods'] / 1e6:.2f} s to decode and store, as measured alone"
        return text + "; it reads on one core while the server writes on the other."
    return of_sync


def _sync_real(run):
    return (f"a reader that drops the same stream takes {run.known['sync_real_floor']:.2f} s, from a server that needs all cores of this machine to send it.")


def _growth(run):
    first, last = run.known["growth_put"]
    return (f"decoding costs the same; one put takes {first:.0f} ns in a cache of 10,000 pods, which fits into the processor's, and {last:.0f} ns in one of "
            "1,000,000, where each look into a table is a read from memory.")


def _fairness(run):
    calm, beside, floor = run.known["fairness"]
    return (f"{calm:.2f} ms without a storm and {beside:.2f} ms beside one. Beside the storm of another tree, which shares nothing with this one but the cores, "
            f"it is {floor:.2f} ms. The difference is the wait for a core at each process on the way: below.")


def _deletions_floor(run):
    return _deletions(run) + " It writes nothing down, judges nothing, and is told the names."


def _instructions(run):
    counted, decode = run.values["pod_instructions"], run.known["pod_decode"]
    return (f"{decode:.0f} are to decode: a pod of 8 KB has some 110 fields in the messages that are read, and each costs the look at its tag and its length and a jump, "
            f"whether it is wanted or not. The other {counted - decode:.0f} store it; the profile is below. What protects against chosen names (SipHash) and against "
            "overruns (bounds, cleared variables and registers) is in both.")


def _idle(run):
    parts, floor = run.known["idle_parts"], run.known["idle_floor"]
    return (f"{parts['libraries']:.1f} MB of it are pages of shared libraries, most of them relocated anew in each process, {parts['program']:.1f} MB those of the program's own "
            f"files, {parts['data']:.1f} MB data, mostly the TLS library's tables. The floor: a process that holds the same watch with libcurl and does nothing "
            f"else takes {floor:.1f} MB beside it, and there are two that use libcurl.")


def _million(run):
    return (f"{run.values['idle_tree']:.1f} MB are there without a pod. Of the bytes of a pod in the cache are {run.known['pod_parts']}; uid, revision and links of each record are 30 that cannot be shared or "
            "packed, and a name's own part, times and ids of shared texts are the rest.")


def _plan(run):
    few, one = run.known["plan_few"], run.known["plan_curl"]
    return (f"start, answer and end of the tree take {few * 1000:.0f} ms for {run.known['plan_pods']} pods (five processes, each loads its libraries, and a history that is on "
            f"disk before anything is nominated), where curl of {run.known['plan_all']:,} takes {one * 1000:.0f} ms: the floor is the sum of both.")


WHY = {"pod_instructions": _instructions, "idle_tree": _idle, "tree_1m": _million, "plan_list": _plan, "deletions_floor": _deletions_floor, "latency_p50": _latency(""), "latency_real": _latency_real, "deletions": _deletions, "deletions_real": _deletions_real,
       "sync_plain": _sync("sync_plain"), "sync_tls": _sync("sync_tls"), "sync_real": _sync_real, "growth_cpu": _growth, "fleet_fairness": _fairness}


def of(run):
    """One sentence or more for each goal and limit that was measured and missed, where there is something to say."""
    missed = {g.key: g for g in (*goals.missed(run.values, goals.LIMITS), *goals.missed(run.values))}
    return [f"{g.text}: {WHY[g.key](run)}" for g in missed.values() if g.key in WHY and run.values.get(g.key) is not None]

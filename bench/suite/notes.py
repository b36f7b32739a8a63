"""What is known of goals that may be missed: where the time goes, and what the floor is."""
import os

from . import goals


def _deletions(run):
    cpu = run.known.get("deletion_cpu")
    if not cpu:
        return ""
    cpu, cores = sum(cpu.values()), os.cpu_count()
    return (f"one deletion takes {cpu:.0f} µs of CPU, API server included, so {cores} cores give at most {cores * 1e6 / cpu:.0f} a second. There is no "
            "hot spot left: the profile of each process is flat. The largest part is two requests over TLS (a fresh read, the write) in the workers "
            "and in the server; the read is what the program promises, and the peer saves it.")


def _deletions_real(run):
    return ("a deletion is two requests (a fresh read of 22 KB of JSON, and the write), where the peer makes one, and the API server is the limit on "
            "this machine. Its answer to the write is asked for without the pod, to make up for a part of it.")


def _sync(run):
    return ("curl and the server share this machine's cores with what is measured: curl drops the bytes, the program also decodes and stores them on "
            "one of the cores that the server needs.")


WHY = {"deletions": _deletions, "deletions_real": _deletions_real, "sync_plain": _sync, "sync_tls": _sync, "sync_real": _sync}


def of(run):
    """One sentence for each goal that was measured and missed, where there is one to say."""
    found = []
    for g in goals.GOALS:
        text = WHY[g.key](run) if g.key in WHY and g.verdict(run.values.get(g.key)) == "missed" else ""
        if text:
            found.append(f"{g.text}: {text}")
    return found

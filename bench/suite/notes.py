"""What is known of goals that may be missed: where the time or the memory goes."""
from . import goals

WHY = {
}


def of(run):
    return [f"{g.text}: {WHY[g.key]}" for g in goals.missed(run.values) if g.key in WHY]

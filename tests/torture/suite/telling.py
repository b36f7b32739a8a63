"""What was told, held against what was done: the outbox of an instance's history, and what its sinks received."""
import json
import pathlib
import shutil
import sqlite3
import tempfile

from harness.sink import Sink

# Seconds after which what was in memory is on the disk again.
FALLBACK_LATE = 5
TELL = {"gather": "2s", "remind": "0s"}
# Outcomes that are told (reporter/notify/action_messages.c): done, forbidden, failed, unconfirmed, announced, would, marked.
TOLD = (0, 4, 5, 6, 7, 8, 9)


class Listeners:
    """The sinks of one instance: one that knows a message by its id, and a chat that does not."""

    def __init__(self):
        self.hook, self.chat = Sink(kind="webhook"), Sink()

    def config(self):
        return {"tell": TELL, "sinks": [self.hook.settings("hook", top=500), self.chat.settings("chat", top=500)]}

    def close(self):
        self.hook.close()
        self.chat.close()


def rows_of(state):
    """(outbox, ids of actions that were to be told) of a history that nobody writes any more."""
    with tempfile.TemporaryDirectory() as folder:
        for file in pathlib.Path(state).rglob("history.db*"):
            shutil.copy(file, folder)
        db = sqlite3.connect(pathlib.Path(folder) / "history.db")
        try:
            outbox = db.execute("SELECT id, sink, news, message_id, state, doubts, error, document FROM outbox ORDER BY id").fetchall()
            done = db.execute(f"SELECT count(*) FROM results r JOIN intents i ON i.id = r.id WHERE r.outcome IN {TOLD}"
                              " AND i.id <= (SELECT up_to FROM notified_actions) AND i.id NOT IN (SELECT id FROM pending_actions)").fetchone()[0]
        finally:
            db.close()
    return outbox, done


def actions_in(document):
    return sum(int(e["facts"].get("count", 1)) for s in document["sections"] for e in s["entries"])


def judge(listeners, state, full_times=()):
    """(figures, what is wrong). full_times: [(begin, end)] in which the disk of the history was full."""
    return judge_rows(listeners, *rows_of(state), full_times)


def is_from_memory(post, full_times):
    """What needs an operator is told while the disk is full, from memory (reporter/notify/fallback.h)."""
    return any(begin <= post.t < end + FALLBACK_LATE for begin, end in full_times)


def judge_rows(listeners, outbox, done, full_times=()):
    """The same for rows (id, sink, news, message id, state, doubts, error, document) and how many actions were done."""
    wrong, told = [], 0
    heard = {p.body["id"]: p.body for p in listeners.hook.accepted}
    known = {message: (number, sink) for number, sink, _, message, *_ in outbox}
    for post in listeners.hook.accepted:
        at_will = post.body.get("news") == "attention" and is_from_memory(post, full_times)
        if known.get(post.body["id"], (0, ""))[1] != "hook" and not at_will:
            wrong.append(f"message {post.body['id']} was received and is not in the outbox")
    for number, sink, news, message, ended, _, error, document in outbox:
        if ended == "done" and sink == "hook" and message not in heard:
            wrong.append(f"message {number} is done, and was not received")
        if ended in ("given_up", "unconfirmed") and not error:
            wrong.append(f"message {number} is {ended}, and nothing says why")
        if sink == "hook" and news == "actions":
            told += actions_in(heard[message] if message in heard else json.loads(document))
    if told != done:
        wrong.append(f"{done} actions were to be told, {told} were")
    # A chat gets a message twice only where nobody heard its answer, and then it says so.
    firsts = sum("may have arrived before" not in p.text for p in listeners.chat.accepted if not is_from_memory(p, full_times))
    begun = sum(sink == "chat" and ended != "waiting" for _, sink, _, _, ended, *_ in outbox)
    if firsts > begun:
        wrong.append(f"the chat was sent {firsts} messages as new, and {begun} were begun")
    return {"messages": len(outbox), "told": told, "chat": len(listeners.chat.accepted), "again": sum("may have arrived before" in p.text for p in listeners.chat.accepted)}, wrong

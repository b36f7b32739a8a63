#!/usr/bin/env python3
"""test_fields.py COMPILER GENERATED: a field or fact that one of those who expand model/fields.def forgets does not compile.

Rows are added to a copy of the list, one at a time, and everything that expands it is compiled: just those named must refuse.
"""
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(TOP / "tests"))
import scratch  # noqa: E402

PROTOBUF, JSON, PROJECTION, CACHE = "kube/decode_protobuf.c", "kube/decode_json.c", "worker/json_project.c", "watcher/cache/pack.c"
SERVER, RANDOM, SAME = "tests/apisim/podpb.c", "tests/unit/kube/random_pod.c", "tests/unit/kube/test_decode.c"
ALL = {PROTOBUF, JSON, PROJECTION, CACHE, SERVER, RANDOM, SAME}
ON_THE_WIRE = {PROTOBUF, JSON, PROJECTION, RANDOM}
WITH_FACTS = ALL - {PROJECTION, SERVER, RANDOM}     # the others know only what is on the wire

POD, CONTAINER, STATUS = "POD_FACTS(F)", "CONTAINER_FACTS(F)", "FIELDS_status(F, X)"
CASES = (   # what is added to which list, who must refuse
    (POD, 'F(BOOL, novel, BIT, 0, "")', set()),
    (POD, 'F(BOOL, novel, NEWLY, 0, "")', {CACHE, SAME}),
    (CONTAINER, 'F(BOOL, novel, NEWLY, 0, "")', {CACHE, SAME}),
    (POD, 'F(NEW, novel, FIELD, 0, "")', WITH_FACTS),
    (CONTAINER, 'F(NEW, novel, FIELD, 0, "")', WITH_FACTS),
    (CONTAINER, 'F(BOOL, novel, BIT, 0, "")', {CACHE}),                           # no bit is left
    (STATUS, "F(X, start_time, 14, resize, NEW)", ON_THE_WIRE),                   # a kind that nobody knows
    (STATUS, "F(X, novel, 14, resize, EACH)", ON_THE_WIRE),                       # a message that nobody takes
    (STATUS, "F(X, novel, 14, resize, MESSAGE)", ON_THE_WIRE),
    (STATUS, "F(X, NOVEL, 14, resize, CONTAINER)", {PROTOBUF, JSON, RANDOM}),
    (STATUS, "F(X, novel, 14, resize, TEXT)", {PROTOBUF, JSON}),                  # a fact that nobody declared
    (STATUS, "F(X, reason, 16, resize, TEXT)", {SERVER}),                         # a number that is another field's
    (STATUS, "F(X, reason, 99, novel, TEXT)", {SERVER}),                          # a field that Kubernetes does not have
    (STATUS, "F(X, start_time, 14, resize, TEXT)", {PROTOBUF, JSON}),             # a fact of another type
)


def compiles(folder, compiler, generated, path):
    command = [compiler, "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{folder}", f"-I{TOP}", f"-I{generated}",
               f"-I{TOP}/{pathlib.Path(path).parent}", TOP / path]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main(compiler, generated):
    folder = scratch.folder("fields")
    copy, text, wrong = folder / "model" / "fields.def", (TOP / "model" / "fields.def").read_text(), []
    copy.parent.mkdir()
    for file in (TOP / "model").glob("*.h"):        # they include their own list before that of the copy
        (copy.parent / file.name).write_text(file.read_text())
    for where, row, refuse in CASES:
        if f"{where} \\\n" not in text:
            sys.exit(f"fields.def has no {where}")
        copy.write_text(text.replace(f"{where} \\\n", f"{where} \\\n\t{row} \\\n"))
        refused = {path for path in ALL if not compiles(folder, compiler, generated, path)}
        if refused != refuse:
            wrong.append(f"{row}: refused by {sorted(refused)}, wanted {sorted(refuse)}")
    print("\n".join(wrong) or f"{len(CASES)} rows, {len(ALL)} files")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

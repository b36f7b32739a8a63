#!/usr/bin/env python3
"""Tests of apisim over the wire, plain and with TLS: selftest.py --binary FILE [name part...]

Prints one line a test and at the end how many passed; exit code 0 only when all did.
"""
import argparse
import pathlib
import subprocess
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checks import access, deletion, faults, lists, log, many, objects, scale, transport, watches, wire  # noqa: E402,F401
from checks.common import TESTS  # noqa: E402
from simlib import Sim, scratch  # noqa: E402


def certificate(folder):
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=apisim", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    return cert, key


def run_one(binary, tls, run, flags, wants_tls, token):
    server = Sim(binary, *flags, tls=tls if wants_tls else None, token=token)
    try:
        run(server)
        code = server.stop()
        assert code == 0, f"apisim ended with {code}"
    finally:
        server.destroy()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--binary", required=True)
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    tls = certificate(scratch.folder("apisim-tls"))
    failed = ran = 0
    for run, flags, wants_tls, token in TESTS:
        if a.names and not any(n in run.__name__ for n in a.names):
            continue
        ran += 1
        try:
            run_one(a.binary, tls, run, flags, wants_tls, token)
            print(f"PASS {run.__name__}", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {run.__name__}\n{traceback.format_exc()}", flush=True)
    print(f"{ran - failed} passed, {failed} failed")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())

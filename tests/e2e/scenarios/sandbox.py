"""What a live process can not do, tried from inside; and that each of it works without the sandbox."""
import ctypes
import os
import pathlib
import re
import socket
import struct

from harness.scenario import Skip, scenario

PROBES_A_LIFE = 7
ROLES = ("watcher", "worker", "reporter")
# probe: answers that are a denial. SIGSYS is the filter's; EACCES Landlock's or what the filter answers.
PROBES = {
    "read-passwd": ("denied: EACCES",),
    "write-file": ("denied: EACCES", "killed by SIGSYS"),
    "exec": ("killed by SIGSYS",),
    "connect-port": ("denied: EACCES",),
    "sendmsg-fast-open": ("killed by SIGSYS",),
    "sendto-fast-open": ("killed by SIGSYS",),
    "datagram-pair": ("denied: EAFNOSUPPORT",),
    "ptrace": ("killed by SIGSYS",),
    "udp-socket": ("killed by SIGSYS", "denied: EAFNOSUPPORT", "denied: EACCES", "denied: EPERM"),
    "unix-socket": ("killed by SIGSYS", "denied: EAFNOSUPPORT", "denied: EACCES", "denied: EPERM"),
    "executable-memory": ("killed by SIGSYS", "denied: EACCES"),
    "stat-any": ("denied: EACCES",),
    "shared-memory": ("killed by SIGSYS",),
    "open-path": ("killed by SIGSYS", "denied: EACCES"),
    "pass-descriptor": ("denied: EAFNOSUPPORT",),
    "overwrite-log": ("denied: ESPIPE",),
    "signal": ("killed by SIGSYS", "denied: EPERM"),
    "fork": ("killed by SIGSYS",),
}


def probe(t, program, role, name, listener):
    """What came of it. A role that was killed is waited for."""
    arg = ()
    if name == "connect-port" or name.endswith("fast-open"):
        arg = (str(listener.getsockname()[1]),)
    elif name in ("ptrace", "signal"):
        arg = (str(program.pids("reporter" if role != "reporter" else "watcher")[0]),)
    answer = program.ask("probe", role, "0", name, *arg, timeout=25)
    text = answer.stdout.strip()
    assert text, f"{role} {name}: no answer: {answer.stderr.strip()}"
    if text.startswith("killed"):
        t.until(f"{role} to be ready again", lambda: all(
            p["state"] == "ready" for p in program.status()["processes"] if p["role"] == role), 15)
    return text


def need_sandbox(t):
    cache = t.build / "CMakeCache.txt"
    if cache.exists() and any(f"{option}:BOOL=ON" in cache.read_text() for option in ("OPC_SANITIZE", "OPC_COVERAGE")):
        raise Skip("instrumented builds have no sandbox")


def limits(pid):
    """What the kernel holds a process to: capabilities, limits."""
    status = dict(re.findall(r"^(\w+):\s+(.*)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M))
    found = {key: int(status[key], 16) for key in ("CapInh", "CapPrm", "CapEff", "CapAmb", "CapBnd")}
    for line in pathlib.Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]:
        found[line[:26].strip()] = line[47:68].strip()
    return found


def confined(t, config, wanted):
    cache = t.build / "CMakeCache.txt"
    if not cache.exists() or "OPC_PROBES:BOOL=ON" not in cache.read_text():
        raise Skip("this build answers no probes: it needs OPC_PROBES=ON (preset dev)")
    need_sandbox(t)
    ns = t.ns()
    listener = socket.create_server(("127.0.0.1", 0))
    wrong = []
    try:
        # A role that dies too often is not started again at once: several lives of the program.
        for begin in range(0, len(PROBES), PROBES_A_LIFE):
            if begin:
                program.stop()
            program = t.program({**t.config(evicted=ns, workers=2), **config})
            for role in ROLES:
                for name in list(PROBES)[begin:begin + PROBES_A_LIFE]:
                    text = probe(t, program, role, name, listener)
                    if not wanted(name, text):
                        wrong.append(f"{role} {name}: {text}")
        assert not wrong, "; ".join(wrong)
        t.expect(deleted=[t.canary(ns)])
        return program.status()
    finally:
        listener.close()


@scenario("sandbox/probes", timeout=180)
def probes(t):
    """Each forbidden thing is denied in each role, and the role is back afterwards."""
    status = confined(t, {"sandbox": "require"}, lambda name, text: text in PROBES[name])
    for process in status["processes"]:
        if process["role"] in ROLES:
            assert "landlock" in process["sandbox"] and "seccomp" in process["sandbox"], process
            found = limits(process["pid"])
            assert not any(value for key, value in found.items() if key.startswith("Cap") and (key != "CapBnd" or os.geteuid() == 0)), found
            assert found["Max processes"] == "0" and found["Max data size"] != "unlimited", found


@scenario("sandbox/off", timeout=180)
def off(t):
    """With `sandbox: off` every one of the probes works: the test above is not empty. What is in the log no sandbox keeps."""
    def wanted(name, text):
        return text == ("denied: ESPIPE" if name == "overwrite-log" else "worked")

    for process in confined(t, {"sandbox": "off"}, wanted)["processes"]:
        if process["role"] in ROLES:
            found = limits(process["pid"])
            assert found["Max data size"] == "unlimited" and (found["CapEff"] or os.geteuid()), found


def without_landlock():
    """Makes this process (before it becomes the program) a kernel without Landlock: landlock_create_ruleset is ENOSYS."""
    number, enosys = 444, 38
    filters = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | enosys), (0x06, 0, 0, 0x7fff0000)]
    code = b"".join(struct.pack("HBBI", *f) for f in filters)
    buffer = ctypes.create_string_buffer(code)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    program = Program(len(filters), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


@scenario("sandbox/require", servers=("apisim",))
def require(t):
    """On a kernel without Landlock `require` refuses with 78 and names it; `auto` starts, and status tells what is missing."""
    need_sandbox(t)
    ns = t.ns()
    program = t.program(t.config(evicted=ns, sandbox="require", workers=2), start=False)
    program.preexec = without_landlock
    program.start(wait=False)
    code = program.process.wait(20)
    assert code == 78 and "landlock" in program.log().lower(), f"exit {code}: {program.log()[-500:]}"
    other = t.program(t.config(evicted=ns, sandbox="auto", workers=2), start=False)
    other.preexec = without_landlock
    other.start()
    worker = next(p for p in other.status()["processes"] if p["role"] == "worker")
    assert "no landlock" in worker["sandbox"] and "seccomp" in worker["sandbox"], worker
    assert "weaker than it could be" in other.log() and "no landlock" in other.ask("status").stdout, other.ask("status").stdout
    t.expect(deleted=[t.canary(ns)])

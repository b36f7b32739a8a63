"""What a live process can not do, tried from inside; and that each of it works without the sandbox."""
import ctypes
import socket
import struct

from harness.scenario import Skip, scenario

ROLES = ("watcher", "worker", "reporter")
# probe: answers that are a denial. SIGSYS is the filter's; EACCES Landlock's or what the filter answers.
PROBES = {
    "read-passwd": ("denied: EACCES",),
    "write-file": ("denied: EACCES",),
    "exec": ("killed by SIGSYS",),
    "connect-port": ("denied: EACCES",),
    "ptrace": ("killed by SIGSYS",),
    "udp-socket": ("killed by SIGSYS", "denied: EAFNOSUPPORT", "denied: EACCES", "denied: EPERM"),
    "unix-socket": ("killed by SIGSYS", "denied: EAFNOSUPPORT", "denied: EACCES", "denied: EPERM"),
    "executable-memory": ("killed by SIGSYS", "denied: EACCES"),
    "signal": ("killed by SIGSYS", "denied: EPERM"),
    "fork": ("killed by SIGSYS",),
}


def probe(t, program, role, name, listener):
    """What came of it. A role that was killed is waited for."""
    arg = ()
    if name == "connect-port":
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


def confined(t, config, wanted):
    cache = t.build / "CMakeCache.txt"
    if not cache.exists() or "OPC_PROBES:BOOL=ON" not in cache.read_text():
        raise Skip("this build answers no probes: it needs OPC_PROBES=ON (preset dev)")
    need_sandbox(t)
    ns = t.ns()
    listener = socket.create_server(("127.0.0.1", 0))
    try:
        program = t.program({**t.config(evicted=ns), **config})
        wrong = []
        for role in ROLES:
            for name in PROBES:
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


@scenario("sandbox/off", timeout=180)
def off(t):
    """With `sandbox: off` every one of the probes works: the test above is not empty."""
    confined(t, {"sandbox": "off"}, lambda name, text: text == "worked")


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
    program = t.program(t.config(evicted=ns, sandbox="require"), start=False)
    program.preexec = without_landlock
    program.start(wait=False)
    code = program.process.wait(20)
    assert code == 78 and "landlock" in program.log().lower(), f"exit {code}: {program.log()[-500:]}"
    other = t.program(t.config(evicted=ns, sandbox="auto"), start=False)
    other.preexec = without_landlock
    other.start()
    worker = next(p for p in other.status()["processes"] if p["role"] == "worker")
    assert "landlock" not in worker["sandbox"].replace("no landlock", "") and "seccomp" in worker["sandbox"], worker
    t.expect(deleted=[t.canary(ns)])

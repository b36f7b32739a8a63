"""What a test program makes and starts, all of which ends with it: also when it fails, and when it is killed.

A folder is removed by a guard, a shell that waits for the end of its input: only this program holds the other end.
"""
import atexit
import pathlib
import shlex
import shutil
import subprocess
import tempfile

SETPRIV = shutil.which("setpriv") or "/usr/bin/setpriv"
# It ignores the signals that end the others. What was started last may still write while it removes.
GUARD = """trap '' HUP INT TERM
read -r _ && exit
if [ -f "$1/.end" ]; then sh "$1/.end"; fi
for _ in 1 2 3 4 5 6 7 8 9 10; do
	chmod -R u+rwX "$1"
	rm -rf -- "$1" && break
	sleep 0.3
done
"""
guards, started = {}, []
leashed = True      # False: what is started goes on when this program has ended


def folder(name):
    """A new temporary folder, empty and only for this user."""
    path = pathlib.Path(tempfile.mkdtemp(prefix=f"opc-{name}-"))
    guards[path] = subprocess.Popen(["sh", "-c", GUARD, "sh", path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL, cwd="/", start_new_session=True)
    return path


def at_end(path, *command):
    """Before that folder is removed the command is run: for what does not end by itself."""
    with open(path / ".end", "a", encoding="utf-8") as script:
        script.write(shlex.join(map(str, command)) + "\n")


def remove(path):
    """Removes such a folder now."""
    guard = guards.pop(path)
    guard.stdin.close()
    guard.wait()


def keep(path):
    """Leaves such a folder to the one who called this program."""
    guard = guards.pop(path)
    guard.stdin.write(b"keep\n")
    guard.stdin.close()
    guard.wait()


@atexit.register
def remove_all():
    for process in started if leashed else ():
        if process.poll() is None:
            process.kill()
            process.wait()
    for path in list(guards):
        remove(path)


def start(command, **how):
    """subprocess.Popen of something that is killed when the thread that starts it has ended."""
    leash = [SETPRIV, "--pdeathsig", "KILL", "--"] if leashed else []
    process = subprocess.Popen([*leash, *map(str, command)], **how)
    started.append(process)
    return process

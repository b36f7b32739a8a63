"""Does what the schedule says, in lanes beside one another."""
import signal
import subprocess
import threading
import time

from harness.servers import TESTS

from . import processes


class Server:
    """What happens to the control plane."""

    def __init__(self, server):
        self.server = server

    def restart(self, what, pause):
        subprocess.run([TESTS / "cluster" / "restart", self.server.dir, what, "--pause", f"{pause:.1f}"], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def stop_for(self, seconds, ended):
        pid = int((self.server.dir / "kube-apiserver.pid").read_text())
        apiserver = processes.process(pid)
        processes.send(apiserver, signal.SIGSTOP)
        try:
            ended.wait(seconds)
        finally:
            processes.send(apiserver, signal.SIGCONT)


class Fire:
    """Burns down one schedule. say(text) tells what happens; done counts it."""

    def __init__(self, schedule, instances, server, disks, clock, say):
        self.instances, self.server, self.disks, self.clock, self.say = instances, Server(server), disks, clock, say
        self.ended = threading.Event()
        self.done, self.errors = {}, []
        self.lanes = [threading.Thread(target=self._lane, args=(name, faults), daemon=True) for name, faults in schedule.items()]

    def burn(self, seconds):
        self.begin = time.monotonic()
        for lane in self.lanes:
            lane.start()
        self.ended.wait(seconds)
        self.ended.set()
        for lane in self.lanes:     # each puts right what it has disturbed
            lane.join()
        self.clock.step(0.0)
        if self.errors:
            raise self.errors[0]

    def _lane(self, name, faults):
        """The pauses of the lane "server" count from the end of what came before."""
        try:
            at = self.begin
            for fault in faults:
                at = time.monotonic() + fault.t if name == "server" else self.begin + fault.t
                if self.ended.wait(max(0.0, at - time.monotonic())):
                    return
                getattr(self, fault.what.replace("-", "_"))(fault)
                self.done[fault.what] = self.done.get(fault.what, 0) + 1
        except Exception as e:
            self.errors.append(e)
            self.ended.set()

    def kill(self, fault):
        self.instances[fault.instance].kill_child(fault.value)

    def kill_supervisor(self, fault):
        self.instances[fault.instance].kill_supervisor()

    def kill_tree(self, fault):
        self.instances[fault.instance].kill_tree()

    def stop_apiserver(self, fault):
        self.say(f"the API server stands still for {fault.value:.1f} s")
        self.server.stop_for(fault.value, self.ended)

    def restart_apiserver(self, fault):
        self.say("the API server restarts")
        self.server.restart("apiserver", fault.value)

    def restart_etcd(self, fault):
        self.say("etcd restarts")
        self.server.restart("etcd", fault.value)

    def fill_disk(self, fault):
        if not self.disks:
            return
        self.say(f"the disk of instance {fault.instance} is full for {fault.value:.0f} s")
        self.disks[fault.instance].fill()
        try:
            self.ended.wait(fault.value)
        finally:
            self.disks[fault.instance].empty()

    def step_clock(self, fault):
        self.say(f"the clock steps to {fault.value:+g} s")
        self.clock.step(fault.value)

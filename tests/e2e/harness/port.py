"""A port for what a scenario starts."""
import itertools
import random
import socket
import threading

# Below the ephemeral range, and what tests/cluster/up takes: no connection and no server on "any port" takes it before it is used, nor while its server is away.
PORTS = range(12000, 20000)
_next, _lock = itertools.count(random.randrange(len(PORTS))), threading.Lock()


def free_port():
    """One of 127.0.0.1 that nobody listens at now; of one run each is given once."""
    with _lock:
        while True:
            port = PORTS[next(_next) % len(PORTS)]
            try:
                with socket.socket() as probe:
                    # Bound, and not listening: what another thread has just forked holds it until it is another program, and would
                    # keep a listener from the port.
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass        # taken

"""A port for what a scenario starts."""
import socket


def free_port():
    """One of 127.0.0.1 that nobody listens at now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]

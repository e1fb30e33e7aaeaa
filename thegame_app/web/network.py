"""This machine in its network."""

from __future__ import annotations

import ipaddress
import socket


def own_address() -> str:
    """The number of this machine in its network; where there is no network, 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a reserved address: nothing is sent
            return str(ipaddress.ip_address(probe.getsockname()[0]))
        except OSError:
            return "127.0.0.1"

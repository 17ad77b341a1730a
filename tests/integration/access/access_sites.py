"""What the tables of this folder share: the configuration behind them, and connections from other addresses."""

import socket

from raw_http import Wire

FILES = {
    "html/index.html": b"front\n",
    "html/open/index.html": b"open\n",
    "html/inner/index.html": b"inner\n",
    "conf/allowed.txt": b"# who may\n10.0.0.0/8   # all of it\r\n\n  2001:db8::/32\n192.0.2.7\n",
    "conf/denied.txt": b"10.1.0.0/16\n",
}


def site(host, access=None, routes=None):
    routes = routes or [{"path": "/", "static": {}}]
    return {"host": [host], "routes": routes, **({"access": access} if access is not None else {})}


SITES = [
    site("allow", {"allow": ["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"]}),
    site("deny", {"deny": ["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"]}),
    site("longest", {"allow": ["10.0.0.0/8", "10.1.2.0/24", "10.1.2.128/25"],
                     "deny": ["10.1.0.0/16", "10.1.2.3", "10.1.2.192/26"]}),
    site("equal", {"allow": ["10.0.0.0/8", "10.1.0.0/16"], "deny": ["10.1.0.0/16"]}),
    site("default-allow", {"allow": ["10.1.0.0/16"], "deny": ["10.0.0.0/8"], "default": "allow"}),
    site("default-deny", {"deny": ["10.1.0.0/16"], "allow": ["10.0.0.0/8"], "default": "deny"}),
    site("nobody", {"default": "deny"}),
    site("all-but", {"allow": ["all"], "deny": ["10.0.0.0/8", "unix"]}),
    site("none-but", {"deny": ["all"], "allow": ["10.0.0.0/8", "unix"]}),
    site("files", {"allow_file": "conf/allowed.txt", "deny_file": "conf/denied.txt", "allow": ["198.51.100.0/24"]}),
    site("layers", {"deny": ["all"]}, [
        {"path": "/", "static": {}},
        {"path": "/open/", "access": None, "static": {}},
        {"path": "/inner/", "access": {"allow": ["10.0.0.0/8"]}, "static": {}}]),
    # 200 for the one client that the cases of client addresses want to be, 403 for everybody else.
    site("who", {"allow": ["192.0.2.7", "2001:db8::7"]}),
    site("proxy-itself", {"allow": ["127.0.0.1"]}),
    site("*"),
]
CONFIG = {
    "listen": [{"address": "127.0.0.1", "port": 0},
               {"address": "127.0.0.1", "port": 0, "proxy_protocol": "on"},
               {"address": "127.0.0.1", "port": 0, "proxy_protocol": "on", "proxy_protocol_trusted": ["127.0.0.7"]},
               {"unix": "run.sock"}],
    "blocks_ip": ["203.0.113.0/24"],
    "http": {"root_path": "html/", "head_timeout_ms": 2000,
             "client_address": {"trusted_proxies": ["127.0.0.1", "127.0.0.9", "10.9.0.0/16", "unix"]}},
}


def write_files(folder):
    for path, content in FILES.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def wire_from(address, source):
    """A connection to `address` that comes from another address of this machine."""
    wire = Wire.__new__(Wire)
    wire.timeout, wire.buffer = 10, bytearray()
    wire.socket = socket.create_connection(address, 10, source_address=(source, 0))
    return wire

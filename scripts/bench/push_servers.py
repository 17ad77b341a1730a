"""The servers of bench_push.py: each tells every subscriber of one channel what is published to it.

`url(transport)` is where a subscriber of "poll", "sse" or "ws" asks; `publish(text)` and `subscribers()` work while it runs.
"""

import base64
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess

from . import process

TRANSPORTS = ("poll", "sse", "ws")
CHANNEL = "bench"
BACKLOG = 4096
SPARE = 200  # descriptors that are no subscribers
NCHAN = pathlib.Path("/usr/lib/nginx/modules/ngx_nchan_module.so")
HOUR_MS = 3600000


class HttpPublisher:
    """POSTs messages over one connection that stays; made again where it was lost."""

    def __init__(self, port, path):
        self.path = path
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method, body=None):
        """(status, the channel's information as an object)"""
        headers = {"Accept": "text/json"} | ({"Content-Type": "text/plain"} if body is not None else {})
        for attempt in (1, 2):
            try:
                self.connection.request(method, self.path, body, headers)
                response = self.connection.getresponse()
                text = response.read()
                return response.status, json.loads(text) if text.startswith(b"{") else {}
            except (http.client.HTTPException, ConnectionError):
                self.connection.close()
                if attempt == 2:
                    raise

    def publish(self, text):
        status, _ = self.ask("POST", text)
        if status not in (200, 201, 202):
            raise RuntimeError(f"publishing was answered with {status}")

    def subscribers(self):
        status, channel = self.ask("GET")
        return channel.get("subscribers", 0) if status == 200 else 0

    def close(self):
        self.connection.close()


class LinePublisher:
    """The same for push_floor: a message a line."""

    def __init__(self, port, path=None):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.answers = self.connection.makefile("r")

    def publish(self, text):
        self.connection.sendall(text.encode() + b"\n")
        return int(self.answers.readline())

    def subscribers(self):
        return self.publish("?")

    def close(self):
        self.answers.close()
        self.connection.close()


class PushServer:
    """One started server on one core, prepared for `capacity` subscribers of one transport."""

    name = ""
    transports = TRANSPORTS
    publisher = HttpPublisher

    def __init__(self, folder, transport, capacity, options, core=None, nice=0):
        self.folder = pathlib.Path(folder) / f"{self.name}-{transport}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.transport, self.capacity, self.options = transport, capacity, options
        self.core, self.nice = core, nice
        self.port, self.control_port = process.free_port(), process.free_port()
        self.process = self.channel = None

    @classmethod
    def missing(cls, options):
        """Why this server cannot run here, or None."""
        return None

    def start(self):
        output = open(self.folder / "output.txt", "ab")
        prepare = process.ends_with_parent if self.core is None else process.pinned(self.core, self.nice)
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                        cwd=self.folder, preexec_fn=prepare)
        process.wait_until_listening(self.publishing_port(), self.process)
        self.channel = self.publisher(self.publishing_port(), f"/pub/{CHANNEL}")

    def stop(self):
        if self.channel is not None:
            self.channel.close()
        if self.process is not None:
            process.stop(self.process)
        self.process = self.channel = None

    def pids(self):
        return process.descendants(self.process.pid)

    def publishing_port(self):
        return self.port

    def url(self, transport):
        return f"{'ws' if transport == 'ws' else 'http'}://127.0.0.1:{self.port}/sub/{CHANNEL}"

    def publish(self, text):
        self.channel.publish(text)

    def subscribers(self):
        return self.channel.subscribers()

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)


class Roost(PushServer):
    """This server; `threads`, and keys that are laid over its configuration."""

    name = "roost"
    threads = 1
    more = {}

    @classmethod
    def missing(cls, options):
        return None if os.access(options.server, os.X_OK) else f"{options.server} is not there: build it first"

    def configuration(self):
        # Nothing but messages: no heartbeats, pings and ends of polls meanwhile.
        subscribe = {"channel": "{channel}", "transports": ["long_poll", "sse", "websocket"], "first_message": "newest",
                     "timeout_ms": HOUR_MS, "heartbeat_ms": HOUR_MS, "ping_interval_ms": HOUR_MS}
        history = {"messages": 10, "seconds": 3600}
        routes = [{"path": "/pub/{channel}", "push_publish": {"channel": "{channel}", "history": history}},
                  {"path": "/sub/{channel}", "push_subscribe": subscribe}]
        return {"worker_processes": self.threads, "cpu_affinity": "off", "log": {"path": ""},
                "listen": [{"address": "127.0.0.1", "port": self.port}],
                "http": {"root_path": str(self.folder), "sites": [{"host": ["*"], "routes": routes}]}, **self.more}

    def command(self):
        return [str(pathlib.Path(self.options.server).resolve()), "-f",
                self.write("server.json", json.dumps(self.configuration(), indent=2))]


class Nchan(PushServer):
    """nginx with Debian's libnginx-mod-nchan, one worker."""

    name = "nchan"

    @classmethod
    def missing(cls, options):
        if not shutil.which("nginx"):
            return "nginx is not installed"
        return None if NCHAN.exists() else "libnginx-mod-nchan is not installed"

    def command(self):
        user = "user root;" if os.geteuid() == 0 else ""
        folders = " ".join(f"{kind}_temp_path {self.folder}/{kind};"
                           for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        text = f"""load_module {NCHAN};
{user}
worker_processes 1; daemon off; pid {self.folder}/nginx.pid; error_log {self.folder}/error.log crit;
worker_rlimit_nofile {process.most_descriptors(self.capacity + SPARE)};
events {{ worker_connections {process.most_descriptors(self.capacity + SPARE)}; multi_accept on; accept_mutex off; }}
http {{
  access_log off; tcp_nodelay on; {folders}
  keepalive_requests 2000000000; keepalive_timeout 3600s; client_header_timeout 3600s; send_timeout 3600s;
  nchan_shared_memory_size 128M;
  server {{
    listen 127.0.0.1:{self.port} backlog={BACKLOG};
    location ~ ^/pub/(.+)$ {{
      nchan_publisher; nchan_channel_id $1; nchan_message_buffer_length 10; nchan_message_timeout 1h;
    }}
    location ~ ^/sub/(.+)$ {{
      nchan_subscriber longpoll eventsource websocket; nchan_channel_id $1; nchan_subscriber_first_message newest;
    }}
  }}
}}
"""
        return ["nginx", "-p", str(self.folder), "-e", str(self.folder / "error.log"),
                "-c", self.write("nginx.conf", text)]


class Floor(PushServer):
    """scripts/push_peers/push_floor.c: a loop of send(), or answers to whatever waits. It reads no request."""

    name = "floor"
    publisher = LinePublisher

    @classmethod
    def missing(cls, options):
        return None if shutil.which("cc") else "there is no cc here"

    def publishing_port(self):
        return self.control_port

    def frame(self):
        """(answer to the request, before a message, after it): the same bytes that a real server sends."""
        size = self.options.message_bytes
        if self.transport == "ws":
            key = b"cm9vc3Qgc3dhcm0gcnVuLg=="  # the generator's
            accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            header = bytes([0x81, size]) if size < 126 else bytes([0x81, 126]) + size.to_bytes(2, "big")
            return (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"), header, b""
        if self.transport == "sse":
            before, after = b"id: 1763668666:17-5f3a9c01\ndata: ", b"\n\n"
            chunk = b"%x\r\n" % (len(before) + size + len(after))
            return (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
                    b"Transfer-Encoding: chunked\r\n\r\n6\r\n: hi\n\n\r\n"), chunk + before, after + b"\r\n"
        return b"", (b"HTTP/1.1 200 OK\r\nServer: floor\r\nDate: Thu, 20 Nov 2025 20:00:00 GMT\r\nContent-Type: text/plain\r\n"
                     b"Content-Length: %d\r\nLast-Modified: Thu, 20 Nov 2025 20:00:00 GMT\r\nEtag: \"17-5f3a9c01\"\r\n"
                     b"Vary: If-None-Match, If-Modified-Since\r\nCache-Control: no-store\r\n\r\n" % size), b""

    def command(self):
        program = self.folder / "push_floor"
        source = process.REPOSITORY / "scripts" / "push_peers" / "push_floor.c"
        subprocess.run(["cc", "-O2", source, "-o", program], check=True)
        hello, before, after = self.frame()
        return [str(program), "poll" if self.transport == "poll" else "stream", str(self.port), str(self.control_port),
                self.write("hello", hello), self.write("before", before), self.write("after", after)]


ALL = {cls.name: cls for cls in (Roost, Nchan, Floor)}

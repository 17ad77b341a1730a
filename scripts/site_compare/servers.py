"""This server and nginx over the same folder, on loopback ports, each configured to do the same."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

from bench.process import free_port

START_TIMEOUT_S = 30
SERVING = re.compile(r"roost: serving http://127\.0\.0\.1:(\d+)/")

# if_modified_since: nginx compares for equality unless told to do what RFC 9110 section 13.1.3 says. charset: what this
# server does by default. absolute_redirect: both then redirect to a path.
NGINX = """\
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
events {{ worker_connections 256; }}
http {{
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  access_log off;
  server_tokens off;
  charset utf-8;
  charset_types text/html text/css text/plain text/xml text/javascript application/javascript;
  keepalive_requests 100000000;
  absolute_redirect off;
  if_modified_since before;
  large_client_header_buffers 4 16k;
  {gzip}
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    root {root};
    index index.html;
  }}
}}
"""


def schema_of(binary):
    """The JSON Schema that the program prints."""
    printed = subprocess.run([str(binary), "--print-schema"], capture_output=True, text=True, check=True, timeout=30)
    return json.loads(printed.stdout)


def static_options(schema):
    """The keys that `static` knows."""
    routes = schema["properties"]["http"]["properties"]["sites"]["items"]["properties"]["routes"]
    return routes["items"]["properties"]["static"]["properties"]


class Roost:
    name = "roost"

    def __init__(self, binary, folder, root, sidecars, more=None):
        """`more` is laid over the configuration's `http`."""
        self.folder = pathlib.Path(folder)
        static = {"precompressed": True} if sidecars else {}
        config = {
            "address": "127.0.0.1", "port": 0, "worker_processes": 1,
            "http": {"root_path": str(root), "sites": [{"routes": [{"path": "/", "static": static}]}],
                     **(more or {})},
            "log": {"level": "WARN", "path": str(self.folder / "logs")},
        }
        self.config = self.folder / "roost.json"
        self.config.write_text(json.dumps(config, indent=1))
        (self.folder / "logs").mkdir()
        self.output = open(self.folder / "roost.txt", "w+b")
        self.process = subprocess.Popen([str(binary), "-f", str(self.config)], stdin=subprocess.DEVNULL, stdout=self.output,
                                        stderr=subprocess.STDOUT)
        self.address = ("127.0.0.1", self._wait())

    def _wait(self):
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            text = (self.folder / "roost.txt").read_text(errors="replace")
            if match := SERVING.search(text):
                return int(match.group(1))
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise RuntimeError(f"the server does not start: {text}")

    def stop(self):
        self.process.terminate()
        code = self.process.wait(30)
        self.output.close()
        if code != 0:
            raise RuntimeError(f"the server ended with {code}: {(self.folder / 'roost.txt').read_text(errors='replace')}")


class Nginx:
    name = "nginx"

    def __init__(self, folder, root, sidecars):
        self.folder = pathlib.Path(folder)
        port = free_port()
        path = self.folder / "nginx.conf"
        path.write_text(NGINX.format(folder=self.folder, root=root, port=port, user="user root;" if os.geteuid() == 0 else "",
                                     gzip="gzip_static on; gzip_vary on;" if sidecars else "gzip off;"))
        self.output = open(self.folder / "nginx.txt", "w+b")
        self.process = subprocess.Popen([program(), "-p", str(self.folder), "-c", str(path), "-e", str(self.folder / "error.log")],
                                        stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT)
        self.address = ("127.0.0.1", port)
        self._wait()

    def _wait(self):
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection(self.address, 1).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.02)
        raise RuntimeError(f"nginx does not start: {(self.folder / 'nginx.txt').read_text(errors='replace')}")

    def stop(self):
        self.process.send_signal(signal.SIGQUIT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.output.close()


def program():
    """Where nginx is, or None."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def nginx_version():
    printed = subprocess.run([program(), "-v"], capture_output=True, text=True, timeout=10)
    return printed.stderr.strip().rpartition("/")[2]

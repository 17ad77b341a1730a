"""nginx beside the server, for tests that show both do the same."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

PROGRAM = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")

CONFIG = """\
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 64; }}
http {{
  include /etc/nginx/mime.types;
  access_log off;
  absolute_redirect off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
{body}
}}
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Nginx:
    """A running nginx. `body` stands in `http {}`; "listen 80" in it is put on a free port, `address`."""

    def __init__(self, folder, body):
        self.folder = pathlib.Path(folder) / "nginx"
        self.folder.mkdir()
        port = free_port()
        self.address = ("127.0.0.1", port)
        config = self.folder / "nginx.conf"
        config.write_text(CONFIG.format(folder=self.folder, user="user root;" if os.geteuid() == 0 else "",
                                        body=body.replace("listen 80", f"listen 127.0.0.1:{port}")))
        self.output = open(self.folder / "output.txt", "w+b")
        self.process = subprocess.Popen([PROGRAM, "-p", str(self.folder), "-c", str(config), "-e", str(self.folder / "error.log")],
                                        stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection(self.address, 1).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.01)
        self.stop()
        raise AssertionError(f"nginx does not start:\n{(self.folder / 'output.txt').read_text()}\n{config.read_text()}")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(20)
        self.output.close()

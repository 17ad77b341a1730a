"""The servers under test, each with a configuration that shows it at its best.

All run one worker, write no access log, listen on 127.0.0.1 and keep everything they write in a temporary folder.
`capacity` is the number of connections they are prepared for.
"""

import json
import os
import pathlib
import shutil
import subprocess

from . import process

BACKLOG = 4096


class Server:
    """One started configuration. `address(row)` says where a row finds it and which processes serve that row."""

    name = ""
    rows = None  # the rows it takes part in; None is all
    serves_files = True

    def __init__(self, folder, site, core=0, nice=0, capacity=16384, options=None):
        self.folder = pathlib.Path(folder) / self.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.site, self.core, self.nice, self.capacity = site, core, nice, capacity
        self.options = options
        self.port = process.free_port()
        self.process = None

    @classmethod
    def missing(cls, options):
        """Why this server cannot run here, or None."""
        return None if shutil.which(cls.program) else f"{cls.program} is not installed"

    def start(self):
        self.process = self.launch(self.command())
        process.wait_until_listening(self.port, self.process)

    def launch(self, command):
        output = open(self.folder / "output.txt", "ab")
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                cwd=self.folder, preexec_fn=process.pinned(self.core, self.nice))

    def stop(self):
        if self.process is not None:
            process.stop(self.process)
            self.process = None

    def pids(self):
        return process.descendants(self.process.pid)

    def address(self, row):
        return self.port, self.pids()

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)


class Null(Server):
    """tests/bench/null_responder.cc: the floor. One process per kind of reply."""

    name = "null"
    rows = {"tiny", "612", "10k", "404", "short", "pipelined"}
    serves_files = False
    variants = {"tiny": ["--body-bytes", "100"], "612": ["--body-bytes", "612"], "10k": ["--body-bytes", "10240"],
                "404": ["--body-bytes", "150", "--status", "404"],
                "short": ["--body-bytes", "612", "--close"], "pipelined": ["--body-bytes", "100", "--pipelined"]}

    @classmethod
    def missing(cls, options):
        return None

    def start(self):
        self.running = {}
        program = process.build_helper("null_responder", self.folder)
        for row, arguments in self.variants.items():
            port = process.free_port()
            child = self.launch([str(program), "--port", str(port), *arguments])
            self.running[row] = (port, child)
            process.wait_until_listening(port, child)

    def stop(self):
        for _, child in self.running.values():
            process.stop(child)

    def address(self, row):
        port, child = self.running[row]
        return port, [child.pid]


class Roost(Server):
    """This server. `accept` is what the subclasses differ in."""

    name = "roost"
    accept = "handoff"

    @classmethod
    def missing(cls, options):
        return None if os.access(options.server, os.X_OK) else f"{options.server} is not there: build it first"

    def command(self):
        configuration = {"worker_processes": 1, "accept": self.accept, "cpu_affinity": "off",
                         "listen": [{"address": "127.0.0.1", "port": self.port}],
                         "http": {"root_path": str(self.site)}, "log": {"path": ""}}
        if self.options.roost_conf:
            configuration.update(json.loads(pathlib.Path(self.options.roost_conf).read_text()))
        return [str(pathlib.Path(self.options.server).resolve()), "-f",
                self.write("server.json", json.dumps(configuration, indent=2))]


class RoostReuseport(Roost):
    """The other accept mode; only short connections can tell."""

    name = "roost-reuseport"
    accept = "reuseport"
    rows = {"short"}


class Nginx(Server):
    name = "nginx"
    program = "nginx"
    tcp_nopush = "on"
    cache = ""

    def modules(self):
        return ""

    def locations(self):
        return f"""location = /tiny.txt {{ return 200 "{(self.site / 'tiny.txt').read_text()}"; }}"""

    def command(self):
        user = "user root;" if os.geteuid() == 0 else ""
        text = f"""{self.modules()}{user}
worker_processes 1; daemon off; pid {self.folder}/nginx.pid; error_log {self.folder}/error.log crit;
worker_rlimit_nofile {process.most_descriptors(self.capacity + 64)};
events {{ worker_connections {self.capacity}; multi_accept on; accept_mutex off; }}
http {{
  access_log off; log_not_found off; sendfile on; tcp_nopush {self.tcp_nopush}; tcp_nodelay on;
  keepalive_requests 2000000000; keepalive_timeout 3600s; client_header_timeout 3600s;
  default_type application/octet-stream; types {{ text/html html; text/plain txt; }}
  client_body_temp_path {self.folder}/body; proxy_temp_path {self.folder}/proxy;
  fastcgi_temp_path {self.folder}/fastcgi; uwsgi_temp_path {self.folder}/uwsgi; scgi_temp_path {self.folder}/scgi;
  {self.cache}
  server {{
    listen 127.0.0.1:{self.port} backlog={BACKLOG};
    root {self.site};
    {self.locations()}
  }}
}}
"""
        return ["nginx", "-p", str(self.folder), "-e", str(self.folder / "error.log"),
                "-c", self.write("nginx.conf", text)]


class NginxOpenFileCache(Nginx):
    """Answers files from descriptors and metadata it keeps; the price is that changes are seen late."""

    name = "nginx-ofc"
    rows = {"612", "10k", "1m", "100m", "404", "short"}
    cache = "open_file_cache max=1000 inactive=300s; open_file_cache_valid 300s; open_file_cache_errors on;"


class NginxNoCork(Nginx):
    """tcp_nopush off: head and file leave separately, which helps large files on loopback."""

    name = "nginx-nocork"
    rows = {"1m", "100m"}
    tcp_nopush = "off"


class Lighttpd(Server):
    name = "lighttpd"
    program = "lighttpd"

    def command(self):
        text = f"""
server.document-root = "{self.site}"
server.bind = "127.0.0.1"
server.port = {self.port}
server.errorlog = "{self.folder}/error.log"
server.upload-dirs = ( "{self.folder}" )
server.listen-backlog = {BACKLOG}
server.max-fds = {process.most_descriptors(2 * self.capacity + 64)}
server.max-connections = {self.capacity}
server.max-keep-alive-requests = 65535
server.max-keep-alive-idle = 3600
server.max-read-idle = 3600
server.event-handler = "linux-sysepoll"
server.network-backend = "sendfile"
mimetype.assign = ( ".txt" => "text/plain", ".html" => "text/html", "" => "application/octet-stream" )
"""
        return ["lighttpd", "-D", "-f", self.write("lighttpd.conf", text)]


class H2o(Server):
    name = "h2o"
    program = "h2o"

    def command(self):
        user = "user: root\n" if os.geteuid() == 0 else ""
        text = f"""{user}num-threads: 1
max-connections: {self.capacity}
http1-request-timeout: 3600
error-log: {self.folder}/error.log
pid-file: {self.folder}/h2o.pid
listen:
  host: 127.0.0.1
  port: {self.port}
hosts:
  default:
    paths:
      "/":
        file.dir: {self.site}
"""
        return ["h2o", "-m", "worker", "-c", self.write("h2o.yaml", text)]


ALL = {cls.name: cls for cls in (Null, Roost, RoostReuseport, Nginx, NginxOpenFileCache, NginxNoCork, Lighttpd, H2o)}


def choose(names, options):
    """The classes named, in order, without those that cannot run here (said on the terminal)."""
    chosen = []
    for name in names:
        if name not in ALL:
            raise SystemExit(f"no such server: {name}; there are {', '.join(ALL)}")
        why = ALL[name].missing(options)
        if why:
            print(f"left out: {name} ({why})")
        else:
            chosen.append(ALL[name])
    return chosen

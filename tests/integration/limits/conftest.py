"""One server whose sites are the cases of the tables."""

import pytest

from limit_cases_count import CASES as COUNT_CASES
from limit_cases_rate import CASES as RATE_CASES
from roost_server import Server

FILES = {"a": b"a\n", "b": b"b\n", "index.html": b"<title>i</title>\n", "sub/index.html": b"<title>s</title>\n"}
BIG_SIZE = 64 << 20  # beyond what sockets hold


def write_files(html, files=FILES):
    for path, content in files.items():
        (html / path).parent.mkdir(parents=True, exist_ok=True)
        (html / path).write_bytes(content)


def site_of(prefix, index, case):
    return {"host": [f"{prefix}{index}.test"], "routes": [{"path": "/", "static": {}}], **case.site}


@pytest.fixture(scope="session")
def limits_server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limits")
    write_files(folder / "html")
    with open(folder / "html" / "big", "wb") as big:
        big.truncate(BIG_SIZE)
    sites = [site_of("rate", i, case) for i, case in enumerate(RATE_CASES)]
    sites += [site_of("count", i, case) for i, case in enumerate(COUNT_CASES)]
    server = Server(folder, {"worker_processes": 3, "http": {"sites": sites}})
    yield server
    server.stop()

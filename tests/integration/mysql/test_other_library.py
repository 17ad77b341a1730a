"""The client library is another patch release than the one the server was built with: what is known of its insides does not count."""

import shutil
import subprocess

import pytest

from roost_server import BINARY

COMPILER = shutil.which("c++") or shutil.which("g++")
CLAIM = 'extern "C" unsigned long mysql_get_client_version() { return 30399; }'


@pytest.mark.skipif(COMPILER is None, reason="no compiler")
@pytest.mark.skipif(any(name in BINARY.read_bytes() for name in (b"__asan_init", b"__tsan_init")), reason="a sanitizer wants to be loaded first")
def test_rows_come_all_the_same(start_rest, tmp_path):
    source, library = tmp_path / "claim.cc", tmp_path / "claim.so"
    source.write_text(CLAIM)
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    server = start_rest(["orders", "every_type"], env={"LD_PRELOAD": str(library)}, mysql={"query_timeout_ms": 5000})
    assert [row["id"] for row in server.get("orders?select=id&order=id&limit=1000").json()] == list(range(1, 1001))
    assert len(server.get("every_type").json()) == 3
    assert server.get("orders?id=eq.7").json()[0]["id"] == 7

"""scripts/compare_site.py: a quick run over the site that comes with the server, and that it notices what it should."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "compare_site.py"
BINARY = os.environ.get("ROOST_SERVER", str(ROOT / "server"))
sys.path.insert(0, str(ROOT / "scripts"))

from site_compare import rules, servers  # noqa: E402
from site_compare.fetch import Response  # noqa: E402


@pytest.mark.skipif(servers.program() is None, reason="nginx is not installed: nothing to compare with")
def test_every_difference_from_nginx_has_its_reason():
    result = subprocess.run([sys.executable, str(SCRIPT), "--quick", "--server", BINARY, str(ROOT / "html")],
                            capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 0  unexplained" in result.stdout


def response(status=200, reason="OK", body=b"body", **fields):
    return Response(status, reason, {name.replace("_", "-"): [value] for name, value in fields.items()}, body)


def reasons(ours, theirs, method="GET", target=b"/a.html", **fields):
    asked = rules.Asked("file", target, method, {name.replace("_", "-"): value for name, value in fields.items()})
    return {(found.what, rules.explain(asked, found, ours, theirs)) for found in rules.differences(ours, theirs)}


def test_what_each_may_say_in_its_own_way_is_explained():
    ours = response(server="roost", etag='"186c34e8990f6000-36f7"')
    theirs = response(server="nginx", etag='"68e505f0-36f7"', connection="keep-alive")
    assert reasons(ours, theirs) == {("server", "Server"), ("etag", "ETag format"), ("connection", "Connection: keep-alive")}


@pytest.mark.parametrize("ours, theirs, what", [
    (response(), response(body=b"other"), "body"),
    (response(404, "Not Found"), response(), "status"),
    (response(), response(404, "Not Found"), "status"),
    (response(304, "Not Modified", b""), response(), "status"),
    (response(), response(etag='"1-1"'), "etag"),
    (response(etag="unquoted"), response(etag='"1-1"'), "etag"),
    (response(content_type="text/html"), response(content_type="text/plain"), "content-type"),
    (response(), response(vary="Origin"), "vary"),
    (response(x_more="1"), response(), "x-more"),
    (response(connection="close"), response(connection="keep-alive"), "connection"),
    (response(404, "Gone Fishing"), response(404, "Not Found"), "reason"),
])
def test_what_nothing_explains_is_noticed(ours, theirs, what):
    assert (what, None) in reasons(ours, theirs)


def test_parts_of_a_multipart_answer_are_compared_one_by_one():
    def multipart(boundary, start, *pieces):
        text = "".join(f"\r\n--{boundary}\r\nContent-Type: text/css\r\nContent-Range: bytes {at}-{at + len(piece) - 1}/100\r\n\r\n"
                       f"{piece}" for at, piece in pieces) + f"\r\n--{boundary}--\r\n"
        return response(206, "Partial Content", text[start:].encode(), content_type=f"multipart/byteranges; boundary={boundary}")

    same = reasons(multipart("x", 2, (0, "ab"), (5, "cd")), multipart("longer", 0, (0, "ab"), (5, "cd")))
    assert {reason for _, reason in same} == {"multipart boundary"}
    other = reasons(multipart("x", 2, (0, "ab"), (5, "XX")), multipart("longer", 0, (0, "ab"), (5, "cd")))
    assert ("body", None) in other

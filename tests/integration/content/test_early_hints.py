"""103 before the answer: who is sent it, and that everything else stays as it was."""

import shutil
import subprocess

import pytest

from content_site import FILES
from raw_http import request

PAGE = {"Accept": "text/html,*/*;q=0.8"}
LINKS = ["</a.css>; rel=preload; as=style", "<https://cdn.example>; rel=preconnect"]


@pytest.mark.rfc("8297 2")
@pytest.mark.parametrize("target, fields, told", [
    ("/hints/", PAGE, True), ("/hints/docs/intro.html", PAGE, True), ("/hints/none.html", PAGE, True),
    ("/hints/big.bin", PAGE, True), ("/hints/a.txt", PAGE, False),
    ("/hints/", {}, False), ("/hints/", {"Accept": "*/*"}, False), ("/hints/", {"Accept": "text/*"}, False),
    ("/hints/", {"Sec-Fetch-Mode": "navigate"}, True), ("/hints/", {**PAGE, "Sec-Fetch-Mode": "cors"}, False),
    ("/hints/", {**PAGE, "Range": "bytes=0-1"}, False), ("/hints/", {**PAGE, "If-None-Match": "*"}, True),
    ("/always/a.txt", {}, True)])
def test_who_is_told(content, target, fields, told):
    with content.connect() as wire:
        for _ in range(2):
            answer = wire.ask(target, fields=fields)
            assert [interim.status for interim in answer.interim] == ([103] if told else [])
            if told:
                assert answer.interim[0].all("Link") == (LINKS if "hints" in target else ["</a.css>; rel=preload"])
                assert {name for name, _ in answer.interim[0].fields} == {"Link"}
            assert answer.status in (200, 206, 304, 404) and "Link" not in answer


def test_not_to_http_1_0(content):
    answer = content.ask_raw(request("/always/a.txt", version="1.0"))
    assert answer.status == 200 and answer.interim == [] and answer.body == FILES["a.txt"]


@pytest.mark.parametrize("method", ["HEAD", "POST", "OPTIONS"])
def test_not_to_other_methods(content, method):
    assert content.ask("/always/a.txt", method).interim == []


def test_pipelined_requests_keep_their_order(content):
    with content.connect() as wire:
        wire.send(request("/always/a.txt") + request("/a.css") + request("/always/big.bin"))
        answers = [wire.read_response() for _ in range(3)]
    assert [len(answer.interim) for answer in answers] == [1, 0, 1]
    assert [answer.body for answer in answers] == [FILES["a.txt"], FILES["a.css"], FILES["big.bin"]]


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_curl_reads_on(content):
    url = "http://%s:%d/always/a.txt" % content.address
    done = subprocess.run(["curl", "-s", "-i", url], capture_output=True, timeout=20)
    assert done.stdout.startswith(b"HTTP/1.1 103 ") and done.stdout.endswith(FILES["a.txt"])

"""What every answer says of itself: RFC 9110 sections 6 and 8."""

import email.utils
import time

import pytest

from exchange_case import FILES, OLD_DATE

TYPES = {
    "/hello.txt": "text/plain; charset=utf-8", "/": "text/html; charset=utf-8",
    "/types/page.HTML": "text/html; charset=utf-8", "/types/script.js": "text/javascript; charset=utf-8",
    "/types/picture.png": "image/png", "/types/data.json": "application/json",
    "/types/README": "application/octet-stream", "/types/odd.zzzunknown": "application/octet-stream",
    "/1m.bin": "application/octet-stream", "/64k-and-one.txt": "text/plain; charset=utf-8",
}
OF_FILES = {"Server", "Date", "Content-Type", "Last-Modified", "ETag", "Accept-Ranges", "Content-Length"}
OF_ERRORS = {"Server", "Date", "Content-Type", "Content-Length"}


def names(response):
    listed = [name for name, _ in response.fields]
    assert len(listed) == len(set(listed))
    return set(listed)


@pytest.mark.rfc("9110 8.3")
@pytest.mark.parametrize("target", TYPES)
def test_content_type(http_server, target):
    assert http_server.ask(target)["Content-Type"] == TYPES[target]


@pytest.mark.rfc("9110 8")
@pytest.mark.parametrize("target", ["/hello.txt", "/empty.txt", "/", "/64k.txt", "/64k-and-one.txt", "/1m.bin"])
def test_fields_of_a_file(http_server, target):
    response = http_server.ask(target)
    assert names(response) == OF_FILES
    assert response["Last-Modified"] == OLD_DATE
    assert response["Accept-Ranges"] == "bytes"
    assert response["Server"] == "roost"
    assert int(response["Content-Length"]) == len(FILES[target[1:] or "index.html"])


@pytest.mark.rfc("9110 6.6.1")
def test_date_is_now(http_server):
    """Also in answers that lie ready, and across a change of second."""
    seen = set()
    with http_server.connect() as wire:
        while len(seen) < 2:
            for target in ("/hello.txt", "/no", "/64k-and-one.txt"):
                before = int(time.time())
                date = email.utils.parsedate_to_datetime(wire.ask(target)["Date"]).timestamp()
                assert before - 1 <= date <= time.time(), target
                seen.add(date)


@pytest.mark.rfc("9110 8.8.3")
def test_files_of_one_age_have_tags_by_size(http_server):
    tags = {target: http_server.ask(target)["ETag"] for target in ("/hello.txt", "/64k.txt", "/1m.bin")}
    assert len(set(tags.values())) == 3
    assert tags["/hello.txt"] == http_server.ask("/hello.txt")["ETag"]


@pytest.mark.rfc("9110 9.3.2")
@pytest.mark.parametrize("target", ["/hello.txt", "/empty.txt", "/", "/1m.bin", "/no", "/sub", "/no-index/", "/%00"])
@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_head_is_get_without_content(http_server, target, version):
    get = http_server.ask(target, version=version)
    with http_server.connect() as wire:
        head = wire.ask(target, "HEAD", version=version)
        if head.closes:
            wire.expect_close()
        else:
            wire.expect_alive("/probe.txt")

    def comparable(response):
        return [response.status, *((name, value) for name, value in response.fields if name != "Date")]
    assert comparable(head) == comparable(get)


@pytest.mark.rfc("9110 15.4.5")
@pytest.mark.parametrize("target", ["/hello.txt", "/1m.bin"])
def test_a_304_carries_what_the_200_would_of_the_cache_fields(http_server, target):
    whole = http_server.ask(target)
    same = http_server.ask(target, fields={"If-None-Match": whole["ETag"]})
    assert same.status == 304
    assert names(same) == {"Server", "Date", "Last-Modified", "ETag"}
    for name in ("Last-Modified", "ETag"):
        assert same[name] == whole[name]


@pytest.mark.rfc("9110 15.3.7")
@pytest.mark.parametrize("target", ["/hello.txt", "/1m.bin"])
def test_a_206_carries_the_fields_of_the_200(http_server, target):
    whole, part = http_server.ask(target), http_server.ask(target, fields={"Range": "bytes=1-2"})
    assert names(part) - {"Accept-Ranges"} == OF_FILES - {"Accept-Ranges"} | {"Content-Range"}
    for name in ("Last-Modified", "ETag", "Content-Type"):
        assert part[name] == whole[name]


@pytest.mark.rfc("9110 15")
@pytest.mark.parametrize("target, method, more", [
    ("/no", "GET", set()), ("/no-index/", "GET", set()), ("/hello.txt", "POST", {"Allow"}), ("/sub", "GET", {"Location"}),
    ("/%00", "GET", {"Connection"}), ("/", "NEVER", {"Connection"})])
def test_fields_of_an_error(http_server, target, method, more):
    response = http_server.ask(target, method)
    assert names(response) == OF_ERRORS | more
    assert b"roost" not in response.body.lower()
    assert target == "/" or target.encode() not in response.body


@pytest.mark.rfc("9110 10.2.4")
def test_fields_by_configuration(shared_server):
    server = shared_server({"http": {
        "server_header": "", "charset": "iso-8859-1", "mime_types": {"bin": "application/x-own", "TXT": "text/x-own"},
        "sites": [{"host": ["*"], "routes": [{"path": "/", "static": {"cache_control": "max-age=60"}}]}]}})
    response = server.ask("/10k.bin")
    assert response["Content-Type"] == "application/x-own"
    assert response["Cache-Control"] == "max-age=60"
    assert "Server" not in response and "Server" not in server.ask("/no")
    assert server.ask("/hello.txt")["Content-Type"] == "text/x-own; charset=iso-8859-1"
    same = server.ask("/10k.bin", fields={"If-Modified-Since": response["Last-Modified"]})
    assert same.status == 304 and same["Cache-Control"] == "max-age=60"

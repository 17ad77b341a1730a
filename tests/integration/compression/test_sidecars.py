"""Sidecars: conditions and ranges over the chosen form, their own names, and what happens to them."""

import os

import pytest

from coded_site import PAGE, SUFFIX, decode, encode, write
from roost_server import eventually

CODINGS = ("br", "zstd", "gzip")


def ask(server, coding, target="/page.html", method="GET", **fields):
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return server.ask(target, method, fields={"Accept-Encoding": coding, **named})


def sidecar(server, coding):
    return (server.html / ("page.html" + SUFFIX[coding])).read_bytes()


@pytest.mark.parametrize("coding", CODINGS)
def test_the_bytes_are_the_sidecars(coded, coding):
    answer = ask(coded, coding)
    assert answer.body == sidecar(coded, coding) and answer["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("coding", CODINGS)
def test_conditions_are_about_the_chosen_form(coded, coding):
    answer, plain = ask(coded, coding), ask(coded, "identity")
    same = ask(coded, coding, If_None_Match=answer["ETag"])
    assert same.status == 304 and same["ETag"] == answer["ETag"] and same["Vary"] == "Accept-Encoding"
    assert "Content-Encoding" not in same and "Content-Type" not in same
    assert ask(coded, coding, If_None_Match=plain["ETag"]).status == 200
    assert ask(coded, "identity", If_None_Match=answer["ETag"]).status == 200
    assert ask(coded, "identity", If_None_Match=plain["ETag"])["Vary"] == "Accept-Encoding"
    assert ask(coded, coding, If_Match=answer["ETag"]).status == 200
    assert ask(coded, coding, If_Match=plain["ETag"]).status == 412
    assert ask(coded, coding, If_Modified_Since=answer["Last-Modified"]).status == 304


@pytest.mark.parametrize("coding", CODINGS)
def test_ranges_are_taken_from_the_chosen_form(coded, coding):
    whole = sidecar(coded, coding)
    part = ask(coded, coding, Range="bytes=3-10")
    assert part.status == 206 and part.body == whole[3:11] and part["Content-Encoding"] == coding
    assert part["Content-Range"] == f"bytes 3-10/{len(whole)}" and part["Vary"] == "Accept-Encoding"
    assert ask(coded, coding, Range="bytes=-5").body == whole[-5:]
    assert ask(coded, coding, Range="bytes=3-10", If_Range=part["ETag"]).status == 206
    plain = ask(coded, "identity")["ETag"]
    whole_again = ask(coded, coding, Range="bytes=3-10", If_Range=plain)
    assert whole_again.status == 200 and whole_again.body == whole
    beyond = ask(coded, coding, Range="bytes=999999-")
    assert beyond.status == 416 and beyond["Content-Range"] == f"bytes */{len(whole)}"
    several = ask(coded, coding, Range="bytes=0-1,5-6")
    assert several.status == 200 and several.body == whole
    identity = ask(coded, "identity", Range="bytes=0-1,50-61")
    assert identity.status == 206 and identity["Content-Type"].startswith("multipart/byteranges")


@pytest.mark.parametrize("coding", CODINGS)
def test_a_sidecar_asked_for_by_name_is_a_plain_file(coded, coding):
    answer = ask(coded, "br, zstd, gzip", "/page.html" + SUFFIX[coding])
    assert answer.body == sidecar(coded, coding)
    assert "Content-Encoding" not in answer and "Vary" not in answer


def test_a_sidecar_without_its_original_is_no_answer(coded):
    assert ask(coded, "gzip", "/orphan.txt").status == 404
    assert ask(coded, "gzip", "/orphan.txt.gz").status == 200


SITE = {"http": {"sites": [{"host": ["*"], "routes": [{"path": "/", "static": {"precompressed": True}}]}]}}


def form_of(server, target="/page.html", accept="br, gzip"):
    answer = ask(server, accept, target)
    assert answer.status == 200 and decode(answer.get("Content-Encoding"), answer.body) == PAGE
    return answer.get("Content-Encoding")


def test_sidecars_come_and_go(start_server):
    server = start_server(SITE, files={})
    write(server.html / "page.html", PAGE)
    write(server.html / "sub" / "index.html", PAGE)
    for target, name in (("/page.html", "page.html"), ("/sub/", "sub/index.html")):
        assert form_of(server, target) is None
        write(server.html / (name + ".gz"), encode("gzip", PAGE))
        eventually(lambda: form_of(server, target) == "gzip", "the sidecar is noticed")
        write(server.html / (name + ".br"), encode("br", PAGE))
        eventually(lambda: form_of(server, target) == "br", "the better one is noticed")
        os.utime(server.html / (name + ".br"), (1, 1))
        eventually(lambda: form_of(server, target) == "gzip", "it is older than its file now")
        (server.html / (name + ".gz")).unlink()
        eventually(lambda: form_of(server, target) is None, "none is left")


def test_a_changed_sidecar_has_another_tag(start_server):
    server = start_server(SITE, files={})
    write(server.html / "page.html", PAGE)
    write(server.html / "page.html.gz", encode("gzip", PAGE))
    before = ask(server, "gzip")
    write(server.html / "page.html.gz", encode("gzip", PAGE + b"x"), 1_000_000_009)
    after = eventually(lambda: (answer := ask(server, "gzip"))["ETag"] != before["ETag"] and answer, "it is noticed")
    assert decode("gzip", after.body) == PAGE + b"x"


def test_a_changed_original_puts_its_sidecars_out_of_use(start_server):
    server = start_server(SITE, files={})
    write(server.html / "page.html", b"old")
    write(server.html / "page.html.gz", encode("gzip", b"old"))
    assert ask(server, "gzip")["Content-Encoding"] == "gzip"
    write(server.html / "page.html", PAGE, 1_000_000_001)
    eventually(lambda: ask(server, "gzip").body == PAGE, "the new page is sent as it is")


def test_links(start_server):
    server = start_server(SITE, files={})
    write(server.html / "page.html", PAGE)
    write(server.html / "kept.gz", encode("gzip", PAGE))
    (server.html / "page.html.gz").symlink_to("kept.gz")
    assert form_of(server) == "gzip"
    write(server.folder / "outside.br", encode("br", PAGE))
    (server.html / "page.html.br").symlink_to("../outside.br")
    assert form_of(server) == "gzip"


def test_without_notices_a_sidecar_is_found_after_a_while(start_server):
    server = start_server({"http": {"file_cache": {"inotify": False, "revalidate_ms": 50}, **SITE["http"]}}, files={})
    write(server.html / "page.html", PAGE)
    assert form_of(server) is None
    write(server.html / "page.html.gz", encode("gzip", PAGE))
    eventually(lambda: form_of(server) == "gzip", "it is found")


def test_a_cache_that_keeps_nothing(start_server):
    server = start_server({"http": {"file_cache": {"max_bytes": 0}, **SITE["http"]}}, files={})
    write(server.html / "page.html", PAGE)
    for coding in CODINGS:
        write(server.html / ("page.html" + SUFFIX[coding]), encode(coding, PAGE))
        assert form_of(server, accept=coding) == coding


def test_a_large_file_has_forms_too(start_server):
    server = start_server(SITE, files={})
    large = os.urandom(3 << 20)
    write(server.html / "large.bin", large)
    write(server.html / "large.bin.gz", encode("gzip", large))
    answer = ask(server, "gzip", "/large.bin")
    assert answer["Content-Encoding"] == "gzip" and decode("gzip", answer.body) == large
    assert ask(server, "gzip", "/large.bin", Range="bytes=1000-1999").body == encode("gzip", large)[1000:2000]

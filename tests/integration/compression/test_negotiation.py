"""Every case of the table, by GET and by HEAD."""

import pytest

from cases_negotiation import CASES
from coded_site import decode
from raw_http import request


@pytest.mark.rfc("9110 12.5.3")
@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])
def test_case(coded, case):
    with coded.connect() as wire:
        wire.send(request(case.target, fields=case.lines))
        answer = wire.read_response("GET")
        assert answer.status == case.status, answer
        assert ("Vary" in answer) == case.vary and answer.get("Vary", "Accept-Encoding") == "Accept-Encoding", answer
        if case.status != 200:
            assert "Content-Encoding" not in answer
            return
        assert answer.get("Content-Encoding", "") == case.coding, answer
        assert decode(case.coding, answer.body) == case.body
        assert answer["ETag"].startswith("W/") == case.made, answer
        assert ("Accept-Ranges" in answer) == (not case.made), answer
        wire.send(request(case.target, "HEAD", fields=case.lines))
        head = wire.read_response("HEAD")
        for name in ("Content-Encoding", "Content-Type", "ETag", "Vary", "Last-Modified", "Accept-Ranges"):
            assert head.get(name) == answer.get(name), (name, head)
        if "Content-Length" in head:
            assert head.content_length() == len(answer.body)


def test_every_form_has_a_tag_of_its_own(coded):
    def tag(prefix, coding):
        return coded.ask(prefix + "/page.html", fields={"Accept-Encoding": coding})["ETag"]
    tags = [tag(prefix, coding) for prefix in ("", "/made") for coding in ("br", "zstd", "gzip")]
    assert len({coded.ask("/page.html")["ETag"], *tags}) == 7


def test_the_table_says_nothing_twice():
    assert len({case.id for case in CASES}) == len(CASES) > 100

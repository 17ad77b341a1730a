"""Every case of the tables, sent whole."""

import pytest

from all_cases import ALL, TABLES


def parameters():
    return [pytest.param(case, id=f"{table}: {case.id}", marks=pytest.mark.rfc(case.rfc))
            for table, cases in TABLES.items() for case in cases]


@pytest.mark.parametrize("case", parameters())
def test_case(http_server, strong_etag, case):
    with http_server.connect() as wire:
        wire.send(case.bytes(strong_etag))
        case.read(wire)
        case.read_end(wire)


def test_the_tables_are_large_and_say_nothing_twice():
    ids = [case.id for case in ALL]
    assert len(ids) > 200
    assert [id for id in ids if ids.count(id) > 1] == []

"""Every case of the tables, twice on one connection."""

import pytest

import cases_cors
import cases_fields
import cases_files

TABLES = {"fields": cases_fields.CASES, "cors": cases_cors.CASES, "files": cases_files.CASES}
ALL = [pytest.param(case, id=f"{table}: {case.id}") for table, cases in TABLES.items() for case in cases]


@pytest.mark.parametrize("case", ALL)
def test_case(content, case):
    case.run(content)


def test_the_tables_say_nothing_twice():
    ids = [parameter.id for parameter in ALL]
    assert len(set(ids)) == len(ids) > 100

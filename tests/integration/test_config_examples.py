"""What the manual shows works: every example of a key is accepted, and the sample with every key serves as it comes."""

import json

import pytest

from roost_server import HAS_MYSQL, REPOSITORY, run_server

SCHEMA = json.loads((REPOSITORY / "conf/server.schema.json").read_text())
# An object may demand more than the key that is shown; the example of the object says what.
NEEDED = {"http.sites[].routes[]": {"path": "/", "static": {}}}
# Likewise beside a key of the outermost object.
BESIDE = {("fd_table",): {"accept": "reuseport"}}
# Keys of routes that need the database.
DATABASE = {"mysql_rest", "mysql_query"}


def examples(schema, path=()):
    """(path, value) of each key with an example; "[]" in the path is an element of a list."""
    for key, member in schema.get("properties", {}).items():
        if "x-alias-for" in member or "type" not in member or (key in DATABASE and not HAS_MYSQL):
            continue
        here = (*path, key)
        if "x-example" in member:
            yield here, member["x-example"]
        yield from examples(member, here)
        yield from examples(member.get("items", {}), (*here, "[]"))


def schema_at(path):
    schema = SCHEMA
    for key in path:
        schema = schema["items"] if key == "[]" else schema["properties"][key]
    return schema


def surroundings(path):
    """What the object at `path` needs beside the key that is tried."""
    name = ".".join(path).replace(".[]", "[]")
    if name in NEEDED:
        return dict(NEEDED[name])
    schema = schema_at(path)
    example = schema.get("x-example") or {}
    if path[-1] == "[]":  # the first of the list's that is an object
        example = next((item for item in schema_at(path[:-1]).get("x-example") or [] if isinstance(item, dict)), {})
    return {key: example[key] for key in schema.get("required", []) if isinstance(example, dict) and key in example}


def configuration(path, value):
    """A configuration with this value at this place."""
    needs_database = False
    while path:
        *outer, key = path
        if key == "[]":
            value = [value]
        else:
            around = surroundings(tuple(outer)) if outer else BESIDE.get(path, {})
            if schema_at(path).get("x-handler"):
                around.pop("static", None)
            if key == "regex":
                around.pop("path", None)
            value = {**around, key: value}
            needs_database = needs_database or key in DATABASE
        path = tuple(outer)
    return {"mysql": {"mysql_started": "on"}, **value} if needs_database else value


@pytest.mark.parametrize("path, value", list(examples(SCHEMA)), ids=lambda part: ".".join(part) if isinstance(part, tuple) else "")
def test_an_example_is_accepted(path, value, tmp_path):
    file = tmp_path / "server.json"
    file.write_text(json.dumps(configuration(path, value)))
    result = run_server("--dump", "-f", file)
    assert (result.returncode, result.stderr) == (0, ""), f"{file.read_text()}\n{result.stderr}"


@pytest.mark.skipif(not HAS_MYSQL, reason="this build lacks some of its keys")
def test_the_sample_with_every_key_serves(start_server):
    text = (REPOSITORY / "conf/full.json").read_text()
    assert text.count('"port": 4507,') == 1
    server = start_server(text=text.replace('"port": 4507,', '"port": 0,'), files={"index.html": b"home"})
    assert server.ask("/").body == b"home"

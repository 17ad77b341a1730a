"""An OpenAPI 3.1 document: whether it is one, and what it says that requests may be."""

import random
import re

import jsonschema

try:
    from re import _parser as pattern_parser
except ImportError:
    import sre_parse as pattern_parser

METHODS = {"get", "post", "put", "patch", "delete", "head", "options"}
COMPONENT = re.compile(r"^[a-zA-Z0-9._-]+$")
KINDS = ("schemas", "responses", "parameters")


class Document:
    """The document as the server sent it; check() raises an AssertionError at the first thing that is wrong."""

    def __init__(self, parsed):
        self.parsed = parsed
        self.paths = parsed["paths"]

    def resolve(self, value):
        while "$ref" in value:
            at = self.parsed
            assert value["$ref"].startswith("#/"), value
            for step in value["$ref"][2:].split("/"):
                at = at[step.replace("~1", "/").replace("~0", "~")]
            value = at
        return value

    def validate(self, value, name, many=False):
        """Whether the value is what that schema describes; `many`: each one of a list."""
        schema = self._whole(self.parsed["components"]["schemas"][name])
        jsonschema.Draft202012Validator({"type": "array", "items": schema} if many else schema).validate(value)

    def _whole(self, schema):
        """The schema without references."""
        if isinstance(schema, dict):
            return {key: self._whole(value) for key, value in self.resolve(schema).items()}
        return [self._whole(value) for value in schema] if isinstance(schema, list) else schema

    def parameters(self, path, method, where="query"):
        found = [self.resolve(each) for each in self.paths[path][method].get("parameters", [])]
        return {each["name"]: each for each in found if each["in"] == where}

    def check(self):
        assert self.parsed["openapi"] == "3.1.0"
        assert {"title", "version"} <= self.parsed["info"].keys()
        assert set(self.parsed["components"]) <= set(KINDS)
        for kind in KINDS:
            for name, component in self.parsed["components"][kind].items():
                assert COMPONENT.match(name), name
                getattr(self, "_check_" + kind.removesuffix("s"))(component)
        operations = [(path, method, each) for path, item in self.paths.items() for method, each in item.items()]
        ids = [each["operationId"] for _, _, each in operations]
        assert len(ids) == len(set(ids))
        for path, method, each in operations:
            assert path.startswith("/") and method in METHODS
            self._check_operation(each)

    def _check_operation(self, operation):
        parameters = [self.resolve(each) for each in operation.get("parameters", [])]
        places = [(each["name"], each["in"]) for each in parameters]
        assert len(places) == len(set(places)), places
        for each in operation.get("parameters", []):
            if "$ref" not in each:  # those of the components have been looked at
                self._check_parameter(each)
        if "requestBody" in operation:
            self._check_content(operation["requestBody"]["content"])
        assert operation["responses"]
        for status, response in operation["responses"].items():
            assert re.match("^[2345][0-9][0-9]$", status)
            assert self.resolve(response)
            if "$ref" not in response:
                self._check_response(response)

    def _check_parameter(self, parameter):
        assert parameter["in"] in ("query", "header")
        assert parameter["description"]
        self._check_schema(parameter["schema"])

    def _check_response(self, response):
        assert response["description"]
        self._check_content(response.get("content", {}))
        for header in response.get("headers", {}).values():
            self._check_schema(header["schema"])

    def _check_content(self, content):
        for media_type, media in content.items():
            assert "/" in media_type
            self._check_schema(media["schema"])

    def _check_schema(self, schema):
        jsonschema.Draft202012Validator.check_schema(schema)
        for part in self._all(schema):
            if "$ref" in part:
                self.resolve(part)
            if isinstance(part.get("pattern"), str):
                re.compile(part["pattern"])

    def _all(self, value):
        if isinstance(value, dict):
            yield value
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from self._all(part)


def matching(pattern, seed):
    """A text that the pattern fits, one of many."""
    return _text(pattern_parser.parse(pattern), random.Random(f"{seed} {pattern}"))


PRINTABLE = [chr(code) for code in range(0x20, 0x7f)] + list("äß€😀\t")


def _text(parts, chance):
    return "".join(_one(str(kind), value, chance) for kind, value in parts)


def _one(kind, value, chance):
    if kind == "AT":
        return ""
    if kind == "LITERAL":
        return chr(value)
    if kind == "ANY":
        return chance.choice(PRINTABLE)
    if kind == "NOT_LITERAL":
        return chance.choice([char for char in PRINTABLE if ord(char) != value])
    if kind == "IN":
        return _of_set(value, chance)
    if kind == "BRANCH":
        return _text(chance.choice(value[1]), chance)
    if kind == "SUBPATTERN":
        return _text(value[-1], chance)
    assert kind == "MAX_REPEAT", kind
    least, most, part = value
    return "".join(_text(part, chance) for _ in range(chance.randint(least, min(int(most), least + 8))))


def _of_set(items, chance):
    chars, negated = [], False
    for kind, value in items:
        if str(kind) == "NEGATE":
            negated = True
        elif str(kind) == "LITERAL":
            chars.append(chr(value))
        else:
            assert str(kind) == "RANGE", kind
            chars += [chr(code) for code in range(value[0], value[1] + 1)]
    return chance.choice([char for char in PRINTABLE if char not in chars] if negated else chars)

"""One case of the tables in cases_*.py of this folder: a request, and what its answer must say.

    Case("a font, from anywhere", "/open/a.txt", 200, {"Access-Control-Allow-Origin": "*"}, absent=("Vary",))

In `fields` a value is the whole of the field's only line, a list the values of all its lines, a compiled pattern what the
only line must match.
"""

import re

from raw_http import request


class Case:
    def __init__(self, name, target, status, fields=None, absent=(), send=None, method="GET", body=None):
        self.id, self.target, self.status, self.absent = name, target, status, absent
        self.fields, self.send, self.method, self.body = fields or {}, send or {}, method, body

    def check(self, answer):
        assert answer.status == self.status, answer
        for name, value in self.fields.items():
            if isinstance(value, list):
                assert answer.all(name) == value, (name, answer)
            elif isinstance(value, re.Pattern):
                assert value.fullmatch(answer[name]), (name, answer)
            else:
                assert answer[name] == value, (name, answer)
        for name in self.absent:
            assert name not in answer, (name, answer)
        if self.body is not None:
            assert answer.body == self.body

    def run(self, server):
        with server.connect() as wire:
            for _ in range(2):  # fresh, and from the cache
                wire.send(request(self.target, self.method, fields=self.send))
                self.check(wire.read_response(self.method))

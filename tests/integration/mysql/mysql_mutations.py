"""Requests that somebody hostile, confused or broken might send to tables on a route: seeded, none like the other.

    for method, target, fields, body in requests(seed, count): ...

They begin as what the grammar has, of the sample's tables; then bytes, words and whole parts change places, double, vanish, or
become what attacks are made of.
"""

import json
import random
import urllib.parse

READ = {
    "orders": ["id", "customer_id", "status", "total", "placed_at", "note"], "customers": ["id", "name", "email", "city", "vip", "born"],
    "products": ["id", "sku", "name", "price", "tags", "active"], "order_lines": ["order_id", "line", "product_id", "quantity"],
    "stock": ["warehouse", "product_id", "quantity", "shelf"], "articles": ["id", "title", "body"], "documents": ["id", "title", "body", "version"],
    "every_type": ["id", "t_bool", "t_bigint", "t_ubigint", "t_double", "t_decimal", "t_bit1", "t_bit", "t_varchar", "t_latin", "t_binary", "t_blob",
                   "t_date", "t_time3", "t_datetime6", "t_timestamp", "t_year", "t_enum", "t_set", "t_json", "t_uuid", "t_inet6"],
    "order_totals": ["order_id", "line_count", "amount"], "employees": ["id", "name", "boss_id"], "odd name": ["a column", "sélect", "quo`te"],
}
WRITE = {"notes": ["author", "text"], "accounts": ["login", "phone", "balance"], "documents": ["title", "body"], "stock": ["warehouse", "product_id", "quantity"]}
RELATIONS = ["customers(*)", "customers(name,city)", "order_lines(*)", "order_lines(line,products(name))", "products(name)", "customers!inner(name)",
             "orders_customer(name)", "boss:employees!employee_boss(name)", "employees(name)"]
OPERATORS = ["eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "match", "imatch", "in", "is", "isdistinct", "fts", "plfts", "phfts", "wfts",
             "not.eq", "not.in", "not.is", "not.like", "eq(any)", "like(any)", "like(all)", "gt(all)", "cs", "cd", "ov", "sl", "adj"]
VALUES = ["1", "7", "0", "-1", "3.14", "1e400", "9007199254740993", "18446744073709551616", "-9223372036854775809", "null", "true", "false", "unknown",
          "not_null", "open", "Bonn", "*o*", "%", "_", "a%b", "^a.*$", "[", "(", "(1,2,3)", "(\"a,b\",c)", "{1,2}", "2026-11-20", "2026-02-31", "24:00:00",
          "2026-11-20T22:13:05Z", "2026-11-20T22:13:05+01:00", "AAECAw==", "x'00'", "größe", "😀", "\0", "\n", "\ufeff", "", " ", "123e4567-e89b-12d3-a456-426655440000",
          "::1", "NaN", "Infinity", "0x10", "+roost -nest", "\"heron\" pigeon*", "@@version", "{}", "[]", "a" * 300]
HOSTILE = ["'", "\"", "`", "\\", "\\'", ";", "--", "-- -", "/*", "*/", "#", "' OR '1'='1", "1 OR 1=1", "') OR ('1'='1", "1; DROP TABLE orders", "`; DROP TABLE orders; --",
           "1 UNION SELECT user,password FROM mysql.user", "SLEEP(5)", "1 AND SLEEP(5)", "(SELECT 1)", "@@datadir", "LOAD_FILE('/etc/passwd')", "%00", "%0a", "%27",
           "%c0%a7", "%ff", "%", "%2", "%zz", "..", "/", "//", "\u2019", "＇", "\u202e", "?", "&", "&&", "=", "==", ",", ",,", "(", ")", "()", ".", "..", "*", ":", "::",
           "->", "->>", "->0", "->>a", "!", "!inner", "$", "{", "}", "\x7f", "\t", "\r\n", "𝕏", "\ud800", "or", "and", "not", "not.", "in", "is", "null", "limit", "select"]
PREFERENCES = ["count=exact", "count=planned", "count=estimated", "return=representation", "return=minimal", "return=headers-only", "handling=strict",
               "handling=lenient", "max-affected=1", "max-affected=0", "max-affected=x", "resolution=merge-duplicates", "resolution=ignore-duplicates",
               "missing=default", "missing=null", "tx=rollback", "tx=commit", "params=single-object", "timezone=Mars/Phobos", "nothing=else", "count=", "=", ";;", "a=\"b"]
ACCEPTS = ["application/json", "text/csv", "application/x-ndjson", "application/vnd.pgrst.object+json", "application/vnd.pgrst.array+json",
           "application/vnd.pgrst.plan+json", "application/octet-stream", "text/html", "*/*", "application/json;q=0", "text/*;q=0.1, application/json;q=x", ""]


TAME = ["eq.1", "eq.7", "neq.7", "gt.3", "lte.50", "in.(1,2,3)", "not.in.(1,2)", "is.null", "not.is.null", "isdistinct.7", "eq(any).{1,2}", "gte(all).{1,2}"]
TAME_TEXT = ["like.*o*", "not.ilike.C*", "match.^[A-Z]", "eq.Bonn", "like(any).{*a*,*b*}"]
TEXTS = ["name", "email", "city", "title", "sku", "note", "t_varchar"]
TIMES = ["placed_at", "born", "t_date", "t_time3", "t_datetime6", "t_timestamp", "t_bool", "t_bit1", "active", "vip", "tags", "body", "t_json", "t_uuid", "t_inet6",
         "t_blob", "t_binary", "status", "t_enum", "t_year"]


class Maker:
    """`wild`: how much of a request is out of the ordinary, from 0 to 1; changes with each."""

    def __init__(self, seed):
        self.rng, self.wild = random.Random(seed), 1.0

    def tame(self):
        return self.rng.random() >= self.wild

    def some(self, what):
        return self.rng.choice(what)

    def value(self):
        value = self.some(VALUES) if self.rng.random() < 0.8 else self.some(HOSTILE)
        return value + self.some(HOSTILE) if self.rng.random() < 0.1 else value

    def column(self, columns):
        name = self.some(columns)
        if self.tame():
            return name
        chance = self.rng.random()
        if chance < 0.1:
            name += self.some(["->a", "->>a", "->0", "->a->>b", "->", "->>colour", "->sizes->0", "::text", "::int"])
        return name if chance < 0.95 else self.some(HOSTILE + ["nothing", "Id", "ID ", "t_hidden", "information_schema.tables", "orders.id"])

    def operand(self, column=""):
        if self.tame():
            return self.some(TAME_TEXT if column in TEXTS else ["is.null", "not.is.null"] if column in TIMES else TAME)
        operator, value = self.some(OPERATORS), self.value()
        if operator.endswith("in") and self.rng.random() < 0.8:
            value = "(" + ",".join(self.value() for _ in range(self.some([0, 1, 2, 3, 5, 40]))) + ")"
        elif operator.endswith(")") and self.rng.random() < 0.8:
            value = "{" + ",".join(self.value() for _ in range(self.some([0, 1, 3]))) + "}"
        return f"{operator}.{value}"

    def tree(self, columns, depth):
        parts = [self.some(["and", "or", "not.and", "not.or"]) + self.tree(columns, depth - 1) if depth and self.rng.random() < 0.3 else self.leaf(columns)
                 for _ in range(self.some([1, 2, 2, 3]))]
        return "(" + ",".join(parts) + ")"

    def leaf(self, columns):
        column = self.column(columns)
        return f"{column}.{self.operand(column)}"

    def pair(self, columns):
        kind = self.some(["filter", "filter", "select", "order", "limit", "tree"] if self.tame() else
                         ["filter"] * 6 + ["select", "select", "order", "order", "limit", "offset", "tree", "tree", "distinct", "after", "embedded", "columns", "conflict"])
        if kind == "filter":
            column = self.column(columns)
            return column, self.operand(column)
        if kind == "select":
            items = [self.some(["", "", f"a{i}:"]) + self.column(columns) for i in range(self.some([1, 2, 3]))]
            return "select", ",".join(dict.fromkeys(items + [self.some(RELATIONS)] * (self.rng.random() < self.wild / 3)))
        if kind == "order":
            return "order", ",".join(self.column(columns) + self.some(["", ".asc", ".desc", ".asc.nullsfirst", ".desc.nullslast", ".nullsfirst"] + [".sideways"] * (not self.tame()))
                                     for _ in range(self.some([1, 2, 3])))
        if kind in ("limit", "offset"):
            return kind, self.some(["0", "5", "20"]) if self.tame() else self.some(["0", "1", "10", "100000", "-1", "x", "1e3", "18446744073709551615", "99999999999999999999", ""])
        if kind == "tree":
            return self.some(["or", "and", "not.or", "not.and"]), self.tree(columns, self.some([0, 1, 2, 2 if self.tame() else 12]))
        if kind == "embedded":
            return self.some(["customers.city", "order_lines.limit", "order_lines.order", "customers.or", "nothing.at.all", "order_lines.products.name"]), self.operand()
        if kind == "columns":
            return "columns", ",".join(self.column(columns) for _ in range(2))
        if kind == "conflict":
            return "on_conflict", ",".join(self.column(columns) for _ in range(self.some([1, 2])))
        return kind, self.value()

    def bent(self, text):
        """The text with something wrong in it."""
        for _ in range(self.some([1, 1, 2, 4])):
            at = self.rng.randrange(len(text) + 1)
            end = min(len(text), at + self.some([0, 1, 1, 2, 8]))
            what = self.some(["insert", "insert", "delete", "double", "swap", "byte", "repeat"])
            if what == "insert":
                text = text[:at] + self.some(HOSTILE) + text[at:]
            elif what == "delete":
                text = text[:at] + text[end:]
            elif what == "double":
                text = text[:end] + text[at:]
            elif what == "swap":
                text = text[end:] + text[:end]
            elif what == "byte":
                text = text[:at] + chr(self.rng.randrange(256)) + text[end:]
            else:
                text = text[:at] + text[at:end] * self.some([2, 50]) + text[end:]
        return text

    def query(self, columns, count):
        pairs = [self.pair(columns) for _ in range(count)]
        safe = self.some(["", "(),.*:", "(),.*:!->\"'"])
        text = "&".join(f"{encoded(key, safe)}={encoded(value, safe)}" for key, value in pairs)
        return self.bent(text) if self.rng.random() < self.wild / 2 else text

    def fields(self, writes):
        fields = {}
        if self.tame():
            return self.some([{}, {}, {"Prefer": "return=representation"}, {"Prefer": "count=exact"}, {"Accept": "application/json"}])
        if self.rng.random() < 0.3:
            fields["Prefer"] = ", ".join(self.some(PREFERENCES) for _ in range(self.some([1, 1, 2])))
        if self.rng.random() < 0.25:
            fields["Accept"] = self.some(ACCEPTS)
        if self.rng.random() < 0.1 and not writes:
            fields["Range"] = self.some(["0-9", "items=0-9", "5-", "9-0", "-5", "x", "0-0,3-4", "99999999999999999999-", "bytes=0-5"])
        if self.rng.random() < 0.1:
            fields[self.some(["If-None-Match", "If-Match"])] = self.some(["*", "\"x\"", "W/\"x\"", "\"a\", \"b\"", "x", "\""])
        return fields

    def cell(self):
        if self.tame():
            return self.some([1, 7, "1", "x", "y z"])
        kinds = [None, True, False, 0, -1, 1.5, 1e300, 2 ** 53 + 1, 2 ** 64, 10 ** 40, [], {}, [1, [2]], {"a": {"b": None}}]
        return self.some(kinds) if self.rng.random() < 0.4 else self.value()

    def body(self, table, columns):
        """(content type, bytes)"""
        row = lambda: {self.column(columns): self.cell() for _ in range(self.some([0, 1, 2, 3]))}  # noqa: E731
        if self.rng.random() < self.wild / 5:
            lines = [",".join(columns)] + [",".join(self.some(["", "NULL", "\"", "\"a,b\"", "x"]) + self.value() for _ in columns) for _ in range(self.some([0, 1, 3]))]
            text, kind = self.some(["\n", "\r\n"]).join(lines), "text/csv"
        elif table == "batch":
            operations = [{"method": self.some(["POST", "PATCH", "DELETE", "PUT", "GET", "get", 7]), "path": f"{self.some(list(WRITE))}?{self.query(columns, 1)}",
                           "body": row()} for _ in range(self.some([0, 1, 2, 5]))]
            text, kind = json.dumps(operations), "application/json"
        else:
            many = [row() for _ in range(self.some([0, 1, 2, 5]))]
            what = self.some([row(), row(), many]) if self.tame() else self.some([row(), many, [[]], [1], 1, "x", None, [row(), 3]])
            text, kind = json.dumps(what, ensure_ascii=self.rng.random() < 0.5), "application/json"
        if self.rng.random() < self.wild / 3:
            text = self.bent(text)
        if self.rng.random() < self.wild / 20:
            kind = self.some(["text/plain", "application/xml", "application/json; charset=utf-16", "application/x-www-form-urlencoded", "application/octet-stream", "x"])
        return kind, text.encode("utf-8", "surrogatepass")

    def proper_row(self, table):
        number = self.rng.randrange(1, 1000)
        row = {"notes": {"author": self.value(), "text": self.value()}, "accounts": {"login": f"login {number}", "balance": self.some([0, 7.5, "12.30"])},
               "documents": {"title": f"title {number}", "body": self.some([{"a": [1, None]}, [], "text", 7])},
               "stock": {"warehouse": self.some(["north", "far"]), "product_id": 1 + number % 100, "quantity": number}}[table]
        if self.rng.random() < self.wild:
            row[self.column(list(row))] = self.cell()
        return row

    def proper_write(self, table):
        """method, query, body: what most tables would take."""
        number = self.rng.randrange(1, 40)
        method = self.some(["POST", "POST", "PATCH", "DELETE", "PUT"])
        key = f"warehouse=eq.north&product_id=eq.{number}" if table == "stock" else f"id=eq.{number}"
        row = self.proper_row(table)
        if method == "POST":
            return method, self.some(["", "", "select=" + ",".join(row), "columns=" + ",".join(row), "on_conflict=id"]), self.some([row, [row, self.proper_row(table)]])
        if method == "PUT":
            row |= {"warehouse": "north", "product_id": number} if table == "stock" else {"id": number}
        return method, key, row

    def nearly_proper(self, table):
        """The same, or a batch of it, and then perhaps bent."""
        if table == "batch":
            operations = []
            for _ in range(self.some([1, 2, 4])):
                of = self.some(list(WRITE))
                method, query, body = self.proper_write(of)
                operations.append({"method": method, "path": f"{of}?{query}", "body": body})
            method, query, body = "POST", "", operations
        else:
            method, query, body = self.proper_write(table)
        text = json.dumps(body)
        if self.rng.random() < self.wild:
            query, text = self.some([(self.bent(query), text), (query, self.bent(text)), (query + "&" + self.query(WRITE.get(table, ["id"]), 1), text)])
        return method, query, None if method == "DELETE" else text.encode("utf-8", "surrogatepass")

    def request(self, number):
        writes, self.wild = number % 4 == 3, self.some([0.0, 0.05, 0.1, 0.2, 1.0])
        table = self.some([*WRITE, *(["batch"] if number % 8 == 7 else [])] if writes else list(READ))
        columns = WRITE.get(table, ["author", "text"]) + ["id"] * (not self.tame()) if writes else READ[table]
        name = encoded(table if self.rng.random() < 1 - self.wild / 20 else self.bent(table), "")
        query = self.query(columns, self.some([0, 1, 1, 2, 3, 5] if writes else [1, 1, 2, 3, 5, 80 if number % 50 == 0 else 2]))
        target = "/data/" + name + (f"?{wire_safe(query)}" if query else "")
        fields = self.fields(writes)
        if writes and self.rng.random() < 0.6:
            method, query, body = self.nearly_proper(table)
            return method, "/data/" + name + (f"?{wire_safe(query)}" if query else ""), {**fields, "Content-Type": "application/json"}, body
        if not writes:
            return self.some(["GET", "GET", "GET", "GET", "HEAD"]), target, fields, None
        method = "POST" if table == "batch" else self.some(["POST", "POST", "PATCH", "PATCH", "PUT", "DELETE"])
        if method == "DELETE":
            return method, target, fields, None
        fields["Content-Type"], body = self.body(table, columns)
        return method, target, fields, body


def encoded(text, safe):
    return urllib.parse.quote(text.encode("utf-8", "surrogatepass"), safe=safe)


def wire_safe(text):
    """What HTTP itself does not let through is encoded; all else stays as it is, "%" too."""
    return "".join(char if "!" <= char <= "~" and char not in "\"<>\\^`{|}#" or char in "\"\\^`{|}<>" else encoded(char, "") for char in text)[:6000]


def requests(seed, count):
    maker = Maker(seed)
    for number in range(count):
        yield maker.request(number)

"""Values of every type go in and come out as they are."""

from rest_server import writable

# As JSON, and as it comes back where that is another text.
VALUES = [
    ("t_tinyint", "-128"), ("t_utinyint", "255"), ("t_bool", "true"), ("t_bool", "false"), ("t_smallint", "-32768"), ("t_mediumint", "8388607"),
    ("t_int", "-2147483648"), ("t_uint", "4294967295"), ("t_bigint", "-9223372036854775808"), ("t_ubigint", "18446744073709551615"),
    ("t_bigint", "9007199254740993"), ("t_bigint", '"9007199254740993"', "9007199254740993"), ("t_float", "1.5"), ("t_double", "0.1"),
    ("t_double", "1.7976931348623157e308", "1.7976931348623157e+308"), ("t_double", "3", "3"), ("t_decimal", "12345678901234567890.0123456789"),
    ("t_decimal", '"-0.5"', "-0.5000000000"), ("t_decimal", "7", "7.0000000000"), ("t_bit1", "true"), ("t_bit1", "0", "false"), ("t_bit", "1099511627775"),
    ("t_char", '"char"'), ("t_varchar", '"gr\u00f6\u00dfe \\"q\\" \\\\ \U0001f600"'), ("t_text", '"line\\nnext\\ttab"'), ("t_text", "12.50", '"12.50"'),
    ("t_latin", '"gr\u00f6\u00dfe"'), ("t_binary", '"AP8AgA=="'), ("t_varbinary", '"3q2+7w=="'), ("t_blob", '"AAECAwQ="'), ("t_blob", '""'),
    ("t_date", '"2026-11-20"'), ("t_time", '"-12:34:56"'), ("t_time3", '"12:34:56.789"'), ("t_datetime", '"2026-11-20T22:13:05+00:00"'),
    ("t_datetime", '"2026-11-20T22:13:05Z"', '"2026-11-20T22:13:05+00:00"'), ("t_datetime", '"2026-11-20T23:13:05+01:00"', '"2026-11-20T22:13:05+00:00"'),
    ("t_datetime6", '"2026-11-20T22:13:05.123456+00:00"'), ("t_timestamp", '"2026-11-20T22:13:05+00:00"'), ("t_year", "2026"), ("t_enum", '"it\'s large"'),
    ("t_set", '"a,c"'), ("t_set", '""'), ("t_json", '{"a":[1,2.50,null,{"b":"c\u00fc"}]}'), ("t_json", '"text"'), ("t_json", "12345678901234567890123"),
    ("t_json", "true"), ("t_json", "[]"), ("t_int", "12.0", "12"), ("t_tinyint", "-1e2", "-100"), ("t_uuid", '"123e4567-e89b-12d3-a456-426655440000"'), ("t_inet6", '"2001:db8::1"'), ("t_int", "null"),
]
# As MySQL keeps them, which has a type for it.
NORMAL_JSON = {'{"a":[1,2.50,null,{"b":"c\u00fc"}]}': '{"a": [1, 2.5, null, {"b": "c\u00fc"}]}', "12345678901234567890123": "1.2345678901234568e22"}
REFUSED = [
    ("t_tinyint", "128"), ("t_tinyint", "-129"), ("t_utinyint", "-1"), ("t_bool", "2"), ("t_bool", '"maybe"'), ("t_int", "1.5"), ("t_int", "1e10"), ("t_int", "true"),
    ("t_int", '"1e3"'), ("t_int", "{}"), ("t_ubigint", "18446744073709551616"), ("t_double", '"much"'), ("t_decimal", '"1,5"'), ("t_bit1", "2"),
    ("t_bit", "1099511627776"), ("t_blob", '"%%%"'), ("t_blob", "17"), ("t_date", '"2026-02-30"'), ("t_date", "20261120"), ("t_datetime", '"yesterday"'),
    ("t_time", '"25 hours"'), ("t_year", "1800"), ("t_enum", '"huge"'), ("t_enum", "1"), ("t_enum", '"1"'), ("t_set", '"a,x"'), ("t_set", '"3"'),
    ("t_latin", '"\U0001f600"'), ("t_char", '"longer than that"'), ("t_point", '"AAAA"'), ("t_text", "[]"), ("t_json", '{"a":1,"a":2}'),
    ("t_json", "[" * 65 + "]" * 65), ("t_hidden", "1"),
]


def test_every_type(start_rest, database, mariadb):
    server = start_rest(writable("every_type"), database=database)
    for number, (column, value, *back) in enumerate(VALUES, 100):
        if column in mariadb.absent:
            continue
        if column == "t_json" and "JSON as it was written" not in mariadb.has:
            back = [NORMAL_JSON.get(value, value)]
        body = f'{{"id":{number},"{column}":{value}}}'.encode()
        made = server.post(f"every_type?select={column}", body, Prefer="return=representation", Accept="application/vnd.pgrst.object+json")
        assert made.status == 201, (column, value, made.body)
        assert made.body.decode() == f'{{"{column}":{(back or [value])[0]}}}'
        changed = server.patch(f"every_type?id=eq.1&select={column}", f'{{"{column}":{value}}}'.encode(), Prefer="return=representation")
        assert changed.body.decode() == f'[{made.body.decode()}]', (column, value)
    for column, value in REFUSED:
        refused = server.post("every_type", f'{{"id":99,"{column}":{value}}}'.encode())
        assert refused.status == 400, (column, value, refused.body)


def test_zone_and_strings(start_rest, database):
    server = start_rest(writable("every_type"), database=database, mysql={"time_zone": "+05:30"}, options={"bigint": "string", "decimal": "string"})
    body = {"id": 50, "t_datetime": "2026-11-20T22:13:05Z", "t_timestamp": "2026-11-20T22:13:05Z", "t_bigint": "9007199254740993", "t_decimal": "1.5"}
    made = server.post("every_type?select=t_datetime,t_timestamp,t_bigint,t_decimal", body, Prefer="return=representation")
    assert made.json() == [{"t_datetime": "2026-11-21T03:43:05+05:30", "t_timestamp": "2026-11-21T03:43:05+05:30",
                            "t_bigint": "9007199254740993", "t_decimal": "1.5000000000"}]
    assert server.mariadb.value("SELECT t_datetime FROM every_type WHERE id = 50", database) == "2026-11-21 03:43:05"


def test_csv_comes_back_as_it_was(start_rest, database):
    server = start_rest(writable("notes"), database=database)
    texts = ["NULL", "null", "", None, 'a "b", c', "line\nnext"]
    server.post("notes", [{"id": id, "author": "a", "text": text} for id, text in enumerate(texts, 1)])
    table = server.get("notes?select=id,author,text&order=id", Accept="text/csv").body
    server.delete("notes?id=gt.0")
    assert server.post("notes", table, Content_Type="text/csv").status == 201
    assert [row["text"] for row in server.get("notes?order=id").json()] == texts


def test_a_number_is_no_member_of_an_enum(start_rest, database, mariadb):
    mariadb.run(f"ALTER TABLE {database}.notes ADD size ENUM('small', 'größer') NOT NULL DEFAULT 'small'")
    server = start_rest(writable("notes"), database=database)
    for value in ("1", "2", ""):
        assert server.post("notes", {"size": value}).status == 400
    assert server.post("notes", {"size": "GRÖSSER"}).status in (201, 400)  # as the collation says
    assert server.post("notes", {"size": "größer"}).status == 201


def test_a_spreadsheets_csv_is_read(start_rest, database):
    server = start_rest(writable("notes"), database=database)
    assert server.post("notes", b"\xef\xbb\xbfauthor,text\r\nAda,x\r\n", Content_Type="text/csv").status == 201
    assert server.get("notes?select=author").json() == [{"author": "Ada"}]


def test_a_number_that_nobody_holds_is_no_mistake_in_the_json(start_rest, database):
    server = start_rest(writable("every_type"), options={"regex": True}, database=database)
    refused = server.post("every_type", b'{"id":50,"t_double":1e309}').json()
    assert (refused["code"], refused["detail"]) == ("value_out_of_range", "the number that ends at byte 25 is too large")
    refused = server.get("every_type?t_json->a=gt.1e309").json()
    assert (refused["code"], refused["hint"]) == ("value_out_of_range", None)

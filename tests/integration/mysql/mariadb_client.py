"""What tests themselves say to a MariaDB server: the client library of the system by ctypes, plain statements.

    with Client(socket, "fixture") as client:
        client.run("SELECT id, name FROM products WHERE id < 3")      # [("1", "..."), ("2", "...")]; None is NULL
"""

import ctypes
import ctypes.util

LIBRARY = "libmariadb.so.3"
CONNECT_TIMEOUT, READ_TIMEOUT, WRITE_TIMEOUT, CHARSET_NAME = 0, 11, 12, 7  # enum mysql_option
MULTI_STATEMENTS = 1 << 16


def library():
    """The client library, None where there is none."""
    try:
        found = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint
    for name, result, *arguments in [
            ("mysql_init", pointer, pointer), ("mysql_close", None, pointer), ("mysql_errno", number, pointer),
            ("mysql_error", text, pointer), ("mysql_sqlstate", text, pointer), ("mysql_options", ctypes.c_int, pointer, ctypes.c_int, pointer),
            ("mysql_real_connect", pointer, pointer, text, text, text, text, number, text, ctypes.c_ulong),
            ("mysql_real_query", ctypes.c_int, pointer, text, ctypes.c_ulong), ("mysql_store_result", pointer, pointer),
            ("mysql_next_result", ctypes.c_int, pointer), ("mysql_num_fields", number, pointer),
            ("mysql_affected_rows", ctypes.c_ulonglong, pointer), ("mysql_thread_id", ctypes.c_ulong, pointer),
            ("mysql_fetch_row", ctypes.POINTER(pointer), pointer), ("mysql_free_result", None, pointer),
            ("mysql_fetch_lengths", ctypes.POINTER(ctypes.c_ulong), pointer)]:
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found


LIB = library()


class SqlError(Exception):
    """What the server or the library said: number (mysqld_error.h, errmsg.h), sqlstate, text."""

    def __init__(self, number, sqlstate, text, statement=""):
        super().__init__(f"{number} ({sqlstate}): {text}" + (f" in {statement[:300]}" if statement else ""))
        self.number, self.sqlstate = number, sqlstate


def quoted(value):
    """A value as a statement writes it: None, a number, text, or bytes."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, (int, float)):
        return repr(int(value) if isinstance(value, bool) else value)
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\0") + "'"


class Client:
    """One connection; one thread at a time."""

    def __init__(self, socket, user, password="", database=None, host=None, port=0, timeout_s=60):
        self._mysql = LIB.mysql_init(None)
        for option in (CONNECT_TIMEOUT, READ_TIMEOUT, WRITE_TIMEOUT):
            LIB.mysql_options(self._mysql, option, ctypes.byref(ctypes.c_uint(timeout_s)))
        LIB.mysql_options(self._mysql, CHARSET_NAME, ctypes.c_char_p(b"utf8mb4"))
        encoded = [text.encode() if text else None for text in (host, user, password, database, socket and str(socket))]
        if not LIB.mysql_real_connect(self._mysql, *encoded[:4], port, encoded[4], MULTI_STATEMENTS):
            problem = self._error()
            self.close()
            raise problem
        self.thread_id = LIB.mysql_thread_id(self._mysql)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._mysql:
            LIB.mysql_close(self._mysql)
            self._mysql = None

    def run(self, text):
        """Runs one statement or several between semicolons; the rows of the last that has any, else what it affected."""
        encoded = text.encode("utf-8", "surrogateescape")
        if LIB.mysql_real_query(self._mysql, encoded, len(encoded)):
            raise self._error(text)
        rows = None
        while True:
            here = self._rows(text)
            rows = here if here is not None or rows is None else rows
            more = LIB.mysql_next_result(self._mysql)
            if more > 0:
                raise self._error(text)
            if more < 0:
                return rows

    def value(self, text):
        """The first cell of the first row."""
        return self.run(text)[0][0]

    def _rows(self, text):
        result = LIB.mysql_store_result(self._mysql)
        if not result:
            if LIB.mysql_errno(self._mysql):
                raise self._error(text)
            return None
        width, rows = LIB.mysql_num_fields(result), []
        while row := LIB.mysql_fetch_row(result):
            lengths = LIB.mysql_fetch_lengths(result)
            rows.append(tuple(None if not row[i] else ctypes.string_at(row[i], lengths[i]).decode("utf-8", "surrogateescape")
                              for i in range(width)))
        LIB.mysql_free_result(result)
        return rows

    def affected(self):
        return LIB.mysql_affected_rows(self._mysql)

    def _error(self, statement=""):
        return SqlError(LIB.mysql_errno(self._mysql), LIB.mysql_sqlstate(self._mysql).decode(),
                        LIB.mysql_error(self._mysql).decode(errors="replace"), statement)

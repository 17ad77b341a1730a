"""What may happen to a database. Each event is a list of steps (seconds from its beginning, what to do)."""

import os
import threading

from mariadb_client import SqlError
from mysql_torture_tables import FLEETING, LAYOUT, filled

GONE = {1040, 1053, 1094, 1205, 1213, 1927, 2002, 2003, 2006, 2013, 1146, 1054, 1060, 1091, 1050, 1051, 1203, 1045}


class Disturber:
    """Does it to one MariaDb and its database; heal() undoes all of it."""

    def __init__(self, mariadb, database, rng, events=()):
        self.events = list(events) or EVENTS
        self.mariadb, self.database, self.rng = mariadb, database, rng
        self.threads, self.hogs, self.stopped, self.ran = [], [], False, []

    def pick(self):
        name = self.rng.choice(self.events)
        self.ran.append(name)
        return getattr(self, name)()

    def sql(self, *statements, pause_s=0.0):
        """Says them on a thread of its own: the database may be slow, stopped or gone just now."""
        def run():
            try:
                with self.mariadb.client(self.database, timeout_s=5) as client:
                    client.run("SET lock_wait_timeout = 1, innodb_lock_wait_timeout = 1")
                    for index, statement in enumerate(statements):
                        if index and pause_s:
                            threading.Event().wait(pause_s)
                        client.run(statement)
            except SqlError as problem:
                if problem.number not in GONE:
                    raise
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.threads.append(thread)

    def span(self, least=0.02, most=0.35):
        return self.rng.uniform(least, most)

    # the events

    def kill(self):
        return [(0, self.mariadb.kill), (self.span(), self.start)]

    def restart(self):
        return [(0, self.mariadb.shut_down), (self.span(0, 0.15), self.start)]

    def stop(self):
        return [(0, self.pause), (self.span(), self.resume)]

    def stop_long(self):
        """Longer than a statement may take."""
        return [(0, self.pause), (self.span(1.2, 1.8), self.resume)]

    def stop_then_kill(self):
        return [(0, self.pause), (self.span(), self.mariadb.kill), (self.span(0.36, 0.5), self.start)]

    def kill_connections(self):
        """KILL of all connections that the pool has, twice."""
        return [(0, lambda: self.kill_all("CONNECTION")), (self.span(), lambda: self.kill_all("CONNECTION"))]

    def kill_queries(self):
        return [(at, lambda: self.kill_all("QUERY")) for at in (0, self.span(), self.span())]

    def no_connections(self):
        return [(0, self.hog), (self.span(), lambda: self.kill_all("CONNECTION")), (self.span(0.36, 0.6), self.let_go)]

    def vanish(self):
        """The socket's file goes, and with it whoever would connect; comes back under its name."""
        return [(0, self.hide), (self.span(), lambda: self.kill_all("CONNECTION")), (self.span(0.36, 0.6), self.show)]

    def deadlock(self):
        """Somebody takes locks in an order of his own, and waits between them."""
        one, two = self.rng.sample(range(1, 5), 2)
        return [(0, lambda: self.sql("START TRANSACTION", f"UPDATE locks SET value = 'x' WHERE id = {one}",
                                     f"UPDATE locks SET value = 'x' WHERE id = {two}", "COMMIT", pause_s=0.05))] * 2

    def lock_table(self):
        return [(0, lambda: self.sql("LOCK TABLES ledger WRITE, facts WRITE", "UNLOCK TABLES", pause_s=self.span()))]

    def add_column(self):
        table = self.rng.choice(["facts", "ledger"])
        return [(0, lambda: self.sql(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS extra INT NOT NULL DEFAULT 5")),
                (self.span(), lambda: self.sql(f"ALTER TABLE {table} DROP COLUMN IF EXISTS extra"))]

    def rename_column(self):
        table, column = self.rng.choice([("facts", "body"), ("ledger", "note")])
        return [(0, lambda: self.sql(f"ALTER TABLE {table} RENAME COLUMN {column} TO renamed")),
                (self.span(0.02, 1.2), lambda: self.sql(f"ALTER TABLE {table} RENAME COLUMN renamed TO {column}"))]

    def retype_column(self):
        table, kind = self.rng.choice(["facts", "ledger"]), self.rng.choice(["BIGINT", "VARCHAR(20)", "DECIMAL(20,0)", "DOUBLE"])
        return [(0, lambda: self.sql(f"ALTER TABLE {table} MODIFY n {kind} NOT NULL")),
                (self.span(), lambda: self.sql(f"ALTER TABLE {table} MODIFY n INT NOT NULL"))]

    def rebuild(self):
        return [(0, lambda: self.sql("ALTER TABLE facts FORCE")), (self.span(), lambda: self.sql("ALTER TABLE ledger FORCE"))]

    def drop_table(self):
        return [(0, lambda: self.sql("DROP TABLE IF EXISTS fleeting")), (self.span(), self.make_fleeting)]

    # and their pieces

    def start(self):
        if self.mariadb.process.poll() is not None:
            self.mariadb.start()

    def pause(self):
        self.mariadb.pause()
        self.stopped = True

    def resume(self):
        self.stopped = False
        if self.mariadb.process.poll() is None:
            self.mariadb.resume()

    def kill_all(self, what):
        self.sql("BEGIN NOT ATOMIC FOR c IN (SELECT id FROM information_schema.processlist WHERE user = 'roost') DO"
                 f" BEGIN DECLARE CONTINUE HANDLER FOR 1094 BEGIN END; KILL {what} c.id; END; END FOR; END")

    def hog(self):
        try:
            while len(self.hogs) < 60:
                self.hogs.append(self.mariadb.client(user=self.mariadb.user, password=self.mariadb.password, timeout_s=2))
        except SqlError:
            pass  # there are no more

    def let_go(self):
        for hog in self.hogs:
            hog.close()
        self.hogs = []

    def hide(self):
        if os.path.exists(self.mariadb.socket):
            os.rename(self.mariadb.socket, self.mariadb.socket + ".gone")

    def show(self):
        gone = self.mariadb.socket + ".gone"
        if os.path.exists(gone):
            if os.path.exists(self.mariadb.socket):
                os.unlink(gone)  # it was started anew meanwhile
            else:
                os.rename(gone, self.mariadb.socket)

    def make_fleeting(self):
        self.sql("DROP TABLE IF EXISTS making", f"CREATE TABLE making ({LAYOUT})", filled("making", FLEETING),
                 "RENAME TABLE making TO fleeting")

    def heal(self):
        """Brings everything back that is not as it was."""
        if self.stopped:
            self.resume()
        self.let_go()
        self.show()
        self.start()
        for thread in self.threads:
            thread.join(15)
        self.threads = []
        with self.mariadb.client(self.database) as client:
            client.run("SET lock_wait_timeout = 10")
            for table, column in (("facts", "body"), ("ledger", "note")):
                columns = dict(client.run("SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = DATABASE()"
                                          f" AND table_name = '{table}'"))
                if "renamed" in columns:
                    client.run(f"ALTER TABLE {table} RENAME COLUMN renamed TO {column}")
                if "extra" in columns:
                    client.run(f"ALTER TABLE {table} DROP COLUMN extra")
                if columns["n"] != "int":
                    client.run(f"ALTER TABLE {table} MODIFY n INT NOT NULL")
            client.run("DROP TABLE IF EXISTS making")
            if not client.run("SHOW TABLES LIKE 'fleeting'"):
                client.run(f"CREATE TABLE fleeting ({LAYOUT}); " + filled("fleeting", FLEETING))


EVENTS = ["kill", "kill", "restart", "stop", "stop_long", "stop_then_kill", "kill_connections", "kill_connections", "kill_queries",
          "no_connections", "vanish", "deadlock", "deadlock", "lock_table", "add_column", "rename_column", "retype_column", "retype_column",
          "rebuild", "drop_table"]

"""What tests of the pool look at: a statement that lasts, numbers, and what runs at the database."""

SLEEP = {"path": "/sleep/{s}", "mysql_query": {
    "sql": "SELECT SLEEP(:s) AS slept", "methods": ["GET"],
    "parameters": {"s": {"type": "number", "from": "path", "minimum": 0, "maximum": 60}}}}
METRICS = {"path": "/metrics", "metrics": {}}


def number(server, name):
    for line in server.ask("/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    return None


def sleeping(mariadb):
    """How many of the server's statements sleep."""
    return int(mariadb.value("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'roost' AND info LIKE '%SLEEP%'"))

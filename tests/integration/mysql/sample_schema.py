"""The tables that tests read: a shop's, one with every type, one of everything that makes a difference.

    customers, products       200, 100 rows; `email` and `sku` are unique
    orders                    2000 rows; customer_id -> customers; status open, paid, shipped, hidden; placed_at; note may be NULL
    order_lines               5000 rows, key (order_id, line); order_id -> orders, product_id -> products
    stock                     key (warehouse, product_id): composite, of text and number; product_id -> products
    every_type                3 rows: ordinary values, the extremes, NULLs; a JSON column and a generated one
    documents                 `version` counts up with every write (ON UPDATE by trigger), `body` JSON
    articles                  full-text index over title and body
    employees                 boss_id -> employees: a key to itself
    accounts                  two unique keys beside the primary one: no upsert by one of them
    order_totals              a view over orders and order_lines; paid_orders: one that can be written through
    notes                     empty, for writing: id, author, text, created_at
    `odd name`                `a column`, `sélect`, `quo``te`: names that need quoting

fill(client) makes them in the client's database; million(client) makes `events`, 1,000,000 rows: id, kind, amount, name, at.
Where ids are consecutive they begin at 1, and all values follow from them.
"""

TABLES = [
    "CREATE TABLE customers (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(80) NOT NULL COMMENT 'as on the letter',"
    " email VARCHAR(120) NOT NULL UNIQUE, city VARCHAR(60), country CHAR(2) NOT NULL DEFAULT 'de', vip TINYINT(1) NOT NULL DEFAULT 0,"
    " born DATE) COMMENT 'who buys'",
    "CREATE TABLE products (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, sku VARCHAR(20) NOT NULL UNIQUE,"
    " name VARCHAR(80) NOT NULL, price DECIMAL(10,2) NOT NULL, weight_g INT UNSIGNED, tags JSON, active TINYINT(1) NOT NULL DEFAULT 1)",
    "CREATE TABLE orders (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, customer_id INT UNSIGNED NOT NULL,"
    " status ENUM('open','paid','shipped','hidden') NOT NULL DEFAULT 'open', total DECIMAL(12,2) NOT NULL DEFAULT 0,"
    " placed_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, note TEXT, KEY (placed_at),"
    " CONSTRAINT orders_customer FOREIGN KEY (customer_id) REFERENCES customers (id))",
    "CREATE TABLE order_lines (order_id BIGINT UNSIGNED NOT NULL, line SMALLINT UNSIGNED NOT NULL, product_id INT UNSIGNED NOT NULL,"
    " quantity INT NOT NULL DEFAULT 1, price DECIMAL(10,2) NOT NULL DEFAULT 0, PRIMARY KEY (order_id, line),"
    " CONSTRAINT line_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE,"
    " CONSTRAINT line_product FOREIGN KEY (product_id) REFERENCES products (id))",
    "CREATE TABLE stock (warehouse VARCHAR(10) NOT NULL, product_id INT UNSIGNED NOT NULL, quantity INT NOT NULL DEFAULT 0,"
    " shelf VARCHAR(20), PRIMARY KEY (warehouse, product_id), CONSTRAINT stock_product FOREIGN KEY (product_id) REFERENCES products (id))",
    "CREATE TABLE every_type (id INT NOT NULL PRIMARY KEY, t_tinyint TINYINT, t_utinyint TINYINT UNSIGNED, t_bool TINYINT(1),"
    " t_smallint SMALLINT, t_mediumint MEDIUMINT, t_int INT, t_uint INT UNSIGNED, t_bigint BIGINT, t_ubigint BIGINT UNSIGNED,"
    " t_float FLOAT, t_double DOUBLE, t_decimal DECIMAL(30,10), t_bit1 BIT(1), t_bit BIT(40), t_char CHAR(10), t_varchar VARCHAR(200),"
    " t_text TEXT, t_latin VARCHAR(20) CHARACTER SET latin1, t_binary BINARY(4), t_varbinary VARBINARY(50), t_blob BLOB, t_date DATE,"
    " t_time TIME, t_time3 TIME(3), t_datetime DATETIME, t_datetime6 DATETIME(6), t_timestamp TIMESTAMP NULL, t_timestamp3 TIMESTAMP(3) NULL,"
    " t_year YEAR, t_enum ENUM('small','medium','it''s large'), t_set SET('a','b','c'), t_json JSON, t_uuid UUID, t_inet6 INET6,"
    " t_point POINT, t_generated INT GENERATED ALWAYS AS (t_int + 1) STORED, t_hidden INT INVISIBLE DEFAULT 7)",
    "CREATE TABLE documents (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, title VARCHAR(80) NOT NULL, body JSON NOT NULL,"
    " version INT UNSIGNED NOT NULL DEFAULT 1)",
    "CREATE TRIGGER documents_version BEFORE UPDATE ON documents FOR EACH ROW SET NEW.version = OLD.version + 1",
    "CREATE TABLE articles (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, title VARCHAR(120) NOT NULL, body TEXT NOT NULL,"
    " FULLTEXT KEY title_body (title, body), FULLTEXT KEY body_alone (body))",
    "CREATE TABLE employees (id INT NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL, boss_id INT,"
    " CONSTRAINT employee_boss FOREIGN KEY (boss_id) REFERENCES employees (id))",
    "CREATE TABLE accounts (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, login VARCHAR(40) NOT NULL UNIQUE,"
    " phone VARCHAR(20) UNIQUE, balance DECIMAL(10,2) NOT NULL DEFAULT 0, CHECK (balance >= 0))",
    "CREATE TABLE notes (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, author VARCHAR(40) NOT NULL DEFAULT 'anonymous', text TEXT,"
    " created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)",
    "CREATE TABLE `odd name` (`a column` INT NOT NULL PRIMARY KEY, `sélect` VARCHAR(20), `quo``te` INT)",
]
ROWS = [
    "INSERT INTO customers SELECT seq, CONCAT('Customer ', seq), CONCAT('c', seq, '@example.org'),"
    " ELT(1 + seq % 5, 'Bonn', 'Köln', 'Berlin', 'Wien', NULL), ELT(1 + seq % 3, 'de', 'at', 'ch'), seq % 10 = 0,"
    " DATE '1950-01-01' + INTERVAL seq * 97 DAY FROM seq_1_to_200",
    "INSERT INTO products SELECT seq, CONCAT('SKU-', LPAD(seq, 4, '0')), CONCAT('Product ', seq), seq * 1.25,"
    " IF(seq % 7 = 0, NULL, seq * 10), IF(seq % 4 = 0, NULL, JSON_OBJECT('colour', ELT(1 + seq % 3, 'red', 'green', 'blue'),"
    " 'sizes', JSON_ARRAY(seq, seq + 1))), seq % 11 <> 0 FROM seq_1_to_100",
    "INSERT INTO orders SELECT seq, 1 + seq * 7 % 200, ELT(1 + seq % 4, 'open', 'paid', 'shipped', 'hidden'), seq * 3.5,"
    " TIMESTAMP '2026-01-01 00:00:00' + INTERVAL seq * 37 MINUTE, IF(seq % 3 = 0, CONCAT('note, \"', seq, '\"'), NULL) FROM seq_1_to_2000",
    "INSERT INTO order_lines SELECT 1 + (seq - 1) DIV 5 * 2, 1 + (seq - 1) % 5, 1 + seq * 13 % 100, 1 + seq % 9, seq % 50 + 0.99 FROM seq_1_to_5000",
    "INSERT INTO stock SELECT ELT(1 + seq % 3, 'north', 'south', 'east'), 1 + (seq - 1) DIV 3, seq * 11 % 90,"
    " IF(seq % 5 = 0, NULL, CONCAT('shelf ', seq % 20)) FROM seq_1_to_300",
    "INSERT INTO every_type SET id = 1, t_tinyint = -5, t_utinyint = 200, t_bool = 1, t_smallint = -300, t_mediumint = 70000, t_int = -100000,"
    " t_uint = 4000000000, t_bigint = 9007199254740993, t_ubigint = 9007199254740993, t_float = 1.5, t_double = 0.1,"
    " t_decimal = 12345678901234567890.0123456789, t_bit1 = b'1', t_bit = 1099511627775, t_char = 'char', t_varchar = 'größe \"quoted\" \\\\ 😀',"
    " t_text = 'line\\nnext\\ttab', t_latin = 'größe', t_binary = x'00ff0080', t_varbinary = x'deadbeef', t_blob = x'000102fffe',"
    " t_date = '2026-11-20', t_time = '12:34:56', t_time3 = '12:34:56.789', t_datetime = '2026-11-20 22:13:05',"
    " t_datetime6 = '2026-11-20 22:13:05.123456', t_timestamp = '2026-11-20 22:13:05', t_timestamp3 = '2026-11-20 22:13:05.123', t_year = 2026,"
    " t_enum = 'it''s large', t_set = 'a,c', t_json = '{\"a\": [1, 2.50, null], \"b\": {\"c\": \"d\"}}', t_uuid = '123e4567-e89b-12d3-a456-426655440000',"
    " t_inet6 = '2001:db8::1', t_point = POINT(1, 2)",
    "INSERT INTO every_type SET id = 2, t_tinyint = -128, t_utinyint = 255, t_bool = 0, t_smallint = -32768, t_mediumint = -8388608,"
    " t_int = -2147483648, t_uint = 4294967295, t_bigint = -9223372036854775808, t_ubigint = 18446744073709551615, t_float = -3.4e38,"
    " t_double = 1.7976931348623157e308, t_decimal = -99999999999999999999.9999999999, t_bit1 = b'0', t_bit = 0, t_char = '', t_varchar = '',"
    " t_text = '', t_latin = '', t_binary = x'00000000', t_varbinary = '', t_blob = '', t_date = '0001-01-01', t_time = '-838:59:59',"
    " t_time3 = '-838:59:59.999', t_datetime = '9999-12-31 23:59:59', t_datetime6 = '9999-12-31 23:59:59.999999',"
    " t_timestamp = '1970-01-01 00:00:01', t_timestamp3 = '2038-01-19 03:14:07.999', t_year = 1901, t_enum = 'small', t_set = '', t_json = 'null',"
    " t_uuid = '00000000-0000-0000-0000-000000000000', t_inet6 = '::', t_point = POINT(-1e300, 0)",
    "INSERT INTO every_type SET id = 3",
    "INSERT INTO documents (id, title, body) SELECT seq, CONCAT('Document ', seq), JSON_OBJECT('n', seq, 'deep', JSON_OBJECT('list',"
    " JSON_ARRAY(seq, 'x', NULL))) FROM seq_1_to_20",
    "INSERT INTO articles SELECT seq, CONCAT(ELT(1 + seq % 4, 'Starling', 'Pigeon', 'Heron', 'Magpie'), ' news ', seq),"
    " CONCAT('A ', ELT(1 + seq % 4, 'starling', 'pigeon', 'heron', 'magpie'), ' came home to ', ELT(1 + seq % 3, 'roost', 'nest', 'fly')) FROM seq_1_to_60",
    "INSERT INTO employees SELECT seq, CONCAT('Employee ', seq), IF(seq = 1, NULL, seq DIV 2) FROM seq_1_to_15",
    "INSERT INTO accounts SELECT seq, CONCAT('login', seq), IF(seq % 3 = 0, NULL, CONCAT('+49 ', seq)), seq * 10 FROM seq_1_to_10",
    "INSERT INTO `odd name` SELECT seq, CONCAT('value ', seq), seq * 2 FROM seq_1_to_5",
    "CREATE VIEW order_totals AS SELECT o.id AS order_id, o.customer_id, COUNT(l.line) AS line_count, SUM(l.quantity * l.price) AS amount"
    " FROM orders o JOIN order_lines l ON l.order_id = o.id GROUP BY o.id, o.customer_id",
    "CREATE VIEW paid_orders AS SELECT id, customer_id, status, total FROM orders WHERE status = 'paid' WITH CHECK OPTION",
]
MILLION = [
    "CREATE TABLE events (id BIGINT NOT NULL PRIMARY KEY, kind TINYINT NOT NULL, amount DECIMAL(10,2) NOT NULL, name VARCHAR(40) NOT NULL,"
    " at DATETIME NOT NULL)",
    "SET unique_checks = 0, foreign_key_checks = 0",
    "INSERT INTO events SELECT seq, seq % 10, seq * 7919 % 100000 / 100, CONCAT('event ', seq),"
    " TIMESTAMP '2026-01-01 00:00:00' + INTERVAL seq SECOND FROM seq_1_to_1000000",
    "SET unique_checks = 1, foreign_key_checks = 1",
]


def fill(client):
    """All tables but the large one."""
    for statement in TABLES + ROWS:
        client.run(statement)
    client.run("ANALYZE TABLE customers, products, orders, order_lines, stock")  # what plans and planned counts go by


def tables_alone(client):
    """The tables without rows and views, which is quicker."""
    for statement in TABLES:
        client.run(statement)


def million(client):
    """The large one; takes some seconds."""
    for statement in MILLION:
        client.run(statement)


def fill_sample(client):
    client.run("CREATE DATABASE sample; USE sample")
    fill(client)

-- What conf/guestbook.json needs: a database, a table, and a user who may read and write it and nothing else.
--
--   mariadb -u root < conf/guestbook.sql
--
-- Change the password here, and give the server the same: MYSQL_PASSWORD=... ./server -f conf/guestbook.json
CREATE DATABASE IF NOT EXISTS guestbook CHARACTER SET utf8mb4;
CREATE TABLE IF NOT EXISTS guestbook.entries (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(40) NOT NULL CHECK (name <> ''),
  text VARCHAR(500) NOT NULL CHECK (text <> ''),
  written_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
) CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS 'guestbook'@'localhost' IDENTIFIED BY 'guestbook';
GRANT SELECT, INSERT ON guestbook.entries TO 'guestbook'@'localhost';

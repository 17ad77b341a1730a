// What c_server.c and c_loop.c share: a connection with two prepared statements over MariaDB's connector, and
// its rows as JSON straight from the binary protocol's bytes, without a copy between. One thread at a time
// per connection.
#ifndef TABLE_JSON_H
#define TABLE_JSON_H

#include <mysql.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kOneRow, kManyRows, kStatements };

// Text that grows; never shrinks.
struct text {
  char* data;
  size_t size, capacity;
};

static inline char* text_room(struct text* text, size_t more) {
  if (text->size + more > text->capacity) {
    text->capacity = (text->size + more) * 2;
    if (!(text->data = realloc(text->data, text->capacity))) abort();
  }
  return text->data + text->size;
}

static inline void text_add(struct text* text, const void* bytes, size_t size) {
  memcpy(text_room(text, size), bytes, size);
  text->size += size;
}

struct column {
  char key[80];  // `,"name":`
  size_t key_size;
  enum enum_field_types type;
  int is_unsigned;
};

// A prepared statement. `out` is where its rows go.
struct statement {
  MYSQL_STMT* handle;
  struct column* columns;
  struct text* out;
};

static inline uint64_t read_le(const unsigned char* bytes, unsigned size) {
  uint64_t value = 0;
  memcpy(&value, bytes, size);
  return value;
}

// The length before text and times; moves `row` behind it.
static inline size_t read_length(unsigned char** row) {
  unsigned char* at = *row;
  unsigned size = *at < 251 ? 0 : *at == 252 ? 2 : *at == 253 ? 3 : 8;
  *row = at + 1 + size;
  return size ? (size_t)read_le(at + 1, size) : *at;
}

static inline void json_number(struct text* out, uint64_t value, int negative) {
  char digits[24], *at = digits + sizeof digits;
  do {
    *--at = (char)('0' + value % 10);
  } while (value /= 10);
  if (negative) *--at = '-';
  text_add(out, at, (size_t)(digits + sizeof digits - at));
}

static inline void json_string(struct text* out, const unsigned char* bytes, size_t size) {
  char* at = text_room(out, size * 6 + 2);
  *at++ = '"';
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] == '"' || bytes[i] == '\\') *at++ = '\\';
    if (bytes[i] < 0x20)
      at += sprintf(at, "\\u%04x", bytes[i]);
    else
      *at++ = (char)bytes[i];
  }
  *at++ = '"';
  out->size = (size_t)(at - out->data);
}

static inline char* two(char* at, unsigned value) {
  *at++ = (char)('0' + value / 10);
  *at++ = (char)('0' + value % 10);
  return at;
}

static inline void json_moment(struct text* out, const unsigned char* bytes, size_t size, int date_only) {
  unsigned year = size >= 4 ? (unsigned)read_le(bytes, 2) : 0;
  char* at = text_room(out, 32);
  *at++ = '"';
  at = two(two(at, year / 100), year % 100);
  *at++ = '-';
  at = two(at, size >= 4 ? bytes[2] : 0);
  *at++ = '-';
  at = two(at, size >= 4 ? bytes[3] : 0);
  if (!date_only) {
    *at++ = 'T';
    at = two(at, size >= 7 ? bytes[4] : 0);
    *at++ = ':';
    at = two(at, size >= 7 ? bytes[5] : 0);
    *at++ = ':';
    at = two(at, size >= 7 ? bytes[6] : 0);
    memcpy(at, "+00:00", 6);
    at += 6;
  }
  *at++ = '"';
  out->size = (size_t)(at - out->data);
}

// The connector calls this for each cell, which begins at *row (row: NULL for NULL), and wants *row behind
// it.
static void on_cell(void* data, unsigned number, unsigned char** row) {
  struct statement* statement = data;
  const struct column* column = &statement->columns[number];
  struct text* out = statement->out;
  text_add(out, column->key, column->key_size);
  if (!row) {
    text_add(out, "null", 4);
    return;
  }
  unsigned size = 0;
  switch (column->type) {
    case MYSQL_TYPE_TINY:
      size = 1;
      break;
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_YEAR:
      size = 2;
      break;
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
      size = 4;
      break;
    case MYSQL_TYPE_LONGLONG:
      size = 8;
      break;
    default:
      break;
  }
  if (size) {
    uint64_t value = read_le(*row, size);
    int negative = !column->is_unsigned && value >> (size * 8 - 1);
    if (negative) value = size == 8 ? 0 - value : (UINT64_C(1) << size * 8) - value;
    json_number(out, value, negative);
    *row += size;
    return;
  }
  if (column->type == MYSQL_TYPE_DOUBLE) {
    double value;
    memcpy(&value, *row, 8);
    char* at = text_room(out, 40);
    out->size += (size_t)snprintf(at, 40, "%.17g", value);
    *row += 8;
    return;
  }
  size_t length = read_length(row);
  if (column->type == MYSQL_TYPE_NEWDECIMAL)
    text_add(out, *row, length);
  else if (column->type == MYSQL_TYPE_DATETIME || column->type == MYSQL_TYPE_TIMESTAMP ||
           column->type == MYSQL_TYPE_DATE)
    json_moment(out, *row, length, column->type == MYSQL_TYPE_DATE);
  else
    json_string(out, *row, length);
  *row += length;
}

static inline void fail(const char* what, const char* why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static inline MYSQL* connect_to(const char* socket, const char* user, const char* password,
                                const char* database) {
  MYSQL* mysql = mysql_init(NULL);
  mysql_options(mysql, MYSQL_OPT_NONBLOCK, 0);
  mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  if (!mysql_real_connect(mysql, NULL, user, password, database, 0, socket, 0))
    fail(socket, mysql_error(mysql));
  return mysql;
}

static inline void prepare(MYSQL* mysql, const char* sql, struct statement* statement) {
  MYSQL_STMT* handle = statement->handle = mysql_stmt_init(mysql);
  if (mysql_stmt_prepare(handle, sql, strlen(sql))) fail(sql, mysql_stmt_error(handle));
  MYSQL_RES* result = mysql_stmt_result_metadata(handle);
  if (!result) fail(sql, "returns no rows");
  unsigned count = mysql_num_fields(result);
  MYSQL_FIELD* fields = mysql_fetch_fields(result);
  statement->columns = calloc(count, sizeof *statement->columns);
  for (unsigned i = 0; i < count; i++) {
    struct column* column = &statement->columns[i];
    column->key_size =
        (size_t)snprintf(column->key, sizeof column->key, "%c\"%.64s\":", i ? ',' : '{', fields[i].name);
    column->type = fields[i].type;
    column->is_unsigned = (fields[i].flags & UNSIGNED_FLAG) != 0;
  }
  mysql_free_result(result);
  mysql_stmt_attr_set(handle, STMT_ATTR_CB_USER_DATA, statement);
  mysql_stmt_attr_set(handle, STMT_ATTR_CB_RESULT, (void*)on_cell);
}

#endif

// A bare loop of prepared statements, no HTTP: threads, each with a blocking connection, that execute, read
// all rows and write them as JSON into memory. What a row costs whoever asks for it by this connector.
//
//   c_loop SOCKET USER PASSWORD DATABASE THREADS SECONDS KEYS one|many "SELECT ... WHERE id = ?" "SELECT ...
//   LIMIT 100"
//
// Prints statements, seconds, and seconds of processor time of this process.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include "table_json.h"

static char** arguments;
static volatile int stopped;

struct worker {
  pthread_t thread;
  MYSQL* mysql;
  struct statement statement;
  struct text out;
  uint64_t seed;
  unsigned long done;
};

static void* work(void* data) {
  struct worker* self = data;
  long long id = 0, keys = atoll(arguments[7]);
  MYSQL_BIND parameter = {.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &id};
  MYSQL_STMT* handle = self->statement.handle;
  if (mysql_stmt_param_count(handle)) mysql_stmt_bind_param(handle, &parameter);
  self->statement.out = &self->out;
  while (!stopped) {
    self->seed = self->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    id = 1 + (long long)((self->seed >> 33) % (uint64_t)keys);
    self->out.size = 0;
    if (mysql_stmt_execute(handle)) fail("execute", mysql_stmt_error(handle));
    while (mysql_stmt_fetch(handle) == 0) text_add(&self->out, "}", 1);
    if (!self->out.size) fail("fetch", "no row");
    self->done++;
  }
  return NULL;
}

static double seconds(const struct timeval* time) {
  return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

int main(int count, char** words) {
  if (count != 11) fail(words[0], "SOCKET USER PASSWORD DATABASE THREADS SECONDS KEYS one|many SQL SQL");
  arguments = words;
  int threads = atoi(words[5]);
  struct worker* workers = calloc((size_t)threads, sizeof *workers);
  for (int i = 0; i < threads; i++) {
    workers[i].seed = (uint64_t)i + 1;
    workers[i].mysql = connect_to(words[1], words[2], words[3], words[4]);
    prepare(workers[i].mysql, strcmp(words[8], "one") ? words[10] : words[9], &workers[i].statement);
  }
  struct rusage before, after;
  struct timespec from, to;
  getrusage(RUSAGE_SELF, &before);
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (int i = 0; i < threads; i++) pthread_create(&workers[i].thread, NULL, work, &workers[i]);
  struct timespec rest = {.tv_sec = (time_t)atof(words[6]),
                          .tv_nsec = (long)((atof(words[6]) - (double)(time_t)atof(words[6])) * 1e9)};
  nanosleep(&rest, NULL);
  stopped = 1;
  unsigned long done = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(workers[i].thread, NULL);
    done += workers[i].done;
  }
  getrusage(RUSAGE_SELF, &after);
  clock_gettime(CLOCK_MONOTONIC, &to);
  printf("%lu %.6f %.6f\n", done,
         (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9,
         seconds(&after.ru_utime) + seconds(&after.ru_stime) - seconds(&before.ru_utime) -
             seconds(&before.ru_stime));
  return 0;
}

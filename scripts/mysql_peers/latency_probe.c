// How long a static route and a push channel take, measured at a fixed rate from one thread.
//
//   latency_probe PORT SECONDS INTERVAL_US STATIC_PATH SUBSCRIBE_PATH PUBLISH_PATH
//
// Every interval one GET of STATIC_PATH over a connection that stays, then one message published over
// another; the message's time ends when the subscriber, an event stream, has read it. Where one took too long
// for the next to begin in time, the next counts from when it was due: what a server that stands still would
// have made wait is in the figures. The time this thread itself was late to wake up is not. Prints one line
// of JSON, times in microseconds.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kBuffer = 65536 };

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static int connect_to(int port) {
  int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct timeval longest = {.tv_sec = 20};
  if (connect(fd, (struct sockaddr*)&address, sizeof address)) fail("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  return fd;
}

static void say(int fd, const char* text, size_t size) {
  if (send(fd, text, size, MSG_NOSIGNAL) != (ssize_t)size) fail("send");
}

// One whole response with a Content-Length; dies of anything but 2xx.
static void read_response(int fd) {
  char buffer[kBuffer], *body;
  size_t size = 0;
  while (size < sizeof buffer - 1) {
    ssize_t got = recv(fd, buffer + size, sizeof buffer - 1 - size, 0);
    if (got <= 0) fail("no response");
    size += (size_t)got;
    buffer[size] = 0;
    if ((body = strstr(buffer, "\r\n\r\n"))) {
      const char* length = strcasestr(buffer, "\r\ncontent-length:");
      if (buffer[9] != '2' || !length) fail(buffer);
      if (size - (size_t)(body + 4 - buffer) >= strtoul(length + 17, NULL, 10)) return;
    }
  }
  fail("a response that is too large");
}

// Reads the stream until `mark` has come.
static void await(int fd, const char* mark) {
  static char buffer[kBuffer];
  static size_t size;
  for (;;) {
    char* found = memmem(buffer, size, mark, strlen(mark));
    if (found) {
      size = 0;
      return;
    }
    if (size > kBuffer / 2) size = 0;
    ssize_t got = recv(fd, buffer + size, sizeof buffer - size, 0);
    if (got <= 0) fail("the stream ended");
    size += (size_t)got;
  }
}

static int compare(const void* one, const void* other) {
  double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

static void report(const char* name, double* times, size_t count, const char* end) {
  qsort(times, count, sizeof *times, compare);
  printf("\"%s\": {\"count\": %zu, \"p50\": %.1f, \"p99\": %.1f, \"p999\": %.1f, \"max\": %.1f}%s", name,
         count, times[count / 2], times[count * 99 / 100], times[count * 999 / 1000], times[count - 1], end);
}

int main(int words, char** word) {
  if (words != 7) return 2;
  int port = atoi(word[1]), get = connect_to(port), subscribe = connect_to(port), publish = connect_to(port);
  int64_t interval = atoll(word[3]) * 1000;
  size_t most = (size_t)(atof(word[2]) * 1e9 / (double)interval) + 1, count = 0;
  double *fetched = calloc(most, sizeof *fetched), *delivered = calloc(most, sizeof *delivered);
  prctl(PR_SET_TIMERSLACK, 1);
  char ask[512], message[512], mark[32];
  int ask_size =
      snprintf(ask, sizeof ask, "GET %s HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n", word[5]);
  say(subscribe, ask, (size_t)ask_size);
  await(subscribe, "\r\n\r\n");
  ask_size = snprintf(ask, sizeof ask, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", word[4]);
  int64_t due = now_ns(), began = due;
  for (; count < most; due += interval) {
    int64_t now = now_ns();
    int late = now >= due;
    if (!late) {
      struct timespec until = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000};
      while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) continue;
      now = now_ns();
    } else {
      now = due;  // it was to begin then, and could not
    }
    say(get, ask, (size_t)ask_size);
    read_response(get);
    int64_t between = now_ns();
    fetched[count] = (double)(between - now) / 1e3;
    if (late) between = due;
    int mark_size = snprintf(mark, sizeof mark, "<%zu>", count);
    int size =
        snprintf(message, sizeof message, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s",
                 word[6], mark_size, mark);
    say(publish, message, (size_t)size);
    await(subscribe, mark);
    delivered[count++] = (double)(now_ns() - between) / 1e3;
    read_response(publish);
  }
  printf("{");
  report("static", fetched, count, ", ");
  report("push", delivered, count, ", ");
  printf("\"seconds\": %.3f}\n", (double)(now_ns() - began) / 1e9);
  return 0;
}

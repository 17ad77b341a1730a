// What pushing a message to many sockets takes at the least: two servers that understand nothing.
//
//   push_floor stream PORT CONTROL_PORT HELLO BEFORE AFTER
//       answers whatever comes first over a connection with the file HELLO; a message goes to all by one send() each.
//   push_floor poll PORT CONTROL_PORT HELLO BEFORE AFTER
//       whatever comes over a connection makes it wait; a message answers all that wait.
//
// A message is a line over the one control connection, sent between what the files BEFORE and AFTER say; the answer there is
// to how many it went. The line "?" asks how many there are to send to. One thread, epoll, 127.0.0.1.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kMostFds = 1 << 20, kEvents = 512, kTextBytes = 1 << 16 };

struct text {
  char bytes[kTextBytes];
  size_t size;
};

static int waiting[kMostFds];  // descriptors to send to
static int place[kMostFds];    // of a descriptor in `waiting`, plus 1; 0: not there
static int waiting_count;
static int is_poll, epoll_fd, listener, control_listener, control = -1;
static struct text hello, before, after, message, line;

static void fatal(const char* what) {
  perror(what);
  exit(1);
}

static void read_file(const char* name, struct text* text) {
  FILE* file = fopen(name, "rb");
  if (file == NULL) fatal(name);
  text->size = fread(text->bytes, 1, sizeof text->bytes, file);
  fclose(file);
}

static void watch(int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) fatal("epoll_ctl");
}

static int listen_on(const char* port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, (struct sockaddr*)&address, sizeof address) != 0 || listen(fd, 4096) != 0) fatal(port);
  watch(fd);
  return fd;
}

static void join(int fd) {
  if (place[fd] != 0) return;
  waiting[waiting_count++] = fd;
  place[fd] = waiting_count;
}

static void drop(int fd) {
  if (place[fd] != 0) {
    const int last = waiting[--waiting_count];
    waiting[place[fd] - 1] = last;
    place[last] = place[fd];
    place[fd] = 0;
  }
  close(fd);
}

static int send_to_all(void) {
  int sent = 0;
  for (int i = 0; i < waiting_count; ++i) {
    sent += send(waiting[i], message.bytes, message.size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)message.size;
  }
  if (is_poll) {
    for (int i = 0; i < waiting_count; ++i) place[waiting[i]] = 0;
    waiting_count = 0;
  }
  return sent;
}

static void add(const char* bytes, size_t size) {
  if (message.size + size > sizeof message.bytes) exit(1);
  memcpy(message.bytes + message.size, bytes, size);
  message.size += size;
}

static void read_control(void) {
  const ssize_t size = read(control, line.bytes + line.size, sizeof line.bytes - line.size);
  if (size <= 0) {
    close(control);
    control = -1;
    return;
  }
  line.size += (size_t)size;
  if (line.bytes[line.size - 1] != '\n') return;
  int count = waiting_count;
  if (line.bytes[0] != '?') {
    message.size = 0;
    add(before.bytes, before.size);
    add(line.bytes, line.size - 1);
    add(after.bytes, after.size);
    count = send_to_all();
  }
  line.size = 0;
  char answer[32];
  const int length = snprintf(answer, sizeof answer, "%d\n", count);
  if (write(control, answer, (size_t)length) != length) fatal("control");
}

static void accept_all(int from) {
  const int on = 1;
  for (;;) {
    const int fd = accept4(from, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0 || fd >= kMostFds) return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(fd);
    if (from == control_listener) {
      control = fd;
      line.size = 0;
    }
  }
}

static void read_client(int fd) {
  static char unread[kTextBytes];
  const ssize_t size = read(fd, unread, sizeof unread);
  if (size == 0 || (size < 0 && errno != EAGAIN)) {
    drop(fd);
  } else if (size > 0 && place[fd] == 0) {
    if (!is_poll && send(fd, hello.bytes, hello.size, MSG_NOSIGNAL) < 0) return drop(fd);
    join(fd);
  }
}

int main(int argc, char** argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: push_floor stream|poll PORT CONTROL_PORT HELLO BEFORE AFTER\n");
    return 2;
  }
  is_poll = strcmp(argv[1], "poll") == 0;
  read_file(argv[4], &hello);
  read_file(argv[5], &before);
  read_file(argv[6], &after);
  epoll_fd = epoll_create1(0);
  control_listener = listen_on(argv[3]);
  listener = listen_on(argv[2]);
  for (;;) {
    struct epoll_event events[kEvents];
    const int count = epoll_wait(epoll_fd, events, kEvents, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == listener || fd == control_listener) {
        accept_all(fd);
      } else if (fd == control) {
        read_control();
      } else {
        read_client(fd);
      }
    }
  }
}

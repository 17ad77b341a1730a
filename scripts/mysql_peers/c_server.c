// The least that answers GET /row/<id> and GET /rows as JSON from MariaDB: one thread, epoll, the connector's
// non-blocking interface, two prepared statements per connection, no other path, no limits, no time-outs, no
// log. A reference for what the connector and the kernel take.
//
//   c_server PORT SOCKET USER PASSWORD DATABASE CONNECTIONS "SELECT ... WHERE id = ?" "SELECT ... LIMIT 100"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "table_json.h"

enum { kEvents = 256, kInput = 4096, kHeadRoom = 96 };

struct link;

// A client. While `waits` it stands in the queue or holds a link.
struct client {
  int is_link;  // 0; first, as in struct link
  int fd, waits, keeps;
  struct client* next;  // in the queue
  size_t input_size;
  char input[kInput];
  int which;
  long long id;
  struct text out;
  size_t sent;
};

// A connection to the database, which does one statement at a time.
struct link {
  int is_link;  // 1
  MYSQL* mysql;
  struct statement statements[kStatements];
  MYSQL_BIND parameter;
  long long id;
  struct client* client;  // whom it works for
  enum { kExecuting, kFetching } step;
  unsigned long rows;
  struct link* next;  // among the free ones
};

static int epoll_fd;
static struct link* free_links;
static struct client *queue_first, **queue_last = &queue_first;

static void begin(struct link* link, struct client* client);
static void read_request(struct client* client);

static void close_client(struct client* client) {
  close(client->fd);
  free(client->out.data);
  free(client);
}

// Sends what is left; 0: all is out.
static int flush(struct client* client) {
  while (client->sent < client->out.size) {
    ssize_t sent = send(client->fd, client->out.data + client->sent, client->out.size - client->sent,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno != EAGAIN) client->sent = client->out.size, client->keeps = 0;
      break;
    }
    client->sent += (size_t)sent;
  }
  return client->sent < client->out.size;
}

static void watch_client(struct client* client, unsigned events) {
  struct epoll_event event = {.events = events, .data.ptr = client};
  epoll_ctl(epoll_fd, EPOLL_CTL_MOD, client->fd, &event);
}

// The head goes into the room before the body, so that one send takes both.
static void answer(struct client* client, int status) {
  char head[kHeadRoom];
  size_t body = client->out.size - kHeadRoom;
  int size = snprintf(head, sizeof head,
                      "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                      status == 200   ? "200 OK"
                      : status == 404 ? "404 Not Found"
                                      : "500 Internal Server Error",
                      body);
  client->sent = kHeadRoom - (size_t)size;
  memcpy(client->out.data + client->sent, head, (size_t)size);
  client->waits = 0;
  if (flush(client))
    watch_client(client, EPOLLOUT);
  else if (!client->keeps)
    close_client(client);
}

static void finish(struct link* link, int status) {
  struct client* client = link->client;
  text_add(&client->out, "]", 1);
  if (status != 200) client->out.size = kHeadRoom;
  link->client = NULL;
  if (queue_first) {  // the next statement first: the database works while the answer goes out
    struct client* waiting = queue_first;
    if (!(queue_first = waiting->next)) queue_last = &queue_first;
    begin(link, waiting);
  } else {
    link->next = free_links;
    free_links = link;
  }
  answer(client, status);
}

// Goes on until the connector has to wait; `ready` is what it waited for, 0 at the beginning.
static void proceed(struct link* link, int ready) {
  struct client* client = link->client;
  MYSQL_STMT* handle = link->statements[client->which].handle;
  int failed = 0;
  if (link->step == kExecuting) {
    if (ready ? mysql_stmt_execute_cont(&failed, handle, ready) : mysql_stmt_execute_start(&failed, handle))
      return;
    if (failed) {
      fprintf(stderr, "execute: %s\n", mysql_stmt_error(handle));
      finish(link, 500);
      return;
    }
    link->step = kFetching;
    ready = 0;
  }
  for (;;) {
    if (!ready) text_add(&client->out, ",", link->rows > 0);
    if (ready ? mysql_stmt_fetch_cont(&failed, handle, ready) : mysql_stmt_fetch_start(&failed, handle))
      return;
    if (failed) break;
    text_add(&client->out, "}", 1);
    link->rows++;
    ready = 0;
  }
  if (link->rows > 0) client->out.size--;  // the comma before the row that there was not
  finish(link, failed == MYSQL_NO_DATA ? link->rows || client->which == kManyRows ? 200 : 404 : 500);
}

static void begin(struct link* link, struct client* client) {
  struct statement* statement = &link->statements[client->which];
  link->client = client;
  link->id = client->id;
  link->rows = 0;
  link->step = kExecuting;
  statement->out = &client->out;
  proceed(link, 0);
}

static void ask(struct client* client) {
  client->waits = 1;
  client->out.size = 0;
  text_room(&client->out, kHeadRoom + 512);
  client->out.size = kHeadRoom;
  text_add(&client->out, "[", 1);
  struct link* link = free_links;
  if (link) {
    free_links = link->next;
    begin(link, client);
  } else {
    client->next = NULL;
    *queue_last = client;
    queue_last = &client->next;
  }
}

static void read_request(struct client* client) {
  ssize_t got =
      recv(client->fd, client->input + client->input_size, kInput - 1 - client->input_size, MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) {
    if (client->waits) {  // whoever works for it finds out
      client->keeps = 0;
      epoll_ctl(epoll_fd, EPOLL_CTL_DEL, client->fd, NULL);
      return;
    }
    close_client(client);
    return;
  }
  client->input_size += (size_t)got;
  client->input[client->input_size] = 0;
  if (client->waits || !memmem(client->input, client->input_size, "\r\n\r\n", 4)) return;
  client->input_size = 0;
  if (!strncmp(client->input, "GET /row/", 9)) {
    client->which = kOneRow;
    client->id = strtoll(client->input + 9, NULL, 10);
    ask(client);
  } else if (!strncmp(client->input, "GET /rows ", 10)) {
    client->which = kManyRows;
    ask(client);
  } else {
    text_room(&client->out, kHeadRoom);
    client->out.size = kHeadRoom;
    answer(client, 404);
  }
}

static void accept_clients(int listener) {
  int fd, on = 1;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct client* client = calloc(1, sizeof *client);
    client->fd = fd;
    client->keeps = 1;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
  }
}

static void open_link(char** arguments) {
  struct link* link = calloc(1, sizeof *link);
  link->is_link = 1;
  link->mysql = connect_to(arguments[0], arguments[1], arguments[2], arguments[3]);
  for (int i = 0; i < kStatements; i++) prepare(link->mysql, arguments[5 + i], &link->statements[i]);
  link->parameter.buffer_type = MYSQL_TYPE_LONGLONG;
  link->parameter.buffer = &link->id;
  mysql_stmt_bind_param(link->statements[kOneRow].handle, &link->parameter);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = link};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, mysql_get_socket(link->mysql), &event);
  link->next = free_links;
  free_links = link;
}

int main(int count, char** arguments) {
  if (count != 9) fail(arguments[0], "PORT SOCKET USER PASSWORD DATABASE CONNECTIONS SQL SQL");
  signal(SIGPIPE, SIG_IGN);
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  for (int i = atoi(arguments[6]); i > 0; i--) open_link(arguments + 2);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)atoi(arguments[1])),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (struct sockaddr*)&address, sizeof address) || listen(listener, 1024))
    fail("listen", strerror(errno));
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[kEvents];
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int ready = epoll_wait(epoll_fd, events, kEvents, -1);
    for (int i = 0; i < ready; i++) {
      void* what = events[i].data.ptr;
      if (!what)
        accept_clients(listener);
      else if (*(int*)what) {
        struct link* link = what;
        if (!link->client) fail("database", "has closed a connection");
        proceed(link, MYSQL_WAIT_READ);
      } else if (events[i].events & EPOLLOUT) {
        struct client* client = what;
        if (!flush(client)) watch_client(client, EPOLLIN);
      } else
        read_request(what);
    }
  }
}

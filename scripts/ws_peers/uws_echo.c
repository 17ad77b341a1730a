/* An echo server on uWebSockets, by the C interface of the library that PyPI's socketify brings along
 * (libsocketify_linux_amd64.so: uWebSockets itself, on libuv). Usage: uws_echo PORT. One thread, no compression. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct uws_app_s uws_app_t;
typedef struct uws_websocket_s uws_websocket_t;
struct us_socket_context_options_t {
  const char *key_file_name, *cert_file_name, *passphrase, *dh_params_file_name, *ca_file_name, *ssl_ciphers;
  int ssl_prefer_low_memory_usage;
};
typedef struct {
  int port;
  const char* host;
  int options;
} uws_app_listen_config_t;
typedef void (*message_handler)(uws_websocket_t*, const char*, size_t, int opcode, void*);
typedef struct {
  int compression;
  unsigned int maxPayloadLength;
  unsigned short idleTimeout;
  unsigned int maxBackpressure;
  bool closeOnBackpressureLimit, resetIdleTimeoutOnSend, sendPingsAutomatically;
  unsigned short maxLifetime;
  void *upgrade, *open;
  message_handler message;
  void *drain, *ping, *pong, *close, *subscription;
} uws_socket_behavior_t;

uws_app_t* uws_create_app(int ssl, struct us_socket_context_options_t options);
void uws_app_run(int ssl, uws_app_t* app);
void uws_app_listen(int ssl, uws_app_t* app, int port,
                    void (*handler)(void* socket, uws_app_listen_config_t config, void* data), void* data);
void uws_ws(int ssl, uws_app_t* app, const char* pattern, uws_socket_behavior_t behavior, void* data);
int uws_ws_send(int ssl, uws_websocket_t* ws, const char* message, size_t length, int opcode);
void* socketify_create_loop(void);
void* socketify_get_native_loop(void* loop);
void* uws_get_loop_with_native(void* native);
int socketify_loop_run(void* loop, int mode);

static void onMessage(uws_websocket_t* ws, const char* message, size_t length, int opcode, void* data) {
  (void)data;
  uws_ws_send(0, ws, message, length, opcode);
}

static void onListen(void* socket, uws_app_listen_config_t config, void* data) {
  (void)config;
  (void)data;
  if (socket == NULL) exit(1);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  void* loop = socketify_create_loop();
  uws_get_loop_with_native(socketify_get_native_loop(loop));
  struct us_socket_context_options_t options;
  memset(&options, 0, sizeof options);
  uws_app_t* app = uws_create_app(0, options);
  uws_socket_behavior_t behavior;
  memset(&behavior, 0, sizeof behavior);
  behavior.maxPayloadLength = 64 << 20;
  behavior.maxBackpressure = 64 << 20;
  behavior.idleTimeout = 120;
  behavior.message = onMessage;
  uws_ws(0, app, "/*", behavior, NULL);
  uws_app_listen(0, app, atoi(argv[1]), onListen, NULL);
  socketify_loop_run(loop, 0);
  return 0;
}

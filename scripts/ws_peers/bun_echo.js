// An echo server on Bun, which has uWebSockets inside, on epoll. Usage: bun bun_echo.js PORT
Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  fetch(request, server) {
    return server.upgrade(request) ? undefined : new Response('only WebSockets here', { status: 400 });
  },
  websocket: {
    perMessageDeflate: false,
    maxPayloadLength: 64 << 20,
    message(socket, message) {
      socket.send(message);
    },
  },
});

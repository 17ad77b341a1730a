// An echo server on npm's ws. Usage: node node_ws_echo.js PORT
const { WebSocketServer } = require('ws');
const server = new WebSocketServer({ host: '127.0.0.1', port: Number(process.argv[2]), perMessageDeflate: false,
  maxPayload: 64 << 20 });
server.on('connection', (socket) => {
  socket.on('message', (data, binary) => socket.send(data, { binary }));
  socket.on('error', () => {});
});

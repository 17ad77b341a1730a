// An echo server on lxzan/gws. Usage: gws_echo PORT
package main

import (
	"net/http"
	"os"

	"github.com/lxzan/gws"
)

type handler struct{ gws.BuiltinEventHandler }

func (handler) OnMessage(socket *gws.Conn, message *gws.Message) {
	defer message.Close()
	socket.WriteMessage(message.Opcode, message.Bytes())
}

func main() {
	upgrader := gws.NewUpgrader(handler{}, &gws.ServerOption{ReadMaxPayloadSize: 64 << 20})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := upgrader.Upgrade(w, r)
		if err == nil {
			go socket.ReadLoop()
		}
	}))
}

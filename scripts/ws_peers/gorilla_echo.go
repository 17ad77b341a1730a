// An echo server on gorilla/websocket. Usage: gorilla_echo PORT
package main

import (
	"net/http"
	"os"

	"github.com/gorilla/websocket"
)

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

func echo(w http.ResponseWriter, r *http.Request) {
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer socket.Close()
	for {
		kind, message, err := socket.ReadMessage()
		if err != nil || socket.WriteMessage(kind, message) != nil {
			return
		}
	}
}

func main() {
	http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(echo))
}

"""A download counts until the client has it, though all of it has been queued long before."""

from local_wire import LocalWire
from raw_http import request
from roost_server import eventually

SIZE = 4 << 20  # more than the socket takes, no more than is queued at once


def test_a_place_is_held_until_the_answer_is_taken(start_server):
    config = {"http": {"connection_limit": {"max": 1}}}
    server = start_server(config, files={"a": b"a\n", "large": b"x" * SIZE})
    with LocalWire(server.address, receive_bytes=4096) as slow, LocalWire(server.address) as other:
        slow.send(request("/large") + request("/a"))
        head = slow.read_head()
        assert head.status == 200
        assert [other.ask("/a").status for _ in range(3)] == [503] * 3
        assert len(slow.read_exactly(head.content_length())) == SIZE
        assert slow.read_response().status == 200  # its own next one has the place
        eventually(lambda: other.ask("/a").status == 200, "room again")


def test_a_place_is_given_back_when_the_client_leaves(start_server):
    config = {"http": {"connection_limit": {"max": 1}}}
    server = start_server(config, files={"a": b"a\n", "large": b"x" * SIZE})
    with LocalWire(server.address, receive_bytes=4096) as slow, LocalWire(server.address) as other:
        slow.send(request("/large"))
        assert slow.read_head().status == 200
        assert other.ask("/a").status == 503
        slow.reset()
        eventually(lambda: other.ask("/a").status == 200, "room again")

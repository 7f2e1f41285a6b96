"""The client's side over HTTP: one endpoint, many clients, both eras of the protocol.

Theory of operation.  A request passes, in this order and before anything of it
is read: the gate (host, origin, path, method), the door-keeper (a bearer token,
which names the principal), and the checks of its form.  Then it is one message,
and belongs to a *channel*: the client's side of one session's core.

In the session era there is a channel for each ``Mcp-Session-Id``; in the
stateless era one for each principal, made with its first request, because its
tokens and its parked questions live in the core.  A request that waits for its
answer is an *exchange*, and what goes to the client travels on *streams*: one
for each exchange, and in the session era a standing one that the client reads
by GET.

What would surprise you: nothing ever waits for a reader.  A core serves many
requests, and one client that does not read must not keep the others waiting,
so streams hold a bounded number of bytes, and whoever falls behind is cut.
"""

"""The scripted upstream over Streamable HTTP: ``python scripted_http.py BEHAVIOUR.json PORT``.

What an action writes goes out as events of the response to the request it belongs to; what belongs to none goes to the
standing stream.  Answers of the client to questions come as posts.  Like :mod:`scripted`: standard library only, and
every body that comes is appended to the log, with the headers beside it in ``LOG.headers``.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from scripted import Upstream

SESSION = f"session-{os.getpid()}"


class Served(Upstream):
    """Writes to the response of the thread that is doing the actions."""

    def __init__(self, behaviour):
        super().__init__(behaviour)
        self.here = threading.local()
        self.standing = None
        self.headers = os.open(behaviour["log"] + ".headers", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, data):
        stream = getattr(self.here, "stream", None) or self.standing
        with self.writing:
            for line in data.splitlines():
                stream.write(b"data: " + line + b"\n\n")
            stream.flush()

    def started(self):
        with open(self.behaviour["starts"], "a", encoding="utf-8") as starts:
            start = {"pid": os.getpid(), "argv": sys.argv, "environ": dict(os.environ)}
            starts.write(json.dumps(start) + "\n")


class Handler(BaseHTTPRequestHandler):
    upstream: Served

    def log_message(self, *_):
        pass

    def head(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        session = self.headers.get("mcp-session-id")
        os.write(self.upstream.headers, json.dumps(dict(self.headers.items())).encode() + b"\n")
        if session not in (None, SESSION):
            self.head(404, content_length="0")
            return
        os.write(self.upstream.log, body + b"\n")
        message = json.loads(body)
        if "method" not in message or "id" not in message:
            self.upstream.received(message)
            self.head(202, content_length="0")
            return
        more = {"mcp_session_id": SESSION} if message["method"] == "initialize" else {}
        self.head(200, content_type="text/event-stream", **more)
        self.close_connection = True
        params = message.get("params") or {}
        with self.upstream.changed:
            self.upstream.seen.append((message["method"], params.get("name")))
            self.upstream.changed.notify_all()
        self.upstream.here.stream = self.wfile
        actions = self.upstream.actions(message["method"], params)
        self.upstream.perform(
            actions or [{"error": {"code": -32601, "message": "Method not found"}}],
            message,
        )

    def do_GET(self):
        if self.headers.get("mcp-session-id") not in (None, SESSION):
            self.head(404, content_length="0")
            return
        self.head(200, content_type="text/event-stream")
        self.wfile.flush()
        self.upstream.standing = self.wfile
        threading.Event().wait()

    def do_DELETE(self):
        self.head(200, content_length="0")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        Handler.upstream = Served(json.load(file))
    Handler.upstream.started()
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()

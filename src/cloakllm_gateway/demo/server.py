"""The demo's upstream: an MCP server that lists, reads and writes the files of one folder.

Stand-alone and small on purpose: it knows nothing of the gateway.  It ends
with its standard input, and leaves the folder it was given for no path.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_TEXT = {"type": "string"}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "read_file",
        "description": "Read a file of the folder.",
        "inputSchema": {"type": "object", "properties": {"path": _TEXT}, "required": ["path"]},
    },
    {
        "name": "write_file",
        "description": "Write a file of the folder.",
        "inputSchema": {
            "type": "object",
            "properties": {"path": _TEXT, "content": _TEXT},
            "required": ["path", "content"],
        },
    },
]


def answer(folder: Path, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of one request."""
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "demo-files", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return call(folder, params["name"], params["arguments"])
    return {}


def call(folder: Path, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    path = (folder / arguments["path"]).resolve()
    if folder not in path.parents:
        return {"content": [{"type": "text", "text": "The path leads out of the folder"}], "isError": True}
    if tool == "read_file":
        return {"content": [{"type": "text", "text": path.read_text("utf-8")}]}
    path.write_text(arguments["content"], "utf-8")
    return {"content": [{"type": "text", "text": f"Wrote {path.name}:\n{arguments['content']}"}]}


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message:
            result = answer(folder, message["method"], message.get("params") or {})
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

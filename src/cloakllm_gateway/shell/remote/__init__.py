"""Upstreams over HTTP: Streamable HTTP in both eras, and HTTP+SSE of 2024-11-05.

``target`` says where an upstream is, ``client`` speaks HTTP and nothing more,
``sse`` cuts event streams, ``streamable`` and ``legacy`` are the two ways to
exchange messages, and ``link`` is what the interpreter holds.
"""

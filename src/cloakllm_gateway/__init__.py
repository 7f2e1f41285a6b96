"""CloakLLM MCP Gateway: the model sees tokens, the tools get the real values."""

__version__ = "0.1.0"

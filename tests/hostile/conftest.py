from tests.peers.fixtures import module_peers, peers

__all__ = ["module_peers", "peers"]

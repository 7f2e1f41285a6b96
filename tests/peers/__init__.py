"""The far sides of the gateway, independent of its code: a client that is driven and upstreams that are scripted."""

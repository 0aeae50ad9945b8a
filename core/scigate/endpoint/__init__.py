"""The MCP endpoint: one host, served on stdio and on Streamable HTTP, in both eras of the protocol.

Below is `scigate.host`; beside this package only the commands that are clients know the MCP SDK. `server` binds the
host to the SDK, `stdio` and `http` carry it, `wire` owns the standard streams, `message` says what may pass in either
direction.
"""

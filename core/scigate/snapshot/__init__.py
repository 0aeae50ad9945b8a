"""Tool definitions as they stood on a day: pinned by hash, compared in words, with a changelog.

Above is the command line; below is nothing but definitions on the wire, so that those of any MCP server can be pinned.
"""

from scigate.snapshot.canonical import canonical, digest
from scigate.snapshot.change import Change, Kind, changes
from scigate.snapshot.lock import Entry, Lock, LockError

__all__ = ["Change", "Entry", "Kind", "Lock", "LockError", "canonical", "changes", "digest"]

"""What can go wrong in the simulated device, as a person or a caller meets it.

* WorldError
  - ScriptError: WORLD.toml or a deck does not fit; one sentence says where and what to do
  - CallError: a call at the socket does not fit its table or the state of the world
  - WorldGone: the world's end of the socket was closed
  - TraceError: a file is no trace that can be replayed; one sentence says why
  - BoardError: the MicroPython interpreter is missing, or the firmware does not start on it
"""


class WorldError(Exception):
    """Any error of this package."""


class ScriptError(WorldError):
    """One sentence for the person who wrote WORLD.toml or a deck: what is wrong, where, what to do."""


class CallError(WorldError):
    """A call that the world refuses, with the reason as a sentence."""


class WorldGone(WorldError):
    """The world closed the connection, or no world listens at this socket."""


class BoardError(WorldError):
    """The board cannot run at all: no interpreter, or a firmware that dies before its first wait."""


class TraceError(WorldError):
    """One sentence for the person who replays a trace: what is wrong with the file."""

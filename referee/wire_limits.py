"""How much of a bot the referee takes, in one place; docs/protocol.md tells bots' authors.

Each bound holds for one bot's process, whatever the others do, so that none of them can grow the
referee's memory or take its time from others.
"""

from typing import Final

MIB: Final = 2**20

MAX_MESSAGE_BYTES: Final = MIB
"""How large a message of a bot may be. A larger one ends its stream. What 256 decisions need with
the longest errors and notes is 600 KB."""
MOST_BYTES: Final = 4 * MAX_MESSAGE_BYTES
"""How large one may be for the reason to be told; gRPC ends the stream of a larger one itself. It
holds for what a compressed message unpacks to as well."""
HELLO_BYTES: Final = 64 * 2**10
"""How large the first message may be."""
MAX_MOVES: Final = 10_256
"""Moves in one message: a whole batch, and as many more as a bot may send for nothing. A message of
more is one that cannot be read."""
MAX_CARDS: Final = 52
"""Cards of a move that are looked at."""
MAX_DROPPED: Final = 10_000
"""Moves for decisions that are not open before a process is ended."""
UNREADABLE_COST: Final = 100
"""How many of these a message that cannot be read counts for."""
MESSAGE_RATE: Final = 2_000
"""Messages a second that are read of a bot in the long run."""
MESSAGE_BURST: Final = 2_000
"""Messages that are read at once of a bot that was silent before."""
READ_AHEAD: Final = 64 * 2**10
"""Bytes of a bot that are read, and so stamped in time, while earlier ones are being handled."""
MESSAGE_COST: Final = 256
"""Bytes that each message counts beside its own, so that empty ones are bounded too."""
MAX_CONNECTIONS: Final = 8
"""Connections to the socket of one bot's process; more are reset."""
MAX_STREAMS: Final = 4
"""Streams there at once, including the one that carries moves; more are refused."""
MAX_OPENED: Final = 100
"""Streams that a bot may open there one after the other; the next one closes the socket."""
HANDSHAKE_TIME: Final = 10.0
"""Seconds from a connection to its first HTTP/2 settings, TLS included."""
HELLO_TIME: Final = 10.0
"""Seconds from opening a stream to its hello, and that a connection may be without a stream."""
REFUSAL_TIME: Final = 0.5
"""Seconds that a stranger at the address for remote bots waits for its refusal."""
ALIVE_TIME: Final = 5.0
"""Seconds without a sign of a remote bot's connection until it is asked for one, and again until
the connection counts as lost."""
PING_TIME: Final = 5.0
"""Seconds between pings of a bot while it is sent nothing else."""
EARLY_PINGS: Final = 2
"""Pings that may come sooner than that, until it is sent something; the next ends the
connection."""
KEPT_REASONS: Final = 20
"""Why streams were sent away, in words: the latest are kept."""

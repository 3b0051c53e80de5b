"""The commands of `knavery`, one module each (design, section 8).

A module has `HELP` (one line), `EXAMPLE` (a command line that works as it stands, from a checkout
with a tournament's file beside it), `arguments(parser)` and `run(arguments) -> exit status`.
Modules import what is heavy inside `run`, so that `knavery --help` is quick.
"""

COMMANDS = (
    *("demo", "new", "play", "build", "check", "run", "resume", "standings", "report", "export"),
    *("verify", "audit", "replay", "repro", "serve", "bots", "doctor"),
)
"""Every command, in the order in which a user meets them."""

"""From one schema of a tournament's file to the next.

`schema.sql` is version 1 and never changes. What a later version N adds or alters is a script of
its own, `schema-N.sql`, commented alike. A new file is made by all of them in order, an older one
is brought up by those that it lacks, so both have the same tables to the letter, which `verify`
asks for. To change the schema: write the next script, raise `SCHEMA_VERSION`, and keep a small
file of the version before among the tests (tests/tournaments/files).
"""

from importlib import resources
from typing import Final

SCHEMA_VERSION: Final = 2
FIRST: Final = 1


def script(version: int) -> str:
    """The SQL that makes this version of the version before; the first one, of an empty file."""
    name = "schema.sql" if version == FIRST else f"schema-{version}.sql"
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def upgrade(version: int) -> str:
    """The SQL that makes a file of this version (0: an empty one) one of SCHEMA_VERSION, in one
    transaction that is still to be committed; "" for one that is so already."""
    if version == SCHEMA_VERSION:
        return ""
    steps = (script(number) for number in range(version + 1, SCHEMA_VERSION + 1))
    return "\n".join(("BEGIN IMMEDIATE;", *steps, f"PRAGMA user_version = {SCHEMA_VERSION};"))


def objection(version: int) -> str | None:
    """Why a file of this version cannot be opened; None if it can."""
    if version > SCHEMA_VERSION:
        return (
            f"has schema {version} and this Knavery knows {SCHEMA_VERSION}: use the Knavery that "
            "wrote it, or a newer one"
        )
    if version < FIRST:
        return f"has schema {version}, which no Knavery wrote: go back to a copy of it"
    return None

"""What one bot may use (design, section 10): its process and all that descends from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MIB: Final = 1 << 20
AUTO, STRICT, OFF = "auto", "strict", "off"
MODES: Final = (AUTO, STRICT, OFF)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one bot. They hold for all its processes together, unless it says otherwise."""

    memory: int = 2048 * MIB
    """Bytes, what it writes to its scratch folder included."""
    processes: int = 512
    """Processes and threads at once: a JVM has about 40, and one for each core in every pool."""
    cores: float = 1.0
    """Processors' worth of time, in each tenth of a second."""
    scratch: int = 128 * MIB
    """Bytes in its scratch folder, which is also the most that a file of it may hold."""
    files: int = 1024
    """Files, sockets and pipes that each of its processes may have open."""


@dataclass(frozen=True, slots=True)
class SandboxRules:
    """What confines bots: "strict" refuses to play without isolation, "auto" does what is possible
    and says what is missing, "off" does nothing."""

    mode: str = AUTO
    limits: Limits = Limits()

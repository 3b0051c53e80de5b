"""What a tournament runs on: written beside its results, for whoever reads them elsewhere."""

import os
import platform
from importlib import metadata
from typing import Final

MEMORY_SHARE: Final = 0.5
"""Of the machine's memory, for bots."""
MEMORY_EACH: Final = 100 << 20
"""Bytes to reckon with for a bot's process; a Python bot that loads nothing takes half of that."""
PROCESSES_A_CORE: Final = 32
"""Bot processes for each core; with 60 on two cores the slowest answer took 0.14 s to arrive."""


def usual_processes() -> int:
    """How many bot processes may live at once where a tournament does not say."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    cores = len(os.sched_getaffinity(0))
    return min(int(memory * MEMORY_SHARE / MEMORY_EACH), PROCESSES_A_CORE * cores)


def software() -> dict[str, str]:
    """Versions by name."""
    return {"knavery": metadata.version("knavery"), "python": platform.python_version()}


def machine() -> dict[str, str]:
    """The system and the processors that this process may use."""
    system = os.uname()
    return {
        "system": f"{system.sysname} {system.release} {system.machine}",
        "processors": str(len(os.sched_getaffinity(0))),
    }

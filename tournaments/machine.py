"""What a tournament runs on: written beside its results, for whoever reads them elsewhere."""

import os
import platform
from importlib import metadata


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

"""What asks a command to stop in good order: Ctrl-C, SIGTERM, a terminal that is closed."""

import signal
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager

import trio


def stop_signals() -> AbstractContextManager[AsyncIterator[int]]:
    """These signals as they come, for as long as the context lasts. SIGHUP is not among them where
    whoever started this has it ignored, as nohup does."""
    wanted = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        wanted.append(signal.SIGHUP)
    return trio.open_signal_receiver(*wanted)

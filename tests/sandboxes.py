"""What tests of the sandbox need of the machine."""

import os

import pytest

from referee.protection import tools


def needs_bubblewrap() -> None:
    """Skips a test where bubblewrap cannot be used; where it must be, the test fails."""
    if not tools().bwrap:
        if os.environ.get("CI") == "true":
            pytest.fail(tools().lacking)
        pytest.skip(tools().lacking)

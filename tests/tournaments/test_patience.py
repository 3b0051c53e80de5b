"""What is said while something takes long."""

import io

from tournaments.patience import Patience


def test_a_line_is_said_every_ten_seconds_and_none_before() -> None:
    now, file = [100.0], io.StringIO()
    patience = Patience("decisions", file, lambda: now[0])
    for done, now[0] in ((10, 109.0), (20, 112.0), (21, 121.0), (1000, 124.0)):
        patience.tell(done, 2000)
    assert file.getvalue().splitlines() == [
        "20 of 2,000 decisions, about 20 min left",
        "1,000 of 2,000 decisions, about 24 s left",
    ]

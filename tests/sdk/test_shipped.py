"""The bots that have a name."""

import sys

import pytest

from knavery import Bot
from knavery.shipped import FOLDER, names, shipped_bot


def test_every_shipped_bot_has_one_class() -> None:
    assert {"random", "lowest", "highest", "greedy", "cautious", "advice"} <= set(names())
    for name in names():
        bot = shipped_bot(name)
        assert issubclass(bot, Bot)
        assert bot is shipped_bot(name)


def test_loading_a_bot_leaves_no_modules_of_its_folder_in_the_way() -> None:
    shipped_bot("advice")
    assert "facts" not in sys.modules
    assert str(FOLDER / "advice") not in sys.path


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"did you mean 'greedy'\? Known: advice, cautious"):
        shipped_bot("gredy")

"""Each template in turn, and the bot that it makes."""

import pytest

from referee.bots import Prepared
from tests.languages.templates import TEMPLATES, Template


@pytest.fixture(params=TEMPLATES, ids=lambda template: template.language)
def template(request: pytest.FixtureRequest) -> Template:
    made: Template = request.param
    return made


@pytest.fixture
def bot(template: Template) -> Prepared:
    """The template, built; a test of it is skipped where its tools are missing."""
    return template.prepared()

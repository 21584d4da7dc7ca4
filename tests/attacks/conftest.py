"""What the tests with several people share."""

from __future__ import annotations

import pytest

from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import SocketFetch
from tests.attacks._helpers.people import OpenPage
from tests.comm.conftest import opened_page


@pytest.fixture
def page(services: Services, jp_ws_fetch: SocketFetch) -> OpenPage:
    """Opens a page of a person. All use one name for their tab: a name is nothing that keeps people apart."""
    return lambda person: opened_page(services, jp_ws_fetch, "tab", person)

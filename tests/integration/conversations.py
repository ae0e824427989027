"""An address on SQLite or on a real Postgres, for suites that must hold on both."""

from pathlib import Path

import pytest

from citewell.conversations import Address, address_of
from tests.integration.postgres import Postgres


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_address(request: pytest.FixtureRequest, tmp_path: Path) -> Address:
    """Nothing is there yet."""
    if request.param == "sqlite":
        return address_of(None, tmp_path / "data")
    postgres: Postgres = request.getfixturevalue("postgres")
    return address_of(postgres.new_database(), tmp_path)

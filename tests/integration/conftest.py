"""Parts that several integration tests share."""

from tests.integration.conversations import empty_address
from tests.integration.postgres import postgres, start_postgres

__all__ = ["empty_address", "postgres", "start_postgres"]

"""DATABASE_URL as hosts give it."""

from pathlib import Path

import pytest

from citewell.conversations import Address, address_of
from citewell.errors import ConfigurationError

DATA = Path("data")


@pytest.mark.parametrize("url", [None, ""])
def test_without_a_url_the_conversations_are_in_the_data_folder(url: str | None) -> None:
    assert address_of(url, DATA) == Address("sqlite", "data/conversations.sqlite3")


@pytest.mark.parametrize(
    ("url", "dsn"),
    [
        ("postgresql://u:p@h/d", "postgresql://u:p@h/d"),
        ("postgres://u:p@h:6543/d", "postgresql://u:p@h:6543/d"),
        ("postgresql+asyncpg://u:p@h/d", "postgresql://u:p@h/d"),
        ("postgresql+psycopg2://u:p@h/d", "postgresql://u:p@h/d"),
        (" postgresql://u:p@h/d\n", "postgresql://u:p@h/d"),
        (
            "postgresql://u:p%40ss@ep-x-pooler.example.tech/d?sslmode=require&channel_binding=require",
            "postgresql://u:p%40ss@ep-x-pooler.example.tech/d?sslmode=require",
        ),
        ("postgres://u:p@h:6543/d?pgbouncer=true&connection_limit=1", "postgresql://u:p@h:6543/d"),
        ("postgresql://u@/d?host=/run/pg&connect_timeout=10", "postgresql://u@/d?host=%2Frun%2Fpg"),
        (
            "postgresql://u@h/d?options=endpoint%3Dep-x&application_name=book",
            "postgresql://u@h/d?options=endpoint%3Dep-x&application_name=book",
        ),
    ],
)
def test_what_asyncpg_understands_is_kept_and_what_is_for_other_clients_is_dropped(url: str, dsn: str) -> None:
    assert address_of(url, DATA) == Address("postgresql", dsn)


def test_the_systems_authorities_are_asked_for_the_way_libpq_has_it() -> None:
    address = address_of("postgresql://u@h/d?sslmode=verify-full&sslrootcert=system&application_name=a", DATA)
    assert address == Address("postgresql", "postgresql://u@h/d?application_name=a", system_roots=True)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///book.db", "book.db"),
        ("sqlite:////var/book.db", "/var/book.db"),
        ("sqlite+aiosqlite:///book.db?timeout=5", "book.db"),
    ],
)
def test_a_file_can_be_named(url: str, path: str) -> None:
    assert address_of(url, DATA) == Address("sqlite", path)


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///:memory:", "sqlite:///file::memory:?uri=true", "mysql://u:secret@h/d", "book.db"]
)
def test_what_cannot_keep_a_conversation_is_refused_by_the_name_of_the_variable(url: str) -> None:
    with pytest.raises(ConfigurationError, match="DATABASE_URL") as caught:
        address_of(url, DATA)
    assert "secret" not in str(caught.value)


def test_neither_shown_nor_printed_does_an_address_tell_its_password() -> None:
    address = address_of("postgresql://reader:secret@db.example/book?password=secret", DATA)
    assert str(address) == "Postgres db.example/book"
    assert "secret" not in f"{address} {address!r}"
    assert str(address_of("postgresql:///book?host=/run/pg", DATA)) == "Postgres on a local socket/book"

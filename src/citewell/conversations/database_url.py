"""The database URL: where the conversations are, as hosts give it, in the form that the drivers take. Pure."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from citewell.errors import ConfigurationError

SQLITE_FILE = "conversations.sqlite3"
_HOST = re.compile(r"(?:\[[^\[\]@/]+\]|[^\[\]:@/]*)(?::(\d{1,5}))?")

# For libpq, Prisma or SQLAlchemy only: asyncpg would send them to the server, which refuses what it does not know.
_CLIENT_ONLY = frozenset(
    "channel_binding connect_timeout gssencmode keepalives keepalives_idle keepalives_interval keepalives_count "
    "tcp_user_timeout sslcompression sslsni requirepeer require_auth fallback_application_name client_encoding "
    "load_balance_hosts pgbouncer connection_limit pool_timeout pool_size max_overflow schema "
    "prepared_statement_cache_size statement_cache_size command_timeout timeout".split()
)


@dataclass(frozen=True, slots=True)
class Address:
    kind: Literal["sqlite", "postgresql"]
    location: str = field(repr=False)
    """The path of a file, or a DSN for asyncpg, which may hold a password."""
    system_roots: bool = False
    """Check the server's certificate against the system's authorities (libpq: `sslrootcert=system`)."""

    def __str__(self) -> str:
        """Without user, password and parameters."""
        if self.kind == "sqlite":
            return f"SQLite {self.location}"
        parts = urlsplit(self.location)
        return f"Postgres {parts.netloc.rpartition('@')[2] or 'on a local socket'}{parts.path}"


def address_of(database_url: str | None, data_dir: Path) -> Address:
    """The address that DATABASE_URL names; without one, a file in the data directory. Raises ConfigurationError."""
    if not database_url:
        return Address("sqlite", str(data_dir / SQLITE_FILE))
    scheme, separator, rest = database_url.strip().partition("://")
    dialect = scheme.lower().partition("+")[0]
    if separator and dialect == "sqlite":
        return Address("sqlite", _file(rest))
    if separator and dialect in ("postgres", "postgresql"):
        return _postgres(f"postgresql://{rest}")
    raise ConfigurationError("DATABASE_URL must begin with postgresql:// or sqlite:///.")


def _file(rest: str) -> str:
    path = rest.removeprefix("/").partition("?")[0]
    if not path or path.startswith((":memory:", "file:")):
        raise ConfigurationError("DATABASE_URL must name a file (sqlite:///path): memory is lost at every restart.")
    return path


def _postgres(dsn: str) -> Address:
    base, _, query = dsn.partition("?")
    authority = base.removeprefix("postgresql://").partition("/")[0]
    for host in authority.rpartition("@")[2].split(","):
        found = _HOST.fullmatch(host)
        if found is None or int(found[1] or 1) not in range(1, 65536):
            raise ConfigurationError("DATABASE_URL must have the form postgresql://user:password@host:5432/name.")
    pairs = parse_qsl(query, keep_blank_values=True)
    system_roots = ("sslrootcert", "system") in pairs
    kept = [(k, v) for k, v in pairs if k not in _CLIENT_ONLY and not (system_roots and k.startswith("ssl"))]
    return Address("postgresql", f"{base}?{urlencode(kept, quote_via=quote)}" if kept else base, system_roots)

"""The database brought to the newest schema. The only module that imports alembic; reads no alembic.ini.

Any number of workers may migrate at once: one does the work, the others wait for it and find it done.
"""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError

from citewell.conversations.database import Database
from citewell.conversations.database_url import Address
from citewell.conversations.transactions import Bounds
from citewell.errors import DatabaseError

_BOUNDS = Bounds(statements=300.0, call=310.0)
_LOCK = 0x63697465_77656C6C  # "citewell"


async def migrate(address: Address) -> None:
    """Migrate to the newest revision, from nothing, from the plain `conversations` table or from an older revision.

    Raises DatabaseError.
    """
    if address.kind == "sqlite":
        _make_private_file(Path(address.location))
    async with Database.open(address, _BOUNDS) as database:
        await database.write(_upgrade)


def _upgrade(connection: sa.Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.literal(_LOCK, sa.BigInteger))))
    config = Config()
    # ConfigParser would take a % in the path for a reference.
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise DatabaseError(
            "The database was migrated by a newer version of Citewell. Install that version, or a newer one."
        ) from error


def _make_private_file(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=True)
    except OSError as error:
        raise DatabaseError(
            f"The database {path} cannot be made: {error.strerror}. Set CITEWELL_DATA_DIR to a folder that can be "
            "written, or DATABASE_URL."
        ) from error

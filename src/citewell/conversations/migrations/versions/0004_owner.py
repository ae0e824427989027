"""Whose session it is: a digest of the key that asked."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("conversations", sa.Column("owner", sa.String(64), nullable=False, server_default=sa.text("''")))

"""What the hosted model cost, by day and by the key that asked."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "model_use",
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("calls", sa.BigInteger, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
    )

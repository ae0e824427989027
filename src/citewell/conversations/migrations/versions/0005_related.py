"""What a refusal offers, and the question as it was searched."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    json = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
    op.add_column("conversations", sa.Column("related", json))
    op.add_column("conversations", sa.Column("searched_for", sa.Text))

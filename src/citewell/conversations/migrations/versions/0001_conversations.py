"""The plain table, or the one that is there already."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None

ID = sa.String(36).with_variant(postgresql.UUID(), "postgresql")
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    is_postgres = op.get_context().dialect.name == "postgresql"
    op.create_table(
        "conversations",
        sa.Column("id", ID, primary_key=True, server_default=sa.text("gen_random_uuid()") if is_postgres else None),
        sa.Column("session_id", sa.String(36), nullable=False),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("response", sa.Text, nullable=False),
        sa.Column("sources", JSON, nullable=False),
        sa.Column("mode", sa.String(20), nullable=False),
        sa.Column("selected_text", sa.Text),
        sa.Column("chunks_retrieved", sa.Integer, nullable=False),
        sa.Column("latency_ms", sa.Float, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now()),
        if_not_exists=True,
    )
    op.create_index("idx_conversations_session_id", "conversations", ["session_id"], if_not_exists=True)
    op.create_index(
        "idx_conversations_session_created",
        "conversations",
        ["session_id", sa.text("created_at DESC")],
        if_not_exists=True,
    )

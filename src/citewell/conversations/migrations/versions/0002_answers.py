"""What an answer carries beyond the plain table, the readers' votes, and the sessions that were deleted."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    for name, kind, default in (
        ("sequence", sa.Integer(), "0"),
        ("status", sa.String(10), "'success'"),
        ("complete", sa.Boolean(), "true"),
        ("low_confidence", sa.Boolean(), "false"),
        ("conflicting_info", sa.Boolean(), "false"),
        ("dropped_sentences", sa.Integer(), "0"),
        ("model", sa.Text(), "''"),
        ("input_hash", sa.String(128), "''"),
        ("output_hash", sa.String(128), "''"),
        ("deterministic", sa.Boolean(), "false"),
        ("trace_id", sa.Text(), "''"),
    ):
        op.add_column("conversations", sa.Column(name, kind, nullable=False, server_default=sa.text(default)))
    for column in (
        sa.Column("confidence", sa.Float),
        sa.Column("confidence_level", sa.String(12)),
        sa.Column("refusal_reason", sa.Text),
        sa.Column("fallback_message", sa.Text),
        sa.Column("feedback", sa.String(4)),
        sa.Column("feedback_comment", sa.Text),
        sa.Column("feedback_at", sa.DateTime(timezone=True)),
    ):
        op.add_column("conversations", column)
    op.create_index("idx_conversations_created", "conversations", ["created_at"])
    op.create_index("idx_conversations_input_hash", "conversations", ["input_hash"])
    op.create_table(
        "deleted_sessions",
        sa.Column("session_hash", sa.String(64), primary_key=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("idx_deleted_sessions_deleted", "deleted_sessions", ["deleted_at"])
    _settle_adopted_rows()


def _settle_adopted_rows() -> None:
    """Retention needs a time and paging an order. SQLite compares times as text, and its own have no fraction."""
    op.execute("UPDATE conversations SET created_at = CURRENT_TIMESTAMP WHERE created_at IS NULL")
    if op.get_context().dialect.name == "sqlite":
        op.execute("UPDATE conversations SET created_at = created_at || '.000000' WHERE length(created_at) = 19")
    op.execute(
        "UPDATE conversations SET sequence = numbered.place FROM (SELECT id, row_number() OVER"
        " (PARTITION BY session_id ORDER BY created_at, id) AS place FROM conversations) AS numbered"
        " WHERE conversations.id = numbered.id"
    )

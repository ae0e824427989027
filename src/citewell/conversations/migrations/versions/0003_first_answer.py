"""The first answer to an input found at once, however often it was given again."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_index("idx_conversations_input_created", "conversations", ["input_hash", "created_at"])
    op.drop_index("idx_conversations_input_hash", "conversations")

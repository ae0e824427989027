"""The schema as the newest migration leaves it. Queries are written against it; migrations do not import it."""

from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql


class UtcTime(sa.TypeDecorator[datetime]):
    """A moment, aware, in UTC. SQLite keeps no zone, so what it holds is UTC by convention."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        if value is None:
            return None
        moment = value.astimezone(UTC)
        return moment if dialect.name == "postgresql" else moment.replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


ID = sa.String(36).with_variant(postgresql.UUID(as_uuid=False), "postgresql")
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")

metadata = sa.MetaData()

conversations = sa.Table(
    "conversations",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("session_id", sa.String(36), nullable=False),
    sa.Column("query", sa.Text, nullable=False),
    sa.Column("response", sa.Text, nullable=False),
    sa.Column("sources", JSON, nullable=False),
    sa.Column("mode", sa.String(20), nullable=False),
    sa.Column("selected_text", sa.Text),
    sa.Column("chunks_retrieved", sa.Integer, nullable=False),
    sa.Column("latency_ms", sa.Float, nullable=False),
    sa.Column("created_at", UtcTime),
    sa.Column("sequence", sa.Integer, nullable=False),
    sa.Column("status", sa.String(10), nullable=False),
    sa.Column("complete", sa.Boolean, nullable=False),
    sa.Column("confidence", sa.Float),
    sa.Column("confidence_level", sa.String(12)),
    sa.Column("low_confidence", sa.Boolean, nullable=False),
    sa.Column("conflicting_info", sa.Boolean, nullable=False),
    sa.Column("dropped_sentences", sa.Integer, nullable=False),
    sa.Column("refusal_reason", sa.Text),
    sa.Column("fallback_message", sa.Text),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("input_hash", sa.String(128), nullable=False),
    sa.Column("output_hash", sa.String(128), nullable=False),
    sa.Column("deterministic", sa.Boolean, nullable=False),
    sa.Column("related", JSON),
    sa.Column("searched_for", sa.Text),
    sa.Column("trace_id", sa.Text, nullable=False),
    # A digest of the key that asked; empty where no keys are asked for. A session is its id and its owner.
    sa.Column("owner", sa.String(64), nullable=False),
    sa.Column("feedback", sa.String(4)),
    sa.Column("feedback_comment", sa.Text),
    sa.Column("feedback_at", UtcTime),
)
sa.Index("idx_conversations_session_id", conversations.c.session_id)
sa.Index("idx_conversations_session_created", conversations.c.session_id, conversations.c.created_at.desc())
sa.Index("idx_conversations_created", conversations.c.created_at)
sa.Index("idx_conversations_input_created", conversations.c.input_hash, conversations.c.created_at)

deleted_sessions = sa.Table(
    "deleted_sessions",
    metadata,
    # The SHA-256 of the id and its owner: the id itself is deleted with the rest.
    sa.Column("session_hash", sa.String(64), primary_key=True),
    sa.Column("deleted_at", UtcTime, nullable=False),
)
sa.Index("idx_deleted_sessions_deleted", deleted_sessions.c.deleted_at)

model_use = sa.Table(
    "model_use",
    metadata,
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("owner", sa.String(64), primary_key=True),
    sa.Column("calls", sa.BigInteger, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),
)

"""Conversations on SQL. The names here are light; `store`, `database` and `migrations` import sqlalchemy (1 s).

Import those three modules only where a store is opened.
"""

from citewell.conversations.database_url import Address, address_of
from citewell.conversations.history import HISTORY_TOKENS, last_turns
from citewell.conversations.session_ids import new_session_id, session_id_of
from citewell.conversations.turns import AuthorEntry, Turn, TurnPage, Vote

__all__ = [
    "HISTORY_TOKENS",
    "Address",
    "AuthorEntry",
    "Turn",
    "TurnPage",
    "Vote",
    "address_of",
    "last_turns",
    "new_session_id",
    "session_id_of",
]

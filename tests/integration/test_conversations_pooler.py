"""Behind a transaction pooler every transaction may meet another server process, as with PgBouncer."""

import asyncio
import struct
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from citewell.conversations import address_of, new_session_id
from citewell.conversations.migrations import migrate
from citewell.conversations.store import ConversationStore
from tests.integration.postgres import Postgres
from tests.integration.turns import a_question, an_answer

Pipe = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class TransactionPooler:
    """Speaks enough of the protocol to hand each transaction to the server process that was idle longest."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._idle: asyncio.Queue[Pipe] = asyncio.Queue()
        self._servers: list[Pipe] = []
        self.transactions = 0

    @asynccontextmanager
    async def serve(self, folder: Path) -> AsyncIterator[None]:
        listener = await asyncio.start_unix_server(self._client, folder / ".s.PGSQL.5432")
        async with listener:
            yield
        for _, writer in self._servers:
            writer.close()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            length = await reader.readexactly(4)
            greeting = await self._log_in(length + await reader.readexactly(struct.unpack("!I", length)[0] - 4))
            writer.write(greeting)
            await self._relay(reader, writer)
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    async def _log_in(self, startup: bytes) -> bytes:
        """Every client brings two server processes, so that there is always another than the one it had."""
        greeting = b""
        for _ in range(2):
            server = await asyncio.open_unix_connection(self._socket)
            server[1].write(startup)
            greeting = await self._until_ready(server[0])
            self._servers.append(server)
            self._idle.put_nowait(server)
        return greeting

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_client = asyncio.create_task(_message(reader))
        while (first := await from_client)[0] != b"X":
            server = await self._idle.get()
            self.transactions += 1
            server[1].write(first[1])
            from_client = asyncio.create_task(_message(reader))
            from_server = asyncio.create_task(_message(server[0]))
            while True:
                await asyncio.wait([from_client, from_server], return_when=asyncio.FIRST_COMPLETED)
                if from_server.done():
                    kind, message = from_server.result()
                    writer.write(message)
                    if kind == b"Z" and message[-1:] == b"I":
                        break
                    from_server = asyncio.create_task(_message(server[0]))
                if from_client.done():
                    server[1].write(from_client.result()[1])
                    from_client = asyncio.create_task(_message(reader))
            self._idle.put_nowait(server)

    async def _until_ready(self, reader: asyncio.StreamReader) -> bytes:
        reply = b""
        while True:
            kind, message = await _message(reader)
            reply += message
            if kind == b"Z":
                return reply


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readexactly(5)
    return head[:1], head + await reader.readexactly(struct.unpack("!I", head[1:])[0] - 4)


async def test_conversations_work_behind_a_transaction_pooler(postgres: Postgres, tmp_path: Path) -> None:
    direct = postgres.new_database()
    await migrate(address_of(direct, tmp_path))
    pooler = TransactionPooler(postgres.socket_folder / ".s.PGSQL.5432")
    sessions = [new_session_id() for _ in range(4)]

    async def converse(store: ConversationStore, session_id: str) -> None:
        for n in range(5):
            await store.history(session_id, limit_messages=10)
            await store.save(a_question(session_id, str(n)), an_answer(session_id))

    with tempfile.TemporaryDirectory(prefix="cw-pooler-") as name:
        behind = direct.replace(str(postgres.socket_folder), name)
        async with (
            pooler.serve(Path(name)),
            ConversationStore.open(address_of(behind + "&pgbouncer=true", tmp_path)) as store,
        ):
            async with asyncio.TaskGroup() as group:
                for session_id in sessions:
                    group.create_task(converse(store, session_id))
            for session_id in sessions:
                asked = [turn.question async for turn in store.turns(session_id)]
                assert asked == ["0", "1", "2", "3", "4"]
            assert await store.delete_session(sessions[0]) == 5
    assert pooler.transactions > 40

"""An app that worker processes can build: its engine says one word and then waits for ever."""

import asyncio

from fastapi import FastAPI

from citewell.api.options import ApiOptions
from citewell.api.server import serve
from tests.support.api import ScriptedEngine, an_app, answering


def scripted() -> FastAPI:
    engine = ScriptedEngine([*answering()[:3], asyncio.Event()])
    return an_app(engine, ApiOptions(stop_seconds=0.5))


def serve_scripted(port: int, *, workers: int) -> None:
    serve(scripted, port=port, workers=workers)

"""Static files from the package's assets: the page at `/`, the API's reference at `/docs`, the widget."""

import mimetypes
from pathlib import Path

from fastapi import APIRouter, Request, Response

from citewell.api.headers import page_policy
from citewell.errors import NotFoundError

_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".html": "text/html"}


class StaticFolder:
    """The files of one folder of the package's assets, read once: no path of a request ever reaches the disk."""

    def __init__(self, folder: str, policy: str | None = None) -> None:
        self._policy = policy or page_policy()
        self._files: dict[str, tuple[bytes, str]] = {}
        root = Path(__file__).parents[1] / "assets" / folder
        for file in root.rglob("[!._]*"):
            if file.is_file():
                media_type = _TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0]
                name = file.relative_to(root).as_posix()
                self._files[name] = (file.read_bytes(), media_type or "application/octet-stream")

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def __getitem__(self, name: str) -> bytes:
        return self._files[name][0]

    def response(self, name: str, status: int = 200, *, cache: str = "no-cache") -> Response:
        if name not in self._files:
            raise NotFoundError("There is nothing at this path.")
        body, media_type = self._files[name]
        headers = {"content-security-policy": self._policy, "cache-control": cache}
        return Response(body, status, headers=headers, media_type=media_type)


def static_router(page: StaticFolder, manual: StaticFolder) -> APIRouter:
    router = APIRouter(default_response_class=Response)

    @router.get("/", include_in_schema=False)
    async def home(request: Request) -> Response:
        del request
        return page.response("index.html")

    @router.get("/page/{name:path}", include_in_schema=False)
    async def page_file(request: Request) -> Response:
        return page.response(request.path_params["name"])

    @router.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        del request
        return manual.response("index.html")

    @router.get("/apidocs/{name:path}", include_in_schema=False)
    async def docs_file(request: Request) -> Response:
        return manual.response(request.path_params["name"])

    return router

"""The widget's files: the script at `/widget.js`, again under its hash for ever, its panel and its languages."""

import base64
import hashlib

from fastapi import APIRouter, Request, Response

from citewell.api.static_files import StaticFolder

SHORT = "public, max-age=300"
FOR_EVER = "public, max-age=31536000, immutable"


class WidgetFiles:
    """What `/widget.js` is, its digest for subresource integrity, and the address that never changes its content."""

    def __init__(self) -> None:
        self.folder = StaticFolder("widget")
        script = self.folder["widget.js"]
        self.integrity = "sha384-" + base64.b64encode(hashlib.sha384(script).digest()).decode()
        self.hashed_name = f"widget-{hashlib.sha256(script).hexdigest()[:12]}.js"

    def tag(self, server: str, **options: str) -> str:
        """The script tag for a site, with its digest."""
        data = "".join(f' data-{name}="{_quoted(value)}"' for name, value in options.items() if value)
        return (
            f'<script type="module" src="{server.rstrip("/")}/{self.hashed_name}"\n'
            f'  integrity="{self.integrity}" crossorigin="anonymous"{data} async></script>'
        )


def _quoted(value: str) -> str:
    return value.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def widget_router(widget: WidgetFiles) -> APIRouter:
    router = APIRouter(default_response_class=Response)

    @router.get("/widget.js", include_in_schema=False)
    async def script(request: Request) -> Response:
        del request
        return _public(widget.folder.response("widget.js", cache=SHORT))

    @router.get("/widget-{rest}.js", include_in_schema=False)
    async def hashed(request: Request) -> Response:
        name = f"widget-{request.path_params['rest']}.js"
        kept = "widget.js" if name == widget.hashed_name else name
        return _public(widget.folder.response(kept, cache=FOR_EVER))

    @router.get("/widget/{language}.json", include_in_schema=False)
    async def words(request: Request) -> Response:
        return _public(widget.folder.response(f"{request.path_params['language']}.json", cache=SHORT))

    return router


def _public(response: Response) -> Response:
    """A site with a strict embedder policy may load it too."""
    response.headers["cross-origin-resource-policy"] = "cross-origin"
    return response

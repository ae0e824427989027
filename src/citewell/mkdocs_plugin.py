"""The MkDocs plugin: the widget's script tag on every page, from `plugins: [citewell: {server: …}]`."""

import json
from html import escape
from urllib.parse import urlsplit

from mkdocs.config import base, config_options
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin
from mkdocs.structure.pages import Page

_PASSED_ON = (
    *("key", "title", "base", "lang", "theme", "position", "button", "shortcut", "selection", "questions"),
    "placeholder",
)


class CitewellConfig(base.Config):  # type: ignore[no-untyped-call] # MkDocs has no types there
    server = config_options.Type(str, default="")
    key = config_options.Optional(config_options.Type(str))
    title = config_options.Optional(config_options.Type(str))
    base = config_options.Optional(config_options.Type(str))
    lang = config_options.Optional(config_options.Type(str))
    theme = config_options.Optional(config_options.Choice(("light", "dark")))
    position = config_options.Optional(config_options.Choice(("start", "end")))
    button = config_options.Optional(config_options.Type(str))
    shortcut = config_options.Optional(config_options.Type(str))
    selection = config_options.Optional(config_options.Type(str))
    questions = config_options.Optional(config_options.Type(str))
    placeholder = config_options.Optional(config_options.Type(str))
    filters = config_options.Type(dict, default={})


class CitewellPlugin(BasePlugin[CitewellConfig]):  # type: ignore[no-untyped-call] # as above
    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Raises PluginError, which MkDocs shows in one line."""
        parts = urlsplit(self.config.server)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise PluginError(
                "citewell: `server` is required: the address of your Citewell server, e.g. https://answers.example.com"
            )
        return config

    def on_post_page(self, output: str, /, *, page: Page, config: MkDocsConfig) -> str:
        del page, config
        head, end, rest = output.partition("</head>")
        return f"{head}{self._tag()}{end}{rest}" if end else output

    def _tag(self) -> str:
        given = {name: self.config[name] for name in _PASSED_ON if self.config[name]}
        if self.config.filters:
            given["filters"] = json.dumps(self.config.filters)
        data = "".join(f' data-{name}="{escape(value)}"' for name, value in given.items())
        source = escape(f"{self.config.server.rstrip('/')}/widget.js")
        return f'<script type="module" src="{source}" crossorigin="anonymous"{data} async></script>\n'

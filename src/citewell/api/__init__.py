"""Citewell over HTTP: two dialects over one engine. Nothing below this package knows HTTP."""

"""What every command begins with."""

from citewell.config import Settings
from citewell.logs import configure


def settings() -> Settings:
    """The settings, with logs on standard error: a command speaks for itself, so only errors unless LOG_LEVEL asks."""
    made = Settings.from_environment()
    configure(made.log_level if "log_level" in made.model_fields_set else "error")
    return made

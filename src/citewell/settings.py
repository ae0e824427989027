"""Settings: the only reader of the environment and of `.env`. A wrong value stops the start, by name, in one line."""

from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from citewell.config import QDRANT_COLLECTION
from citewell.conversations import address_of
from citewell.errors import ConfigurationError

GEMINI_BASE_URL = "https://generativelanguage.googleapis.com/v1beta/openai/"

Names = Annotated[tuple[str, ...], NoDecode]
"""A list written with commas."""


class Settings(BaseSettings):
    """Nothing is required: without any variable the embedded stack serves."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", frozen=True, env_ignore_empty=True)

    citewell_data_dir: Path = Path(".citewell")
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    gemini_api_key: SecretStr | None = None
    gemini_model: str = Field("gemini-2.0-flash", min_length=1)
    gemini_base_url: str = GEMINI_BASE_URL
    confidence_file: Path | None = None
    """What `citewell calibrate --out` wrote, in place of the shipped confidence model."""
    rerank: int = Field(0, ge=0, le=50)
    """So many of the first passages are ordered anew by the reading model; 0, the default, leaves them as they are."""
    model_calls_per_minute: int | None = Field(None, ge=0)
    """Of the hosted model, in all; the next three likewise. `MODEL_KEY_…` are those of each API key."""
    model_calls_per_day: int | None = Field(None, ge=0)
    model_tokens_per_minute: int | None = Field(None, ge=0)
    model_tokens_per_day: int | None = Field(None, ge=0)
    model_key_calls_per_minute: int | None = Field(None, ge=0)
    model_key_calls_per_day: int | None = Field(None, ge=0)
    model_key_tokens_per_minute: int | None = Field(None, ge=0)
    model_key_tokens_per_day: int | None = Field(None, ge=0)
    agent_fallback: Literal["error", "sources"] = "error"

    judge_model: str | None = Field(None, min_length=1)
    """Not set: the built-in judge."""
    judge_base_url: str = GEMINI_BASE_URL
    judge_api_key: SecretStr | None = None

    embedding_provider: Literal["builtin", "cohere", "openai"] | None = None
    """Not set: Cohere when its key is set, else the built-in embedder."""
    cohere_api_key: SecretStr | None = None
    cohere_base_url: str = "https://api.cohere.com"
    embedding_base_url: str | None = None
    embedding_api_key: SecretStr | None = None
    embedding_model: str | None = None
    embedding_dimensions: int = Field(1536, ge=1, le=8192)

    qdrant_url: str | None = None
    qdrant_api_key: SecretStr | None = None
    qdrant_collection_name: str = Field(QDRANT_COLLECTION, pattern=r"^[A-Za-z0-9_.-]{1,100}$")

    database_url: SecretStr | None = None
    max_conversation_history: int = Field(10, ge=0, le=100)
    conversation_retention_days: int = Field(30, ge=1, le=3650)

    redis_url: SecretStr | None = None
    api_rate_limit: int = Field(60, ge=1, le=1_000_000)
    session_rate_limit: int = Field(20, ge=1, le=1_000_000)
    max_concurrent_requests: int = Field(10, ge=1, le=100_000)
    allowed_origins: Names = ()
    api_keys: Annotated[tuple[SecretStr, ...], NoDecode] = ()
    publishable_keys: Names = ()
    """Each as key@origin; a key that is bound to several origins is listed with each."""
    embed_origins: Names = ()
    public_url: str | None = None
    book_title: str = Field("", max_length=200)
    trusted_proxies: Names = ()

    @classmethod
    def from_environment(cls) -> Self:
        """Read the process's environment and `.env`. Raises ConfigurationError that names the variable."""
        try:
            return cls()
        except ValidationError as error:
            raise ConfigurationError(_one_line(error)) from None

    @field_validator(
        "allowed_origins", "api_keys", "publishable_keys", "embed_origins", "trusted_proxies", mode="before"
    )
    @classmethod
    def _split(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        parts = tuple(part.strip() for part in value.split(",") if part.strip())
        if not parts:  # whoever sets API_KEYS to "," wants a lock, and must not get an open door
            raise ValueError("is set but lists nothing; list at least one value, or unset it")
        return parts

    @field_validator(
        "gemini_base_url", "judge_base_url", "cohere_base_url", "embedding_base_url", "qdrant_url", "public_url"
    )
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if value is not None:
            parts = urlsplit(value)
            if parts.scheme not in ("http", "https") or not parts.hostname or not _has_sound_port(parts):
                raise ValueError("must be an http or https address")
        return value

    @field_validator("database_url")
    @classmethod
    def _database(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            address_of(value.get_secret_value(), Path())
        return value

    @field_validator("redis_url")
    @classmethod
    def _redis(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            parts = urlsplit(value.get_secret_value())
            if parts.scheme not in ("redis", "rediss") or not parts.hostname or not _has_sound_port(parts):
                raise ValueError("must be an address such as redis://host:6379 or rediss://host:6379")
        return value

    @field_validator("citewell_data_dir")
    @classmethod
    def _folder(cls, value: Path) -> Path:
        nearest = next((path for path in (value, *value.parents) if path.exists()), None)
        if nearest is not None and not nearest.is_dir():
            raise ValueError(f"{nearest} is a file; name a folder")
        return value

    @field_validator("allowed_origins", "embed_origins")
    @classmethod
    def _origins(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for origin in value:
            if origin != "*" or info.field_name != "allowed_origins":
                _check_origin(origin)
        return value

    @field_validator("publishable_keys")
    @classmethod
    def _publishable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for entry in value:
            key, at, origin = entry.rpartition("@")
            if not key or not at:
                raise ValueError("list each as key@origin, for example pk_docs@https://docs.example.com")
            _check_origin(origin)
        return value

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if "*" in self.allowed_origins and (self.api_keys or self.publishable_keys):
            raise ValueError("ALLOWED_ORIGINS may not be * when API_KEYS is set; list the origins")
        if self.embedding_provider == "cohere" and self.cohere_api_key is None:
            raise ValueError("EMBEDDING_PROVIDER=cohere needs COHERE_API_KEY")
        if self.embedding_provider == "openai" and (self.embedding_base_url is None or self.embedding_model is None):
            raise ValueError("EMBEDDING_PROVIDER=openai needs EMBEDDING_BASE_URL and EMBEDDING_MODEL")
        return self

    @property
    def bound_keys(self) -> tuple[tuple[str, str], ...]:
        """The publishable keys, each with an origin."""
        return tuple((key, origin) for key, _, origin in (entry.rpartition("@") for entry in self.publishable_keys))

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no log line may hold: the keys, and the addresses with their passwords."""
        values = (getattr(self, name) for name in type(self).model_fields)
        single = [value for value in values if isinstance(value, SecretStr)]
        return tuple(secret.get_secret_value() for secret in (*single, *self.api_keys))

    @property
    def embedder(self) -> Literal["builtin", "cohere", "openai"]:
        return self.embedding_provider or ("cohere" if self.cohere_api_key else "builtin")


def _check_origin(origin: str) -> None:
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path:
        raise ValueError(f"{origin!r:.80} is not an origin such as https://docs.example.com")


def _has_sound_port(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:  # what `port` raises when it is no number, or too large a one
        return False


def _one_line(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    message = first["msg"].removeprefix("Value error, ")
    name = str(first["loc"][0]).upper() if first["loc"] else ""
    return f"{name}: {message}." if name else f"{message}."

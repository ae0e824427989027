from pathlib import Path

import pytest

from citewell.errors import ConfigurationError
from citewell.settings import Settings


@pytest.fixture(autouse=True)
def _no_dotenv(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))


def settings(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Settings:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return Settings.from_environment()


def test_nothing_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    made = settings(monkeypatch)
    assert made.embedder == "builtin"
    assert (made.api_rate_limit, made.session_rate_limit, made.max_concurrent_requests) == (60, 20, 10)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("API_RATE_LIMIT", "many"),
        ("API_RATE_LIMIT", "0"),
        ("CONVERSATION_RETENTION_DAYS", "-1"),
        ("AGENT_FALLBACK", "maybe"),
        ("QDRANT_URL", "qdrant"),
        ("GEMINI_BASE_URL", "ftp://x"),
        ("ALLOWED_ORIGINS", "https://a.example/path"),
        ("API_KEYS", ","),
        ("API_KEYS", "  "),
        ("ALLOWED_ORIGINS", " , "),
        ("TRUSTED_PROXIES", ","),
        ("DATABASE_URL", "foo"),
        ("DATABASE_URL", "mysql://host/name"),
        ("DATABASE_URL", "sqlite://"),
        ("DATABASE_URL", "postgresql://user@host:port/name"),
        ("DATABASE_URL", "postgresql://user@one:5432,two:99999/name"),
        ("DATABASE_URL", "postgresql://[::1/name"),
        ("REDIS_URL", "foo"),
        ("REDIS_URL", "http://host"),
        ("REDIS_URL", "redis://host:port"),
        ("REDIS_URL", "redis://[::1"),
        ("QDRANT_URL", "http://host:port"),
        ("QDRANT_URL", "http://[::1"),
        ("EMBEDDING_PROVIDER", "openai"),
        ("EMBEDDING_PROVIDER", "cohere"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        settings(monkeypatch, **{name: value})
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_list_that_names_nothing_never_opens_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="API_KEYS: is set but lists nothing"):
        settings(monkeypatch, API_KEYS=" , ,")


def test_a_variable_set_to_nothing_at_all_is_as_if_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings(monkeypatch, API_KEYS="", DATABASE_URL="").api_keys == ()


@pytest.mark.parametrize("under", ["", "below", "far/below"])
def test_a_data_folder_at_or_below_a_file_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, under: str
) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ConfigurationError, match=r"CITEWELL_DATA_DIR: .*file is a file"):
        settings(monkeypatch, CITEWELL_DATA_DIR=str(file / under))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgres://user:p%40ss@one:5432,[::1]:5433/name?sslmode=require"),
        ("DATABASE_URL", "postgresql:///name?host=/var/run/postgresql"),
        ("DATABASE_URL", "postgresql+asyncpg://user:pass:word@host/name"),
        ("DATABASE_URL", "sqlite:///conversations.sqlite3"),
        ("REDIS_URL", "redis://localhost"),
        ("REDIS_URL", "rediss://:secret@host:6380/1"),
    ],
)
def test_addresses_as_hosts_give_them_are_taken(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    secret = getattr(settings(monkeypatch, **{name: value}), name.lower())
    assert secret.get_secret_value() == value


def test_keys_with_a_wildcard_origin_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="ALLOWED_ORIGINS"):
        settings(monkeypatch, API_KEYS="a,b", ALLOWED_ORIGINS="*")


def test_a_cohere_key_chooses_cohere_and_stays_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    made = settings(monkeypatch, COHERE_API_KEY="top-secret", API_KEYS="one, two ,")
    assert made.embedder == "cohere"
    assert [key.get_secret_value() for key in made.api_keys] == ["one", "two"]
    assert "top-secret" not in repr(made)


def test_dotenv_is_read_and_the_process_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("API_RATE_LIMIT=5\nSESSION_RATE_LIMIT=6\n", "utf-8")
    made = settings(monkeypatch, API_RATE_LIMIT="7")
    assert (made.api_rate_limit, made.session_rate_limit) == (7, 6)

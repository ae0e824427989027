import pytest

from citewell.config import Settings
from citewell.errors import ConfigurationError


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


def test_keys_with_a_wildcard_origin_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="ALLOWED_ORIGINS"):
        settings(monkeypatch, API_KEYS="a,b", ALLOWED_ORIGINS="*")


def test_a_cohere_key_chooses_cohere_and_stays_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    made = settings(monkeypatch, COHERE_API_KEY="top-secret", API_KEYS="one, two ,")
    assert made.embedder == "cohere"
    assert [key.get_secret_value() for key in made.api_keys] == ["one", "two"]
    assert "top-secret" not in repr(made)


def test_dotenv_is_read_and_the_process_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    Path(".env").write_text("API_RATE_LIMIT=5\nSESSION_RATE_LIMIT=6\n", "utf-8")
    made = settings(monkeypatch, API_RATE_LIMIT="7")
    assert (made.api_rate_limit, made.session_rate_limit) == (7, 6)

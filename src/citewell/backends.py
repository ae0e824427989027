"""Backends: which index and which embedder serve, from the settings. Each is imported when it is chosen."""

from citewell.embedding import BuiltinEmbedder, Embedder, RememberedQueries
from citewell.index import IndexWriter, PassageIndex
from citewell.settings import Settings


def make_embedder(settings: Settings) -> Embedder:
    return RememberedQueries(_embedder(settings))


def _embedder(settings: Settings) -> Embedder:
    match settings.embedder:
        case "builtin":
            return BuiltinEmbedder()
        case "cohere":
            from citewell.embedding.hosted_embedders import CohereEmbedder

            assert settings.cohere_api_key is not None  # noqa: S101 Settings checked it
            return CohereEmbedder(api_key=settings.cohere_api_key.get_secret_value(), base_url=settings.cohere_base_url)
        case "openai":
            from citewell.embedding.hosted_embedders import OpenAIEmbedder

            assert settings.embedding_base_url is not None  # noqa: S101 Settings checked it
            assert settings.embedding_model is not None  # noqa: S101 Settings checked it
            key = settings.embedding_api_key.get_secret_value() if settings.embedding_api_key else None
            return OpenAIEmbedder(
                base_url=settings.embedding_base_url,
                model=settings.embedding_model,
                dimensions=settings.embedding_dimensions,
                api_key=key,
            )


def make_index(settings: Settings) -> PassageIndex:
    if settings.qdrant_url is None:
        from citewell.index.edge import EdgeIndex

        return EdgeIndex(settings.citewell_data_dir / "index")
    from citewell.index.qdrant_server import ServerIndex

    return ServerIndex(settings.qdrant_url, _qdrant_key(settings), settings.qdrant_collection_name)


def make_writer(settings: Settings) -> IndexWriter:
    if settings.qdrant_url is None:
        from citewell.index.edge import EdgeWriter

        return EdgeWriter(settings.citewell_data_dir / "index")
    from citewell.index.qdrant_server import ServerWriter

    return ServerWriter(settings.qdrant_url, _qdrant_key(settings), settings.qdrant_collection_name)


def _qdrant_key(settings: Settings) -> str | None:
    return settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None

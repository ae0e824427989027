"""The names that the specification fixes for the collection and the embedding model; `settings` reads the rest."""

QDRANT_COLLECTION = "rag_embedding"
COHERE_MODEL = "embed-english-v3.0"

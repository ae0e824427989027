"""Haystack: BM25 and embedding retrievers on the in-memory store, joined by rank, as its documentation shows."""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import Search, main
from haystack import Document, Pipeline, component
from haystack.components.converters import TextFileToDocument
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from shared_embedding import SharedEmbedding


@component
class DocumentEmbedder:
    def __init__(self, shared: SharedEmbedding) -> None:
        self.shared = shared

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        vectors = self.shared.passages([document.content or "" for document in documents])
        return {"documents": [replace(d, embedding=v) for d, v in zip(documents, vectors, strict=True)]}


@component
class TextEmbedder:
    def __init__(self, shared: SharedEmbedding) -> None:
        self.shared = shared

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        return {"embedding": self.shared.query(text)}


def ingest(folder: Path, store: Path, shared: SharedEmbedding) -> tuple[Search, int]:
    documents = InMemoryDocumentStore(embedding_similarity_function="cosine")
    indexing = Pipeline()
    indexing.add_component("converter", TextFileToDocument(store_full_path=True))
    indexing.add_component("splitter", DocumentSplitter(split_by="word", split_length=200, split_overlap=20))
    indexing.add_component("embedder", DocumentEmbedder(shared))
    indexing.add_component("writer", DocumentWriter(documents))
    indexing.connect("converter", "splitter")
    indexing.connect("splitter", "embedder")
    indexing.connect("embedder", "writer")
    files = sorted([*folder.rglob("*.mdx"), *folder.rglob("*.md")])
    indexing.run({"converter": {"sources": files}})
    store.mkdir(parents=True, exist_ok=True)
    documents.save_to_disk(str(store / "documents.json"))
    return hybrid(documents, shared), documents.count_documents()


def load(store: Path, shared: SharedEmbedding) -> Search:
    return hybrid(InMemoryDocumentStore.load_from_disk(str(store / "documents.json")), shared)


def hybrid(documents: InMemoryDocumentStore, shared: SharedEmbedding) -> Search:
    pipeline = Pipeline()
    pipeline.add_component("embedder", TextEmbedder(shared))
    pipeline.add_component("dense", InMemoryEmbeddingRetriever(documents, top_k=5))
    pipeline.add_component("bm25", InMemoryBM25Retriever(documents, top_k=5))
    pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=5))
    pipeline.connect("embedder", "dense.query_embedding")
    pipeline.connect("dense", "joiner")
    pipeline.connect("bm25", "joiner")

    def search(question: str) -> list[str]:
        found = pipeline.run({"embedder": {"text": question}, "bm25": {"query": question}})
        return [document.meta["file_path"] for document in found["joiner"]["documents"]]

    return search


if __name__ == "__main__":
    main(ingest, load)

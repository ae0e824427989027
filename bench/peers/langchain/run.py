"""LangChain: an in-memory vector store and BM25, joined by the ensemble retriever, as its documentation shows."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import Search, main
from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.document_loaders import DirectoryLoader, TextLoader
from langchain_community.retrievers import BM25Retriever
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from shared_embedding import SharedEmbedding


class Embedding(Embeddings):
    def __init__(self, shared: SharedEmbedding) -> None:
        self.shared = shared

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.shared.passages(texts)

    def embed_query(self, text: str) -> list[float]:
        return self.shared.query(text)


def ingest(folder: Path, store: Path, shared: SharedEmbedding) -> tuple[Search, int]:
    loader = DirectoryLoader(
        str(folder), glob=["**/*.mdx", "**/*.md"], loader_cls=TextLoader, loader_kwargs={"encoding": "utf-8"}
    )
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
    passages = splitter.split_documents(loader.load())
    vectors = InMemoryVectorStore(Embedding(shared))
    vectors.add_documents(passages)
    search = hybrid(vectors, passages)
    store.mkdir(parents=True, exist_ok=True)
    vectors.dump(str(store / "vectors.json"))
    return search, len(passages)


def load(store: Path, shared: SharedEmbedding) -> Search:
    vectors = InMemoryVectorStore.load(str(store / "vectors.json"), Embedding(shared))
    passages = [Document(entry["text"], metadata=entry["metadata"]) for entry in vectors.store.values()]
    return hybrid(vectors, passages)


def hybrid(vectors: InMemoryVectorStore, passages: list[Document]) -> Search:
    bm25 = BM25Retriever.from_documents(passages, k=5)
    retriever = EnsembleRetriever(retrievers=[bm25, vectors.as_retriever(search_kwargs={"k": 5})], weights=[0.5, 0.5])
    return lambda question: [document.metadata["source"] for document in retriever.invoke(question)[:5]]


if __name__ == "__main__":
    main(ingest, load)

"""LlamaIndex: a vector index and BM25, joined by the fusion retriever, as its documentation shows. No model call."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import Search, main
from llama_index.core import Settings, SimpleDirectoryReader, StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.retrievers.bm25 import BM25Retriever
from pydantic import PrivateAttr
from shared_embedding import SharedEmbedding


class Embedding(BaseEmbedding):
    _shared: SharedEmbedding = PrivateAttr()

    def __init__(self, shared: SharedEmbedding) -> None:
        super().__init__(embed_batch_size=64)
        self._shared = shared

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._shared.query(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._shared.query(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._shared.passages([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._shared.passages(texts)


def ingest(folder: Path, store: Path, shared: SharedEmbedding) -> tuple[Search, int]:
    Settings.embed_model = Embedding(shared)
    documents = SimpleDirectoryReader(str(folder), recursive=True, required_exts=[".mdx", ".md"]).load_data()
    nodes = SentenceSplitter(chunk_size=512).get_nodes_from_documents(documents)
    index = VectorStoreIndex(nodes)
    bm25 = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=5)
    index.storage_context.persist(str(store / "vectors"))
    bm25.persist(str(store / "bm25"))
    return hybrid(index, bm25), len(nodes)


def load(store: Path, shared: SharedEmbedding) -> Search:
    Settings.embed_model = Embedding(shared)
    index = load_index_from_storage(StorageContext.from_defaults(persist_dir=str(store / "vectors")))
    return hybrid(index, BM25Retriever.from_persist_dir(str(store / "bm25")))


def hybrid(index: VectorStoreIndex, bm25: BM25Retriever) -> Search:
    retriever = QueryFusionRetriever(
        [index.as_retriever(similarity_top_k=5), bm25],
        llm=MockLLM(),
        similarity_top_k=5,
        num_queries=1,  # the question as it is: no model rewrites it
        mode="reciprocal_rerank",
        use_async=False,
    )
    return lambda question: [hit.node.metadata["file_path"] for hit in retriever.retrieve(question)]


if __name__ == "__main__":
    main(ingest, load)

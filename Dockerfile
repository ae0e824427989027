# Citewell as an image: small, without a shell's tools for building, not root, on a read-only file system.
#   docker build -t citewell .
#   docker run --read-only --tmpfs /tmp -v citewell:/data -p 8000:8000 citewell
# EXTRAS picks what it can do: --build-arg EXTRAS=server for the embedded stack alone.
FROM python:3.13-slim AS build
ARG EXTRAS=all
COPY --from=ghcr.io/astral-sh/uv:0.13 /uv /usr/local/bin/uv
WORKDIR /src
COPY pyproject.toml README.md LICENSE requirements.lock ./
COPY src src
COPY larger larger
COPY examples/book examples/book
# The versions are those of the lock; what the chosen extras do not need is left out.
RUN uv venv /citewell \
 && uv pip install --python /citewell/bin/python --compile-bytecode --constraints requirements.lock ".[${EXTRAS}]" ./larger

FROM python:3.13-slim
RUN useradd --uid 10001 --create-home --home-dir /data citewell
COPY --from=build /citewell /citewell
ENV PATH=/citewell/bin:$PATH \
    CITEWELL_DATA_DIR=/data \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health/live', timeout=4)"]
ENTRYPOINT ["citewell"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]

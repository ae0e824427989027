"""Admission: who may ask, how often and how many at once. API keys, rate limits, concurrency, idempotency."""

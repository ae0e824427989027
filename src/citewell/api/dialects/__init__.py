"""The wire's dialects over one engine: bodies in, events and failures out. Pure; no dialect knows HTTP's headers."""

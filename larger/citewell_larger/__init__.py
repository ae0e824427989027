"""The weights of the larger model, and what was fitted to them. No code: `citewell.inference` finds them here."""

"""The weights of Citewell's larger judge. No code: `citewell.inference` finds them here."""

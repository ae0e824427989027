"""Citewell: questions answered from your book, every sentence checked and cited."""

__version__ = "0.1.0"

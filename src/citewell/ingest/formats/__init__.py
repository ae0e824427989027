"""The formats that books are written in, a module each: their configuration and how their pages are read."""

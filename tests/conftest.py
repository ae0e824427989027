"""For all tests: Hypothesis looks for wrong results, not for slow machines, and tries the same examples every time."""

from hypothesis import settings

settings.register_profile("citewell", deadline=None, derandomize=True)
settings.load_profile("citewell")

"""For all tests: Hypothesis looks for wrong results, not for slow machines."""

from hypothesis import settings

settings.register_profile("citewell", deadline=None)
settings.load_profile("citewell")

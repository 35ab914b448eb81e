"""Settings of all tests."""

from hypothesis import settings

# deadline: the first example of a test pays for imports; derandomize: the same examples in every run.
settings.register_profile("trainplan", deadline=None, derandomize=True)
settings.load_profile("trainplan")

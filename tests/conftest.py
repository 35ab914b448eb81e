"""Settings of all tests."""

from command import trainplan
from hypothesis import settings

__all__ = ["trainplan"]  # a fixture of all rooms

# deadline: the first example of a test pays for imports; derandomize: the same examples in every run.
settings.register_profile("trainplan", deadline=None, derandomize=True)
settings.load_profile("trainplan")

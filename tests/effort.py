"""How much is tried.  What a hasty run leaves out is chance: each run makes other examples."""

from __future__ import annotations

from hypothesis import settings

HASTY, THOROUGH = "hasty", "thorough"
#: A hasty run tries one of so many examples, and of any property so many at least.
HASTE, LEAST = 3, 30

settings.register_profile(THOROUGH, settings.default)
settings.register_profile(HASTY, settings.default, max_examples=settings.default.max_examples // HASTE)


def examples(count: int) -> int:
    """How many of ``count`` examples to try."""
    return max(LEAST, count // HASTE) if settings.get_current_profile_name() == HASTY else count

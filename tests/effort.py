"""How much is tried.  What a hasty run leaves out is chance: each run makes other examples."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

HASTY, THOROUGH = "hasty", "thorough"
#: A hasty run tries one of so many examples, and of any property so many at least.
HASTE, LEAST = 3, 30

#: How long an example takes says more of the machine than of what is tried.
_ANY_PACE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile(THOROUGH, _ANY_PACE)
settings.register_profile(HASTY, _ANY_PACE, max_examples=_ANY_PACE.max_examples // HASTE)


def examples(count: int) -> int:
    """How many of ``count`` examples to try."""
    return max(LEAST, count // HASTE) if settings.get_current_profile_name() == HASTY else count

"""Property tests run the same examples every time."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "games",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=6,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("games")

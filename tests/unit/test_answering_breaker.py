import pytest

from citewell.answering.breaker import Breaker
from citewell.errors import ModelError


def test_after_a_rest_one_try_decides_whether_the_service_is_back() -> None:
    now = [0.0]
    breaker = Breaker(failures=2, rest=10.0, clock=lambda: now[0])
    breaker.failed()
    breaker.check()
    breaker.failed()
    with pytest.raises(ModelError, match="asked again in 10 s"):
        breaker.check()
    now[0] = 11.0
    breaker.check()
    with pytest.raises(ModelError):
        breaker.check()
    breaker.worked()
    breaker.check()

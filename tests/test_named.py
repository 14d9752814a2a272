"""Named tuples made without `typing` are those `typing` makes."""

import pickle
import typing

from commonplace import named

BODY = '''
from __future__ import annotations

class Point(NamedTuple):
    """Where it is."""

    x: int
    """From the left."""
    y: int = 0
    tags: tuple[str, ...] = ()

    @property
    def far(self) -> int:
        return self.x + self.y

    @classmethod
    def at(cls, x: int) -> Point:
        return cls(x, 1)

    def __str__(self) -> str:
        return f"at {self.x}"
'''


def made_by(base):
    place = {"NamedTuple": base, "__name__": __name__}
    exec(compile(BODY, "point", "exec", dont_inherit=True), place)
    return place["Point"]


OURS, THEIRS = made_by(named.NamedTuple), made_by(typing.NamedTuple)
Point = OURS  # where pickle looks for it


def test_a_class_is_what_typing_makes_of_the_same_words():
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "_fields", "_field_defaults", "__slots__"):
        assert getattr(OURS, name) == getattr(THEIRS, name), name
    assert OURS.__bases__ == THEIRS.__bases__ == (tuple,)
    assert list(OURS.__annotations__) == list(THEIRS.__annotations__)
    assert set(vars(OURS)) == set(vars(THEIRS)) - {"__orig_bases__"}


def test_so_are_its_values():
    for point in (OURS, THEIRS):
        one = point(1)
        assert one == (1, 0, ()) and (one.x, one.y, one.tags, one.far) == (1, 0, (), 1)
        assert repr(one) == "Point(x=1, y=0, tags=())" and str(one) == "at 1"
        assert one._replace(y=2)._asdict() == {"x": 1, "y": 2, "tags": ()}
        assert point.at(3) == point(x=3, y=1) and hash(one) == hash((1, 0, ()))
        assert point._make([7, 8, ()]) == (7, 8, ())
    assert pickle.loads(pickle.dumps(OURS(1, 2))) == OURS(1, 2)


def test_they_refuse_what_those_refuse():
    for point in (OURS, THEIRS):
        for given in (lambda: point(), lambda: point(1, z=2), lambda: setattr(point(1), "x", 2)):  # noqa: PLW0108
            try:
                given()
            except (TypeError, AttributeError):
                continue
            raise AssertionError(point)

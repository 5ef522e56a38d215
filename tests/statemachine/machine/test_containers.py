"""However a variable is kept, it reads like a dictionary or a set of what was said: also of elements never spoken of."""

import pytest

from interlock.statemachine.ledger.containers import (
    ColumnFunction,
    ColumnGroups,
    ColumnRelation,
    HintedGroups,
    Index,
    IndexedRelation,
    RecordedFunction,
    RecordedGroups,
    RecordedRelation,
)

RECORDS = {"a": [7, True, (1,)], "b": [None, False, ()], "c": [0, True, {1: None, 2: None}]}
NEVER = (-1, 3, 99)
"""Elements beyond a column of three, and one before it."""

MAPPINGS = {
    "recorded function": (RecordedFunction(RECORDS, 0), {"a": 7, "c": 0}, ("b", "x")),
    "recorded groups": (RecordedGroups(RECORDS, 2), {"a": (1,), "c": {1: None, 2: None}}, ("b", "x")),
    "column function": (ColumnFunction([5, None, 0]), {0: 5, 2: 0}, (1, *NEVER)),
    "column groups": (ColumnGroups([("j",), (), {"j": None, "k": None}]), {0: ("j",), 2: {"j": None, "k": None}}, (1, *NEVER)),
    "hinted groups": (
        # 0 has one member, 1 had one, 2 has several, 3 never had any
        HintedGroups(["j", "k", "j", None], {"j": (0, 2), "k": (2,)}, {2: {"j": None, "k": None}}),
        {0: ("j",), 2: {"j": None, "k": None}},
        (1, 3, -1, 99),
    ),
}  # fmt: skip
SETS = {
    "recorded relation": (RecordedRelation(RECORDS, 1), {"a", "c"}, ("b", "x")),
    "column relation": (ColumnRelation([True, False, True]), {0, 2}, (1, "0", *NEVER)),
    "indexed relation": (
        IndexedRelation([Index(2, (0,), {"A": (1,), "B": {1: None, 3: None}}), Index(2, (1,), {1: ("never read",)})]),
        {("A", 1), ("B", 1), ("B", 3)},
        (("A", 3), ("C", 1)),
    ),
    "relation indexed by its last": (
        IndexedRelation([Index(3, (2,), {"x": (("A", 1),)})]), {("A", 1, "x")}, (("A", 1, "y"), ("B", 1, "x")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MAPPINGS)
def test_a_function_reads_like_a_dictionary(name):
    view, expected, absent = MAPPINGS[name]

    assert dict(view.items()) == expected
    assert (len(view), list(view)) == (len(expected), list(expected))
    assert view == expected
    for key in absent:
        assert key not in view
        assert view.get(key, "nothing") == "nothing"
        with pytest.raises(KeyError, match=str(key)):
            view[key]


@pytest.mark.parametrize("name", SETS)
def test_a_relation_reads_like_a_set(name):
    view, expected, absent = SETS[name]

    assert set(view) == expected
    assert len(view) == len(expected)
    assert bool(view)
    assert all(key in view for key in expected)
    assert not [key for key in absent if key in view]
    assert view & expected == expected
    assert isinstance(view - expected, set)


def test_of_nothing_nothing_is_said():
    assert not IndexedRelation([Index(2, (0,), {})])
    assert len(ColumnRelation([])) == len(ColumnFunction([])) == len(ColumnGroups([])) == 0
    assert ColumnFunction([]).inverse is RecordedFunction({}, 0).inverse is None

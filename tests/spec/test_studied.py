"""What the study of released code has, the specification names or leaves out for a reason; states that relations say."""

from __future__ import annotations

import re

import pytest
from support.counterexamples import Judge

from interlock.spec.language.terms import exists
from interlock.spec.modules import simple
from interlock.spec.rules.derived import DERIVED, DerivedState
from interlock.spec.rules.studied import OUTSIDE, STUDIED

SPECS = {m.name: m for m in simple()}
SLICES = {"kv-transfer": "tiny", "engine": "late_write", "groups": "store_sources", "tiers": "tier_lookup"}


def _named() -> set[str]:
    """Rows that a source names, by themselves or within a range as ``Q9 to Q11``."""
    found: set[str] = set()
    for m in SPECS.values():
        rows = (row for life in m.lifecycles for row in life.rows)
        for source in (x.source for x in (*m.switches, *m.actions, *m.properties, *rows)):
            found.update(re.findall(r"(?<![\w-])[QJLGND]\d{1,2}(?!\w)", source))
            for kind, first, last in re.findall(r"(?<![\w-])([QJLGND])(\d+) to \1?(\d+)", source):
                found.update(f"{kind}{n}" for n in range(int(first), int(last) + 1))
    return found


def test_each_row_of_the_study_is_named_or_left_out_for_a_reason() -> None:
    outside = [row.id for row in OUTSIDE]

    assert set(STUDIED) - _named() == set(outside)
    assert len(set(outside)) == len(outside)
    assert len(set(STUDIED)) == len(STUDIED)


def test_no_source_names_a_row_that_the_study_does_not_have() -> None:
    assert _named() - set(STUDIED) == set()


@pytest.mark.parametrize("state", DERIVED, ids=lambda d: f"{d.module}-{d.entity}-{d.state}".replace(" ", "-"))
def test_each_derived_state_is_met_and_is_not_met_always(state: DerivedState) -> None:
    judge, slice_ = Judge(SPECS[state.module]), SLICES[state.module]

    assert judge.reachable(slice_, exists(*state.of, state.formula))
    assert judge.reachable(slice_, exists(*state.of, ~state.formula))


def test_what_people_ask_of_a_block_and_of_a_chunk_is_a_state_somewhere() -> None:
    shown = {state for m in SPECS.values() for life in m.lifecycles for r in life.rows
             for state in (r.source_state, r.target_state)} | {d.state for d in DERIVED}  # fmt: skip

    assert shown >= {
        "free", "used", "hashed", "fenced", "parked", "null", "referenced_by_requests", "being_loaded",
        "absent", "pending", "ready", "pinned", "evicted",
    }  # fmt: skip

"""Diagrams: every row is drawn, once, and Mermaid reads nothing of its own in a guard."""

import re
from collections import Counter

import pytest

from interlock.adapters.report.mermaid import mermaid
from interlock.spec.modules import modules

LIFECYCLES = [(spec, life) for spec in modules() for life in spec.lifecycles]


@pytest.mark.parametrize(("spec", "life"), LIFECYCLES, ids=[f"{s.name}-{life.name}" for s, life in LIFECYCLES])
def test_every_row_is_in_the_diagram(spec, life):
    *head, start = mermaid(spec, life.name).splitlines()[:5]
    drawn = Counter(line.partition(" [")[0] for line in mermaid(spec, life.name).splitlines()[5:])

    assert head == ["---", f"title: {spec.name}, {life.name}", "---", "stateDiagram-v2"]
    assert start == f"  [*] --> {life.initial}"
    assert drawn == Counter(f"  {r.source_state} --> {r.target_state}: {r.event}" for r in life.rows)


def test_labels_carry_nothing_that_mermaid_would_read():
    lines = [line for spec, life in LIFECYCLES for line in mermaid(spec, life.name).splitlines()[5:]]
    labels = [line.split(": ", 1)[1] for line in lines]

    assert any("#60;" in label for label in labels)
    assert not any(set(re.sub(r"#\d+;", "", label)) & set("#;:<>") for label in labels)


def test_a_diagram_has_room_for_its_labels():
    lines = [line for spec, life in LIFECYCLES for line in mermaid(spec, life.name).splitlines()[5:]]
    guards = [re.sub(r"#\d+;", "?", line).partition(" [")[2].removesuffix("]") for line in lines]

    assert {len(g) for g in guards if g.endswith("…")} >= {60}
    assert max(map(len, guards)) == 60

"""Each leads-to rests on the fairness of some action: without that alone, it fails."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import pytest

from interlock.proofs.explorer.liveness import check_leads_to
from interlock.proofs.explorer.program import Program
from interlock.proofs.explorer.search import Limits, _Search
from interlock.spec.language.actions import Fairness
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import LeadsTo
from interlock.spec.language.specification import Specification
from interlock.spec.modules import simple


def without_fairness(program: Program, action: str) -> Program:
    """The same program, in which an action need not happen."""
    step = next(s for s in program.system.steps if s.name == action)
    unfair = replace(step, action=step.action.model_copy(update={"fairness": Fairness.NONE}))
    changed = copy(program)
    changed.instances = [replace(i, step=unfair) if i.step is step else i for i in program.instances]
    return changed


@pytest.mark.parametrize("spec", simple(), ids=[m.name for m in simple()])
def test_every_leads_to_fails_without_the_fairness_of_one_action(spec: Specification) -> None:
    left = {p.id for p in spec.properties if isinstance(p, LeadsTo)}
    assert left
    for slice_ in spec.slices:
        here = [p for p in spec.properties if p.id in left and slice_.name in p.slices]
        if not slice_.default or not here:
            continue
        search = _Search(
            elaborate(spec, spec.switch_values("interlock"), slice_, properties=here), Limits(), None, frozenset()
        )
        assert search.run().exhaustive
        fair = [s.name for s in search.program.system.steps if s.action.fairness != Fairness.NONE]
        for p in search.leads_to:
            if any(
                check_leads_to(without_fairness(search.program, a), search.graph, p).counterexample is not None
                for a in fair
            ):
                left.remove(p.id)

    assert left == set()

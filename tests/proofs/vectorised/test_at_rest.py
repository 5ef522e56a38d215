"""Which states are at rest, and what is owed there: as the plain explorer has it, on small systems drawn at random."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.explorations import slice_system, summary
from support.host_cuda import HostModule, compiler
from support.small import CLAIM, HERE, THING, TURN_OFF, TURN_ON, act, at, on, specification, x, y
from support.small import system as system_of

from interlock.proofs.explorer.result import Exploration
from interlock.proofs.explorer.search import explore
from interlock.proofs.vectorised import search
from interlock.proofs.vectorised.backend import NumpyBackend, TorchBackend
from interlock.proofs.vectorised.fused import FusedStep
from interlock.proofs.vectorised.run import explore_vectorised
from interlock.proofs.vectorised.search import Options
from interlock.spec.admission import SPECIFICATION as ADMISSION
from interlock.spec.delivery import SPECIFICATION as DELIVERY
from interlock.spec.encoder import SPECIFICATION as ENCODER
from interlock.spec.engine import SPECIFICATION as ENGINE
from interlock.spec.groups import SPECIFICATION as GROUPS
from interlock.spec.language.actions import Action, Fairness, assign
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import System
from interlock.spec.language.terms import FALSE, TRUE, exists, forall
from interlock.spec.language.variables import counter, function, relation
from interlock.spec.mirror import SPECIFICATION as MIRROR
from interlock.spec.pipeline import SPECIFICATION as PIPELINE
from interlock.spec.tiers import SPECIFICATION as TIERS

lit = relation("lit", x, site=HERE, doc="x is lit")
near = function("near", x, result=THING, site=HERE, domain=lit(x), doc="what x is near, while it is lit")
few = counter("few", site=HERE, doc="a number with an end", high=2)
many = counter("many", site=HERE, doc="a number without one")

OFTEN = (
    TURN_ON,
    TURN_OFF,
    act("light", ~lit(x), do=(assign(lit(x), True), assign(near(x), x)), params=(x,)),
    act("darken", lit(x), do=(assign(lit(x), False),), params=(x,)),
    act("fill", few() < 2, do=(assign(few(), few() + 1),)),
    act("empty", ~few().eq(0), do=(assign(few(), 0),)),
    act("grow", many() < 2, on(x), do=(assign(many(), many() + 1),), params=(x,)),
)
GUARDS = (
    on(x), ~on(x), lit(x), ~lit(x), few().eq(0), few() < 2, many() < 1, many() < 2, exists(y, on(y)), ~exists(y, lit(y)),
    at(x).eq(x),
)  # fmt: skip
UPDATES = (
    tuple(assign(on(x), v) for v in (False, on(x), on(x) & lit(x))),
    tuple(assign(lit(x), v) for v in (False, lit(x), on(x) & lit(x))),
    (assign(at(x), x),),
    tuple(assign(few(), v) for v in (few() + 1, few() - 1, few(), 0, 1)),
    tuple(assign(many(), v) for v in (many() + 1, many(), 0)),
)
"""Of each row at most one; some change nothing, ever or now and then, and some leave a range, a domain or the scope."""
FORMULAS = {
    "never": FALSE,
    "always": TRUE,
    "dark": forall(x, ~on(x)),
    "both-on": forall(x, on(x)),
    "not-many": many() < 2,
    "in-place": exists(x, on(x)) >> exists(x, at(x).eq(x)),
    "lit-or-undefined": forall(x, near(x).eq(x)),
}
SEEDS = range(100)

SLICES = (
    ("late_write", ENGINE), ("guess_again", ENGINE), ("ec_ask", ENCODER), ("ec_queue", ENCODER), ("mirror_batch", MIRROR),
    ("task_blocks", TIERS), ("recency_again", GROUPS), ("admission_quick", ADMISSION), ("depth_one_pair", PIPELINE),
    ("merged_reports", DELIVERY), ("composite_finish", DELIVERY),
)  # fmt: skip
"""Of other modules; ``test_differential`` has those of kv."""


def drawn(seed: int, leaving_out: str = "") -> System:
    """Four to six actions, of which most are fair, and up to three formulas asked of the states at rest."""
    random = Random(seed)
    actions: list[Action] = random.sample(OFTEN, random.randint(3, 4))
    for n in range(random.randint(1, 2)):
        guard = random.sample(GUARDS, random.randint(1, 2))
        updates = [random.choice(row) for row in random.sample(UPDATES, random.choice((0, 1, 1, 2)))]
        actions.append(act(f"a{n}", *guard, do=updates, params=(x,)))
    fair = {"fairness": Fairness.WEAK, "fairness_why": "a test"}
    actions = [a.model_copy(update=fair) if random.random() < 0.6 else a for a in actions]
    # Not all at once: where one is false, all are looked at.
    asked = random.sample([i for i in FORMULAS if i != leaving_out], random.randint(1, 3))
    properties = [Quiescence(id=i, formula=FORMULAS[i], **CLAIM) for i in asked]
    return system_of(specification((on, at, lit, near, few, many), actions, properties))


def said(found: Exploration) -> Any:
    """Everything on which engines must agree, and the words."""
    return summary(found), {(c.property_id, c.message) for c in found.counterexamples}


def test_what_is_drawn_says_something() -> None:
    met: Counter[str] = Counter()
    for seed in SEEDS:
        found = explore(drawn(seed))
        owed = [c for c in found.counterexamples if c.property_id in FORMULAS]
        met.update({v for i, v in found.verdicts.items() if i in FORMULAS})
        met["goes wrong"] += any(c.broken for c in found.counterexamples)
        met["leaves the scope"] += "int_max" in found.reason
        met["some rest"] += 0 < (found.quiescent or 0) < found.states
        met["deep"] += any(c.length > 1 for c in owed)
        met["undefined"] += any("cannot be evaluated" in c.message for c in owed)
    kinds = ("holds", "violated", "vacuous", "goes wrong", "leaves the scope", "some rest", "deep", "undefined")

    assert [k for k in kinds if met[k] < 3] == []


@pytest.mark.parametrize("seed", SEEDS)
def test_same_as_plain(seed: int) -> None:
    """In pieces of five states, so that most levels take more than one."""
    system = drawn(seed)

    assert said(explore_vectorised(system, backend=NumpyBackend(chunk_rows=5))) == said(explore(system))


@pytest.mark.parametrize(("name", "spec"), SLICES, ids=[name for name, _ in SLICES])
def test_slices_of_other_modules(name: str, spec: Specification) -> None:
    system = slice_system(name, spec=spec)

    assert any(isinstance(p, Quiescence) for p in system.properties)
    assert said(explore_vectorised(system)) == said(explore(system))


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_orbits_rest_as_their_states_do(seed: int) -> None:
    """But for a formula whose parts are undefined in some order only, as with every kind of property."""
    system = drawn(seed, leaving_out="in-place")
    full, reduced = explore(system), explore_vectorised(system, options=Options(symmetry=True))

    assert reduced.verdicts == full.verdicts
    assert {c.property_id: c.length for c in reduced.counterexamples} == {
        c.property_id: c.length for c in full.counterexamples
    }
    assert bool(reduced.quiescent) == bool(full.quiescent)


@pytest.mark.parametrize("seed", SEEDS[:6])
def test_torch(seed: int) -> None:
    pytest.importorskip("torch")
    system = drawn(seed)

    assert said(explore_vectorised(system, backend="torch")) == said(explore(system))


@pytest.mark.skipif(compiler is None, reason="no C++ compiler")
@pytest.mark.parametrize("seed", SEEDS[:6])
def test_cuda_kernels_on_the_host(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    system = drawn(seed)
    made: list[FusedStep] = []

    def fused(self: search.Search) -> FusedStep:
        made.append(FusedStep(self.engine, self.visited, lambda text: HostModule(text, tmp_path)))
        return made[-1]

    monkeypatch.setattr(search.Search, "_stepper", fused)
    found = explore_vectorised(system, backend=TorchBackend("cpu"))
    monkeypatch.undo()

    assert made
    assert said(found) == said(explore(system))


@pytest.mark.gpu
@pytest.mark.parametrize("fused", [True, False], ids=["fused", "eager"])
@pytest.mark.parametrize("seed", SEEDS[:6])
def test_cuda(seed: int, fused: bool) -> None:
    system = drawn(seed)

    assert said(explore_vectorised(system, backend=TorchBackend("cuda", fused=fused))) == said(explore(system))

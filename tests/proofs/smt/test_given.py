"""What one proof takes from another: assumed, not asked again, and worth what the other is worth."""

import pytest

from interlock.proofs.prove import run_prove
from interlock.proofs.smt.induction import Induction, givers, invariants_of
from interlock.spec.engine import SPECIFICATION
from interlock.spec.language.build import build
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.properties import Invariant
from interlock.spec.language.specification import Specification

TAKES, GIVES = "counted-tokens-are-confirmed", "computed-nonnegative"
SYSTEM = elaborate(SPECIFICATION, SPECIFICATION.switch_values())


def with_given(*given: str) -> Specification:
    properties = tuple(
        p.model_copy(update={"given": given}) if p.id == TAKES else p
        for p in SPECIFICATION.properties
    )  # fmt: skip
    return SPECIFICATION.model_copy(update={"properties": properties})


def test_what_is_given_is_not_asked_again() -> None:
    taking, giving = (Induction(SYSTEM, invariants_of(SYSTEM, p)) for p in (TAKES, GIVES))
    asked, kinds = ({o.claim.name.partition(":")[0] for o in i.obligations} for i in (taking, giving))
    target = SPECIFICATION.property(TAKES)

    assert isinstance(target, Invariant)
    assert TAKES in asked
    assert not asked & {*target.given, "range", "domain"}
    assert {"range", "domain"} <= kinds, "the proof that gives it shows them"


def test_what_is_given_is_assumed() -> None:
    """Without it, what follows from it does not."""
    claims = invariants_of(SYSTEM, TAKES)
    without = tuple(c for c in claims if c.name != "the-step-being-processed-is-the-oldest")
    names = frozenset({f"process_outputs / {TAKES}"})

    assert [a.answer for a in Induction(SYSTEM, claims).ask("z3", "process_outputs", 20, only=names)] == ["proved"]
    assert Induction(SYSTEM, without).counterexample(*names) is not None


def test_who_gives() -> None:
    assert givers(SYSTEM, TAKES) == [GIVES]
    assert givers(SYSTEM, GIVES) == []


@pytest.mark.parametrize("given", ["computed-within-valid-prefix", "steps-adjoin", TAKES])
def test_what_no_other_proof_has_is_refused(given: str) -> None:
    """Of a property that is only checked, of its own lemma, of itself."""
    with pytest.raises(SpecificationError, match=f"{given} is given, but no proof has it"):
        build(with_given(given))


@pytest.mark.slow
def test_a_proof_is_worth_what_it_takes_is_worth() -> None:
    """Asked alone, the giver is proved with it; where the giver fails, the other is not claimed."""
    result = run_prove([TAKES], {"in_flight_output": "deliver"}, "z3")

    assert list(result.properties) == [GIVES, TAKES]
    assert not result.properties[GIVES].any_size
    assert not result.properties[TAKES].any_size
    assert result.verdict != "proved"

"""Obligations in parts, formulas at a few elements, and the hypotheses that a goal needs."""

import time

import z3

from interlock.proofs.explorer.program import Program
from interlock.proofs.smt.encode import Encoding
from interlock.proofs.smt.goals import Goals
from interlock.proofs.smt.induction import Induction, invariants_of
from interlock.proofs.smt.needed import Needed
from interlock.proofs.smt.parts import parts
from interlock.proofs.smt.small import Small
from interlock.spec import engine, lookup
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import Invariant

PREFIX = "computed-within-valid-prefix"
SHARES = "who-shares-a-block-shares-all-before-it"
SYSTEM = elaborate(engine.SPECIFICATION, engine.SPECIFICATION.switch_values())


def induction(property_id: str = PREFIX) -> Induction:
    return Induction(SYSTEM, invariants_of(SYSTEM, property_id))


def test_parts_say_together_what_the_whole_says() -> None:
    """In every kind of state: reachable ones, and such with one cell changed, in which much is false."""
    spec = engine.SPECIFICATION
    (chosen,) = (s for s in spec.slices if s.name == "late_write")
    invariants = [p for p in spec.properties if isinstance(p, Invariant) and chosen.name in p.slices]
    program = Program(elaborate(spec, spec.switch_values(), chosen, None, invariants))
    whole_and_parts = [
        (program.predicate(p.formula), [program.predicate(x) for x in parts(p.formula)])
        for p in program.system.properties
        if isinstance(p, Invariant)
    ]
    states = list(program.initial_states())
    for state in states:
        if len(states) > 300:
            break
        states += [s for _, s in program.successors(state) if isinstance(s, tuple) and s not in states]
    odd = [(*s[:i], s[j], *s[i + 1 :]) for s in states[::9] for i in range(0, len(s), 3) for j in (i - 1,)]

    assert sum(len(p) for _, p in whole_and_parts) > len(whole_and_parts)
    seen = set()
    for state in (*states, *odd):
        for whole, split in whole_and_parts:
            assert whole(state) == all(p(state) for p in split)
            seen.add(whole(state))
    assert seen == {True, False}


def test_a_formula_at_few_elements_says_what_it_says_of_them() -> None:
    encoding = Encoding(SYSTEM)
    values = encoding.values
    small = Small(values, {"request": 2, "block": 2, "slot": 1})
    solver = z3.Solver(ctx=values.ctx)
    for sort, size in (("request", 2), ("block", 2), ("slot", 1)):
        x, elements = values.fresh("x", sort), [values.constant(f"{sort}!{i}", sort) for i in range(size)]
        solver.add(z3.ForAll([x], z3.Or([x == e for e in elements])))
    solver.add(small.nothing_else(()))
    claims = invariants_of(SYSTEM, SHARES)
    formulas = [encoding.formula(c.term) for c in claims]

    assert len(formulas) > 5
    for formula in formulas:
        assert solver.check(small.unrolled(formula) != formula) == z3.unsat
        assert solver.check(z3.Not(formula)) == z3.sat, "the other way round nothing would be compared"


def choice(of: Induction, name: str, but: str = "") -> tuple[tuple[str, ...], tuple[str, ...]] | str:
    """What is chosen for the first part of an obligation, with all hypotheses but one."""
    encoding, owed = of.encoding, of.named(name)
    assert owed.step is not None
    step = encoding.step(owed.step)
    hypotheses = {
        f"{c.name}#{n}": encoding.formula(p)
        for c in (*of.invariants, *encoding.ranges)
        for n, p in enumerate(parts(c.term))
        if c.name != but
    }
    goal = z3.Not(encoding.formula(parts(owed.claim.term)[0], step))
    fixed = [*encoding.sizes(), *(c.formula for c in step.guard)]
    sizes = (("request", 2), ("block", 3), ("slot", 2))
    return Needed(encoding.values).choice(sizes, hypotheses, fixed, step.params, goal, (), time.monotonic() + 60)


def test_what_is_chosen_is_enough_and_none_of_it_too_much() -> None:
    of, name = induction(), "hit / who-holds-what-a-step-computes-holds-what-it-reads"
    found = choice(of, name)

    assert isinstance(found, tuple)
    few, many = found
    assert set(few) <= set(many)
    assert 2 <= len(few) < len(of.invariants) / 3
    for hypothesis in few:
        assert choice(of, name, but=hypothesis.partition("#")[0]) != (few, many)


def test_a_counterexample_to_all_hypotheses_is_a_failure() -> None:
    of, name = induction(SHARES), f"hit / {SHARES}"

    assert isinstance(choice(of, name), tuple)
    assert choice(of, name, but="a-visited-request-counts-all-that-it-holds") == "failed"


def test_the_second_solver_is_given_what_the_first_has_used() -> None:
    of = induction()
    owed = of.named("offer_sync / a-step-goes-on-from-what-is-right-or-excused")
    answer, uses = of.goals.ask("z3", owed, 60)

    assert answer == "proved"
    assert [len(names or ()) for names in uses] == [4]
    assert of.goals.ask("cvc5", owed, 60, uses) == ("proved", uses)
    (names,) = uses
    assert names is not None
    # What it is given is all that it is given, at first: with one less it has to ask with all hypotheses.
    assert of.goals.ask("cvc5", owed, 2, ((*names[:-1],),))[1] != ((*names[:-1],),)


def test_what_is_false_is_not_proved_by_any_choice() -> None:
    """Without the lemma, some obligation of each that needs it fails, however it is asked."""
    claims = tuple(c for c in invariants_of(SYSTEM, SHARES) if c.name != "a-visited-request-counts-all-that-it-holds")
    of = Induction(SYSTEM, claims)
    owed = of.named(f"hit / {SHARES}")

    assert Goals(of.encoding, claims).ask("z3", owed, 60)[0] == "failed"
    assert of.counterexample(owed.name) is not None


def test_a_counterexample_has_no_elements_beside_those_that_it_is_to_have() -> None:
    """Of the bound of a lookup, a position, the solver would make one that no hypothesis speaks of."""
    system = elaborate(lookup.SPECIFICATION, lookup.SPECIFICATION.switch_values())
    longest = Induction(system, invariants_of(system, "nothing-longer-is-left-out"))
    (owed,) = (o for o in longest.obligations if o.name == "ask / nothing-longer-is-left-out")

    answer, _ = Goals(longest.encoding, longest.invariants).ask("z3", owed, 20)

    assert answer == "proved"

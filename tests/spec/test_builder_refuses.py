"""Each refusal of the builder, provoked by one change to the real specification: place and fix are named."""

import pytest

from interlock.spec.kv import SPECIFICATION
from interlock.spec.kv.vocabulary import (
    b,
    b2,
    copy_state,
    copy_states,
    due,
    failure_seen,
    flush_meta,
    h,
    holds,
    in_flight,
    j,
    job_state,
    job_states,
    pending_count,
    r,
    w,
)  # fmt: skip
from interlock.spec.language.actions import Conjunct, assign, assign_all
from interlock.spec.language.build import build
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.lifecycles import row
from interlock.spec.language.properties import BoundaryClause, Ground, Invariant, LeadsTo
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import FALSE, TRUE, Member, Primed, Term, exists, forall


def changed(**fields: object) -> Specification:
    return SPECIFICATION.model_copy(update=fields)


def with_action(name: str, **fields: object) -> Specification:
    actions = tuple(a.model_copy(update=fields) if a.name == name else a for a in SPECIFICATION.actions)
    return changed(actions=actions)


def with_guard(name: str, term: Term) -> Specification:
    action = SPECIFICATION.action(name)
    return with_action(name, guard=(*action.guard, Conjunct(id="extra", term=term)))


def with_update(name: str, update: object) -> Specification:
    return with_action(name, updates=(*SPECIFICATION.action(name).updates, update))


def with_property(p: object) -> Specification:
    return changed(properties=(*SPECIFICATION.properties, p))


def with_slice(name: str, **fields: object) -> Specification:
    slices = tuple(s.model_copy(update=fields) if s.name == name else s for s in SPECIFICATION.slices)
    return changed(slices=slices)


def with_row(life: str, new: object) -> Specification:
    lives = tuple(
        x.model_copy(update={"rows": (*x.rows, new)}) if x.name == life else x for x in SPECIFICATION.lifecycles
    )
    return changed(lifecycles=lives)


def invariant(formula: Term, **fields: object) -> Invariant:
    return Invariant(
        **{"id": "extra", "source": "test", "doc": "test", "slices": ("store",), "formula": formula, **fields}
    )


LEADS_TO = LeadsTo(
    id="extra", source="test", doc="test", slices=("store",), vars=(j,), conclusion=FALSE,
    premise=job_state(j).eq(job_states["flush_requested"]),
)  # fmt: skip
UNKNOWN_STATE = Member(enum="job_states", name="lost")
NO_REQUEST_LOADS = tuple(
    x.model_copy(update={"rows": tuple(y for y in x.rows if y.event != "plan_load")}) if x.name == "request" else x
    for x in SPECIFICATION.lifecycles
)

REFUSED: dict[str, tuple[Specification, str, str]] = {
    "wrong sort": (with_guard("publish", in_flight(h)), "action publish", "of type block"),
    "number where a state is due": (with_guard("plan_store", (pending_count(j) + in_flight(b)).eq(1)), "action plan_store", "of type int"),
    "unbound variable": (with_guard("hit", in_flight(b2)), "action hit", "parameter"),
    "shadowed variable": (with_guard("hit", exists(b, in_flight(b))), "action hit", "another name"),
    "unknown state": (with_property(invariant(forall(j, job_state(j).ne(UNKNOWN_STATE)))), "extra", "planned"),
    "unknown state in a row": (
        with_row("job", row("lost", "plan_store", "planned", source="test")), "lifecycle job", "use one of",
    ),
    "a variable updated twice": (with_update("hit", assign(holds(r, b), True)), "action hit", "merge"),
    "unreachable row": (changed(lifecycles=NO_REQUEST_LOADS), "lifecycle request", "add the row"),
    "a row that no action fires": (
        with_row("job", row("absent", "hit", "planned", source="test")), "lifecycle job", "fire job",
    ),
    "open slice": (with_slice("store", drop=("in_flight",)), "slice store", "keep in_flight"),
    "slice without a size": (with_slice("store", scope={"request": 1}), "slice store", "each sort"),
    "unknown name in a slice": (with_slice("store", remove=("explode",)), "slice store", "remove actions"),
    "names that an export would fold into one": (
        changed(variables=(*SPECIFICATION.variables, in_flight.model_copy(update={"name": "inflight"}))),
        "inflight", "rename",
    ),
    "an id that is used again": (
        with_property(invariant(TRUE, id="no-block-stored-twice-in-flight")), "no-block", "rename",
    ),
    "property without slice or proof": (with_property(invariant(TRUE, slices=())), "extra", "name a slice"),
    "property in an unknown slice": (with_property(invariant(TRUE, slices=("stor",))), "extra", "use one of"),
    "unknown lemma": (with_property(invariant(TRUE, proof=("lost-lemma",))), "extra", "declare it"),
    "unknown ground": (
        with_property(invariant(TRUE, grounds=(Ground(action="hit", conjunct="nothing"),))), "extra", "conjuncts",
    ),
    "leads-to without a witness": (with_property(LEADS_TO), "extra", "add the witness"),
    "prime outside an action property": (
        with_property(invariant(Primed(body=forall(b, in_flight(b))))), "extra", "only action properties",
    ),
    "a guard that reads a ghost": (with_guard("hit", due(b)), "action hit", "ghost"),
    "a worker that reads the scheduler": (
        with_guard("copy_store", job_state(j).eq(job_states["planned"])), "action copy_store", "message",
    ),
    "a worker that writes the scheduler": (
        with_update("copy_store", assign(in_flight(b), True)), "action copy_store", "not bound",
    ),
    "a worker that writes the scheduler's counter": (
        with_update("copy_store", assign(failure_seen(j), True)), "action copy_store", "let the other site",
    ),
    "a sender that reads its own channel": (
        with_guard("order_flush", forall(w, flush_meta(w, j).eq(0))), "action order_flush", "only actions of the worker",
    ),
    "a ghost that feeds a real variable": (
        with_update("finish", assign_all(b, to=in_flight(b), value=due(b))), "action finish", "ghost",
    ),
    "a boundary clause over what no observer sees": (
        with_property(BoundaryClause(
            id="extra", source="test", doc="test", slices=("store",), action="hit",
            formula=exists(w, j, copy_state(w, j).eq(copy_states["idle"])),
        )),
        "extra", "observable",
    ),
    "a boundary clause on a hidden action": (
        with_property(BoundaryClause(
            id="extra", source="test", doc="test", slices=("store",), action="evict", formula=TRUE,
        )),
        "extra", "observed",
    ),
    "a preset without a value": (
        changed(presets=(SPECIFICATION.presets[0].model_copy(update={"values": {}}),)), "preset", "each switch",
    ),
    "an expectation that no slice covers": (
        changed(expectations=(SPECIFICATION.expectations[0].model_copy(
            update={"slice": "load", "property": "computed-and-kept-is-served"}),)),
        "computed-and-kept-is-served", "add the slice",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_and_names_place_and_fix(case: str) -> None:
    spec, place, fix = REFUSED[case]
    with pytest.raises(SpecificationError) as refused:
        build(spec)

    assert place in str(refused.value)
    assert fix in str(refused.value)
    assert "\n" not in str(refused.value)


def test_accepts_the_specification() -> None:
    assert build(SPECIFICATION) is SPECIFICATION


def test_a_row_needs_a_source() -> None:
    with pytest.raises(ValueError, match="source"):
        row("absent", "plan_store", "planned", source="")


def test_a_misspelt_member_is_refused_where_it_is_written() -> None:
    with pytest.raises(KeyError, match="store_in_flight"):
        job_states["in_flight"]


def test_terms_refuse_python_truth() -> None:
    with pytest.raises(TypeError, match="use & "):
        bool(in_flight(b))

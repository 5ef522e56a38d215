"""Each refusal of the builder, provoked by one change to the real specification: place and fix are named."""

import pytest

from interlock.spec.kv import SPECIFICATION
from interlock.spec.kv.vocabulary import (
    b,
    b2,
    c,
    copy_state,
    copy_states,
    done,
    due,
    failure_seen,
    flush_meta,
    h,
    hashed,
    holds,
    in_flight,
    j,
    job_state,
    job_states,
    kv_reset,
    pending_count,
    r,
    reads_current,
    step,
    store_meta,
    w,
)  # fmt: skip
from interlock.spec.language.actions import (
    Conjunct,
    Fairness,
    Receive,
    Send,
    Update,
    assign,
    assign_all,
    fire,
    receive_all,
    send,
)
from interlock.spec.language.build import build
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.lifecycles import row
from interlock.spec.language.properties import ActionProperty, BoundaryClause, Ground, Invariant, LeadsTo
from interlock.spec.language.settings import Switch
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import (
    FALSE,
    TRUE,
    Apply,
    Int,
    Member,
    Primed,
    SwitchIs,
    Term,
    card,
    exists,
    forall,
    ite,
)
from interlock.spec.language.variables import Site, StateVar, counter, function, relation


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


def with_variable(v: object) -> Specification:
    return changed(variables=(*SPECIFICATION.variables, v))


def with_init(name: str, init: Term) -> Specification:
    variables = tuple(v.model_copy(update={"init": init}) if v.name == name else v for v in SPECIFICATION.variables)
    return changed(variables=variables)


def with_lifecycle(name: str, **fields: object) -> Specification:
    return changed(
        lifecycles=tuple(x.model_copy(update=fields) if x.name == name else x for x in SPECIFICATION.lifecycles)
    )


def with_expectation(**fields: object) -> Specification:
    return changed(expectations=(*SPECIFICATION.expectations, SPECIFICATION.expectations[0].model_copy(update=fields)))


def with_row(life: str, new: object) -> Specification:
    lives = tuple(
        x.model_copy(update={"rows": (*x.rows, new)}) if x.name == life else x for x in SPECIFICATION.lifecycles
    )
    return changed(lifecycles=lives)


def invariant(formula: Term, **fields: object) -> Invariant:
    return Invariant(
        **{"id": "extra", "source": "test", "doc": "test", "slices": ("store",), "formula": formula, **fields}
    )


def about(kind: type, **fields: object) -> object:
    return kind(**{"id": "extra", "source": "test", "doc": "test", "slices": ("store",), "formula": TRUE, **fields})


def partial(domain: Term, **fields: object) -> StateVar:
    v = function("extra", b, result=job_states, site=Site.SCHEDULER, doc="test", domain=domain)
    return v.model_copy(update=fields)


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
        with_property(invariant(TRUE, id="no-block-stored-twice-in-flight")), "no-block", "otherwise",
    ),
    "property without slice or proof": (with_property(invariant(TRUE, slices=())), "extra", "name a slice"),
    "property in an unknown slice": (with_property(invariant(TRUE, slices=("stor",))), "extra", "use one of"),
    "a condition in a slice that does not cover it": (
        with_property(invariant(TRUE, applies_in={"load": kv_reset.is_("flush")})), "extra", "use one of store",
    ),
    "a condition in a slice that is no test of switches": (
        with_property(invariant(TRUE, applies_in={"store": exists(b, in_flight(b))})), "extra", "test switches only",
    ),
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

# Channels: messages come and go by send and receive only, each at its own end.
REFUSED |= {
    "a channel that is written": (
        with_update("copy_load", assign(done(j), 1)), "action copy_load, update of done", "use send at its sender",
    ),
    "a channel that is written from a ghost": (
        with_update("finish", assign_all(j, to=done(j), value=ite(reads_current(j), 1, 0))), "update of done", "use send",
    ),
    "a channel that a receiver fills": (
        with_update("finish", assign_all(w, to=step(w), value=2)), "update of step", "use send at its sender",
    ),
    "a row that writes a channel": (
        with_row("job", row("absent", "plan_store", "planned", assign(done(j), 1), guard=holds(r, b), source="test")),
        "lifecycle job, row (absent, plan_store, planned)", "use send at its sender",
    ),
    "a message sent from the receiving end": (
        with_action("hit", sends=(send(done, j, over=(j,)),)), "action hit, sends on done", "only the worker sends",
    ),
    "a message received at the sending end": (
        with_action("hit", receives=(receive_all(store_meta, w, j, over=(w, j)),)),
        "action hit, receives on store_meta", "only the worker receives",
    ),
    "a message that tells of a ghost": (
        with_action("hit", sends=(send(step, w, over=(w,), when=due(b)),)), "action hit, update of step", "ghost",
    ),
    "a message on no channel": (
        with_action("hit", receives=(Receive(channel="lost"),)), "action hit", "use one of step, store_meta",
    ),
    "a message of another shape": (
        with_action("hit", sends=(Send(channel="step", args=(w, w), over=(w,)),)), "action hit, sends on step", "takes 1",
    ),
}  # fmt: skip

# Actions, rows and lifecycles.
REFUSED |= {
    "a fair fault": (with_action("copy_fails", fairness=Fairness.WEAK), "action copy_fails", "leave out fairness"),
    "fairness without a reason": (with_action("run_step", fairness_why=" "), "action run_step", "fairness_why"),
    "an action of a ghost": (with_action("hit", site=Site.GHOST), "action hit", "name the site that acts"),
    "a conjunct id that is used twice": (
        with_action("hit", guard=(*SPECIFICATION.action("hit").guard, Conjunct(id="hashed", term=TRUE))),
        "action hit", "rename one",
    ),
    "a conjunct with the id of a row's": (
        with_action("hit", guard=(Conjunct(id="lifecycle-request", term=TRUE),)), "action hit", "rename one",
    ),
    "parameters of one name": (with_action("evict", params=(c, c)), "action evict", "another name"),
    "a quantifier over one name twice": (with_property(invariant(forall(b, b, in_flight(b)))), "extra", "another name"),
    "an update of nothing": (with_update("hit", Update(symbol="lost", value=TRUE)), "action hit", "use one of"),
    "an update of another shape": (with_update("hit", Update(symbol="fresh", value=TRUE)), "update of fresh", "takes 1"),
    "a lifecycle that is not there": (
        with_action("hit", fires=(*SPECIFICATION.action("hit").fires, fire("lost", r))), "action hit", "use one of request",
    ),
    "an entity of another shape": (
        with_action("hit", fires=(*SPECIFICATION.action("hit").fires, fire("copy", j))), "lifecycle copy", "takes 2",
    ),
    "a lifecycle that starts elsewhere than its variable": (
        with_init("job_state", job_states["planned"]), "lifecycle job", "the same state",
    ),
    "a variable that starts elsewhere than its lifecycle": (
        with_lifecycle("chunk", initial="ready"), "lifecycle chunk", "the same state",
    ),
    "a lifecycle of no variable": (with_lifecycle("job", variable="lost"), "lifecycle job", "use one of"),
    "a lifecycle of other entities": (with_lifecycle("job", entity=(b,)), "lifecycle job", "sorts of its arguments"),
    "a row after one without a guard": (
        with_row("job", row("absent", "plan_store", "completed", guard=holds(r, b), source="test")),
        "row (absent, plan_store, completed)", "give that row a guard",
    ),
    "two rows with one guard": (
        with_lifecycle("job", rows=(
            *(x.model_copy(update={"guard": holds(r, b)}) if x.event == "plan_store" else x
              for x in SPECIFICATION.lifecycle("job").rows),
            row("absent", "plan_store", "completed", guard=holds(r, b), source="test"),
        )),
        "row (absent, plan_store, completed)", "change a guard",
    ),
    "a row's guard over what is not there": (
        with_row("job", row("completed", "order_flush", "planned", guard=hashed(b), source="test")),
        "row (completed, order_flush, planned)", "parameter",
    ),
    "a row's guard that tests no switch": (
        with_row("job", row(
            "completed", "order_flush", "planned", guard=SwitchIs(switch="lost", values=("x",)), source="test",
        )),
        "row (completed, order_flush, planned)", "declare it",
    ),
}  # fmt: skip

# Variables.
REFUSED |= {
    "an initial value that reads the state": (
        with_variable(relation("extra", b, site=Site.SCHEDULER, doc="test", init=hashed(b))), "variable extra", "constant",
    ),
    "a bound that reads the state": (
        with_variable(counter("extra", site=Site.SCHEDULER, doc="test", high=card(j, failure_seen(j)))),
        "variable extra", "give high a constant",
    ),
    "a domain that reads a partial function": (
        with_variable(partial(Apply(symbol="block_hash", args=(b,)).eq(Apply(symbol="block_hash", args=(b,))))),
        "variable extra", "what the domain of block_hash reads",
    ),
    "a domain that reads itself": (
        with_variable(partial(Apply(symbol="extra", args=(b,)).eq(job_states["planned"]))), "variable extra", "other variables",
    ),
    "a domain that reads a ghost": (with_variable(partial(due(b))), "variable extra", "use variables of the scheduler"),
    "a domain that reads a channel": (with_variable(partial(exists(w, step(w) > 0))), "variable extra", "of its site"),
    "a partial integer below 0": (
        with_variable(partial(hashed(b), result="int", low=Int(value=-2))), "variable extra", "low of at least 0",
    ),
}  # fmt: skip

# Names, settings, slices.
REFUSED |= {
    "a member twice": (
        changed(enums=(*SPECIFICATION.enums, Enumeration(name="extra", members=("x", "x"), doc="test"))), "extra.x", "otherwise",
    ),
    "an enumeration of nothing": (
        changed(enums=(*SPECIFICATION.enums, Enumeration(name="extra", members=(), doc="test"))), "extra", "declare a value",
    ),
    "a sort with the name of a type": (
        changed(sorts=(*SPECIFICATION.sorts, Sort(name="int", doc="test"))), "name int", "otherwise",
    ),
    "a preset twice": (changed(presets=(*SPECIFICATION.presets, SPECIFICATION.presets[0])), "preset name", "otherwise"),
    "a specification without a preset": (changed(presets=(), expectations=()), "kv-transfer", "declare a preset"),
    "a value twice": (
        changed(switches=(
            *SPECIFICATION.switches, Switch(name="extra", values=("x", "x"), doc="test", source="test"),
        )),
        "switch extra, value", "otherwise",
    ),
    "a lifecycle twice": (
        changed(lifecycles=(*SPECIFICATION.lifecycles, SPECIFICATION.lifecycles[0])), "lifecycle name", "otherwise",
    ),
    "a slice with an empty sort": (
        with_slice("store", scope={**SPECIFICATION.slice("store").scope, "block": 0}), "slice store", "at least one",
    ),
    "a slice without integers": (with_slice("store", int_max=-1), "slice store", "start at 0"),
    "an action that is dropped": (with_slice("store", drop=("evict",)), "slice store", "name it in remove"),
    "a variable that is removed": (with_slice("store", remove=("due",)), "slice store", "name it in drop"),
    "an expectation of a switch that is not there": (with_expectation(set={"lost": "x"}), "expectation", "use one of"),
    "an expectation of a value that is not there": (
        with_expectation(set={"store_dedup": "x"}), "expectation", "use one of per_step",
    ),
    "an expectation of a property that is not there": (with_expectation(property="lost"), "expectation", "use one of"),
    "an expectation in a slice that is not there": (with_expectation(slice="lost"), "expectation", "use one of tiny, last_step"),
    "an expectation under a preset that is not there": (with_expectation(preset="lost"), "expectation", "use one of"),
    "an expectation at no size": (with_expectation(scope={"block": 0}), "expectation", "at least one"),
}  # fmt: skip

# Properties.
REFUSED |= {
    "a property that applies by the state": (
        with_property(invariant(TRUE, applies=exists(b, hashed(b)))), "extra", "test switches only",
    ),
    "a property that applies by no switch": (
        with_property(invariant(TRUE, applies=SwitchIs(switch="lost", values=("x",)))), "extra", "declare it",
    ),
    "a lemma that is a witness": (
        with_property(invariant(TRUE, proved=True, premise=TRUE, proof=("some-job-is-live",))), "extra", "only invariants",
    ),
    "a lemma that is not claimed everywhere": (
        changed(properties=(
            *SPECIFICATION.properties,
            invariant(TRUE, id="sometimes", applies=SwitchIs(switch="source_hold", values=("pin",))),
            invariant(TRUE, proved=True, premise=TRUE, proof=("sometimes",)),
        )),
        "extra", "let it apply there too",
    ),
    "a value of a switch that is used nowhere": (
        changed(switches=tuple(
            x.model_copy(update={"values": (*x.values, "nothing")}) if x.name == "store_dedup" else x
            for x in SPECIFICATION.switches
        )),
        "switch store_dedup", "use nothing in a term",
    ),
    "lemmas of no proof": (
        with_property(invariant(TRUE, proof=("one-open-store-per-block",))), "extra", "set proved=True",
    ),
    "a proof about nothing": (with_property(invariant(TRUE, proved=True)), "extra", "what it says something about"),
    "a ground of no action": (
        with_property(invariant(TRUE, grounds=(Ground(action="lost", conjunct="x"),))), "extra", "use one of add_request",
    ),
    "a property of no step": (with_property(about(ActionProperty, actions=())), "extra", "name one"),
    "a property of steps of no action": (
        with_property(about(ActionProperty, actions=("lost",))), "extra", "use one of add_request",
    ),
    "a property of steps that its slice removes": (
        with_property(about(ActionProperty, actions=("plan_load",))), "extra", "leave the slice out",
    ),
    "a clause about no action": (with_property(about(BoundaryClause, action="lost")), "extra", "use one of add_request"),
    "a clause about an action that its slice removes": (
        with_property(about(BoundaryClause, action="plan_load")), "extra", "leave the slice out",
    ),
    "a clause that is the form of no invariant": (
        with_property(about(BoundaryClause, action="hit", invariant="some-job-is-live")), "extra", "use one of no-block",
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


def test_a_quantifier_binds_variables_only() -> None:
    with pytest.raises(TypeError, match="takes variables"):
        forall(b, in_flight(b), hashed(b))


def test_a_variable_of_another_sort_is_refused_with_the_sort_that_it_has() -> None:
    with pytest.raises(SpecificationError, match="here it is of sort block"):
        build(with_guard("hit", in_flight(b.model_copy(update={"sort": "hash"}))))


def test_terms_refuse_python_truth() -> None:
    with pytest.raises(TypeError, match="use & "):
        bool(in_flight(b))

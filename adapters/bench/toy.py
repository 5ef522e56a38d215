"""A toy model of KV transfers in our own language: requests, blocks, store jobs in flight.

It is for comparing engines: `promela.py` and `murphi.py` say the same by hand for SPIN and Rumur. All of it
is at the scheduler, without channels, so that they can say it word for word. Requests come and go for
ever; a block is held by one request or shared by several; at most one store reads it.

>>> from interlock.proofs.explorer.search import explore
>>> found = explore(system(2, 2))
>>> found.states, found.transitions
(241, 1054)
"""

from __future__ import annotations

from interlock.spec.language.actions import Action, Conjunct, Update, assign, assign_all
from interlock.spec.language.build import build
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import Invariant
from interlock.spec.language.settings import Preset, Slice
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import System
from interlock.spec.language.terms import Term, Var, exists, forall
from interlock.spec.language.variables import Site, function, relation

_SOURCE = "toy model of the benchmark; it specifies nothing"

request = Sort(name="request", doc="A request; comes again after it has gone.")
block = Sort(name="block", doc="A block of KV cache on the GPU.")
request_states = Enumeration(name="request_states", members=("waiting", "running", "finished"), doc="Of a request.")

r, other, b = request.var("r"), request.var("other"), block.var("b")

request_state = function(
    "request_state",
    r,
    result=request_states,
    site=Site.SCHEDULER,
    init=request_states["waiting"],
    doc="Where the request is.",
)
held = relation("held", r, b, site=Site.SCHEDULER, doc="The request holds a reference to the block.")
storing = relation("storing", r, b, site=Site.SCHEDULER, doc="A store of the block for the request is in flight.")
in_flight = relation("in_flight", b, site=Site.SCHEDULER, doc="The block is marked: some store reads it.")
stored = relation("stored", b, site=Site.SCHEDULER, doc="What is in the block is in the CPU tier.")


def _is(state: str) -> Term:
    return request_state(r).eq(request_states[state])


def _action(name: str, *params: Var, when: dict[str, Term], do: tuple[Update, ...], doc: str) -> Action:
    return Action(
        name=name,
        event=name,
        params=params,
        site=Site.SCHEDULER,
        guard=tuple(Conjunct(id=i, term=t) for i, t in when.items()),
        updates=do,
        source=_SOURCE,
        doc=doc,
    )


ACTIONS = (
    _action(
        "schedule",
        r,
        when={"waiting": _is("waiting")},
        do=(assign(request_state(r), request_states["running"]),),
        doc="The request starts, without blocks.",
    ),
    _action(
        "allocate",
        r,
        b,
        when={"running": _is("running"), "free": ~exists(other, held(other, b))},
        do=(assign(held(r, b), True), assign(stored(b), False)),
        doc="A free block gets new content.",
    ),
    _action(
        "share",
        r,
        b,
        when={"running": _is("running"), "not-held": ~held(r, b), "cached": exists(other, held(other, b)) & stored(b)},
        do=(assign(held(r, b), True),),
        doc="A stored block that somebody holds is found by its prefix.",
    ),
    _action(
        "plan_store",
        r,
        b,
        when={
            "running": _is("running"),
            "held": held(r, b),
            "not-marked": ~in_flight(b),
            "not-stored": ~stored(b),
        },
        do=(assign(storing(r, b), True), assign(in_flight(b), True)),
        doc="A store of the block begins.",
    ),
    _action(
        "complete_store",
        r,
        b,
        when={"storing": storing(r, b)},
        do=(
            assign(storing(r, b), False),
            assign(in_flight(b), False),
            assign(stored(b), True),
            assign(held(r, b), _is("running")),
        ),
        doc="The store has ended well; a finished request now lets go of the block.",
    ),
    _action(
        "finish",
        r,
        when={"running": _is("running")},
        do=(
            assign(request_state(r), request_states["finished"]),
            assign_all(b, to=held(r, b), value=storing(r, b)),
        ),
        doc="The request has all its tokens and keeps the blocks that its stores still read.",
    ),
    _action(
        "retire",
        r,
        when={"finished": _is("finished"), "holds-nothing": ~exists(b, held(r, b))},
        do=(assign(request_state(r), request_states["waiting"]),),
        doc="The request is gone; another takes its place.",
    ),
    _action(
        "preempt",
        r,
        when={"running": _is("running"), "not-storing": ~exists(b, storing(r, b))},
        do=(assign(request_state(r), request_states["waiting"]), assign_all(b, to=held(r, b), value=False)),
        doc="The request goes back and loses its blocks at once.",
    ),
)

INVARIANTS = (
    Invariant(
        id="one-store-per-block",
        source=_SOURCE,
        doc="No two stores read the same block.",
        slices=("toy",),
        formula=forall(r, other, b, (storing(r, b) & storing(other, b)) >> r.eq(other)),
    ),
    Invariant(
        id="marked-iff-stored",
        source=_SOURCE,
        doc="The mark says exactly that a store is in flight.",
        slices=("toy",),
        formula=forall(b, in_flight(b).eq(exists(r, storing(r, b)))),
    ),
    Invariant(
        id="storing-is-held",
        source=_SOURCE,
        doc="A block that is read by a store is held by the store's request.",
        slices=("toy",),
        formula=forall(r, b, storing(r, b) >> held(r, b)),
    ),
)

TOY = build(
    Specification(
        name="toy_kv_transfers",
        sorts=(request, block),
        enums=(request_states,),
        switches=(),
        presets=(Preset(name="interlock", values={}, doc="There is nothing to switch."),),
        variables=(request_state, held, storing, in_flight, stored),
        channels=(),
        lifecycles=(),
        actions=ACTIONS,
        properties=INVARIANTS,
        slices=(Slice(name="toy", scope={"request": 3, "block": 3}, doc="All of it."),),
    )
)
"""The toy model as a specification."""


def system(requests: int, blocks: int) -> System:
    """The toy model at a size, ready for any engine."""
    return elaborate(TOY, {}, TOY.slice("toy"), scope={"request": requests, "block": blocks})

"""A specification of lamps with something dead, something redundant and something that only ranges would notice."""

from __future__ import annotations

from interlock.spec.language.actions import Action, Conjunct, Fairness, assign, fire
from interlock.spec.language.build import build
from interlock.spec.language.lifecycles import Lifecycle, row
from interlock.spec.language.properties import Invariant, LeadsTo, Witness
from interlock.spec.language.settings import Preset, Slice, Switch
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import TRUE, Term, exists, forall
from interlock.spec.language.variables import Site, counter, function, relation

HERE = Site.ENVIRONMENT
lamp = Sort(name="lamp_of", doc="a lamp")
x = lamp.var("x")
lamp_states = Enumeration(name="lamp_states", members=("off", "on", "broken"), doc="what a lamp is")
wiring = Switch(name="wiring", values=("old", "new"), doc="a switch", source="test")

lamp_state = function("lamp_state", x, result=lamp_states, site=HERE, init=lamp_states["off"], doc="lifecycle lamp")
lit = relation("lit", x, site=HERE, doc="x gives light")
marked = relation("marked", x, site=HERE, doc="written once and read by nobody")
never_true = relation("never_true", x, site=HERE, doc="false at all times")
burning = counter("burning", x, site=HERE, high=1, doc="0 or 1")


def _act(name: str, *guard: Conjunct, updates=(), fair: bool = False, fault: bool = False) -> Action:
    return Action(
        name=name,
        event=name,
        params=(x,),
        site=HERE,
        fault=fault,
        guard=guard,
        fires=(fire("lamp", x),),
        updates=tuple(updates),
        fairness=Fairness.WEAK if fair else Fairness.NONE,
        fairness_why="a test" if fair else "",
        source="test",
        doc="test",
    )


def _need(id_: str, term: Term) -> Conjunct:
    return Conjunct(id=id_, term=term)


SWITCH_ON = _act(
    "switch_on",
    _need("dark", ~lit(x)),
    _need("is-not-burning", burning(x) < 1),
    _need("wired", wiring.is_("new") | ~lit(x)),
    updates=(
        assign(lit(x), True),
        assign(marked(x), True),
        assign(never_true(x), False),
        assign(burning(x), burning(x) + 1),
    ),
)
SWITCH_OFF = _act(
    "switch_off", updates=(assign(lit(x), False), assign(burning(x), burning(x) - 1)), fair=True
)  # fmt: skip
BREAKS = _act("breaks", updates=(assign(lit(x), False), assign(burning(x), burning(x) - 1)), fault=True)
REPAIR = _act("repair", fair=True)

_CLAIM = {"source": "test", "doc": "test", "slices": ("two", "three")}
PROPERTIES = (
    Invariant(
        id="lit-is-on",
        formula=forall(x, lit(x).eq(lamp_state(x).eq(lamp_states["on"]))),
        premise=exists(x, lit(x)),
        **_CLAIM,
    ),
    Witness(id="some-lamp-is-broken", formula=exists(x, lamp_state(x).eq(lamp_states["broken"])), **_CLAIM),
    Witness(id="some-lamp-is-on", formula=exists(x, lamp_state(x).eq(lamp_states["on"])), **_CLAIM),
    LeadsTo(
        id="broken-is-repaired",
        vars=(x,),
        premise=lamp_state(x).eq(lamp_states["broken"]),
        conclusion=lamp_state(x).eq(lamp_states["off"]),
        **_CLAIM,
    ),
    LeadsTo(
        id="on-ends",
        vars=(x,),
        premise=lamp_state(x).eq(lamp_states["on"]),
        conclusion=lamp_state(x).ne(lamp_states["on"]),
        **_CLAIM,
    ),
)


def lamps(*, properties=PROPERTIES, actions=(SWITCH_ON, SWITCH_OFF, BREAKS, REPAIR)) -> Specification:
    """The specification, accepted by the builder."""
    return build(
        Specification(
            name="lamps",
            sorts=(lamp,),
            enums=(lamp_states,),
            switches=(wiring,),
            presets=(Preset(name="interlock", values={"wiring": "new"}, doc="test"),),
            variables=(lamp_state, lit, marked, never_true, burning),
            channels=(),
            lifecycles=(
                Lifecycle(
                    name="lamp",
                    entity=(x,),
                    variable="lamp_state",
                    initial="off",
                    doc="a lamp",
                    rows=(
                        row("off", "switch_on", "on", guard=TRUE, source="test"),
                        row("on", "switch_off", "off", source="test"),
                        row("on", "breaks", "broken", source="test"),
                        row("broken", "repair", "off", source="test"),
                    ),
                ),
            ),
            actions=tuple(actions),
            properties=tuple(properties),
            slices=(
                Slice(name="two", scope={"lamp_of": 2}, quick=True, doc="test"),
                Slice(name="three", scope={"lamp_of": 3}, doc="test"),
            ),
        )
    )

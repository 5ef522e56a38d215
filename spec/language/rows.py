"""A witness for every row of every lifecycle table: a row that no step ever fires says nothing."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import TypeVar

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, Fire
from interlock.spec.language.lifecycles import Lifecycle, Row
from interlock.spec.language.properties import Property, Witness

PREFIX = "row-"
"""Of the ids of these witnesses."""


def row_witnesses(
    lifecycles: Iterable[Lifecycle],
    actions: Iterable[Action],
    in_slice: str,
    elsewhere: Mapping[str, str] | None = None,
    under: Mapping[str, T.Term] | None = None,
    never: Container[str] = (),
) -> tuple[Witness, ...]:
    """For each row, that some reachable step fires it.

    Rows that differ in their guard only are one: what is witnessed is that an entity goes from
    one state to another by that event.

    Args:
        in_slice: the slice in which rows fire, if ``elsewhere`` does not say otherwise.
        elsewhere: a slice by witness id, or by event for all rows of it.
        under: the switch values under which a row can fire at all, by id or event.
        never: ids of rows that no slice is large enough to fire.
    """
    found: dict[str, Witness] = {}
    by_name = {a.name: a for a in actions}
    for life in lifecycles:
        for r in life.rows:
            action = by_name.get(r.event)
            if action is None:
                continue  # the builder refuses the row, and names the events that there are
            fires = [f for f in action.fires if f.lifecycle == life.name]
            if not fires:
                continue
            id_ = _id(life, r)
            if id_ in never:
                continue
            found[id_] = Witness(
                id=id_,
                source=r.source,
                doc=f"{life.name}: {r.event} takes it from {r.source_state} to {r.target_state}.",
                slices=(_first(elsewhere or {}, (id_, r.event), in_slice),),
                applies=_first(under or {}, (id_, r.event), T.TRUE),
                actions=(action.name,),
                formula=_fired(life, r, fires[0]),
            )
    return tuple(found.values())


def is_of_a_row(p: Property) -> bool:
    """Whether the property is the witness of a row: made from the table, it says what the table says."""
    return isinstance(p, Witness) and p.id.startswith(PREFIX)


_V = TypeVar("_V")


def _first(values: Mapping[str, _V], keys: tuple[str, ...], default: _V) -> _V:
    return next((values[k] for k in keys if k in values), default)


def _id(life: Lifecycle, r: Row) -> str:
    same = {x.target_state for x in life.rows if (x.source_state, x.event) == (r.source_state, r.event)}
    target = f"-to-{r.target_state}" if len(same) > 1 else ""
    return f"{PREFIX}{life.name}-{r.source_state}-{r.event}{target}".replace("_", "-")


def _fired(life: Lifecycle, r: Row, f: Fire) -> T.Term:
    """Some entity that the action concerns goes from the one state to the other.

    Which entities those are is said by the state before the step, so they are named by variables first.
    """
    names = tuple(T.Var(name=f"row_{v.name}", sort=v.sort) for v in life.entity)
    state = T.Apply(symbol=life.variable, args=names)
    concerned = T.conjunction(*(n.eq(e) for n, e in zip(names, f.entity, strict=True)), f.when)
    if r.source_state == r.target_state and f.over:
        # Of many entities, one that stays as it is cannot be told from one that is not concerned but by what is asked.
        concerned = T.conjunction(concerned, T.substitute(r.guard, dict(zip(life.entity, f.entity, strict=True))))
    enum = f"{life.name}_states"
    before = state.eq(T.Member(enum=enum, name=r.source_state))
    after = T.Primed(body=state.eq(T.Member(enum=enum, name=r.target_state)))
    return T.exists(*f.over, *names, concerned & before & after)

"""From what is declared to what engines read: folds switches, rows, messages and a slice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, Conjunct, Fire, Update
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.lifecycles import Lifecycle, Row
from interlock.spec.language.open_slices import readers, refuse_if_open
from interlock.spec.language.properties import Property, terms_of
from interlock.spec.language.settings import Slice
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import Step, System, Variable

WHOLE = Slice(name="whole", scope={}, doc="everything, at any size (for proofs)")
"""The slice that drops nothing; it has no scope, so only engines for any size can read it."""


def elaborate(
    spec: Specification,
    switches: dict[str, str],
    slice_: Slice = WHOLE,
    scope: dict[str, int] | None = None,
    properties: Iterable[Property] | None = None,
) -> System:
    """The flat transition system of a slice under switch values.

    Args:
        switches: a value for every switch (:meth:`Specification.switch_values`).
        scope: sizes that replace those of the slice.
        properties: default: those that name the slice; all, for :data:`WHOLE`.

    Raises:
        SpecificationError: the slice is open (something left reads a dropped variable) or two
            parts of one action update the same variable.
    """
    return Elaborator(spec).system(switches, slice_, scope, properties)


class Elaborator:
    """Elaborates one specification under many settings: an action is assembled once, and folded once for all
    settings that agree on the switches that it tests.

    Raises:
        SpecificationError: an action fires what has no row for it, or has two conjuncts of one name.
    """

    def __init__(self, spec: Specification) -> None:
        self._spec = spec
        self._assembled: dict[str, _Assembled] = {}
        self._folded: dict[tuple[str, tuple[str, ...]], Step] = {}
        self._variables: dict[frozenset[tuple[str, str]], tuple[Variable, ...]] = {}

    @property
    def steps(self) -> Iterable[Step]:
        """Every folded action so far, each once, those that are never enabled included."""
        return self._folded.values()

    def system(
        self,
        switches: dict[str, str],
        slice_: Slice = WHOLE,
        scope: dict[str, int] | None = None,
        properties: Iterable[Property] | None = None,
    ) -> System:
        """As :func:`elaborate`."""
        spec, drop = self._spec, set(slice_.drop)
        steps: list[Step] = []
        never: dict[str, str] = {}
        for action in spec.actions:
            if action.name in slice_.remove:
                continue
            step = self._step(action, switches)
            false = next((c.id for c in step.guard if c.term == T.FALSE), None)
            if false is not None:
                never[action.name] = false
            elif drop:
                steps.append(replace(step, updates=tuple(u for u in step.updates if u.symbol not in drop)))
            else:
                steps.append(step)
        if properties is None:
            properties = [p for p in spec.properties if slice_ is WHOLE or slice_.name in p.slices]
        system = System(
            spec=spec,
            switches=dict(switches),
            slice=slice_,
            scope={**slice_.scope, **(scope or {})},
            int_max=slice_.int_max,
            variables=tuple(v for v in self._all_variables(switches) if v.name not in drop),
            steps=tuple(steps),
            properties=tuple(_fold_property(p, switches) for p in properties if applies(p, switches, slice_.name)),
            never=never,
        )
        if slice_.drop:
            refuse_if_open(slice_, readers(system.variables, system.steps, system.properties))
        return system

    def _all_variables(self, switches: dict[str, str]) -> tuple[Variable, ...]:
        key = frozenset(switches.items())
        found = self._variables.get(key)
        if found is None:
            found = self._variables[key] = tuple(_variables(self._spec, switches))
        return found

    def _step(self, action: Action, switches: dict[str, str]) -> Step:
        whole = self._assembled.get(action.name)
        if whole is None:
            whole = self._assembled[action.name] = _assemble(self._spec, action)
        key = (action.name, tuple(switches[s] for s in whole.switches))
        step = self._folded.get(key)
        if step is None:
            step = self._folded[key] = _fold_step(whole, switches)
        return step


def fold(t: T.Term, switches: dict[str, str]) -> T.Term:
    """``t`` with every switch test replaced by its value and simplified."""

    def leaf(node: T.Term) -> T.Term | None:
        return T.Bool(value=switches[node.switch] in node.values) if isinstance(node, T.SwitchIs) else None

    return T.transform(t, leaf)


def _variables(spec: Specification, switches: dict[str, str]) -> Iterable[Variable]:
    for v in spec.variables:
        yield Variable(
            name=v.name,
            args=v.args,
            result=v.result,
            site=v.site,
            init=None if v.init is None else fold(v.init, switches),
            low=v.low,
            high=v.high,
            domain=None if v.domain is None else fold(v.domain, switches),
        )
    for c in spec.channels:
        yield Variable(c.name, c.args, "int", None, T.Int(value=0), T.Int(value=0), None, None)


@dataclass(frozen=True, slots=True)
class _Assembled:
    """An action with its rows and messages, before switches are folded; the switches that it tests."""

    action: Action
    guard: tuple[Conjunct, ...]
    updates: tuple[Update, ...]
    switches: tuple[str, ...]


def _assemble(spec: Specification, action: Action) -> _Assembled:
    guard: list[Conjunct] = []
    updates: list[Update] = []
    for f in action.fires:
        conjuncts, more = _fired(spec.lifecycle(f.lifecycle), f, action)
        guard += conjuncts
        updates += more
    for r in action.receives:
        here = T.Apply(symbol=r.channel, args=r.args)
        if r.all_copies:
            updates.append(Update(symbol=r.channel, args=r.args, over=r.over, value=T.Int(value=0)))
            continue
        there = T.Int(value=0) < here
        guard.append(
            Conjunct(
                id=f"message-{r.channel.replace('_', '-')}",
                term=T.Forall(vars=r.over, body=there) if r.over else there,
            )
        )
        updates.append(Update(symbol=r.channel, args=r.args, over=r.over, value=here - 1))
    for s in action.sends:
        here = T.Apply(symbol=s.channel, args=s.args)
        updates.append(Update(symbol=s.channel, args=s.args, over=s.over, when=s.when, value=here + 1))
    guard += action.guard
    _refuse_repeated_ids(action, guard)
    updates += action.updates
    terms = [c.term for c in guard] + [t for u in updates for t in (*u.args, u.value, u.when)]
    tested = {t.switch for whole in terms for t in T.subterms(whole) if isinstance(t, T.SwitchIs)}
    return _Assembled(action, tuple(guard), tuple(updates), tuple(sorted(tested)))


def _fold_step(whole: _Assembled, switches: dict[str, str]) -> Step:
    updates = whole.updates
    conditions: Iterable[Conjunct] = whole.guard
    if whole.switches:
        updates = tuple(
            u.model_copy(
                update={
                    "args": tuple(fold(a, switches) for a in u.args),
                    "value": fold(u.value, switches),
                    "when": fold(u.when, switches),
                }
            )
            for u in updates
        )
        conditions = (c.model_copy(update={"term": fold(c.term, switches)}) for c in conditions)
    kept = tuple(u for u in updates if u.when != T.FALSE and u.value != T.Apply(symbol=u.symbol, args=u.args))
    seen: set[str] = set()
    for u in kept:
        if u.symbol in seen:
            raise SpecificationError(
                f"action {whole.action.name}",
                f"updates {u.symbol} twice",
                "merge the two into one update whose value is a case distinction (ite)",
            )
        seen.add(u.symbol)
    return Step(whole.action, tuple(c for c in conditions if c.term != T.TRUE), kept)


def _refuse_repeated_ids(action: Action, guard: list[Conjunct]) -> None:
    """A conjunct is spoken of by its id: rows and messages have ids of their own, derived from their names."""
    seen: set[str] = set()
    for c in guard:
        if c.id in seen:
            raise SpecificationError(f"action {action.name}", f"has two conjuncts {c.id}", "rename one of them")
        seen.add(c.id)


def _fired(lifecycle: Lifecycle, f: Fire, action: Action) -> tuple[list[Conjunct], list[Update]]:
    """Guard conjuncts and updates of the rows that an action fires in one lifecycle."""
    rows = [r for r in lifecycle.rows if r.event == action.name]
    place = f"action {action.name}, lifecycle {lifecycle.name}"
    if not rows:
        raise SpecificationError(
            place, "has no row for this event", f"add a row with event {action.name!r} or do not fire it"
        )
    binding: dict[T.Var, T.Term] = dict(zip(lifecycle.entity, f.entity, strict=True))
    state = T.Apply(symbol=lifecycle.variable, args=f.entity)
    try:
        conditions = [_row_applies(r, lifecycle, state, binding) for r in rows]
        effects = _effects(rows, conditions, binding, f, place)
    except T.CaptureError as error:
        raise SpecificationError(place, str(error), "rename the variable that the row quantifies") from error
    members = [T.Member(enum=f"{lifecycle.name}_states", name=r.target_state) for r in rows]
    some = T.disjunction(*conditions)
    value: T.Term = state
    if f.over or len({r.target_state for r in rows}) > 1:
        for c, m in reversed(list(zip(conditions, members, strict=True))):
            value = T.ite(c, m, value)
    else:
        value = members[0]
    updates = [Update(symbol=lifecycle.variable, args=f.entity, over=f.over, when=f.when, value=value)]
    updates += effects
    if f.over:
        return [], updates
    return [Conjunct(id=f"lifecycle-{lifecycle.name.replace('_', '-')}", term=some)], updates


def _row_applies(row: Row, lifecycle: Lifecycle, state: T.Term, binding: dict[T.Var, T.Term]) -> T.Term:
    here = state.eq(T.Member(enum=f"{lifecycle.name}_states", name=row.source_state))
    return T.conjunction(here, T.substitute(row.guard, binding))


def _effects(
    rows: list[Row], conditions: list[T.Term], binding: dict[T.Var, T.Term], f: Fire, place: str
) -> list[Update]:
    """Effects of rows, merged per variable under the condition of their row."""
    cases: dict[str, list[tuple[T.Term, Update]]] = {}
    for r, condition in zip(rows, conditions, strict=True):
        for e in r.effects:
            bound = Update(
                symbol=e.symbol,
                args=tuple(T.substitute(a, binding) for a in e.args),
                value=T.substitute(e.value, binding),
                over=e.over,
                when=T.substitute(e.when, binding),
            )
            cases.setdefault(e.symbol, []).append((condition, bound))
    merged: list[Update] = []
    for symbol, listed in cases.items():
        first = listed[0][1]
        if any(u.args != first.args or u.over != first.over for _, u in listed):
            raise SpecificationError(
                place,
                f"rows update {symbol} at different arguments",
                "use the same arguments in every row, or one update of the action",
            )
        always = len(rows) == 1 and not f.over
        value: T.Term = T.Apply(symbol=symbol, args=first.args)
        for condition, u in reversed(listed):
            value = T.ite(T.conjunction(T.TRUE if always else condition, u.when), u.value, value)
        merged.append(Update(symbol=symbol, args=first.args, value=value, over=(*f.over, *first.over), when=f.when))
    return merged


def applies(p: Property, switches: dict[str, str], slice_name: str = "") -> bool:
    """Whether a property is claimed under these switch values: at all, or in a slice.

    Raises:
        SpecificationError: that depends on more than switches.
    """
    claimed = fold(T.conjunction(p.applies, p.applies_in.get(slice_name, T.TRUE)), switches)
    if not isinstance(claimed, T.Bool):
        raise SpecificationError(f"property {p.id}", f"applies when {claimed}", "test switches only")
    return claimed.value


def _fold_property(p: Property, switches: dict[str, str]) -> Property:
    return p.model_copy(update={name: fold(t, switches) for name, t in terms_of(p).items()})

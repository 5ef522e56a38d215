"""What an action may say: typed parts that name what exists, messages sent and received at their ends."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, Fairness, Fire, Receive, Send, Update
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.sites import refuse_wrong_sites
from interlock.spec.language.sorts import BOOL
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import Step
from interlock.spec.language.typecheck import Signature, TypeChecker
from interlock.spec.language.variables import Site
from interlock.spec.language.wellformed_names import known


def check_action(spec: Specification, signature: Signature, action: Action) -> None:
    """An action as declared, before its rows and messages are folded into guard and updates."""
    place = f"action {action.name}"
    checker = TypeChecker(signature, place)
    params = checker.bind(action.params, frozenset())
    _check_fairness(action, place)
    for c in action.guard:
        checker.require(c.term, BOOL, params)
    for f in action.fires:
        known(place, "lifecycle", f.lifecycle, [life.name for life in spec.lifecycles])
        sorts = [v.sort for v in spec.lifecycle(f.lifecycle).entity]
        _check_tuple(checker, f"{place}, lifecycle {f.lifecycle}", f, f.entity, sorts, params)
    for r in action.receives:
        _check_message(spec, checker, action, r, params)
    for m in action.sends:
        _check_message(spec, checker, action, m, params)
    refuse_channel_updates(spec, place, action.updates)
    for u in action.updates:
        check_update(signature, place, u, params)


def check_step(spec: Specification, signature: Signature, step: Step) -> None:
    """An action with everything folded in: also what the rows of its lifecycles say of its parameters."""
    place = f"action {step.name}"
    checker = TypeChecker(signature, place)
    params = checker.bind(step.params, frozenset())
    for c in step.guard:
        checker.require(c.term, BOOL, params)
    for u in step.updates:
        check_update(signature, place, u, params)
    refuse_wrong_sites(spec, step)


def check_update(signature: Signature, place: str, u: Update, params: frozenset[T.Var]) -> None:
    """An update's types, and that it gives each tuple of arguments one value."""
    known(place, "variable", u.symbol, list(signature.symbols))
    checker = TypeChecker(signature, place)
    scope = params | checker.bind(u.over, params)
    types, result = signature.symbols[u.symbol]
    _check_arity(f"{place}, update of {u.symbol}", len(u.args), len(types))
    for a, wanted in zip(u.args, types, strict=True):
        checker.require(a, wanted, scope)
        if a not in u.over and T.free_vars(a) & set(u.over):
            raise SpecificationError(
                place, f"update of {u.symbol} computes an argument from {a}", "use the variable itself"
            )
    if any(sum(a == v for a in u.args) != 1 for v in u.over):
        raise SpecificationError(
            place, f"update of {u.symbol} does not use each of its variables once", "match over and args"
        )
    checker.require(u.value, result, scope)
    checker.require(u.when, BOOL, scope)


def refuse_channel_updates(spec: Specification, place: str, updates: Iterable[Update]) -> None:
    """Messages come and go by ``send`` and ``receive`` only."""
    channels = {c.name for c in spec.channels}
    for u in updates:
        if u.symbol in channels:
            raise SpecificationError(
                f"{place}, update of {u.symbol}", "writes a channel", "use send at its sender, receive at its receiver"
            )


def _check_fairness(action: Action, place: str) -> None:
    if action.site == Site.GHOST:
        raise SpecificationError(place, "happens at a ghost", "ghosts only watch: name the site that acts")
    if action.fairness == Fairness.NONE:
        return
    if action.fault:
        raise SpecificationError(place, "is a fault and fair", "what goes wrong need never happen: leave out fairness")
    if not action.fairness_why.strip():
        raise SpecificationError(place, "is fair without a reason", "say in fairness_why why it must happen")


def _check_message(
    spec: Specification, checker: TypeChecker, action: Action, m: Receive | Send, params: frozenset[T.Var]
) -> None:
    """A message is sent at its sender and received at its receiver."""
    known(f"action {action.name}", "channel", m.channel, [c.name for c in spec.channels])
    channel = next(c for c in spec.channels if c.name == m.channel)
    does, end = ("sends", channel.sender) if isinstance(m, Send) else ("receives", channel.receiver)
    place = f"action {action.name}, {does} on {m.channel}"
    if action.site != end:
        raise SpecificationError(
            place,
            f"is at the {action.site}, the channel joins the {channel.sender} to the {channel.receiver}",
            f"only the {channel.sender} sends and only the {channel.receiver} receives",
        )
    _check_tuple(checker, place, m, m.args, [a.sort for a in channel.args], params)


def _check_tuple(
    checker: TypeChecker,
    place: str,
    part: Fire | Receive | Send,
    args: tuple[T.Term, ...],
    sorts: list[str],
    params: frozenset[T.Var],
) -> None:
    """The arguments of a fire, a receive or a send, over its own variables."""
    _check_arity(place, len(args), len(sorts))
    scope = params | checker.bind(part.over, params)
    for a, wanted in zip(args, sorts, strict=True):
        checker.require(a, wanted, scope)
    if any(sum(a == v for a in args) != 1 for v in part.over):
        raise SpecificationError(place, "does not use each of its variables once", "match over and args")
    if not isinstance(part, Receive):
        checker.require(part.when, BOOL, scope)


def _check_arity(place: str, given: int, taken: int) -> None:
    if given != taken:
        raise SpecificationError(place, f"has {given} arguments", f"it takes {taken}")

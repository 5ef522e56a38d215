"""Actions: one named event that changes the state at one site, all its updates at once."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from interlock.spec.language.base import Declaration, Name, PropertyId
from interlock.spec.language.terms import TRUE, AnyTerm, Apply, Term, Var, term
from interlock.spec.language.variables import Channel, Site


class Conjunct(Declaration):
    """One named condition of a guard.

    ``policy`` marks what an implementation may choose to do less or more of (which block to
    store, when to skip). The gate judges without policy conjuncts: connectors are held to the
    properties, not to our choices.
    """

    id: PropertyId
    term: AnyTerm
    policy: bool = False


class Update(Declaration):
    """``symbol(args) := value``, for one tuple or for all ``over`` that satisfy ``when``.

    Each argument is either one of the ``over`` variables (each used once) or a term without
    them. All updates of an action read the state before the step.
    """

    symbol: Name
    args: tuple[AnyTerm, ...] = ()
    value: AnyTerm
    over: tuple[Var, ...] = ()
    when: AnyTerm = TRUE


class Fire(Declaration):
    """Fires the rows of the action's event in a lifecycle: for one entity, or for all ``over`` ``when``.

    Fired for one entity, some row must apply, which is part of the action's guard. Fired for
    many, entities without a row that applies stay as they are.
    """

    lifecycle: Name
    entity: tuple[AnyTerm, ...]
    over: tuple[Var, ...] = ()
    when: AnyTerm = TRUE


class Receive(Declaration):
    """Takes one copy of a message (guarded by there being one); ``over``: one copy of each ``when``.

    ``all_copies`` takes whatever is under way, none included, which is how metadata arrives
    with its step.
    """

    channel: Name
    args: tuple[AnyTerm, ...] = ()
    over: tuple[Var, ...] = ()
    all_copies: bool = False


class Send(Declaration):
    """Puts one copy of a message on its way, or one for each ``over`` that satisfies ``when``."""

    channel: Name
    args: tuple[AnyTerm, ...] = ()
    over: tuple[Var, ...] = ()
    when: AnyTerm = TRUE


class Fairness(StrEnum):
    """What may be assumed of an action that stays (weak) or keeps coming back (strong) enabled."""

    NONE = "none"
    WEAK = "weak"
    STRONG = "strong"


class Action(Declaration):
    """An action.

    Args (of the declaration):
        event: the name under which it appears in a trace; several actions may share one.
        params: what an instance is about. In a trace, an observed event names them.
        observed: hidden actions (a copy happens, a worker runs) leave no line in a real trace.
        fault: something goes wrong by the environment's choice; never fair, never forced.
        fairness: what liveness may assume of each instance; fairness_why says what in the engine makes it so.
        source: pull request, rule id or page that says so.
    """

    name: Name
    event: Name
    params: tuple[Var, ...] = ()
    site: Site
    observed: bool = True
    fault: bool = False
    guard: tuple[Conjunct, ...] = ()
    fires: tuple[Fire, ...] = ()
    receives: tuple[Receive, ...] = ()
    sends: tuple[Send, ...] = ()
    updates: tuple[Update, ...] = ()
    fairness: Fairness = Fairness.NONE
    fairness_why: str = ""
    source: str = Field(min_length=1)
    doc: str


def need(id_: str, term: Term, *, policy: bool = False) -> Conjunct:
    """A named conjunct of a guard."""
    return Conjunct(id=id_, term=term, policy=policy)


def assign(target: Apply, value: Term | int | bool) -> Update:
    """``target := value`` at one tuple of arguments."""
    return Update(symbol=target.symbol, args=target.args, value=term(value))


def assign_all(*over: Var, to: Apply, value: Term | int | bool, when: Term = TRUE) -> Update:
    """``to := value`` for every ``over`` that satisfies ``when``."""
    return Update(symbol=to.symbol, args=to.args, value=term(value), over=over, when=when)


def fire(lifecycle: str, *entity: Term) -> Fire:
    """Fire a lifecycle's rows for one entity."""
    return Fire(lifecycle=lifecycle, entity=entity)


def fire_all(lifecycle: str, *over: Var, when: Term = TRUE) -> Fire:
    """Fire a lifecycle's rows for every entity that satisfies ``when``."""
    return Fire(lifecycle=lifecycle, entity=over, over=over, when=when)


def receive(channel: Channel, *args: Term) -> Receive:
    """Take one copy."""
    return Receive(channel=channel.name, args=args)


def receive_each(channel: Channel, *over: Var) -> Receive:
    """Take one copy of each, all of which must be there."""
    return Receive(channel=channel.name, args=over, over=over)


def receive_all(channel: Channel, *args: Term, over: tuple[Var, ...]) -> Receive:
    """Take whatever is under way."""
    return Receive(channel=channel.name, args=args, over=over, all_copies=True)


def send(channel: Channel, *args: Term, over: tuple[Var, ...] = (), when: Term = TRUE) -> Send:
    """Put one copy on its way (for each ``over``)."""
    return Send(channel=channel.name, args=args, over=over, when=when)

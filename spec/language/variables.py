"""State variables with a site, and channels that join sites."""

from __future__ import annotations

from enum import StrEnum

from interlock.spec.language.base import Declaration, Name
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.terms import FALSE, AnyTerm, Apply, Int, Term, Var, term


class Site(StrEnum):
    """Where a variable lives, and who may therefore read and write it.

    ``ghost`` variables exist for properties only: no guard and no update of a real variable
    reads them, so erasing them leaves the behaviours unchanged.
    """

    SCHEDULER = "scheduler"
    WORKER = "worker"
    ENVIRONMENT = "environment"
    GHOST = "ghost"


class Discipline(StrEnum):
    """In what order the messages of a channel arrive."""

    WITH_STEP = "with_step"
    """All copies sent since the last step arrive together, with that step (connector metadata)."""
    BAG = "bag"
    """Any message under way may arrive next; duplicates are kept."""


class _Callable(Declaration):
    name: Name
    args: tuple[Var, ...] = ()

    def __call__(self, *args: Term) -> Apply:
        if len(args) != len(self.args):
            raise TypeError(f"{self.name} takes {len(self.args)} arguments, got {len(args)}")
        return Apply(symbol=self.name, args=args)


class StateVar(_Callable):
    """A relation (``result='bool'``) or function over sorts.

    Args (of the declaration):
        result: ``bool``, ``int``, an enumeration or a sort.
        init: the initial value, a term over ``args``.
        low, high: declared range of an ``int``, both inclusive; leaving it is a violation with a
            trace, never a clamp. ``high=None`` means no declared upper bound: beyond the *scope's*
            bound a run is inconclusive.
        domain: where a partial function is defined, a term over ``args``; applying it elsewhere is
            a violation. ``None`` means total.
    """

    result: str
    site: Site
    init: AnyTerm | None = None
    low: AnyTerm = Int(value=0)
    high: AnyTerm | None = None
    domain: AnyTerm | None = None
    doc: str


class Channel(_Callable):
    """Messages from one site to another, counted per argument tuple (so duplicates show).

    Read as a term, ``channel(args)`` is the number of copies under way, an ``int`` from 0.
    """

    sender: Site
    receiver: Site
    discipline: Discipline
    doc: str


def relation(name: str, *args: Var, site: Site, doc: str, init: Term | bool = FALSE) -> StateVar:
    """A boolean state variable, initially false everywhere unless ``init`` says otherwise."""
    return StateVar(name=name, args=args, result="bool", site=site, init=term(init), doc=doc)


def function(
    name: str,
    *args: Var,
    result: Sort | Enumeration,
    site: Site,
    doc: str,
    init: Term | None = None,
    domain: Term | None = None,
) -> StateVar:
    """A function into a sort or an enumeration; give ``domain`` for a partial one, ``init`` for a total one."""
    return StateVar(name=name, args=args, result=result.name, site=site, init=init, domain=domain, doc=doc)


def counter(name: str, *args: Var, site: Site, doc: str, high: Term | int | None = None, low: int = 0) -> StateVar:
    """A whole number per argument tuple, initially 0, with a declared range that is checked, never clamped."""
    return StateVar(
        name=name,
        args=args,
        result="int",
        site=site,
        init=Int(value=0),
        low=Int(value=low),
        high=None if high is None else term(high),
        doc=doc,
    )


def channel(name: str, *args: Var, sender: Site, receiver: Site, discipline: Discipline, doc: str) -> Channel:
    """A channel between two sites."""
    return Channel(name=name, args=args, sender=sender, receiver=receiver, discipline=discipline, doc=doc)

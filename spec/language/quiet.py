"""What quiescence has in common in all modules: nothing is under way."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.spec.language.terms import Term, conjunction, forall
from interlock.spec.language.variables import Channel


def no_messages(channels: Iterable[Channel]) -> Term:
    """No copy of any message is under way on these channels."""
    return conjunction(*(_none(c) for c in channels))


def _none(c: Channel) -> Term:
    empty = c(*c.args).eq(0)
    return forall(*c.args, empty) if c.args else empty

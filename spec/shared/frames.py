"""Frames: what a step leaves as it is, said of everything that it is not about."""

from __future__ import annotations

from interlock.spec.language.terms import Primed, Term, conjunction


def unchanged(*values: Term) -> Term:
    """After the step each of these is what it was before.

    Replay reads ``forall x. p => unchanged(f(x))`` only where a step has written, unless p or f reads a function that
    has a domain: then it is read at every element that a log knows.
    """
    return conjunction(*(Primed(body=v).eq(v) for v in values))

"""What a formula over a step says to stay as it is, found once: a formula is read again at every step."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.spec.language import terms as T
from interlock.statemachine.sparse.program import Program


@dataclass(frozen=True, slots=True)
class Kept:
    """One function that a frame ``forall x. p => f(x)' = f(x) & …`` keeps.

    Args:
        body: what is said of it: ``p => f(x)' = f(x)``.
        names: of its arguments, in their order.
        bound: those of them, and of p, that the frame is about; others are arguments of the action.
        rest: what the frame is about and ``f`` does not have, each with its sort, and whether p asks about it.
    """

    symbol: str
    body: T.Implies
    names: tuple[str, ...]
    bound: frozenset[str]
    rest: tuple[tuple[str, str, bool], ...]


class Frames:
    """The frames among the formulas of a program's properties."""

    def __init__(self, program: Program) -> None:
        self._layout = program.layout
        self._known: dict[int, tuple[T.Forall, tuple[Kept, ...] | None]] = {}
        """By identity, which is kept by keeping the formula: equality would read all of it."""

    def of(self, t: T.Forall) -> tuple[Kept, ...] | None:
        """What a formula keeps; ``None`` if it is no frame.

        A frame is false only where the step has written, and a step writes little, however much is known. Elsewhere p
        is not read, so that it has to be defined wherever it is read.
        """
        known = self._known.get(id(t))
        if known is None:
            known = self._known[id(t)] = (t, self._read(t))
        return known[1]

    def _read(self, t: T.Forall) -> tuple[Kept, ...] | None:
        left, right = (t.body.left, t.body.right) if isinstance(t.body, T.Implies) else (T.TRUE, t.body)
        bound, asked = {v.name: v.sort for v in t.vars}, {v.name for v in T.free_vars(left)}
        kept: list[Kept] = []
        for part in right.args if isinstance(right, T.And) else (right,):
            match part:
                case T.Eq(left=T.Primed(body=T.Apply() as now), right=T.Apply() as then) if now == then:
                    names = tuple(a.name for a in now.args if isinstance(a, T.Var))
                    if len(names) < len(now.args):
                        return None
                    rest = tuple((n, sort, n in asked) for n, sort in bound.items() if n not in names)
                    body = T.Implies(left=left, right=part)
                    kept.append(Kept(now.symbol, body, names, frozenset(bound), rest))
                case _:
                    return None
        read = T.symbols(left) | {k.symbol for k in kept}
        return None if any(self._layout[symbol].partial for symbol in read) else tuple(kept)

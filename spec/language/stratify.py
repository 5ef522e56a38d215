"""Whether proofs stay in the decidable fragment: which sorts depend on which, and where that goes round.

>>> from interlock.spec.kv import SPECIFICATION
>>> cycle(stratification(SPECIFICATION, SPECIFICATION.switch_values()))
['block', 'job', 'block']
"""

from __future__ import annotations

from interlock.spec.language import terms as T
from interlock.spec.language.elaborate import fold
from interlock.spec.language.properties import Invariant
from interlock.spec.language.specification import Specification


def stratification(spec: Specification, switches: dict[str, str]) -> dict[str, set[str]]:
    """Which sorts depend on which: an edge from the arguments of a function to its result, and from
    a universal to an existential variable under it. A cycle means: outside the decidable fragment.
    """
    edges: dict[str, set[str]] = {s.name: set() for s in spec.sorts}
    for v in spec.variables:
        if v.result in edges:
            for a in v.args:
                if a.sort in edges:
                    edges[a.sort].add(v.result)
    for p in spec.properties:
        if isinstance(p, Invariant):
            _alternations(fold(p.formula, switches), True, frozenset(), edges)
    return edges


def _alternations(t: T.Term, positive: bool, universal: frozenset[str], edges: dict[str, set[str]]) -> None:
    match t:
        case T.Forall() | T.Exists():
            sorts = {v.sort for v in t.vars if v.sort in edges}
            if isinstance(t, T.Forall) == positive:
                universal = universal | sorts
            else:
                for u in universal:
                    edges[u] |= sorts
            _alternations(t.body, positive, universal, edges)
        case T.Not():
            _alternations(t.body, not positive, universal, edges)
        case T.Implies():
            _alternations(t.left, not positive, universal, edges)
            _alternations(t.right, positive, universal, edges)
        case T.Eq():
            for side in (t.left, t.right):
                for sign in (True, False):
                    _alternations(side, sign, universal, edges)
        case _:
            for c in T.children(t):
                _alternations(c, positive, universal, edges)


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """A shortest way from a sort back to itself, the first in the order of sorts; empty if there is none."""
    best: list[str] = []
    for start in edges:
        paths = [[start]]
        seen = {start}
        while paths:
            path = paths.pop(0)
            if best and len(path) + 1 >= len(best):
                break
            if start in edges[path[-1]]:
                best = [*path, start]
                break
            for following in sorted(edges[path[-1]] - seen):
                seen.add(following)
                paths.append([*path, following])
    return best

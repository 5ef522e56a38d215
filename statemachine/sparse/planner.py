"""Enumerates what satisfies a conjunction without going through sorts: nested loops over indexes.

Parts are taken in the order that is cheapest, as long as each is sure to be defined by those before
it. From the first part on that is not sure to be defined in its own place, the written order is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from interlock.spec.language import terms as T
from interlock.statemachine.sparse.defined import Given
from interlock.statemachine.sparse.generators import Binding, Finder, Generator, Lookup
from interlock.statemachine.sparse.layout import IndexSpec
from interlock.statemachine.sparse.normal import conjuncts, disjuncts, negation_normal, renamed
from interlock.statemachine.sparse.source import Mode, UnitWriter, ident, parameters

Where = tuple[T.Term, T.Var]
"""An argument that must be defined and equal to a parameter (a key that has changed)."""


@dataclass(frozen=True, slots=True)
class _Point:
    """How far a plan is: what is known, what is left, in which order it was written."""

    unknown: frozenset[T.Var]
    pending: tuple[T.Term, ...]
    tail: tuple[T.Term, ...]
    given: Given
    where: tuple[Where, ...] = ()


def enumerate_with_plan(
    writer: UnitWriter,
    name: str,
    params: tuple[T.Var, ...],
    targets: tuple[T.Var, ...],
    given: Given,
    mode: Mode,
    parts: tuple[T.Term, ...],
    where: tuple[Where, ...] = (),
    also: tuple[T.Var, ...] = (),
) -> None:
    """Write a function of ``params`` that finds values of ``targets`` that satisfy ``parts`` for some ``also``.

    Args:
        parts: a conjunction in negation normal form.
        given: what is known to hold where the function is called.
        where: arguments that must be defined and equal to parameters.
    """
    _Planner(writer, name, params, targets, given, mode).write(parts, where, also)


class _Planner:
    """Writes one function: ``any`` (bool), ``count`` (int) or ``each`` (a list of tuples of targets)."""

    def __init__(
        self, writer: UnitWriter, name: str, params: tuple[T.Var, ...], targets: tuple[T.Var, ...], given: Given,
        mode: Mode,
    ) -> None:  # fmt: skip
        self._writer = writer
        self._name = name
        self._params = params
        self._targets = targets
        self._given = given
        self._mode = mode
        self._finder = Finder(writer.layout)
        self._lines: list[str] = []

    def write(self, parts: tuple[T.Term, ...], where: tuple[Where, ...] = (), also: tuple[T.Var, ...] = ()) -> None:
        """Write the function for a conjunction in negation normal form; ``also`` is unknown, too."""
        unknown = frozenset(v for v in (*self._targets, *also) if v not in self._params)
        start = self._start(parts, where, unknown, self._given)
        self._emit(start, 0)
        opening = [] if self._mode == "any" else ["found = {}"]
        closing = {"any": "return False", "count": "return len(found)", "each": "return list(found)"}[self._mode]
        self._writer.function(f"def {self._name}({parameters(self._params)}):", [*opening, *self._lines, closing])

    def _start(
        self, parts: tuple[T.Term, ...], where: tuple[Where, ...], unknown: frozenset[T.Var], given: Given
    ) -> _Point:
        strict = self._first_unsure(parts, given)
        return _Point(unknown, parts[:strict], parts[strict:], given, where)

    def _first_unsure(self, parts: tuple[T.Term, ...], given: Given) -> int:
        for i, p in enumerate(parts):
            if not self._sure(p, given):
                return i
            given = (*given, p)
        return len(parts)

    def _sure(self, t: T.Term, given: Given) -> bool:
        return self._writer.definedness.sure(t, given)

    def _line(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)

    def _emit(self, at: _Point, depth: int) -> None:
        at, depth = self._tests(at, depth)
        if T.FALSE in at.pending:
            self._line(depth, "pass")
            return
        if not at.unknown:
            self._leaf(at, depth)
            return
        if not self._emit_where(at, depth) and not self._emit_split(at, depth):
            self._emit_rest(at, depth)

    def _emit_rest(self, at: _Point, depth: int) -> None:
        best = self._best(at)
        if best is not None:
            position, generator = best
            left = (*at.pending[:position], *at.pending[position + 1 :])
            self._loop(replace(at, pending=left, given=(*at.given, at.pending[position])), generator, depth)
        elif (hoisted := self._hoisted(at)) is not None:
            self._emit(hoisted, depth)
        elif (cases := self._cases(at)) is not None:
            for case in cases:
                self._emit(case, depth)
        else:
            self._scan(at, depth)

    # -- tests of what is known ------------------------------------------------------------------

    def _tests(self, at: _Point, depth: int) -> tuple[_Point, int]:
        """Test each part whose variables are all known, as early as it is sure to be defined."""
        progress = True
        while progress:
            progress = False
            for item in at.where:
                argument, key = item
                if not T.free_vars(argument) & at.unknown:
                    self._line(depth, f"if {self._lenient(argument, at.given)} == {ident(key)}:")
                    rest = tuple(w for w in at.where if w is not item)
                    at, depth, progress = replace(at, where=rest), depth + 1, True
                    break
            for i, part in enumerate(at.pending):
                if not T.free_vars(part) & at.unknown and self._sure(part, at.given):
                    self._line(depth, f"if {self._writer.expression(part, at.given)}:")
                    left = (*at.pending[:i], *at.pending[i + 1 :])
                    at, depth, progress = (
                        replace(at, pending=left, given=(*at.given, part)), depth + 1, True,
                    )  # fmt: skip
                    break
        return at, depth

    def _lenient(self, argument: T.Term, given: Given) -> str:
        if not isinstance(argument, T.Apply):
            return self._writer.expression(argument, given)
        return self._writer.stored(self._writer.layout[argument.symbol], self._writer.key(argument.args, given))

    def _leaf(self, at: _Point, depth: int) -> None:
        rest = (*at.pending, *at.tail)
        if rest:
            self._line(depth, f"if {self._writer.expression(T.conjunction(*rest), at.given)}:")
            depth += 1
        targets = "".join(f"{ident(v)}, " for v in self._targets)
        self._line(depth, "return True" if self._mode == "any" else f"found[({targets})] = None")

    # -- loops -----------------------------------------------------------------------------------

    def _emit_where(self, at: _Point, depth: int) -> bool:
        """Start from a changed key, if its argument leads to an unknown."""
        for item in at.where:
            argument, key = item
            rest = replace(at, where=tuple(w for w in at.where if w is not item))
            if isinstance(argument, T.Var):
                self._loop(rest, Binding(argument, key), depth)
                return True
            if isinstance(argument, T.Apply) and self._writer.layout[argument.symbol].partial:
                generator = self._finder.find(T.Eq(left=argument, right=key), at.unknown)
                if generator is not None:
                    self._loop(rest, generator, depth)
                    return True
        if at.where:
            # Nothing leads from these keys to an unknown: more is enumerated than has changed.
            self._emit(replace(at, where=()), depth)
            return True
        return False

    def _emit_split(self, at: _Point, depth: int) -> bool:
        """Decide at run time whether the first unsure part is defined, where what is known tells.

        If it is, it may lead to the unknowns; if not, the written order stays.
        """
        if not at.tail or not T.free_vars(at.tail[0]) & at.unknown:
            return False
        given = (*at.given, *at.pending)
        needs = tuple(self._writer.definedness.needs(at.tail[0], given, at.unknown))
        if not needs or not all(self._sure(n, at.given) for n in needs):
            return False
        if not self._sure(at.tail[0], (*given, *needs)):
            return False
        self._line(depth, f"if {self._writer.expression(T.conjunction(*needs), at.given)}:")
        parts = (*at.pending, *at.tail)
        strict = self._first_unsure(parts, (*at.given, *needs))
        self._emit(replace(at, pending=parts[:strict], tail=parts[strict:], given=(*at.given, *needs)), depth + 1)
        self._line(depth, "else:")
        self._emit_rest(at, depth + 1)
        return True

    def _best(self, at: _Point) -> tuple[int, Generator] | None:
        best: tuple[int, Generator] | None = None
        for i, part in enumerate(at.pending):
            found = self._finder.find(part, at.unknown)
            if found is None or (best is not None and best[1].rank <= found.rank):
                continue
            if self._sure(part, (*at.given, *at.pending[:i])) and self._readable(found, at):
                best = (i, found)
        return best

    def _readable(self, generator: Generator, at: _Point) -> bool:
        """Whether what the generator starts from is defined before the generator's own part is reached."""
        if isinstance(generator, Binding):
            return self._sure(generator.term, at.given)
        known = [a for a in generator.args if a not in at.unknown]
        return all(self._sure(t, at.given) for t in (*known, *generator.values))

    def _loop(self, at: _Point, generator: Generator, depth: int) -> None:
        if isinstance(generator, Binding):
            self._line(depth, f"{ident(generator.target)} = {self._writer.expression(generator.term, at.given)}")
            self._emit(replace(at, unknown=at.unknown - {generator.target}), depth)
            return
        fresh = frozenset(a for a in generator.args if isinstance(a, T.Var) and a in at.unknown)
        names = [ident(a) if isinstance(a, T.Var) and a in fresh else "_" for a in generator.args]
        target = names[0] if len(names) == 1 else ", ".join(names)
        self._line(depth, f"for {target} in {self._source(generator, at)}:")
        self._emit(replace(at, unknown=at.unknown - fresh), depth + 1)

    def _source(self, g: Lookup, at: _Point) -> str:
        positions = g.positions(at.unknown)
        if not positions and not g.values:
            return f"S_{g.symbol}"
        name = self._writer.index(IndexSpec(g.symbol, positions, bool(g.values)))
        known = [self._writer.expression(g.args[i], at.given) for i in positions]
        groups = [[*known, self._writer.expression(v, at.given)] for v in g.values] or [known]
        reads = [f"{name}.get({k[0] if len(k) == 1 else '(' + ', '.join(k) + ')'}, NONE)" for k in groups]
        return reads[0] if len(reads) == 1 else f"({', '.join('*' + r for r in reads)},)"

    def _scan(self, at: _Point, depth: int) -> None:
        """Nothing narrows it down: go through the known elements of a sort, in the targets' order."""
        order = [v for v in self._targets if v in at.unknown]
        v = order[0] if order else min(at.unknown, key=lambda u: u.name)
        values = self._writer.layout.values_of(v.sort)
        if values is None:
            self._writer.unit.scans.append(v.sort)
        self._line(depth, f"for {ident(v)} in {f'U_{v.sort}' if values is None else repr(values)}:")
        self._emit(replace(at, unknown=at.unknown - {v}), depth + 1)

    # -- rewriting -------------------------------------------------------------------------------

    def _hoisted(self, at: _Point) -> _Point | None:
        """An ``Exists`` among the parts opened, so that its own parts can lead to the unknowns."""
        for i, part in enumerate(at.pending):
            if isinstance(part, T.Exists) and T.free_vars(part) & at.unknown:
                fresh, body = renamed(part, self._writer.numbers)
                pending = (*at.pending[:i], *conjuncts(body), *at.pending[i + 1 :])
                return replace(at, unknown=at.unknown | set(fresh), pending=pending)
        return None

    def _cases(self, at: _Point) -> list[_Point] | None:
        """An ``Or`` among the parts, each of whose cases leads to an unknown, case by case."""
        for i, part in enumerate(at.pending):
            if not isinstance(part, T.Or) or not T.free_vars(part) & at.unknown:
                continue
            before, after = at.pending[:i], at.pending[i + 1 :]
            cases: list[_Point] = []
            shield: tuple[T.Term, ...] = ()
            for d in disjuncts(part):
                context = (*at.given, *before)
                mine = conjuncts(d) if self._sure(d, context) else (*shield, *conjuncts(d))
                case = replace(at, pending=(*before, *mine, *after))
                if not self._leads_somewhere(case):
                    break
                cases.append(case)
                shield = (*shield, *conjuncts(negation_normal(d, False)))
            else:
                return cases
        return None

    def _leads_somewhere(self, at: _Point) -> bool:
        known = at
        for i, part in enumerate(at.pending):
            if not T.free_vars(part) & at.unknown and self._sure(part, (*at.given, *at.pending[:i])):
                known = replace(known, given=(*known.given, part))
        return (
            self._best(known) is not None
            or self._hoisted(at) is not None
            or any(isinstance(p, T.Or) and T.free_vars(p) & at.unknown for p in at.pending)
        )

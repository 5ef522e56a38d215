"""The formulas of an encoding as a successor function at a finite scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from interlock.proofs.explorer.layout import UNDEFINED, Layout, State
from interlock.proofs.explorer.program import Instance
from interlock.proofs.smt.counts import Count
from interlock.proofs.smt.encode import Encoding, StepFormulas
from interlock.proofs.smt.interpret import Code, CountCode, Node, Reader, Reading, code
from interlock.proofs.smt.translate import translate
from interlock.proofs.smt.values import Expr
from interlock.spec.language import terms as T

Outcome = State | frozenset[str]
"""The next state, or the kinds of violation (``range``, ``domain``)."""


@dataclass(frozen=True, slots=True)
class _Step:
    guard: Node
    defined: Node
    owed: tuple[tuple[str, Node], ...]
    definitions: dict[str, tuple[tuple[str, ...], Node]]


class Formulas:
    """Evaluates what the solvers are given, in every instance of every action."""

    def __init__(self, encoding: Encoding, layout: Layout, instances: Sequence[Instance]) -> None:
        self._encoding, self._layout, self._instances = encoding, layout, instances
        self._reader = Reader()
        self._nodes = {s.name: self._step_nodes(encoding.step(s.name)) for s in encoding.system.steps}
        self._counts: dict[str, CountCode] = {}
        self._domains = self._domain_nodes()
        partial = {name for name, _, _ in self._domains}
        self._partial = [n for n, slot in enumerate(layout.slots) if slot.variable in partial]
        self._axioms: dict[tuple[str, tuple[int, ...]], list[tuple[Expr, Callable[[State], Any]]]] = {}
        self._guards = {i: self._guard(instance) for i, instance in enumerate(instances)}
        self._successors = self._compile()

    def successors(self, state: State) -> list[tuple[int, Outcome]]:
        """Every enabled instance with its outcome; where a function is undefined it has some value."""
        return self._successors(self._plain(state))

    def predicate(self, t: T.Term) -> Callable[[State], bool]:
        """What the formula of a closed term says of a state."""
        node = self._reader.node(self._encoding.formula(t))
        source = code(node, Reading(self._layout, {}, self._count_codes(None)))
        judge: Callable[[State], bool] = eval(f"lambda s: bool({source})")
        return lambda state: judge(self._plain(state))

    def enables(self, state: State, action: str) -> bool:
        """Whether some instance of an action is enabled."""
        plain = self._plain(state)
        return any(g(plain) for i, g in self._guards.items() if self._instances[i].step.name == action)

    def axioms(self, instance: Instance, state: State) -> Iterator[tuple[Expr, bool]]:
        """Each axiom about counts that a proof about this step uses, with its value on this step."""
        key = (instance.step.name, instance.args)
        if key not in self._axioms:
            step = self._encoding.step(instance.step.name)
            reading = self._reading(instance, self._count_codes(step))
            self._axioms[key] = [
                (a, eval(f"lambda s: {code(self._reader.node(a), reading)}")) for a in self._encoding.count_axioms(step)
            ]
        plain = self._plain(state)
        for axiom, value in self._axioms[key]:
            yield axiom, bool(value(plain))

    def _step_nodes(self, step: StepFormulas) -> _Step:
        node = self._reader.node
        values = self._encoding.values
        return _Step(
            guard=node(values.conj([c.formula for c in step.guard])),
            defined=node(self._encoding.guard_defined(step)),
            owed=tuple((o.name.partition(":")[0], node(o.formula)) for o in self._encoding.owed(step)),
            definitions={
                name: (tuple(a.decl().name() for a in d.args), node(d.value)) for name, d in step.definitions.items()
            },
        )

    def _domain_nodes(self) -> list[tuple[str, tuple[str, ...], Node]]:
        found = []
        for v in self._encoding.system.variables:
            if v.domain is not None:
                env = {a: self._encoding.values.fresh(a.name, a.sort) for a in v.args}
                domain = translate(self._encoding.values, self._encoding.before, v.domain, env)
                names = tuple(c.decl().name() for c in env.values())
                found.append((v.name, names, self._reader.node(domain)))
        return found

    def _reading(self, instance: Instance, counts: dict[str, CountCode]) -> Reading:
        constants: dict[str, Code] = {
            c.decl().name(): number
            for c, number in zip(self._encoding.step(instance.step.name).params, instance.args, strict=True)
        }
        return Reading(self._layout, constants, counts)

    def _guard(self, instance: Instance) -> Callable[[State], Any]:
        source = code(self._nodes[instance.step.name].guard, self._reading(instance, self._count_codes(None)))
        return eval(f"lambda s: {source}")  # type: ignore[no-any-return]

    def _compile(self) -> Callable[[State], list[tuple[int, Outcome]]]:
        lines = ["def successors(s):", " out = []"]
        for number, instance in enumerate(self._instances):
            lines += [f" {line}" for line in self._instance_source(number, instance)]
        lines.append(" return out")
        scope: dict[str, Any] = {"normal": self._normal(), "frozenset": frozenset}
        exec(compile("\n".join(lines), "<formulas>", "exec"), scope)
        return scope["successors"]  # type: ignore[no-any-return]

    def _instance_source(self, number: int, instance: Instance) -> Iterator[str]:
        nodes = self._nodes[instance.step.name]
        reading = self._reading(instance, self._count_codes(self._encoding.step(instance.step.name)))
        guard, defined = code(nodes.guard, reading), code(nodes.defined, reading)
        if guard == 0 and defined == 1:
            return
        yield f"if not {defined}: out.append(({number}, frozenset(('domain',))))"
        yield f"elif {guard}:"
        yield " bad = set()"
        for kind, node in nodes.owed:
            holds = code(node, reading)
            if holds != 1:
                yield f" if not {holds}: bad.add({'range' if kind == 'range' else 'domain'!r})"
        yield f" if bad: out.append(({number}, frozenset(bad)))"
        yield " else:"
        yield "  n = list(s)"
        for name, (args, node) in nodes.definitions.items():
            for place in product(*(range(self._layout.system.size(a.sort)) for a in self._layout.variable(name).args)):
                here = Reading(
                    self._layout, {**reading.constants, **dict(zip(args, place, strict=True))}, reading.counts
                )
                new, slot = code(node, here), self._layout.index(name, place)
                if new != f"s[{slot}]":
                    yield f"  n[{slot}] = +({new})"  # a truth value as a number
        yield f"  out.append(({number}, normal(n)))"

    def _normal(self) -> Callable[[list[int]], State]:
        """Undefined exactly outside the domains."""
        lines = ["def normal(s):"]
        for name, names, node in self._domains:
            for place in product(*(range(self._layout.system.size(a.sort)) for a in self._layout.variable(name).args)):
                reading = Reading(self._layout, dict(zip(names, place, strict=True)), {})
                lines.append(f" if not {code(node, reading)}: s[{self._layout.index(name, place)}] = {UNDEFINED}")
        lines.append(" return tuple(s)")
        scope: dict[str, Any] = {}
        exec("\n".join(lines), scope)
        return scope["normal"]  # type: ignore[no-any-return]

    def _count_codes(self, step: StepFormulas | None) -> dict[str, CountCode]:
        codes: dict[str, CountCode] = {}
        for count in self._encoding.before.counts.met.values():
            codes[count.before.name()] = self._counting(count, None)
            if step is not None:
                codes[count.after.name()] = self._counting(count, step)
        return codes

    def _counting(self, count: Count, step: StepFormulas | None) -> CountCode:
        """Counts by looking at every element: before the step, or after it by its definitions."""
        values = self._encoding.values
        env: dict[T.Var, Expr] = {v: values.fresh(v.name, v.sort) for v in (*count.free, *count.term.vars)}
        state = self._encoding.before if step is None else step.after
        node = self._reader.node(translate(values, state, count.term.body, env))
        free = [env[v].decl().name() for v in count.free]
        bound = [env[v].decl().name() for v in count.term.vars]
        sizes = [range(self._layout.system.size(v.sort)) for v in count.term.vars]

        def counted(args: tuple[Code, ...], reading: Reading) -> Code:
            parts: list[str] = []
            for place in product(*sizes):
                constants = {
                    **reading.constants,
                    **dict(zip(free, args, strict=True)),
                    **dict(zip(bound, place, strict=True)),
                }
                inner = Reading(reading.layout, constants, reading.counts, reading.state)
                parts.append(f"(1 if {code(node, inner)} else 0)")
            return f"({' + '.join(parts)})"

        return counted

    def _plain(self, state: State) -> State:
        """Some value instead of none: for a solver every function has a value everywhere."""
        values = list(state)
        for slot in self._partial:
            # Of a total counter -1 is a number like others.
            if values[slot] == UNDEFINED:
                values[slot] = 0
        return tuple(values)

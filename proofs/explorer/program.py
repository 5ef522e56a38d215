"""A system at its scope as one generated Python function from a state to its successors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from interlock.proofs.explorer.generate import Env, Generator
from interlock.proofs.explorer.layout import UNDEFINED, Layout, State
from interlock.spec.language import terms as T
from interlock.spec.language.properties import domain_id, range_id
from interlock.spec.language.sorts import INT
from interlock.spec.language.system import Step, System


@dataclass(frozen=True, slots=True)
class Instance:
    """An action at concrete parameters (element indices, in the order of the action's parameters)."""

    step: Step
    args: tuple[int, ...]

    def env(self) -> Env:
        return dict(zip(self.step.params, self.args, strict=True))

    def named(self, system: System) -> dict[str, str]:
        """Parameter name to element name."""
        return {v.name: system.element(v.sort, i) for v, i in self.env().items()}

    def text(self, system: System) -> str:
        return f"{self.step.name}({', '.join(self.named(system).values())})"


class Fault(Exception):
    """A step that the language does not give a meaning: it is a violation with a trace, never a clamp."""

    def __init__(self, property_id: str, message: str) -> None:
        super().__init__(message)
        self.property_id, self.message = property_id, message


class ScopeExceeded(Exception):
    """An integer left the scope's bound: nothing is wrong, but the scope is too small to tell."""


def defined(value: int, symbol: str) -> int:
    """The value of a partial function, or the fault that it was applied outside its domain."""
    if value == UNDEFINED:
        raise Fault(domain_id(symbol), f"{symbol} is applied outside its domain")
    return value


Outcome = tuple[int, "State | Fault | ScopeExceeded"]


class Program:
    """Executable form of a system.

    Attributes:
        instances: all action instances; a number in ``successors`` indexes them.
        successors: state to a list of (instance number, next state, or what went wrong).
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.layout = Layout(system)
        self._generator = Generator(self.layout)
        self.instances: list[Instance] = [
            Instance(s, args) for s in system.steps for args in product(*(range(system.size(p.sort)) for p in s.params))
        ]
        self.successors: Callable[[State], list[Outcome]] = self._compile_successors()

    def initial_states(self) -> list[State]:
        """The initial state (exactly one in this version of the language), undefined outside the domains."""
        values = self._initial_values()
        outside = self._outside(values)
        return [tuple(UNDEFINED if slot in outside else v for slot, v in enumerate(values))]

    def initial_wrongs(self) -> list[Fault | ScopeExceeded]:
        """Why the initial state is none of the system's: a range or a domain that it does not respect."""
        values, found = self._initial_values(), list[Fault | ScopeExceeded]()
        outside = self._outside(values)
        for slot, value in enumerate(values):
            v = self.layout.variable(self.layout.slots[slot].variable)
            if slot in outside:
                continue
            if v.domain is not None and v.init is None:
                found.append(Fault(domain_id(v.name), f"{v.name} is defined at the start but has no value"))
            elif v.result == INT:
                low, high = self._constant(v.low), None if v.high is None else self._constant(v.high)
                if value < low or (high is not None and value > high):
                    bound = f"below {low}" if value < low else f"above {high}"
                    found.append(Fault(range_id(v.name), f"{v.name} starts as {value}, {bound}"))
                elif high is None and value > self.system.int_max:
                    found.append(self._beyond(f"{v.name} starts as {value}"))
        return found

    def _initial_values(self) -> State:
        """The initial value of every slot, whether it is defined there or not."""
        values: list[int] = []
        for slot in self.layout.slots:
            v = self.layout.variable(slot.variable)
            env = dict(zip(v.args, slot.args, strict=True))
            values.append(UNDEFINED if v.init is None else self._constant(v.init, env))
        return tuple(values)

    def _outside(self, values: State) -> set[int]:
        """Slots of partial functions outside their domain; domains read total functions only."""
        return {
            self.layout.index(v.name, tuple(env.values()))
            for v in self.system.variables
            if v.domain is not None
            for env in self.layout.assignments(v.args)
            if not self.predicate(v.domain, env)(values)
        }

    def _constant(self, t: T.Term, env: Env | None = None) -> int:
        value = self._generator.expr(t, env or {})
        if not isinstance(value, int):
            raise ValueError(f"reads the state, where there is none: {t}")
        return value

    def _beyond(self, what: str) -> ScopeExceeded:
        return ScopeExceeded(f"{what}: raise int_max of the scope, now {self.system.int_max}")

    def predicate(self, formula: T.Term, env: Env | None = None) -> Callable[[State], bool]:
        """A formula over one state, compiled; raises :class:`Fault` where it is undefined."""
        source = f"lambda s: bool({self._generator.expr(formula, env or {})})"
        return eval(source, {"defined": defined})  # type: ignore[no-any-return]

    def step_predicate(self, formula: T.Term, env: Env) -> Callable[[State, State], bool]:
        """A formula over a step (``s`` before, ``n`` after), compiled."""
        source = f"lambda s, n: bool({self._generator.expr(formula, env)})"
        return eval(source, {"defined": defined})  # type: ignore[no-any-return]

    def guard_source(self, instance: Instance) -> str:
        """The guard as one Python expression."""
        conjuncts = T.conjunction(*(c.term for c in instance.step.guard))
        return str(self._generator.expr(conjuncts, instance.env()))

    def _compile_successors(self) -> Callable[[State], list[Outcome]]:
        lines = ["def successors(s):", " out = []"]
        for number, instance in enumerate(self.instances):
            lines += self._instance_source(number, instance)
        lines.append(" return out")
        scope: dict[str, object] = {"defined": defined, "Fault": Fault, "ScopeExceeded": ScopeExceeded}
        exec(compile("\n".join(lines), f"<successors of {self.system.slice.name}>", "exec"), scope)
        return scope["successors"]  # type: ignore[return-value]

    def _instance_source(self, number: int, instance: Instance) -> list[str]:
        guard = self.guard_source(instance)
        if guard == "0":
            return []
        # The slots of partial functions that the step gives a value.
        body: list[str] = ["n = list(s)", "g = set()"]
        env = instance.env()
        for u in instance.step.updates:
            body += self._update_source(u.symbol, u.args, u.over, u.when, u.value, env)
        body += self._domain_source(instance)
        body.append(f"out.append(({number}, tuple(n)))")
        return [
            " try:",
            f"  if {guard}:",
            *(f"   {line}" for line in body),
            " except (Fault, ScopeExceeded) as e:",
            f"  out.append(({number}, e))",
        ]

    def _update_source(
        self,
        symbol: str,
        args: tuple[T.Term, ...],
        over: tuple[T.Var, ...],
        when: T.Term,
        value: T.Term,
        env: Env,
    ) -> list[str]:
        generator, lines = self._generator, []
        for more in self.layout.assignments(over):
            inner = {**env, **more}
            condition = generator.expr(when, inner)
            if condition == 0:
                continue
            indent = ""
            if isinstance(condition, str):
                lines.append(f"if {condition}:")
                indent = " "
            slot, new = generator.slot(symbol, args, inner), generator.expr(value, inner)
            if self.layout.variable(symbol).result == "int":
                lines += [indent + line for line in self._ranged_source(symbol, slot, new)]
            elif self.layout.variable(symbol).result == "bool" and isinstance(new, str):
                lines.append(f"{indent}n[{slot}] = 1 if {new} else 0")
            else:
                lines.append(f"{indent}n[{slot}] = {new}")
            if self.layout.variable(symbol).domain is not None:
                lines.append(f"{indent}g.add({slot})")
        return lines

    def _ranged_source(self, symbol: str, slot: int | str, new: int | str) -> list[str]:
        v = self.layout.variable(symbol)
        low = self._constant(v.low)
        lines = [f"v = {new}"]
        lines.append(f"if v < {low}: raise Fault('{range_id(symbol)}', f'{symbol} becomes {{v}}, below {low}')")
        if v.high is not None:
            high = self._constant(v.high)
            lines.append(f"if v > {high}: raise Fault('{range_id(symbol)}', f'{symbol} becomes {{v}}, above {high}')")
        else:
            top = self.system.int_max
            lines.append(
                f"if v > {top}: raise ScopeExceeded(f'{symbol} becomes {{v}}: raise int_max of the scope, now {top}')"
            )
        lines.append(f"n[{slot}] = v")
        return lines

    def _domain_source(self, instance: Instance) -> list[str]:
        """Partial functions that this step may change hold a value exactly in their domain afterwards.

        A value that is given outside it is a violation: to drop it would be to clamp.
        """
        changed = {u.symbol for u in instance.step.updates}
        lines: list[str] = []
        for v in self.system.variables:
            if v.domain is None or not changed & (T.symbols(v.domain) | {v.name}):
                continue
            for env in self.layout.assignments(v.args):
                slot = self.layout.index(v.name, tuple(env.values()))
                inside = self._generator.expr(v.domain, env, "n")
                lines.append(f"if not {inside}:")
                if v.name in changed:
                    message = f"{v.name} is given a value outside its domain"
                    lines.append(f" if {slot} in g: raise Fault('{domain_id(v.name)}', '{message}')")
                lines.append(f" n[{slot}] = {UNDEFINED}")
                lines.append(
                    f"elif n[{slot}] == {UNDEFINED}: "
                    f"raise Fault('{domain_id(v.name)}', '{v.name} is defined but has no value')"
                )
        return lines

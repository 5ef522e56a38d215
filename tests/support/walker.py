"""Random behaviours of the specification as traces, so that what reads traces has something to read."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from interlock.proofs.claims import claims
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import WHOLE, elaborate
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import System
from interlock.statemachine.sparse import Broken, Checker, Interpreter, Program, StepFault, World
from interlock.statemachine.trace import Trace, TraceEvent, event, header

SCOPE = {"request": 2, "block": 3, "chunk": 2, "job": 3, "worker": 2, "hash": 2}


class Walker:
    """One random behaviour, step by step.

    Args:
        weight: how much likelier an action is than others; by its name.
        system: what to walk in, if not in the slice (or in everything) with all that is claimed there.
    """

    def __init__(
        self,
        seed: int,
        *,
        slice_: str | None = None,
        scope: Mapping[str, int] | None = None,
        switches: Mapping[str, str] | None = None,
        weight: Callable[[str], float] = lambda _: 1.0,
        system: System | None = None,
        spec: Specification = SPECIFICATION,
    ) -> None:
        self.rng = random.Random(seed)
        self.spec = spec
        self.switches = spec.switch_values(changes=dict(switches or {}))
        chosen = WHOLE if slice_ is None else spec.slice(slice_)
        sizes = {**(SCOPE if slice_ is None and spec is SPECIFICATION else {}), **(scope or {})}
        judged = claims(spec, self.switches, slice_).properties
        self.system = system or elaborate(spec, self.switches, chosen, sizes, judged)
        self.scope = dict(self.system.scope)
        self.slice = slice_
        self.world = World(Program(self.system), self.scope)
        for sort, size in self.scope.items():
            for i in range(size):
                self.world.know(sort, f"{sort}{i}")
        self.interpreter = Interpreter(self.world)
        self.checker = Checker(self.world, self.system.properties)
        self.weight = weight
        self.events: list[TraceEvent] = []
        self.broken: list[tuple[int, Broken]] = []

    def step(self) -> bool:
        """Take a random enabled action; ``False`` in a deadlock or after a fault."""
        choices: dict[str, list[tuple[str, ...]]] = {}
        for s in self.system.steps:
            found = self.interpreter.instances(s)
            if found:
                choices[s.name] = found
        if not choices:
            return False
        names = sorted(choices)
        name = self.rng.choices(names, [self.weight(n) for n in names])[0]
        step, arguments = self.interpreter.steps[name], self.rng.choice(choices[name])
        try:
            writes = self.interpreter.writes(step, arguments)
        except StepFault:
            return False
        around = self.checker.before(step, arguments, writes)
        self.world.apply(writes)
        index = len(self.events)
        self.broken += [(index, b) for b in self.checker.after(around)]
        named = {
            p.name: str(a).lower() if isinstance(a, bool) else a for p, a in zip(step.params, arguments, strict=True)
        }
        line = event(index, step.action.event, action=name, hidden=not step.action.observed, **named)
        self.events.append(line)
        self.world.forget()
        return True

    def trace(self, steps: int, *, hidden: bool = True) -> Trace:
        """The trace of so many further steps."""
        for _ in range(steps):
            if not self.step():
                break
        kept = [e for e in self.events if hidden or not e.hidden]
        kept = [e.model_copy(update={"seq": i}) for i, e in enumerate(kept)]
        if not hidden:
            kept = [e.model_copy(update={"action": None}) for e in kept]
        head = header(
            self.spec,
            source="explorer" if self.slice else "embedded",
            switches=self.switches,
            slice_=self.slice,
            scope=self.scope,
        )
        return Trace(head, tuple(kept), "walk")

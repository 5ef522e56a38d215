"""One rule of the contract between engine and connector, and where the specification checks it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from interlock.spec.language.base import Declaration, Name, PropertyId
from interlock.spec.language.specification import Specification, UnknownName
from interlock.spec.modules import Modules, owner


class GuardOf(Declaration):
    """A conjunct of an action's guard that keeps a rule."""

    module: PropertyId
    action: Name
    conjunct: PropertyId

    def __str__(self) -> str:
        return f"{self.module}: guard of {self.action}, {self.conjunct}"


class Rule(Declaration):
    """A rule (R), an invariant (I) or a liveness property (V) of the contract.

    Args (of the declaration):
        source: where it is written or can be read off: file and line of vLLM 0.32.0, or a pull request.
        standing: ``documented`` in the interface's own words, ``asserted`` or raised by code, or
            only ``implied`` by what the code does; ``seen`` where the scheduler of the release was run
            to see that it holds, or what follows where it does not.
        properties: the properties that say it: invariants, leads-to, action properties, boundary clauses.
        guards: the guard conjuncts that keep it.
        outside: why the specification does not check it; beside properties or guards, what of it they
            leave unchecked.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[RIV]-[0-9]{2}$")]
    topic: str
    text: str = Field(min_length=10)
    source: str = Field(min_length=1)
    standing: tuple[Literal["documented", "asserted", "implied", "seen"], ...]
    properties: tuple[PropertyId, ...] = ()
    guards: tuple[GuardOf, ...] = ()
    outside: str = ""


class RuleError(ValueError):
    """A rule that names what is not there, or that nothing checks and nothing excuses."""


def check_rules(rules: tuple[Rule, ...], specs: Modules) -> tuple[Rule, ...]:
    """The rules, if each is checked by something that exists or says why it is out of scope.

    Raises:
        RuleError: names the rule and what is wrong.
    """
    seen: set[str] = set()
    for r in rules:
        if r.id in seen:
            raise RuleError(f"{r.id} is listed twice")
        seen.add(r.id)
        if not (r.properties or r.guards or r.outside):
            raise RuleError(f"{r.id}: nothing checks it; name a property or a guard, or say why it is out of scope")
        try:
            for p in r.properties:
                owner(specs, "property", p)
            for g in r.guards:
                _guard(specs, g)
        except UnknownName as error:
            raise RuleError(f"{r.id}: {error}") from error
    return rules


def _guard(specs: Modules, g: GuardOf) -> None:
    module: Specification | None = next((m for m in specs if m.name == g.module), None)
    if module is None:
        raise UnknownName("module", g.module, [m.name for m in specs])
    conjuncts = [c.id for c in module.action(g.action).guard]
    if g.conjunct not in conjuncts:
        raise UnknownName(f"conjunct of {g.action}", g.conjunct, conjuncts)

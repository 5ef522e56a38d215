"""What must be proved, as terms that any engine can read; primed parts speak of the state after a step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.proofs.smt.defined import defined, for_all, guard_defined, implies, update_defined
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Update
from interlock.spec.language.sorts import INT
from interlock.spec.language.system import Step, System, Variable


@dataclass(frozen=True, slots=True)
class Claim:
    """A named statement: an invariant, a declared range, or that something is defined.

    Args (of the object):
        given: another proof has it; this one assumes it and owes nothing for it.
    """

    name: str
    term: T.Term
    given: bool = False


@dataclass(frozen=True, slots=True)
class Obligation:
    """``claim`` must follow: at the start, in every inductive state, or of every step from one.

    Args:
        step: the action; ``None`` for the start and for states.
        at_start: from the initial values alone.
        enabled: the step's guard may be assumed (not where the guard itself must be defined).
    """

    claim: Claim
    step: str | None = None
    at_start: bool = False
    enabled: bool = True

    def __hash__(self) -> int:
        # Its name alone: a term is walked to its leaves for its hash.
        return hash(self.name)

    @property
    def place(self) -> str:
        """The action, ``start`` or ``state``."""
        return self.step or ("start" if self.at_start else "state")

    @property
    def name(self) -> str:
        """``plan_store / one-open-store-per-block``."""
        return f"{self.place} / {self.claim.name}"


def obligations(system: System, invariants: tuple[Claim, ...]) -> Iterator[Obligation]:
    """Everything that makes ``invariants``, with the declared ranges, inductive.

    A step that changes nothing of what an invariant reads keeps it: of that there is nothing to ask. A proof to
    which something is given asks for its own invariants only: the proof that gives it has shown ranges and domains.
    """
    own = tuple(c for c in invariants if not c.given)
    alone = len(own) == len(invariants)
    everywhere = (*undefined_at_start(system), *range_claims(system)) if alone else ()
    for c in (*everywhere, *own):
        yield Obligation(c, at_start=True)
    for c in own:
        where = defined(system, c.term)
        if where != T.TRUE:
            yield Obligation(Claim(f"defined:{c.name}", where))
    for s in system.steps:
        guard = guard_defined(system, s.guard)
        if guard != T.TRUE and alone:
            yield Obligation(Claim("domain:guard", guard), s.name, enabled=False)
        changed = {u.symbol for u in s.updates}
        moved = (primed(i) for i in own if reads(system, i.term) & changed)
        for c in (*(step_claims(system, s) if alone else ()), *moved):
            yield Obligation(c, s.name)


def reads(system: System, t: T.Term) -> set[str]:
    """What the value of a term depends on: its symbols, and the domains of the partial functions among them."""
    found = T.symbols(t)
    for v in system.variables:
        if v.name in found and v.domain is not None:
            found = found | T.symbols(v.domain)
    return found


def step_claims(system: System, step: Step) -> tuple[Claim, ...]:
    """What a step owes beside the invariants: its updates are made where they are defined, in range."""
    changed = {u.symbol: u for u in step.updates}
    claims = [Claim(f"domain:{u.symbol}", update_defined(system, u)) for u in step.updates]
    claims += [Claim(f"value:{v.name}", _has_value(v, changed.get(v.name))) for v in system.variables]
    claims += [primed(r) for r in range_claims(system, set(changed))]
    touched = [c for c in claims if c.term != T.TRUE and _touched(c.term, set(changed))]
    return (
        *touched,
        *(Claim(f"domain:given-{u.symbol}", t) for u in step.updates if (t := _in_domain(system, u)) != T.TRUE),
    )


def primed(claim: Claim) -> Claim:
    """The claim, of the state after a step."""
    return Claim(claim.name, T.Primed(body=claim.term))


def range_claims(system: System, changed: set[str] | None = None) -> Iterator[Claim]:
    """The declared ranges of all integer variables, where they are defined, or of those that ``changed`` may move."""
    for v in system.variables:
        if v.result != INT:
            continue
        value = T.Apply(symbol=v.name, args=v.args)
        above = T.TRUE if v.high is None else T.Le(left=value, right=v.high)
        domain = T.TRUE if v.domain is None else v.domain
        bounds = for_all(v.args, implies(domain, T.conjunction(T.Le(left=v.low, right=value), above)))
        if changed is None or T.symbols(bounds) & changed:
            yield Claim(f"range:{v.name}", bounds)


def undefined_at_start(system: System) -> Iterator[Claim]:
    """A partial function without an initial value is defined nowhere at the start."""
    for v in system.variables:
        if v.init is None and v.domain is not None:
            yield Claim(f"value:{v.name}", for_all(v.args, T.negation(v.domain)))


def start_terms(system: System) -> Iterator[Claim]:
    """The initial values; of a partial function, where it is defined."""
    for v in system.variables:
        if v.init is not None:
            starts = T.Apply(symbol=v.name, args=v.args).eq(v.init)
            yield Claim(f"init:{v.name}", for_all(v.args, implies(T.TRUE if v.domain is None else v.domain, starts)))


def _has_value(v: Variable, u: Update | None) -> T.Term:
    """Where a partial function becomes defined, the step gives it a value."""
    if v.domain is None:
        return T.TRUE
    args = _arguments(v)
    domain = v.defined_at(args)
    given = T.FALSE if u is None else _given(u, args)
    return for_all(args, implies(T.Primed(body=domain), T.disjunction(domain, given)))


def _in_domain(system: System, u: Update) -> T.Term:
    """Where an update gives a partial function a value, the function is defined after the step."""
    v = system.variable(u.symbol)
    if v.domain is None:
        return T.TRUE
    args = _arguments(v)
    domain = v.defined_at(args)
    return for_all(args, implies(_given(u, args), T.Primed(body=domain)))


def _arguments(v: Variable) -> tuple[T.Var, ...]:
    """Names for any arguments: the declared ones may be those of parameters."""
    return tuple(T.Var(name=f"at{i}", sort=a.sort) for i, a in enumerate(v.args))


def _given(u: Update, args: tuple[T.Var, ...]) -> T.Term:
    """The update gives its symbol a value at ``args``."""
    over: dict[T.Var, T.Term] = {}
    here: list[T.Term] = []
    for given, arg in zip(u.args, args, strict=True):
        if isinstance(given, T.Var) and given in u.over:
            over[given] = arg
        else:
            here.append(arg.eq(given))
    return T.conjunction(*here, T.substitute(u.when, over))


def _touched(t: T.Term, changed: set[str]) -> bool:
    """A claim about primed parts says something only if the step changes what they read."""
    primes = [p for p in T.subterms(t) if isinstance(p, T.Primed)]
    return not primes or any(T.symbols(p.body) & changed for p in primes)

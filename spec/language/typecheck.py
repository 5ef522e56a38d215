"""Sorts of terms: every application, comparison and quantifier is checked where it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.spec.language import terms as T
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.sorts import BOOL, INT


@dataclass(frozen=True, slots=True)
class Signature:
    """The types of everything that a term may name."""

    symbols: Mapping[str, tuple[tuple[str, ...], str]]
    """State variables and channels: argument types and result type."""
    enums: Mapping[str, tuple[str, ...]]
    sorts: frozenset[str]
    switches: Mapping[str, tuple[str, ...]]

    def knows_type(self, name: str) -> bool:
        """Whether a variable may range over it (``int`` may not)."""
        return name == BOOL or name in self.enums or name in self.sorts


class TypeChecker:
    """Finds the type of a term at a place, or refuses it there."""

    def __init__(self, signature: Signature, place: str, *, primes: bool = False) -> None:
        self._signature = signature
        self._place = place
        self._primes = primes

    def require(self, t: T.Term, wanted: str, scope: frozenset[T.Var]) -> None:
        """Refuse ``t`` unless it has the type ``wanted`` with the variables in ``scope``."""
        found = self.type_of(t, scope)
        if found != wanted:
            raise self._refuse(f"{t} has type {found}", f"give a term of type {wanted}")

    def type_of(self, t: T.Term, scope: frozenset[T.Var]) -> str:
        match t:
            case T.Var():
                if t not in scope:
                    near = next((v for v in scope if v.name == t.name), None)
                    fix = (
                        f"here it is of sort {near.sort}"
                        if near is not None
                        else "declare it as a parameter or quantify it"
                    )
                    raise self._refuse(f"{t.name} of sort {t.sort} is not bound", fix)
                return t.sort
            case T.Bool():
                return BOOL
            case T.Int():
                return INT
            case T.Member():
                members = self._signature.enums.get(t.enum)
                if members is None or t.name not in members:
                    known = "no such enumeration" if members is None else f"it has {', '.join(members)}"
                    raise self._refuse(f"{t.enum} has no member {t.name}", known)
                return t.enum
            case T.Size():
                if t.sort not in self._signature.sorts:
                    raise self._refuse(f"unknown sort {t.sort}", "declare the sort")
                return INT
            case T.SwitchIs():
                if t.switch not in self._signature.switches:
                    raise self._refuse(f"unknown switch {t.switch}", "declare it")
                for v in t.values:
                    if v not in self._signature.switches.get(t.switch, ()):
                        raise self._refuse(f"switch {t.switch} has no value {v}", "declare the switch and the value")
                return BOOL
            case T.Apply():
                return self._application(t, scope)
            case T.Primed():
                if not self._primes:
                    raise self._refuse(f"{t} reads the next state", "only action properties may")
                return self.type_of(t.body, scope)
            case T.Not():
                self.require(t.body, BOOL, scope)
                return BOOL
            case T.And() | T.Or():
                for a in t.args:
                    self.require(a, BOOL, scope)
                return BOOL
            case T.Implies():
                self.require(t.left, BOOL, scope)
                self.require(t.right, BOOL, scope)
                return BOOL
            case T.Eq():
                self.require(t.right, self.type_of(t.left, scope), scope)
                return BOOL
            case T.Lt() | T.Le():
                self.require(t.left, INT, scope)
                self.require(t.right, INT, scope)
                return BOOL
            case T.Add() | T.Sub():
                self.require(t.left, INT, scope)
                self.require(t.right, INT, scope)
                return INT
            case T.Ite():
                self.require(t.cond, BOOL, scope)
                result = self.type_of(t.then, scope)
                self.require(t.orelse, result, scope)
                return result
            case T.Forall() | T.Exists() | T.Card():
                self.require(t.body, BOOL, scope | self.bind(t.vars, scope))
                return INT if isinstance(t, T.Card) else BOOL
        raise TypeError(f"not a term: {t!r}")

    def bind(self, variables: tuple[T.Var, ...], scope: frozenset[T.Var]) -> frozenset[T.Var]:
        """``variables`` as a scope of their own: of known sorts, each once, and shadowing nothing."""
        for i, v in enumerate(variables):
            if not self._signature.knows_type(v.sort):
                raise self._refuse(f"{v.name} ranges over unknown sort {v.sort}", "declare the sort")
            if any(v.name == o.name for o in (*scope, *variables[:i])):
                raise self._refuse(f"{v.name} is bound twice", "use another name inside")
        return frozenset(variables)

    def _application(self, t: T.Apply, scope: frozenset[T.Var]) -> str:
        known = self._signature.symbols.get(t.symbol)
        if known is None:
            raise self._refuse(f"unknown variable {t.symbol}", "declare it")
        types, result = known
        if len(types) != len(t.args):
            raise self._refuse(f"{t} has {len(t.args)} arguments", f"{t.symbol} takes {len(types)}")
        for a, wanted in zip(t.args, types, strict=True):
            self.require(a, wanted, scope)
        return result

    def _refuse(self, problem: str, fix: str) -> SpecificationError:
        return SpecificationError(self._place, problem, fix)

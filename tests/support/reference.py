"""A second reading of the language, as plain as possible: every quantifier goes through every element."""

from __future__ import annotations

import itertools

from interlock.spec.language import terms as T
from interlock.spec.language.system import Step, System


class Undefined(Exception):
    pass


class OutOfRange(Exception):
    pass


class Reference:
    """State: {variable: {argument tuple: value}}, complete over the scope."""

    def __init__(self, system: System, scope: dict[str, int]) -> None:
        self.system = system
        self.scope = scope
        self.variables = {v.name: v for v in system.variables}
        self.state = {
            v.name: {
                key: None if v.init is None else self.value(v.init, {}, None)
                for key in itertools.product(*(self.elements(a.sort) for a in v.args))
            }
            for v in system.variables
        }

    def elements(self, sort: str) -> tuple:
        if sort == "bool":
            return (False, True)
        members = self.system.members(sort)
        return members or tuple(f"{sort}{i}" for i in range(self.scope[sort]))

    def value(self, t, env, state):
        match t:
            case T.Var():
                return env[t.name]
            case T.Bool() | T.Int():
                return t.value
            case T.Member():
                return t.name
            case T.Size():
                return self.scope[t.sort]
            case T.Apply():
                args = tuple(self.value(a, env, state) for a in t.args)
                v = self.variables[t.symbol]
                if v.domain is not None:
                    inner = {p.name: a for p, a in zip(v.args, args, strict=True)}
                    if not self.value(v.domain, inner, state):
                        raise Undefined(t.symbol)
                found = state[t.symbol][args]
                if found is None:
                    raise Undefined(t.symbol)
                return found
            case T.Not():
                return not self.value(t.body, env, state)
            case T.And():
                return all(self.value(a, env, state) for a in t.args)
            case T.Or():
                return any(self.value(a, env, state) for a in t.args)
            case T.Implies():
                return not self.value(t.left, env, state) or self.value(t.right, env, state)
            case T.Eq():
                return self.value(t.left, env, state) == self.value(t.right, env, state)
            case T.Lt():
                return self.value(t.left, env, state) < self.value(t.right, env, state)
            case T.Le():
                return self.value(t.left, env, state) <= self.value(t.right, env, state)
            case T.Add():
                return self.value(t.left, env, state) + self.value(t.right, env, state)
            case T.Sub():
                return self.value(t.left, env, state) - self.value(t.right, env, state)
            case T.Ite():
                return self.value(t.then if self.value(t.cond, env, state) else t.orelse, env, state)
            case T.Forall():
                return all(self.value(t.body, e, state) for e in self.assignments(t.vars, env))
            case T.Exists():
                return any(self.value(t.body, e, state) for e in self.assignments(t.vars, env))
            case T.Card():
                return sum(bool(self.value(t.body, e, state)) for e in self.assignments(t.vars, env))
        raise TypeError(t)

    def assignments(self, variables, env):
        for values in itertools.product(*(self.elements(v.sort) for v in variables)):
            yield {**env, **{v.name: x for v, x in zip(variables, values, strict=True)}}

    def enabled(self, step: Step):
        for env in self.assignments(step.params, {}):
            if all(self.value(c.term, env, self.state) for c in step.guard):
                yield tuple(env[p.name] for p in step.params)

    def holds(self, formula) -> bool:
        return self.value(formula, {}, self.state)

    def fire(self, step: Step, arguments) -> None:
        new = {name: dict(cells) for name, cells in self.state.items()}
        base = {p.name: a for p, a in zip(step.params, arguments, strict=True)}
        for u in step.updates:
            v = self.variables[u.symbol]
            for env in self.assignments(u.over, base):
                if self.value(u.when, env, self.state):
                    key = tuple(self.value(a, env, self.state) for a in u.args)
                    value = self.value(u.value, env, self.state)
                    if v.result == "int":
                        low = self.value(v.low, {}, self.state)
                        high = None if v.high is None else self.value(v.high, {}, self.state)
                        if value < low or (high is not None and value > high):
                            raise OutOfRange(u.symbol)
                    new[u.symbol][key] = value
        self.state = new
        for v in self.system.variables:
            if v.domain is not None:
                for key in self.state[v.name]:
                    env = {p.name: a for p, a in zip(v.args, key, strict=True)}
                    if not self.value(v.domain, env, self.state):
                        self.state[v.name][key] = None

    def cells(self) -> dict:
        """What is not at its default, keyed as the sparse world keys it."""
        found = {}
        for name, cells in self.state.items():
            v = self.variables[name]
            default = None if v.init is None else self.value(v.init, {}, None)
            if v.init is not None and v.result == "int" and not isinstance(v.init, T.Int):
                default = 0  # what depends on sizes is stored
            for key, value in cells.items():
                if value != default:
                    found[name, key[0] if len(key) == 1 else key] = value
        return found

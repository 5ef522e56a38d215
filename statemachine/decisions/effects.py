"""Updates as statements: all values are computed from the old state, then all are written."""

from __future__ import annotations

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Update
from interlock.statemachine.decisions.expression import Expressions
from interlock.statemachine.decisions.layout import Symbol
from interlock.statemachine.decisions.put import Line, Put


class Effects:
    """Collects the statements of one action's updates."""

    def __init__(self, expressions: Expressions) -> None:
        self._expressions = expressions
        self.compute: list[str] = []
        self.apply: list[Line] = []
        self._count = 0

    def add(self, update: Update) -> None:
        """An update whose switches are folded and whose symbol is no ghost."""
        symbol = self._expressions.layout.use(update.symbol)
        if update.over:
            self._many(symbol, update)
        else:
            self._one(symbol, update)

    def _local(self, value: str) -> str:
        """The value as a name that later statements can use; literals and parameters stay as they are."""
        if value.isidentifier() or value in ("True", "False") or value.startswith("'") or value.isdigit():
            return value
        name = f"u{self._count}"
        self._count += 1
        self.compute.append(f"{name} = {value}")
        return name

    def _one(self, symbol: Symbol, update: Update) -> None:
        when = None if update.when == T.TRUE else self._local(self._expressions.write(update.when))
        indent = "" if when is None else "    "
        if when is not None:
            self.compute.append(f"if {when}:")
        at = len(self.compute)
        key = self._local(self._expressions.key(update.args))
        value = self._local(self._expressions.write(update.value))
        checks = self._range_check(symbol, key, value)
        self.compute[at:] = [indent + line for line in (*self.compute[at:], *checks)]
        if when is not None and len(self.compute) == at:
            self.compute.append("    pass")
        if when is not None:
            self.apply.append(f"if {when}:")
        self.apply.append(Put(symbol, key, value, indent, tuple(map(self._expressions.write, update.args))))

    def _many(self, symbol: Symbol, update: Update) -> None:
        if symbol.relation:
            self._relation(symbol, update)
            return
        key, value = self._expressions.key(update.args), self._expressions.write(update.value)
        found = self._found(f"({key}, {value})", update, update.when)
        if symbol.low is not None:
            self.compute.append(f"for key, value in {found}:")
            self.compute += [f"    {line}" for line in self._range_check(symbol, "key", "value")]
        self._for_each("key, value", found, Put(symbol, "key", "value", "    "))

    def _relation(self, symbol: Symbol, update: Update) -> None:
        """What becomes true is searched from the condition, what becomes false also from what is true now."""
        key = self._expressions.key(update.args)
        here = T.Apply(symbol=update.symbol, args=update.args)
        if update.value != T.TRUE:
            ceases = T.conjunction(update.when, here, T.negation(update.value))
            self._for_each("key", self._found(key, update, ceases), Put(symbol, "key", "False", "    "))
        if update.value != T.FALSE:
            becomes = T.conjunction(update.when, update.value)
            self._for_each("key", self._found(key, update, becomes), Put(symbol, "key", "True", "    "))

    def _found(self, item: str, update: Update, condition: T.Term) -> str:
        return self._local(f"[{self._expressions.search.generator(item, update.over, condition)}]")

    def _for_each(self, names: str, found: str, put: Put) -> None:
        self.apply += [f"for {names} in {found}:", put]

    def _range_check(self, symbol: Symbol, key: str, value: str) -> list[str]:
        if symbol.low is None:
            return []
        low = self._expressions.write(symbol.low)
        high = "None" if symbol.high is None else self._expressions.write(symbol.high)
        above = "" if symbol.high is None else f" <= {high}"
        return [
            f"if not {low} <= {value}{above}:",
            f"    out_of_range({symbol.name!r}, {key}, {value}, {low}, {high})",
        ]

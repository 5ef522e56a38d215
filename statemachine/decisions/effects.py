"""Updates as statements: all values are computed from the old state, then all are written."""

from __future__ import annotations

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Update
from interlock.statemachine.decisions.expression import Expressions
from interlock.statemachine.decisions.groups import key_of
from interlock.statemachine.decisions.layout import Symbol
from interlock.statemachine.decisions.put import Empty, Line, Put


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

    def _name(self) -> str:
        name = f"u{self._count}"
        self._count += 1
        return name

    def _local(self, value: str) -> str:
        """The value as a name that later statements can use; literals and parameters stay as they are."""
        if value.isidentifier() or value in ("True", "False") or value.startswith("'") or value.isdigit():
            return value
        name = self._name()
        self.compute.append(f"{name} = {value}")
        return name

    def _locals(self, args: tuple[T.Term, ...]) -> tuple[str, ...]:
        return tuple(self._local(self._expressions.write(a)) for a in args)

    def _one(self, symbol: Symbol, update: Update) -> None:
        when = None if update.when == T.TRUE else self._local(self._expressions.write(update.when))
        indent = "" if when is None else "    "
        if when is not None:
            self.compute.append(f"if {when}:")
        at = len(self.compute)
        args = self._locals(update.args)
        value = self._local(self._expressions.write(update.value))
        put = Put(symbol, args, value, indent)
        checks = self._range_check(symbol, put.key, value)
        self.compute[at:] = [indent + line for line in (*self.compute[at:], *checks)]
        if when is not None and len(self.compute) == at:
            self.compute.append("    pass")
        if when is not None:
            self.apply.append(f"if {when}:")
        self.apply.append(put)

    def _many(self, symbol: Symbol, update: Update) -> None:
        if symbol.relation:
            self._relation(symbol, update)
            return
        args, varying = self._arguments(update)
        found = self._found((*varying, update.value), update, update.when)
        names = (*(a for a in args if a.startswith("k")), "value")
        put = Put(symbol, args, "value", "    ")
        if symbol.low is not None:
            self.compute.append(f"for {', '.join(names)} in {found}:")
            self.compute += [f"    {line}" for line in self._range_check(symbol, put.key, "value")]
        self._for_each(names, found, put)

    def _relation(self, symbol: Symbol, update: Update) -> None:
        """What becomes true is searched from the condition, what becomes false also from what is true now."""
        if self._is_set(symbol):
            self._set(symbol, update)
            return
        if self._is_group(symbol, update):
            self._empty(symbol, update)
            return
        args, varying = self._arguments(update)
        names = tuple(a for a in args if a.startswith("k"))
        here = T.Apply(symbol=update.symbol, args=update.args)
        if update.value != T.TRUE:
            ceases = T.conjunction(update.when, here, T.negation(update.value))
            once = set(update.over) <= set().union(*map(T.free_vars, update.args))
            put = Put(symbol, args, "False", "    ", old="True" if once else None)
            self._for_each(names, self._found(varying, update, ceases), put)
        if update.value != T.FALSE:
            becomes = T.conjunction(update.when, update.value)
            self._for_each(names, self._found(varying, update, becomes), Put(symbol, args, "True", "    "))

    def _is_set(self, symbol: Symbol) -> bool:
        settled = self._expressions.settled
        is_column = settled.is_column(symbol.name)
        return not settled.indices_of(symbol.name) and settled.slot(symbol.name) is None and not is_column

    def _set(self, symbol: Symbol, update: Update) -> None:
        """As :meth:`_relation`, where a set of keys is all there is: they come and go as a whole."""
        here = T.Apply(symbol=update.symbol, args=update.args)
        if (update.value, update.when) == (T.FALSE, T.TRUE) and update.args == update.over:
            self.apply.append(f"_{symbol.name}.clear()")
            return
        if update.value != T.TRUE:
            ceases = T.conjunction(update.when, here, T.negation(update.value))
            self.apply.append(f"_{symbol.name}.difference_update({self._found(update.args, update, ceases)})")
        if update.value != T.FALSE:
            becomes = T.conjunction(update.when, update.value)
            found = self._found(update.args, update, becomes)
            self.apply.append(f"if {found}: _{symbol.name}.update({found})")

    def _is_group(self, symbol: Symbol, update: Update) -> bool:
        """It becomes false of all that goes with some arguments, and by those it is kept."""
        base = self._expressions.settled.base(symbol.name)
        free = tuple(a for place, a in enumerate(update.args) if place not in base)
        known = (update.when, *(update.args[place] for place in base))
        return (
            update.value == T.FALSE
            and bool(base)
            and set(free) == set(update.over)
            and len(free) == len(update.over)
            and not set().union(*map(T.free_vars, known)) & set(update.over)
        )

    def _empty(self, symbol: Symbol, update: Update) -> None:
        args, _ = self._arguments(update)
        base = self._expressions.settled.base(symbol.name)
        found = self._expressions.group(symbol.name, base, key_of(args[place] for place in base)).source
        if update.when != T.TRUE:
            found = f"{found} if {self._expressions.write(update.when)} else ()"
        name = self._name()
        self.compute.append(f"{name} = {found}")
        self.apply.append(Empty(symbol, args, name))

    def _arguments(self, update: Update) -> tuple[tuple[str, ...], tuple[T.Term, ...]]:
        """The arguments as names in a loop over what is found, and those that vary, named ``k0``, ``k1``."""
        over, args, varying = set(update.over), [], []
        for place, a in enumerate(update.args):
            if T.free_vars(a) & over:
                args.append(f"k{place}")
                varying.append(a)
            else:
                args.append(self._local(self._expressions.write(a)))
        return tuple(args), tuple(varying)

    def _found(self, item: tuple[T.Term, ...], update: Update, condition: T.Term) -> str:
        name = self._name()
        self.compute += self._expressions.search.into(name, lambda: self._expressions.key(item), update.over, condition)
        return name

    def _for_each(self, names: tuple[str, ...], found: str, put: Put) -> None:
        self.apply += [f"for {', '.join(names)} in {found}:", put]

    def _size(self, symbol: Symbol) -> str | None:
        return self._expressions.write(symbol.high) if isinstance(symbol.high, T.Size) else None

    def _range_check(self, symbol: Symbol, key: str, value: str) -> list[str]:
        if symbol.low is None or value == self._size(symbol):
            return []  # no bound, or the upper one
        low = self._expressions.write(symbol.low)
        high = "None" if symbol.high is None else self._expressions.write(symbol.high)
        above = "" if symbol.high is None else f" <= {high}"
        return [
            f"if not {low} <= {value}{above}:",
            f"    out_of_range({symbol.name!r}, {key}, {value}, {low}, {high})",
        ]

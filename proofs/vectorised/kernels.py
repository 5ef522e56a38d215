"""The source text of a system's kernels: expand a frontier, diagnose what went wrong, inspect new states."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from interlock.proofs.vectorised import nodes as N
from interlock.proofs.vectorised.backend import Array
from interlock.proofs.vectorised.emit import Emitter, is_wide
from interlock.proofs.vectorised.lower import Kind
from interlock.proofs.vectorised.model import Model
from interlock.proofs.vectorised.nodes import Node
from interlock.proofs.vectorised.packing import Place
from interlock.proofs.vectorised.successor import Successor

Kernel = Callable[..., Any]
UNDEFINED = "undefined:"
"""Before the name of a witness or premise: where it cannot be evaluated."""


def expand_source(model: Model, settled: Collection[Kind]) -> str:
    """``expand(words, ops, out)``: the successors of states [W, N] given as W arrays.

    ``out.add(instance, rows, words)`` is called per instance that is enabled somewhere, and
    ``out.stay(instance, rows)`` for one that changes nothing. Returns where something goes wrong,
    [N], or ``None``: the alarms, but for kinds in ``settled``. Where the model asks for states at
    rest, their number is left in ``out.quiescent``.
    """
    g = model.lowering.graph
    alarm = g.or_(a.condition for a in model.alarms if a.kind not in settled)
    at_rest = g.or_(wrong for i, wrong in model.at_rest.items() if ("rest", i) not in settled)
    live = [s for s in model.successors if s.enabled is not g.false]
    codes = {s.number: codes_of(model, s) for s in live}
    roots = [n for s in live for n in (s.enabled, *(node for _, node in codes[s.number]))]
    moves = model.moves or {}
    emitter = Emitter(model.packing, [*roots, *moves.values(), alarm, at_rest])
    if model.moves is not None:
        emitter.line("moved = words[0] != words[0]")
    for s in model.successors:
        if s.number in moves:
            # Instance by instance, because masks that are kept for the end leave no room in the cache of a core.
            emitter.line(f"moved |= {emitter.take(moves[s.number])}")
            emitter.give(moves[s.number])
        if s.number in codes:
            _instance(model, s, codes[s.number], emitter)
    if model.moves is not None:
        emitter.line("rests = ~moved")
        emitter.line("out.quiescent = ops.count(rests)")
    if at_rest is g.false:
        _return(emitter, alarm)
    else:
        emitter.line(f"return rests & {emitter.take(at_rest)} | {emitter.take(alarm)}")
    return _function("expand(words, ops, out)", emitter)


def diagnose_source(model: Model) -> str:
    """``diagnose(words, ops)``: lists of (kind, instance, where it holds [N]), one entry per alarm."""
    alarms = [*model.alarms, *model.alarms_at_rest()]
    emitter = Emitter(model.packing, [a.condition for a in alarms])
    emitter.line("found = []")
    for a in alarms:
        if a.condition.op == N.CONST:
            emitter.line(f"found.append(({a.kind!r}, {a.instance}, words[0] == words[0]))")
            continue
        name = emitter.take(a.condition)
        emitter.line(f"found.append(({a.kind!r}, {a.instance}, ops.copy({name})))")
        emitter.give(a.condition)
    emitter.line("return found")
    return _function("diagnose(words, ops)", emitter)


def inspect_source(model: Model, broken: Collection[str], sought: Collection[str]) -> str:
    """``inspect(words, ops)``: lists of (name, where) for invariants that are broken and for what is sought."""
    wanted: list[tuple[str, Node]] = [("broken", model.lowering.graph.or_(model.broken[i] for i in broken))]
    for name in sought:
        wanted.append((name, model.sought[name]))
        wanted.append((f"{UNDEFINED}{name}", model.undefined[name]))
    return _each_source("inspect(words, ops)", model, wanted)


def breaks_source(model: Model) -> str:
    """``breaks(words, ops)``: lists of (invariant, where it is broken)."""
    return _each_source("breaks(words, ops)", model, list(model.broken.items()))


def load(source: str, name: str) -> Kernel:
    """The function of a source text."""
    scope: dict[str, Any] = {}
    exec(compile(source, f"<{name}>", "exec"), scope)
    return scope[name]  # type: ignore[no-any-return]


def _each_source(head: str, model: Model, wanted: list[tuple[str, Node]]) -> str:
    emitter = Emitter(model.packing, [node for _, node in wanted])
    emitter.line("found = []")
    for name, node in wanted:
        if node is model.lowering.graph.false:
            continue
        text = "words[0] == words[0]" if node.op == N.CONST else f"ops.copy({emitter.take(node)})"
        emitter.line(f"found.append(({name!r}, {text}))")
        emitter.give(node)
    emitter.line("return found")
    return _function(head, emitter)


def _function(head: str, emitter: Emitter) -> str:
    return "\n".join([f"def {head}:", *emitter.lines]) + "\n"


def _return(emitter: Emitter, alarm: Node) -> None:
    if alarm.op != N.CONST:
        emitter.line(f"return {emitter.take(alarm)}")
    else:
        emitter.line("return words[0] == words[0]" if alarm.data else "return None")


def codes_of(model: Model, s: Successor) -> list[tuple[Place, Node]]:
    """What an instance writes, as codes for their places."""
    g, packing = model.lowering.graph, model.packing
    listed: list[tuple[Place, Node]] = []
    for slot, node in s.changes.items():
        place = packing.places[slot]
        if place is None:
            # Nothing that a state can hold is written here: every write of this kind is a fault.
            continue
        values = packing.values[packing.layout.slots[slot].variable]
        listed.append((place, node if node.boolean else g.code(node, values)))
    return listed


def _instance(model: Model, s: Successor, codes: list[tuple[Place, Node]], emitter: Emitter) -> None:
    """The statements of one instance: rows, then the new words of those rows only."""
    varying = [(place, node) for place, node in codes if node.op != N.CONST]
    if s.enabled.op == N.CONST:
        emitter.line("r = ops.arange(words[0].shape[0])")
    else:
        emitter.line(f"r = ops.rows({emitter.take(s.enabled)})")
        emitter.give(s.enabled)
    if not s.changes:
        emitter.line(f"if r.shape[0]: out.stay({s.number}, r)")
        return
    emitter.prepare([node for _, node in varying])
    emitter.line("if r.shape[0]:")
    emitter.indent("    ")
    names: list[str] = []
    for word in range(model.packing.words):
        mask = sum(place.mask for place, _ in codes if place.word == word)
        bits = 0
        for place, node in codes:
            if place.word == word and node.constant is not None:
                bits |= node.constant << place.shift
        names.append(f"o{word}")
        emitter.line(f"o{word} = words[{word}][r]")
        if mask:
            emitter.line(f"o{word} &= {~mask}")
        if bits:
            emitter.line(f"o{word} |= {bits}")
    by_byte: dict[tuple[int, int], list[tuple[Place, Node]]] = {}
    for place, node in varying:
        if place.narrow and not is_wide(node):
            by_byte.setdefault((place.word, place.byte), []).append((place, node))
        else:
            emitter.line(f"o{place.word} |= ops.as_int64({emitter.take(node)}[r]) << {place.shift}")
            emitter.give(node)
    for (word, byte), parts in by_byte.items():
        shifted = [_shifted(emitter.take(node), node, place) for place, node in parts]
        text = f"({' | '.join(shifted)})[r]" if len(parts) > 1 else shifted[0].replace("@", "[r]")
        emitter.line(f"ops.put_byte(o{word}, {byte}, {text.replace('@', '')})")
        emitter.give(*(node for _, node in parts))
    emitter.line(f"out.add({s.number}, r, ({', '.join(names)},))")
    emitter.indent("")


def _shifted(name: str, node: Node, place: Place) -> str:
    """A code at its place in its byte; ``@`` marks where an index may go."""
    text = f"ops.as_int8({name}@)" if node.boolean else f"{name}@"
    return f"({text} << {place.in_byte})" if place.in_byte else text


__all__ = ["Array", "breaks_source", "diagnose_source", "expand_source", "inspect_source", "load"]

"""What must hold of the small engine of `recovering` at any time, by what is really in its blocks.

The properties of module `engine` under their names, read off contents and not off any bookkeeping of recovery.
"""

from support.recovering import ADMITTED


def violations(engine):
    """Names of properties that do not hold now, and of those that a delivered token has broken."""
    found = {name for name, _ in engine.found}
    for r in engine.alive:
        found.update(_of_counts(engine, r))
        if r.status in ADMITTED and not all(_stands(engine, r, p) for p in range(engine.processed(r))):
            found.add("computed-within-valid-prefix")
    if not all(_may_be_found(engine, b, tokens) for b, tokens in engine.hashes.items()):
        found.add("hashed-block-is-valid-or-being-recomputed")
    return found


def _of_counts(engine, r):
    if r.computed < 0:
        yield "computed-nonnegative"
    if r.status == "running" and not 0 <= r.external <= r.cached <= len(r.prompt):
        yield "external-within-cached-within-prompt"
    if r.placeholders != sum(r.name in s.samples - s.stale for s in engine.steps):
        yield "placeholders-are-owed"
    if engine.view(r).num_in_flight_tokens > max(r.computed, 0):
        yield "in-flight-within-computed"


def _stands(engine, r, place):
    """A token that counts as processed is right, known to be wrong, about to be computed, or a report is due."""
    b = r.table[place // engine.block_size]
    if engine.at(r.table, place) == r.ideal(place + 1):
        return True
    if place >= engine.recovery.wrong_from.get(b, place + 1):
        return True
    return _computed_soon(engine, b) or _report_due(engine, r.table[: place // engine.block_size + 1])


def _computed_soon(engine, b):
    size = engine.block_size
    for s in engine.steps:
        if b in s.loads:
            return True
        if any(b in table[start // size : -(-len(ideal) // size)] for table, start, ideal in s.computes.values()):
            return True
    return False


def _report_due(engine, blocks):
    due = set(engine.bad).union(*(s.invalid for s in engine.steps), *(s.loads for s in engine.steps))
    return not due.isdisjoint(blocks)


def _may_be_found(engine, b, tokens):
    size = engine.block_size
    if engine.content[b] == [tokens[: p + 1] for p in range(len(tokens) - size, len(tokens))]:
        return True
    if _computed_soon(engine, b):
        return True
    if any(r.status in ADMITTED and r.computed < len(tokens) for r in engine.holders(b)):
        return True
    places = {b2: r.table.index(b2) for r in engine.alive for b2 in r.table}
    places |= {b2: len(found) // size - 1 for b2, found in engine.hashes.items()}
    return _report_due(engine, [b2 for b2, place in places.items() if place <= places[b]])

"""Ghosts are for properties only: erasing them leaves the behaviours exactly as they were."""

from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.program import Program
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.variables import Site

GHOSTS = frozenset(v.name for v in SPECIFICATION.variables if v.site is Site.GHOST)
SMALL = {"request": 1, "block": 1, "chunk": 1, "job": 1, "worker": 2, "hash": 1}


def test_the_specification_has_ghosts() -> None:
    assert {"gpu_value", "cpu_value", "reads_current", "scan_result"} <= GHOSTS


def test_erasing_ghosts_leaves_the_behaviours() -> None:
    """Both systems are explored; the first, seen without its ghosts, has exactly the second's labelled steps."""
    values = SPECIFICATION.switch_values()
    slice_ = SPECIFICATION.slice("at_finish")
    erased = slice_.model_copy(update={"drop": (*slice_.drop, *GHOSTS)})
    full = Program(elaborate(SPECIFICATION, values, slice_, SMALL, properties=()))
    bare = Program(elaborate(SPECIFICATION, values, erased, SMALL, properties=()))
    kept = [i for i, slot in enumerate(full.layout.slots) if slot.variable not in GHOSTS]
    names = [i.text(full.system) for i in full.instances]

    def seen(state: State) -> State:
        return tuple(state[i] for i in kept)

    assert names == [i.text(bare.system) for i in bare.instances]
    full_steps = {(seen(s), names[i], seen(n)) for s, i, n in _steps(full)}
    bare_steps = {(s, names[i], n) for s, i, n in _steps(bare)}

    assert bare_steps == full_steps
    assert len(bare_steps) > 1000


def _steps(program: Program) -> list[tuple[State, int, State]]:
    frontier = program.initial_states()
    visited, steps = set(frontier), []
    while frontier:
        state = frontier.pop()
        for via, after in program.successors(state):
            assert isinstance(after, tuple)
            steps.append((state, via, after))
            if after not in visited:
                visited.add(after)
                frontier.append(after)
    return steps

"""Reports on jobs on which none is due, where they are contained: else the first of them stops the engine.

Reports are summed over workers. So of a job with more than are due, who knows which worker has done its part?
"""

from __future__ import annotations

from typing import NamedTuple

from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.port import ConnectorOutput


class Contained(NamedTuple):
    """What an output comes to.

    Args:
        output: of each job no more reports than are due, failures first.
        surplus: how many reports that leaves out.
        chunks: what stores with a surplus report have written, to be taken out once the output is counted. No load
            can pin one: none is planned for a pending chunk, nor before the next metadata.
    """

    output: ConnectorOutput
    surplus: int
    chunks: tuple[int, ...]


def contain(output: ConnectorOutput, moves: Moves) -> Contained:
    """Leaves out what is not due.

    A store that has ended before cannot fail any more (``reject_report`` of module ``groups``): of it, as of a job that
    there never was, nothing is known but a number. What a reset has forgotten has failed with that. A load leaves its
    chunk as it was; whether its request has what it was to load, the engine hears from its workers.
    """
    completed: dict[int, int] = {}
    failed: dict[int, int] = {}
    surplus, chunks = 0, list[int]()
    for job in dict.fromkeys((*output.completed, *output.failed)):
        due = moves.num_due(job)
        done, undone = output.completed.get(job, 0), output.failed.get(job, 0)
        more = done + undone - due
        if more > 0:
            surplus += more
            if due and not (moves.loads(job) or moves.is_stale(job)):
                chunks.append(moves.jobs[job].chunk)
            undone = min(undone, due)
            done = due - undone
        if done:
            completed[job] = done
        if undone:
            failed[job] = undone
    return Contained(ConnectorOutput(completed, failed, output.finished_recving), surplus, tuple(chunks))

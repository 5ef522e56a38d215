"""Faults that one block, or one worker, does not show: each is noticed by what it breaks, and in the slice for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from interlock.proofs.check import run_check
from interlock.spec.language.actions import Action, Conjunct, Update, assign, assign_all, need
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import Term, exists, forall
from interlock.spec.pipeline import SPECIFICATION
from interlock.spec.pipeline.predicates import dispatched, is_filled, is_open, open_store, waits_again
from interlock.spec.pipeline.vocabulary import (
    b,
    b2,
    busy,
    finish_untold,
    flush_due,
    fresh,
    held,
    j,
    j2,
    leftover,
    loads,
    lost,
    scanned,
    source,
    stow_state,
    stow_states,
    t2,
    used,
)

_some_finished = exists(b2, ~waits_again(b2) & (used(b2) >> held(b2)))


@dataclass(frozen=True)
class Fault:
    """An action with another guard or other updates, the slice that shows it, and what notices it."""

    action: str
    slice_: str
    noticed: str
    also: Term | None = None
    conjuncts: dict[str, Term] = field(default_factory=dict)
    updates: tuple[Update, ...] = ()

    def put(self) -> Specification:
        """The specification with it."""
        return SPECIFICATION.model_copy(update={"actions": tuple(map(self._changed, SPECIFICATION.actions))})

    def _changed(self, action: Action) -> Action:
        if action.name != self.action:
            return action
        guard = [self._replaced(c) for c in action.guard]
        if self.also is not None:
            guard.append(need("fault", self.also))
        others = {u.symbol for u in self.updates}
        updates = (*(u for u in action.updates if u.symbol not in others), *self.updates)
        return action.model_copy(update={"guard": tuple(guard), "updates": updates})

    def _replaced(self, conjunct: Conjunct) -> Conjunct:
        return need(conjunct.id, self.conjuncts.get(conjunct.id, conjunct.term), policy=conjunct.policy)


_FLUSHED, _OWN = "nothing-else-is-flushed-in-pipeline", "a-preemption-flushes-its-own-stores-only-in-pipeline"
_of_other_blocks = forall(j2, ~(stow_state(j2).eq(stow_states["planned"]) & source(j2).ne(b)))
_preempted = (assign(used(b), False), assign_all(j, to=lost(j), value=True, when=open_store(j) & source(j).eq(b)))
_flushes_all = assign_all(j, to=flush_due(j), value=True, when=open_store(j))
_at_the_first_report = (
    assign(used(source(j)), used(source(j)) & ~(loads(j) & held(source(j)))),
    assign(held(source(j)), held(source(j)) & ~loads(j)),
)
_stays_left_over = assign_all(b, to=leftover(b), value=False, when=~fresh(b))
FAULTS = {
    "a held block is freed at the first report": Fault(
        "acknowledge", "depth_one_load_pair", "block-being-loaded-is-in-use-in-pipeline",
        updates=_at_the_first_report,
    ),
    "a load is flushed, or a store, once some request has finished": Fault(
        "order_flush", "depth_one", _FLUSHED, conjuncts={"due": flush_due(j) | (_some_finished & is_open(j))},
    ),
    "a load of any block keeps every block from being stored": Fault(
        "plan_store", "depth_one_load", "a-block-is-stored-while-another-is-loaded", ~exists(b2, is_filled(b2)),
    ),
    "a preemption flushes the stores of all": Fault(
        "preempt", "depth_one_preempt_blocks", _OWN, updates=(*_preempted, _flushes_all),
    ),
    "what a preemption flushed of others is flushed": Fault(
        "preempt", "depth_one_preempt_blocks", _FLUSHED, updates=(*_preempted, _flushes_all),
    ),
    "one store is open in the whole engine": Fault(
        "plan_store", "depth_one", "a-store-is-planned-beside-that-of-another-block", ~exists(b2, busy(b2)),
    ),
    "one finish-time store is open in the whole engine": Fault(
        "plan_finish_store", "depth_one", "a-finish-store-is-planned-beside-that-of-another-block",
        ~exists(b2, busy(b2)),
    ),
    "a scan plans one block": Fault(
        "plan_store", "depth_one", "a-store-is-planned-in-the-metadata-of-another-store", _of_other_blocks,
    ),
    "a scan plans one block that was left over": Fault(
        "plan_finish_store", "depth_one", "a-finish-store-is-planned-in-the-metadata-of-another-store",
        _of_other_blocks,
    ),
    "no load takes a block with an open store": Fault(
        "plan_load", "depth_one_load", "a-load-takes-the-block-of-an-open-store", ~busy(b),
    ),
    "a finish waits until the stores of others have ended": Fault(
        "finish_request", "depth_one", "a-finish-leaves-the-jobs-of-others-open", ~exists(b2, b2.ne(b) & busy(b2)),
    ),
    "an arrival waits for the output": Fault(
        "schedule_arrival", "depth_two", "a-request-arrives-before-the-output", forall(t2, ~dispatched(t2)),
    ),
    "what was not scanned is not preempted": Fault(
        "preempt", "depth_two_preempt", "a-request-is-preempted-unscanned", scanned(b),
    ),
    "what is still flushed is not preempted": Fault(
        "preempt", "depth_one_preempt", "a-request-is-preempted-while-its-block-is-still-flushed",
        forall(j, ~(stow_state(j).eq(stow_states["flush_ordered"]) & source(j).eq(b))),
    ),
    "nothing is preempted beside a store": Fault(
        "preempt", "depth_one_preempt_blocks", "a-request-is-preempted-beside-the-store-of-another",
        ~exists(b2, b2.ne(b) & busy(b2)),
    ),
    "the abort of a request that is loading is never told": Fault(
        "finish_request", "depth_one_load", "every-end-is-to-be-told-in-pipeline",
        updates=(assign(finish_untold(), finish_untold() | ~is_filled(b)),),
    ),
    "an abort is forgotten while another end is to be told": Fault(
        "finish_request", "depth_one_load", "a-request-finishes-once-in-pipeline",
        updates=(assign(held(b), is_filled(b) & ~finish_untold()),),
    ),
    "what was preempted is stored as what has finished": Fault(
        "preempt", "depth_one_preempt", "a-preemption-is-no-finish-in-pipeline",
        updates=(assign(leftover(b), ~scanned(b)),),
    ),
    "what was not stored at once is preempted, and its block stays": Fault(
        "preempt", "depth_one_preempt", "a-preemption-is-no-finish-in-pipeline", updates=(assign(used(b), ~scanned(b)),),
    ),
    "what is left over is stored by a later metadata": Fault(
        "dispatch", "depth_one", "one-metadata-stores-what-is-left-over-in-pipeline", updates=(_stays_left_over,),
    ),
    "what is left over is stored though its block is another's": Fault(
        "dispatch", "depth_one", "what-is-left-over-is-still-there-in-pipeline", updates=(_stays_left_over,),
    ),
    "no request that is loading is aborted with two workers": Fault(
        "finish_request", "depth_one_load_pair", "a-held-block-waits-for-the-other-worker", ~is_filled(b),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_among_several_blocks_or_workers_is_noticed(name: str) -> None:
    fault = FAULTS[name]
    (run,) = run_check(spec=fault.put(), slices=[fault.slice_], properties=[fault.noticed]).runs

    assert run.properties == {fault.noticed: "violated"}
    assert run.exhaustive or run.violations


@pytest.mark.parametrize("slice_", ["depth_one", "depth_one_load"])
def test_one_block_does_not_show_that_another_request_goes_on(slice_: str) -> None:
    """Why these slices have two blocks: with one, the request that has finished is the only one."""
    fault = Fault("order_flush", slice_, _FLUSHED, conjuncts={"due": flush_due(j) | (_some_finished & is_open(j))})
    found = [
        run_check(spec=fault.put(), slices=[slice_], scope={"block": blocks}, properties=[_FLUSHED]).runs[0]
        for blocks in (1, 2)
    ]

    assert [run.properties[_FLUSHED] for run in found] == ["holds", "violated"]

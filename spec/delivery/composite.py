"""Actions of a composite of connectors, of a push that is aborted, and of the receive store."""

from __future__ import annotations

from interlock.spec.delivery.operations import ENVIRONMENT, SCHEDULER, WEAK, WORKER
from interlock.spec.delivery.vocabulary import (
    answer,
    answer_states,
    budget_taken,
    buffer_state,
    buffer_states,
    child_decides_by,
    d,
    drain_acks,
    drain_ask,
    drain_heard,
    drain_state,
    drain_states,
    drain_target,
    drain_waits,
    drained,
    granted,
    k,
    k2,
    merged_failed,
    merged_finished,
    multi_blocks,
    part_done,
    part_meta,
    passed,
    produces,
    r,
    r2,
    sub_failed,
    sub_finished,
    tensor,
    transfer_key,
    w,
    wanted,
)
from interlock.spec.language.actions import Action, assign, assign_all, fire, need, receive, send
from interlock.spec.language.terms import exists, forall, ite

# A composite: who loads, who counts as the producer of parameters, what is reported.

_given = exists(k2, granted(k2, r))
_told_to_load = ite(child_decides_by.is_("tokens"), granted(k, r), passed(k, r))
"""What a sub-connector makes of the blocks and the tokens that the composite passes to it."""

sub_hit = Action(
    name="sub_hit", event="sub_hit", params=(k, r), site=SCHEDULER,
    fires=(fire("part", k, r),),
    source="contract R-01, R-12", doc="A sub-connector finds a hit of its own for r and locks it.",
)  # fmt: skip

grant = Action(
    name="grant", event="grant", params=(k, r), site=SCHEDULER,
    fires=(fire("part", k, r),),
    guard=(need("not-decided", ~_given),),
    updates=(
        assign(granted(k, r), True),
        assign_all(k2, to=passed(k2, r), value=k2.eq(k) | multi_blocks.is_("real")),
    ),
    fairness=WEAK, fairness_why="the scheduler visits the request",
    source="contract R-12", doc="The composite gives the tokens of r to one sub-connector, and blocks to it or all.",
)  # fmt: skip

sub_enters = Action(
    name="sub_enters", event="sub_enters", params=(k, r), site=SCHEDULER,
    fires=(fire("part", k, r),),
    guard=(need("decided", _given), need("tokens-granted", _told_to_load)),
    sends=(send(part_meta, k, r, when=granted(k, r)),),
    fairness=WEAK, fairness_why="every sub-connector is told after the allocation",
    source="B-074 vllm #47505; contract R-15",
    doc="A sub-connector with granted tokens waits for its load; without tokens no load is ever issued.",
)  # fmt: skip

sub_unlocks = Action(
    name="sub_unlocks", event="sub_unlocks", params=(k, r), site=SCHEDULER,
    fires=(fire("part", k, r),),
    guard=(need("decided", _given), need("no-tokens", ~_told_to_load)),
    fairness=WEAK, fairness_why="every sub-connector is told after the allocation",
    source="contract R-11, R-15", doc="A sub-connector that was not chosen gives its read locks back.",
)  # fmt: skip

sub_load_ends = Action(
    name="sub_load_ends", event="sub_load_ends", params=(k, r), site=WORKER, observed=False,
    receives=(receive(part_meta, k, r),),
    sends=(send(part_done, k, r),),
    fairness=WEAK, fairness_why="a load ends",
    source="contract L3", doc="The worker of a sub-connector has loaded r.",
)  # fmt: skip

sub_loaded = Action(
    name="sub_loaded", event="sub_loaded", params=(k, r), site=SCHEDULER,
    fires=(fire("part", k, r),),
    receives=(receive(part_done, k, r),),
    fairness=WEAK, fairness_why="the scheduler handles the reports of every step",
    source="contract L4", doc="The load of a sub-connector is over: its locks are given back.",
)  # fmt: skip


def _answers(state: str, source: str, doc: str) -> Action:
    return Action(
        name=f"answers_{state}", event="request_finished", params=(k, r), site=SCHEDULER,
        guard=(
            need("unanswered", answer(k, r).eq(answer_states["nothing"])),
            # The composite is configured with one network connector, and one that offloads.
            need("one-of-each-kind", ~exists(k2, answer(k2, r).eq(answer_states[state]))),
        ),
        updates=(assign(answer(k, r), answer_states[state]),),
        source=source, doc=doc,
    )  # fmt: skip


answers_empty = _answers("empty", "B-130 LMCache #3866", "At the finish a sub-connector returns an empty dict.")
answers_real = _answers("real", "contract R-50", "At the finish the network connector returns transfer parameters.")

count_producer = Action(
    name="count_producer", event="count_producer", params=(k, r), site=SCHEDULER,
    guard=(
        need("has-answered", answer_states.one_of(answer(k, r), "empty", "real")),
        need("parameters-not-empty", answer(k, r).ne(answer_states["empty"])),
    ),
    updates=(assign(produces(k, r), True),),
    source="B-130 LMCache #3866", doc="The composite takes a sub-connector for the producer of r's parameters.",
)  # fmt: skip

sub_reports_finished = Action(
    name="sub_reports_finished", event="sub_reports_finished", params=(k, r), site=WORKER, observed=False,
    updates=(assign(sub_finished(k, r), True),),
    source="contract I-70; B-185", doc="A sub-connector's report of this step names r as finished.",
)  # fmt: skip

sub_reports_failed = Action(
    name="sub_reports_failed", event="sub_reports_failed", params=(k, r), site=WORKER, observed=False,
    updates=(assign(sub_finished(k, r), True), assign(sub_failed(k, r), True)),
    source="contract R-46; B-185", doc="A sub-connector's report of this step names r as finished and failed.",
)  # fmt: skip

merge_reports = Action(
    name="merge_reports", event="merge_reports", params=(r,), site=WORKER, observed=False,
    updates=(
        assign(merged_finished(r), exists(k, sub_finished(k, r))),
        assign(merged_failed(r), exists(k, sub_failed(k, r))),
        assign_all(k, to=sub_finished(k, r), value=False),
        assign_all(k, to=sub_failed(k, r), value=False),
    ),
    source="B-185 ROCm/ATOM #2000; contract R-48, I-71",
    doc="The composite merges the sub-connectors' reports, field by field.",
)  # fmt: skip

# A push that the consumer aborts: each of its ranks waits for the end of writes.

push_starts = Action(
    name="push_starts", event="push_starts", params=(r,), site=WORKER, observed=False,
    fires=(fire("drain", r),),
    guard=(need("not-aborted", ~drain_heard(r)),),
    source="B-139 sglang #38961", doc="The producer starts to write into the consumer's memory.",
)  # fmt: skip

push_ends = Action(
    name="push_ends", event="push_ends", params=(r,), site=WORKER, observed=False,
    fires=(fire("drain", r),),
    fairness=WEAK, fairness_why="a write ends",
    source="B-139 sglang #38961", doc="The last byte is written.",
)  # fmt: skip

rank_aborts = Action(
    name="rank_aborts", event="rank_aborts", params=(w, r), site=ENVIRONMENT, observed=False,
    guard=(need("once", ~drain_waits(w, r)),),
    sends=(send(drain_ask, w, r),),
    updates=(assign(drain_waits(w, r), True),),
    source="B-139 sglang #38961", doc="A rank of the consumer aborts r and waits until nothing writes there any more.",
)  # fmt: skip

hear_abort = Action(
    name="hear_abort", event="hear_abort", params=(w, r), site=WORKER, observed=False,
    receives=(receive(drain_ask, w, r),),
    updates=(assign(drain_target(w, r), True), assign(drain_heard(r), True)),
    fairness=WEAK, fairness_why="the producer reads its messages",
    source="B-139 sglang #38961", doc="The producer notes whom to tell: one entry per rank.",
)  # fmt: skip

poll_drain = Action(
    name="poll_drain", event="poll_drain", params=(w, r), site=WORKER, observed=False,
    guard=(
        need("somebody-waits", drain_target(w, r)),
        need("writes-are-over", drain_state(r).ne(drain_states["writing"])),
    ),
    sends=(send(drained, w, r, when=drain_state(r).ne(drain_states["writing"])),),
    updates=(assign(drain_target(w, r), False),),
    fairness=WEAK, fairness_why="the producer polls its aborted requests",
    source="B-139 sglang #38961",
    doc="The producer's poll takes a target off: the writes are over, and the rank is told.",
)  # fmt: skip

rank_is_told = Action(
    name="rank_is_told", event="rank_is_told", params=(w, r), site=ENVIRONMENT, observed=False,
    receives=(receive(drained, w, r),),
    updates=(assign(drain_acks(w, r), drain_acks(w, r) + 1),),
    fairness=WEAK, fairness_why="a living consumer reads its messages",
    source="B-139 sglang #38961", doc="The rank learns that it may use its memory again.",
)  # fmt: skip

# The receive store of a consumer to which tensors are pushed under a key. It holds one tensor.

await_tensor = Action(
    name="await_tensor", event="await_tensor", params=(r,), site=WORKER, observed=False,
    fires=(fire("buffer", r),),
    sends=(send(wanted, r),),
    source="B-104 vllm #42839", doc="The consumer waits for r's tensor, under the key that it derives.",
)  # fmt: skip

push_tensor = Action(
    name="push_tensor", event="push_tensor", params=(r, d), site=ENVIRONMENT, observed=False,
    receives=(receive(wanted, r),),
    sends=(send(tensor, ite(transfer_key.is_("own_id"), d, r)),),
    fairness=WEAK, fairness_why="a living producer pushes what it was asked for",
    source="B-104 vllm #42839; contract R-57",
    doc="The producer, which calls the request d, pushes its tensor under the key that it derives.",
)  # fmt: skip

receive_tensor = Action(
    name="receive_tensor", event="receive_tensor", params=(r,), site=WORKER, observed=False,
    fires=(fire("buffer", r),),
    receives=(receive(tensor, r),),
    guard=(need("budget-left", forall(r2, ~budget_taken(r2))),),
    updates=(assign(budget_taken(r), True),),
    fairness=WEAK, fairness_why="the consumer polls for what it waits for",
    source="B-106 vllm #28779", doc="A tensor is received into the store, which has room for one.",
)  # fmt: skip

place_tensor = Action(
    name="place_tensor", event="place_tensor", params=(r,), site=WORKER, observed=False,
    fires=(fire("buffer", r),),
    fairness=WEAK, fairness_why="the forward that needs it runs",
    source="B-105 vllm #38472", doc="The tensor is copied into the blocks of r.",
)  # fmt: skip

free_buffer = Action(
    name="free_buffer", event="free_buffer", params=(r,), site=WORKER, observed=False,
    fires=(fire("buffer", r),),
    fairness=WEAK, fairness_why="what has been placed is freed in the same step, not when the request ends",
    source="B-105 vllm #38472", doc="The memory of the tensor is freed.",
)  # fmt: skip

credit_budget = Action(
    name="credit_budget", event="credit_budget", params=(r,), site=WORKER, observed=False,
    guard=(need("memory-is-freed", buffer_state(r).eq(buffer_states["freed"])),),
    updates=(assign(budget_taken(r), False),),
    fairness=WEAK, fairness_why="with the memory goes the charge",
    source="B-106 vllm #28779", doc="The receive budget gets back what r's tensor took.",
)  # fmt: skip

COMPOSITE_ACTIONS = (
    sub_hit, grant, sub_enters, sub_unlocks, sub_load_ends, sub_loaded, answers_empty, answers_real,
    count_producer, sub_reports_finished, sub_reports_failed, merge_reports,
)  # fmt: skip
DRAIN_ACTIONS = (push_starts, push_ends, rank_aborts, hear_abort, poll_drain, rank_is_told)
BUFFER_ACTIONS = (await_tensor, push_tensor, receive_tensor, place_tensor, free_buffer, credit_budget)

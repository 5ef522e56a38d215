"""Rules of the lookup: what a connector may answer before anything is allocated."""

from __future__ import annotations

from interlock.spec.rules.rule import Rule

MATCHING = (
    Rule(
        id="R-01",
        topic="matching",
        text=(
            "get_num_new_matched_tokens may be called any number of times for a request and should have no side"
            " effects. Connectors that pin in it must drop the old pin at each call."
        ),
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:9-11, v1/simple_kv_offload/manager.py:346"
        ),
        standing=("documented",),
    ),
    Rule(
        id="R-02",
        topic="matching",
        text=(
            "A count of None means: ask later. The request is skipped in this pass and asked again; it has not failed."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:986",
        standing=("documented",),
    ),
    Rule(
        id="R-03",
        topic="matching",
        text="The answer is asynchronous only if its count is above zero.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1111",
        standing=(
            "documented",
            "asserted",
            "seen",
        ),
    ),
    Rule(
        id="R-04",
        topic="matching",
        text="The aligned local hit and the count together are at most the tokens of the request.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1048",
        standing=(
            "asserted",
            "seen",
        ),
    ),
    Rule(
        id="R-05",
        topic="matching",
        text=(
            "A synchronous count leaves at least one token to compute. An asynchronous one may cover the whole "
            "prompt: the scheduler computes the last token again."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1170, v1/core/sched/scheduler.py:3171",
        standing=(
            "asserted",
            "implied",
            "seen",
        ),
    ),
    Rule(
        id="R-06",
        topic="matching",
        text="The count names only what can be loaded now: nothing evicted, nothing that cannot be reached.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:525-531",
        standing=("documented",),
    ),
    Rule(
        id="R-07",
        topic="matching",
        text=(
            "The argument is the local hit in whole blocks. A longer partial local hit wins, so a connector "
            "must bear that its answer is not used."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:971-1027",
        standing=("implied",),
    ),
    Rule(
        id="R-08",
        topic="matching",
        text=(
            "For a request that must not read the prefix cache the connector is still asked; its answer counts "
            "as nothing, and the allocation follows with zero external tokens."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:983",
        standing=(
            "implied",
            "seen",
        ),
    ),
    Rule(
        id="R-09",
        topic="matching",
        text=(
            "The question is put only to a request without computed tokens: at its first admission, after a "
            "preemption, after a failed load that left no valid prefix. Never when it is promoted or resumes a "
            "stream."
        ),
        source="vLLM 0.32.0, contract section 6.2",
        standing=("implied",),
    ),
    Rule(
        id="R-10",
        topic="matching",
        text=(
            "A prefix whose load has just failed is not offered again, unless something has changed that lets "
            "it succeed."
        ),
        source="vLLM 0.32.0, contract section 6.2",
        standing=(
            "implied",
            "seen",
        ),
    ),
    Rule(
        id="R-11",
        topic="matching",
        text=(
            "A positive answer need not be followed by update_state_after_alloc: allocation may fail, the "
            "encoder may defer, the client may abort. What the answer reserved has a way of its own to be "
            "released."
        ),
        source="vLLM 0.32.0, contract section 6.2",
        standing=("implied",),
    ),
    Rule(
        id="R-12",
        topic="matching",
        text=(
            "Of several connectors, one that answers None hides the later ones, and the pins of the earlier "
            "ones stay until they are asked again or told of the end."
        ),
        source="vLLM 0.32.0: kv_connector/v1/multi_connector.py:440-448",
        standing=("implied",),
    ),
    Rule(
        id="R-13",
        topic="matching",
        text=(
            "The question is put in the scheduler's thread, at every step, for every request that is not "
            "admitted: answering must not block."
        ),
        source="vLLM 0.32.0, contract section 6.2",
        standing=("implied",),
    ),
)

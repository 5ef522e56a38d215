"""Rules of the lookup: what a connector may answer before anything is allocated."""

from __future__ import annotations

from interlock.spec.rules.rule import GuardOf, Rule

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
        properties=(
            "pins-equal-outstanding-users",
            "a-repeated-match-is-of-the-same-hit",
            "a-shorter-second-answer-keeps-no-pin",
            "pin-has-a-reader",
        ),
        outside="Where second answers lose again and again what the first had brought, no answer is promised.",
    ),
    Rule(
        id="R-02",
        topic="matching",
        text=(
            "A count of None means: ask later. The request is skipped in this pass and asked again; it has not failed."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:986",
        standing=("documented",),
        properties=(
            "behind-a-deferral-is-served",
            "skipped-for-one-pass",
            "scan-stops-only-for-blocks",
            "nobody-is-overtaken-unasked",
            "deferred-by-lookup-holds-no-blocks",
        ),
    ),
    Rule(
        id="R-03",
        topic="matching",
        text="The answer is asynchronous only if its count is above zero.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1111",
        standing=("documented", "asserted", "seen"),
        properties=(
            "asynchronous-load-has-tokens",
            "loading-connector-has-tokens",
        ),
    ),
    Rule(
        id="R-04",
        topic="matching",
        text="The aligned local hit and the count together are at most the tokens of the request.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1048",
        standing=("asserted", "seen"),
        properties=(
            "hit-count-in-range",
            "only-impossible-answers-are-refused",
            "computed-within-tokens",
        ),
    ),
    Rule(
        id="R-05",
        topic="matching",
        text=(
            "A synchronous count leaves at least one token to compute. An asynchronous one may cover the whole"
            " prompt: the scheduler computes the last token again."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1170,3171",
        standing=("asserted", "implied", "seen"),
        properties=(
            "answer-leaves-a-token-to-compute",
            "hit-count-in-range",
            "restored-state-ends-where-counting-does",
            "a-token-is-left-to-compute",
            "promoted-request-has-a-token-left",
        ),
        guards=(GuardOf(module="engine", action="offer_sync", conjunct="leaves-a-token"),),
    ),
    Rule(
        id="R-06",
        topic="matching",
        text="The count names only what can be loaded now: nothing evicted, nothing that cannot be reached.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:525-531",
        standing=("documented",),
        properties=(
            "returned-hit-is-loadable",
            "admitted-hit-stays-loadable",
            "load-source-is-not-being-written",
            "granted-key-is-in-a-ready-slot",
            "prefix-stays-while-it-is-loaded",
        ),
    ),
    Rule(
        id="R-07",
        topic="matching",
        text=(
            "The argument is the local hit in whole blocks. A longer partial local hit wins, so a connector must"
            " bear that its answer is not used."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:971-1027",
        standing=("implied",),
        properties=("unused-hits-are-given-back",),
        outside="Partial blocks are not modelled: a local hit is of whole blocks, so no partial one can win.",
    ),
    Rule(
        id="R-08",
        topic="matching",
        text=(
            "For a request that must not read the prefix cache the connector is still asked; its answer counts as"
            " nothing, and the allocation follows with zero external tokens."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:983",
        standing=("implied", "seen"),
        outside=(
            "A question whose answer counts as nothing changes no state that the model has: such a request starts as"
            " one that nobody is asked about."
        ),
    ),
    Rule(
        id="R-09",
        topic="matching",
        text=(
            "The question is put only to a request without computed tokens: at its first admission, after a"
            " preemption, after a failed load that left no valid prefix. Never when it is promoted or resumes a"
            " stream."
        ),
        source=(
            "vLLM 0.32.0: v1/core/sched/scheduler.py:960-991,3146-3151 (the branch for requests without computed"
            " tokens)"
        ),
        standing=("implied",),
        properties=(
            "waiting-holds-nothing",
            "deferred-by-lookup-holds-no-blocks",
            "match-is-of-who-waits",
            "a-request-looked-up-anew-holds-nothing",
        ),
        guards=(GuardOf(module="encoder", action="match_prefix", conjunct="nothing-computed"),),
        outside="Streaming requests, which keep their blocks between turns, are not modelled.",
    ),
    Rule(
        id="R-10",
        topic="matching",
        text=(
            "A prefix whose load has just failed is not offered again, unless something has changed that lets it"
            " succeed."
        ),
        source=(
            "vLLM 0.32.0: v1/core/sched/scheduler.py:3146-3151 (after a load without valid prefix the same visit"
            " asks again)"
        ),
        standing=("implied", "seen"),
        properties=(
            "failed-load-makes-progress",
            "failed-read-is-not-offered-again",
            "failed-load-is-not-offered-again",
            "failed-read-is-answered-no",
        ),
        guards=(GuardOf(module="engine", action="offer_async", conjunct="not-refused"),),
    ),
    Rule(
        id="R-11",
        topic="matching",
        text=(
            "A positive answer need not be followed by update_state_after_alloc: allocation may fail, the encoder"
            " may defer, the client may abort. What the answer reserved has a way of its own to be released."
        ),
        source=(
            "vLLM 0.32.0: v1/core/sched/scheduler.py:1069-1072,1275-1282 (the encoder defers, or allocation"
            " fails, after the answer)"
        ),
        standing=("implied",),
        properties=(
            "record-is-removed-on-every-exit",
            "unused-hits-are-given-back",
            "pin-has-a-reader",
            "every-hit-is-handled",
            "read-locks-are-returned",
        ),
    ),
    Rule(
        id="R-12",
        topic="matching",
        text=(
            "Of several connectors, one that answers None hides the later ones, and the pins of the earlier ones"
            " stay until they are asked again or told of the end."
        ),
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/multi_connector.py:440-448",
        standing=("implied",),
        properties=(
            "external-tokens-have-one-loader",
            "read-locks-are-returned",
        ),
        guards=(GuardOf(module="delivery", action="grant", conjunct="not-decided"),),
        outside="A sub-connector of the model has a hit or has nothing: none answers None and so hides another.",
    ),
    Rule(
        id="R-13",
        topic="matching",
        text=(
            "The question is put in the scheduler's thread, at every step, for every request that is not"
            " admitted: answering must not block."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:978-991 (asked within schedule())",
        standing=("implied",),
        properties=(
            "scan-asks-everybody",
            "drain-blocks-nobody",
        ),
        outside="How long an answer takes is not modelled: a step of the model takes no time.",
    ),
)

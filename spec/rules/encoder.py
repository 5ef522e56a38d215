"""Rules of encoder-cache connectors."""

from __future__ import annotations

from interlock.spec.rules.rule import GuardOf, Rule

ENCODER = (
    Rule(
        id="R-64",
        topic="encoder",
        text=(
            "ensure_cache_available returns True if the encoder items are ready or not needed, False to defer. It"
            " does not block and may be called any number of times."
        ),
        source="vLLM 0.32.0: distributed/ec_transfer/ec_connector/base.py:259-274",
        standing=("documented",),
        properties=(
            "goes-on-only-with-its-items-there",
            "open-visit-has-a-yes",
            "answer-is-about-future-features",
            "fetch-belongs-to-a-visit",
            "deferred-is-asked-again",
            "deferred-blocks-nobody",
            "text-request-waits-for-no-item",
            "deferred-keeps-its-place",
            "later-arrival-is-not-admitted-first",
            "deferred-is-scheduled-though-others-arrive",
        ),
    ),
    Rule(
        id="R-65",
        topic="encoder",
        text="Encoder items that end at or before the computed tokens are not asked about.",
        source="vLLM 0.32.0: distributed/ec_transfer/ec_connector/cpu/scheduler/__init__.py:258-262",
        standing=("implied",),
        properties=(
            "answer-is-about-future-features",
            "fetch-is-for-a-future-feature",
        ),
    ),
    Rule(
        id="R-66",
        topic="encoder",
        text=(
            "Deferral by the encoder has an end: a fall-back, or a report that the item is unavailable. The"
            " scheduler has no time limit."
        ),
        source=(
            "vLLM 0.32.0: distributed/ec_transfer/ec_connector/cpu/scheduler/__init__.py:42-47,240-370 (60"
            " seconds for each request and item)"
        ),
        standing=("implied",),
        properties=(
            "encoder-deferral-ends",
            "encoder-stall-ends",
            "gives-up-only-what-holds-a-request-up",
            "only-given-up-requests-fail",
        ),
    ),
    Rule(
        id="R-67",
        topic="encoder",
        text=(
            "Readiness may be lost again before has_cache_item is asked, whose answer counts; a miss means that"
            " the item is encoded here."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1922-1963",
        standing=("implied",),
        properties=(
            "what-the-connector-holds-is-not-encoded",
            "forward-reads-its-items",
            "encoder-item-never-read-in-transit",
        ),
        guards=(
            GuardOf(module="encoder", action="encode", conjunct="not-external"),
            GuardOf(module="encoder", action="take_external", conjunct="has-cache-item"),
        ),
    ),
    Rule(
        id="R-68",
        topic="encoder",
        text="update_state_after_alloc of an encoder item does not promise that the item is executed in this step.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1775-1787",
        standing=("implied",),
        outside=(
            "In the model an item that is encoded or loaded is part of the step that is being built: that it is"
            " put off after that does not arise."
        ),
    ),
    Rule(
        id="R-69",
        topic="encoder",
        text=(
            "request_finished of an encoder connector must not return True in 0.28 to 0.32: the release never comes."
        ),
        source=(
            "vLLM 0.32.0: v1/core/sched/scheduler.py:2731-2741 (True delays the free of the KV blocks, and"
            " nothing reads the later report)"
        ),
        standing=("documented", "seen"),
        properties=("ended-requests-give-kv-back",),
    ),
    Rule(
        id="R-70",
        topic="encoder",
        text="A save or load of an encoder item that is recorded is in the metadata of the same step.",
        source="vLLM 0.32.0: distributed/ec_transfer/ec_connector/cpu/scheduler/__init__.py:509-588",
        standing=("implied",),
        properties=(
            "cached-entry-is-on-the-workers",
            "ended-loads-left-nothing",
        ),
        outside=(
            "Loads only. Saves into the pool by this engine (the producer's side) are not modelled: items come by"
            " transfers from elsewhere. Left out because entries would have two kinds of writer, and has_cache_item and"
            " the gate would have to be shown against both."
        ),
    ),
    Rule(
        id="R-71",
        topic="encoder",
        text="Encoder connectors take no part in encoder-decoder models.",
        source="vLLM 0.32.0: v1/core/encoder_cache_manager.py:383",
        standing=("implied",),
        outside="Encoder-decoder models are not modelled.",
    ),
    Rule(
        id="R-72",
        topic="encoder",
        text=(
            "update_connector_output comes only if there is output; what is driven by polling needs"
            " has_pending_push_work."
        ),
        source=(
            "vLLM 0.32.0: v1/core/sched/scheduler.py:2333,"
            " distributed/ec_transfer/ec_connector/cpu/scheduler/__init__.py:599"
        ),
        standing=("implied",),
        properties=(
            "ended-transfers-are-noted",
            "engine-rests-with-nothing-pending",
        ),
        guards=(GuardOf(module="kv-transfer", action="rest", conjunct="no-work-is-reported"),),
    ),
    Rule(
        id="R-73",
        topic="encoder",
        text=(
            "ensure_cache_available is optional and not abstract; without it a request is never deferred by the"
            " encoder (default True)."
        ),
        source="vLLM PR 41627 (ensure_cache_available of the EC connector's base class)",
        standing=("documented",),
        properties=("nobody-is-put-off-unasked",),
        guards=(
            GuardOf(module="encoder", action="defer", conjunct="is-asked"),
            GuardOf(module="encoder", action="stall", conjunct="is-asked"),
        ),
    ),
)

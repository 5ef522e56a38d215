"""Rules of encoder-cache connectors."""

from __future__ import annotations

from interlock.spec.rules.rule import Rule

ENCODER = (
    Rule(
        id="R-64",
        topic="encoder",
        text=(
            "ensure_cache_available returns True if the encoder items are ready or not needed, False to defer. "
            "It does not block and may be called any number of times."
        ),
        source="vLLM 0.32.0: ec_transfer/ec_connector/base.py:259-274",
        standing=("documented",),
    ),
    Rule(
        id="R-65",
        topic="encoder",
        text="Encoder items that end at or before the computed tokens are not asked about.",
        source="vLLM 0.32.0, contract section 6.2",
        standing=("implied",),
    ),
    Rule(
        id="R-66",
        topic="encoder",
        text=(
            "Deferral by the encoder has an end: a fall-back, or a report that the item is unavailable. The "
            "scheduler has no time limit."
        ),
        source="vLLM 0.32.0, contract section 6.2",
        standing=("implied",),
    ),
    Rule(
        id="R-67",
        topic="encoder",
        text=(
            "Readiness may be lost again before has_cache_item is asked, whose answer counts; a miss means that"
            " the item is encoded here."
        ),
        source="vLLM 0.32.0, contract section 6.2",
        standing=("implied",),
    ),
    Rule(
        id="R-68",
        topic="encoder",
        text=("update_state_after_alloc of an encoder item does not promise that the item is executed in this step."),
        source="vLLM 0.32.0, contract section 6.2",
        standing=("implied",),
    ),
    Rule(
        id="R-69",
        topic="encoder",
        text=(
            "request_finished of an encoder connector must not return True in 0.28 to 0.32: the release never comes."
        ),
        source="vLLM 0.32.0, contract section 6.2",
        standing=(
            "documented",
            "seen",
        ),
    ),
    Rule(
        id="R-70",
        topic="encoder",
        text="A save or load of an encoder item that is recorded is in the metadata of the same step.",
        source="vLLM 0.32.0, contract section 6.2",
        standing=("implied",),
    ),
    Rule(
        id="R-71",
        topic="encoder",
        text="Encoder connectors take no part in encoder-decoder models.",
        source="vLLM 0.32.0: v1/core/encoder_cache_manager.py:383",
        standing=("implied",),
    ),
    Rule(
        id="R-72",
        topic="encoder",
        text=(
            "update_connector_output comes only if there is output; what is driven by polling needs "
            "has_pending_push_work."
        ),
        source="vLLM 0.32.0, contract section 6.2",
        standing=("implied",),
    ),
    Rule(
        id="R-73",
        topic="encoder",
        text=(
            "ensure_cache_available is optional and not abstract; without it a request is never deferred by the"
            " encoder (default True)."
        ),
        source="vLLM PR 41627",
        standing=("documented",),
    ),
)

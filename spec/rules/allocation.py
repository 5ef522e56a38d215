"""Rules of the allocation: what a connector is told once blocks are there."""

from __future__ import annotations

from interlock.spec.rules.rule import GuardOf, Rule

ALLOCATION = (
    Rule(
        id="R-14",
        topic="allocation",
        text=(
            "update_state_after_alloc may come twice for an asynchronous load, the second time with zero tokens"
            " once the load is there, and once more after every preemption."
        ),
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:559-563",
        standing=("documented", "seen"),
        properties=(
            "sub-load-is-issued-once",
            "loading-connector-has-tokens",
        ),
        outside="The repeated call has no action of its own: it changes nothing that is modelled.",
    ),
    Rule(
        id="R-15",
        topic="allocation",
        text="Whether to load is decided by num_external_tokens, and not by whether blocks is empty.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:565-568",
        standing=("documented",),
        properties=(
            "loading-connector-has-tokens",
            "every-sub-connector-is-passed-the-blocks",
            "locks-are-kept-until-the-decision",
        ),
        guards=(
            GuardOf(module="delivery", action="sub_enters", conjunct="tokens-granted"),
            GuardOf(module="delivery", action="sub_unlocks", conjunct="no-tokens"),
        ),
    ),
    Rule(
        id="R-16",
        topic="allocation",
        text="blocks is the whole block table of the request (local, external and new), and not what was added.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1289-1293",
        standing=("implied",),
        properties=("mirror-equals-block-table",),
    ),
    Rule(
        id="R-17",
        topic="allocation",
        text="num_external_tokens may be less than was answered: nothing, or a number that fits whole blocks.",
        source="vLLM 0.32.0: v1/simple_kv_offload/manager.py:451",
        standing=("implied", "asserted"),
        properties=("unused-hits-are-given-back",),
        guards=(GuardOf(module="delivery", action="sub_unlocks", conjunct="no-tokens"),),
    ),
    Rule(
        id="R-18",
        topic="allocation",
        text="A load is planned only for a request without open jobs; so the answer is None while one is open.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1268,1070-1075",
        standing=("asserted",),
        properties=("loads-and-stores-never-mixed",),
        guards=(GuardOf(module="kv-transfer", action="plan_load", conjunct="no-store-is-open"),),
    ),
    Rule(
        id="R-19",
        topic="allocation",
        text=(
            "External tokens do not make every block a destination: windowed groups have null blocks, and only"
            " their window is written. The null block is never written."
        ),
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1146-1279 (destinations"
            " are blocks that are not null and have no hash)"
        ),
        standing=("implied",),
        properties=("load-writes-no-null-block",),
    ),
    Rule(
        id="R-20",
        topic="allocation",
        text=(
            "If an asynchronous load was accepted, the connector reports finished_recving for the request in the"
            " end, also after failure or abort."
        ),
        source=(
            "vLLM 0.32.0: v1/simple_kv_offload/manager.py:432-440 (a load that is dropped there strands its request)"
        ),
        standing=("implied",),
        properties=(
            "loading-request-goes-on",
            "every-started-load-ends",
            "held-requests-are-released",
            "aborted-load-gives-back",
            "granted-tokens-are-loaded",
            "each-transfer-has-one-result",
        ),
    ),
    Rule(
        id="R-21",
        topic="allocation",
        text=(
            "The blocks that a load fills carry no hash, and may be zeroed unless the connector claims their"
            " group; it is asked for its groups only after a positive answer."
        ),
        source=(
            "vLLM 0.32.0: v1/core/sched/scheduler.py:1264, distributed/kv_transfer/kv_connector/v1/base.py:493,"
            " distributed/kv_transfer/kv_connector/v1/multi_connector.py:431"
        ),
        standing=("implied",),
        properties=(
            "loading-block-is-no-hit",
            "no-token-from-invalid-block",
        ),
        guards=(GuardOf(module="kv-transfer", action="plan_load", conjunct="not-hashed"),),
        outside=(
            "That the connector is asked for its groups only after a positive answer is not modelled: the engine"
            " of the model knows which blocks a load fills."
        ),
    ),
)

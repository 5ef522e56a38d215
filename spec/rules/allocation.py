"""Rules of the allocation: what a connector is told once blocks are there."""

from __future__ import annotations

from interlock.spec.rules.rule import Rule

ALLOCATION = (
    Rule(
        id="R-14",
        topic="allocation",
        text=(
            "update_state_after_alloc may come twice for an asynchronous load, the second time with zero tokens"
            " once the load is there, and once more after every preemption."
        ),
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:559-563",
        standing=(
            "documented",
            "seen",
        ),
    ),
    Rule(
        id="R-15",
        topic="allocation",
        text="Whether to load is decided by num_external_tokens, and not by whether blocks is empty.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:565-568",
        standing=("documented",),
    ),
    Rule(
        id="R-16",
        topic="allocation",
        text=("blocks is the whole block table of the request (local, external and new), and not what was added."),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1289-1293",
        standing=("implied",),
    ),
    Rule(
        id="R-17",
        topic="allocation",
        text=("num_external_tokens may be less than was answered: nothing, or a number that fits whole blocks."),
        source="vLLM 0.32.0: v1/simple_kv_offload/manager.py:451",
        standing=("implied",),
    ),
    Rule(
        id="R-18",
        topic="allocation",
        text=("A load is planned only for a request without open jobs; so the answer is None while one is open."),
        source=(
            "vLLM 0.32.0: kv_connector/v1/offloading/scheduler.py:1268, "
            "kv_connector/v1/offloading/scheduler.py:1070-1075"
        ),
        standing=("asserted",),
    ),
    Rule(
        id="R-19",
        topic="allocation",
        text=(
            "External tokens do not make every block a destination: windowed groups have null blocks, and only "
            "their window is written. The null block is never written."
        ),
        source="vLLM 0.32.0, contract section 6.2",
        standing=("implied",),
    ),
    Rule(
        id="R-20",
        topic="allocation",
        text=(
            "If an asynchronous load was accepted, the connector reports finished_recving for the request in "
            "the end, also after failure or abort."
        ),
        source="vLLM 0.32.0: v1/simple_kv_offload/manager.py:432-440",
        standing=("implied",),
    ),
    Rule(
        id="R-21",
        topic="allocation",
        text=(
            "The blocks that a load fills carry no hash, and may be zeroed unless the connector claims their "
            "group; it is asked for its groups only after a positive answer."
        ),
        source=(
            "vLLM 0.32.0: v1/core/sched/scheduler.py:1264, distributed/kv_transfer/kv_connector/v1/base.py:493,"
            " kv_connector/v1/multi_connector.py:431"
        ),
        standing=("implied",),
    ),
)

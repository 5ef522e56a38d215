"""What must come to pass."""

from __future__ import annotations

from interlock.spec.rules.rule import Rule

LIVENESS = (
    Rule(
        id="V-01",
        topic="liveness",
        text="A request that waits for a load is promoted, waits again from the start, or finishes.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="V-02",
        topic="liveness",
        text="A held request is released.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="V-03",
        topic="liveness",
        text="A request that is to be asked later is answered.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="V-04",
        topic="liveness",
        text="A waiting request that the encoder defers is scheduled or fails, within a deadline.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="V-05",
        topic="liveness",
        text=(
            "A running request that the encoder defers is scheduled, preempted or fails; it holds its blocks meanwhile."
        ),
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="V-06",
        topic="liveness",
        text="Every planned job completes or becomes stale, also if no further request arrives.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="V-07",
        topic="liveness",
        text="A pending chunk becomes ready or absent.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="V-08",
        topic="liveness",
        text=(
            "A parked block becomes free once its step has been processed, also if no further step schedules anything."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2046",
        standing=("implied",),
    ),
    Rule(
        id="V-09",
        topic="liveness",
        text="A request whose load failed makes progress.",
        source="vLLM 0.32.0, contract section 7",
        standing=("seen",),
    ),
    Rule(
        id="V-10",
        topic="liveness",
        text="Requests that wait for loads never wait for each other's blocks in a circle.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1241-1251",
        standing=("implied",),
    ),
    Rule(
        id="V-11",
        topic="liveness",
        text="has_pending_push_work becomes False after the last request.",
        source="vLLM 0.32.0: ec_connector/cpu/scheduler/__init__.py:599",
        standing=("implied",),
    ),
    Rule(
        id="V-12",
        topic="liveness",
        text="A promoted request is scheduled before a request without blocks.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:912-919",
        standing=("implied",),
    ),
    Rule(
        id="V-13",
        topic="liveness",
        text="A reset of the cache that is refused succeeds once transfers have drained.",
        source="vLLM 0.32.0, contract section 7",
        standing=("seen",),
    ),
    Rule(
        id="V-14",
        topic="liveness",
        text="A preempted request is resumed.",
        source="vLLM 0.32.0: kv_connector/v1/offloading/scheduler.py:1070",
        standing=("implied",),
    ),
    Rule(
        id="V-15",
        topic="liveness",
        text="A deferral that waits for a store in flight does not stop the engine from ending that store.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
)

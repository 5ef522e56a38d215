"""Public failures of the family COUNT: counters and events."""

from __future__ import annotations

from interlock.spec.failures.failure import Failure

COUNT = (
    Failure(
        id="B-056",
        family="COUNT",
        reference="vllm-project/vllm #36638 (issue #36533; also #44531)",
        outcome="crash of the API process",
        model="yes",
        evidence="A",
        tags=("preempt", "failure"),
        title="Prompt-token counter goes negative and takes the server down",
        scenario=(
            "Cached-token count frozen at first admission; after preemption (or load failure) external tokens are"
            " re-read larger (or rolled back by too much); local = cached - external < 0; counter refuses"
        ),
        invariant="0 <= external <= cached <= prompt at every report",
    ),
    Failure(
        id="B-106",
        family="COUNT",
        reference="vllm-project/vllm #28779",
        outcome="OOM",
        model="yes",
        evidence="B",
        tags=("pd",),
        title="Buffer budget is restored before the memory is",
        scenario=(
            "On receive the budget is credited back, tensor freed a step later; budget says free, memory is full"
        ),
        invariant="Budget credit happens with the release",
    ),
    Failure(
        id="B-129",
        family="COUNT",
        reference="LMCache/LMCache #2912 (also #3655, #3269)",
        outcome="crash of the API process",
        model="yes",
        evidence="A",
        tags=("preempt",),
        title="Hit count grows after preemption, counter goes negative",
        scenario=(
            "First admission: 768 cached; decode KV saved; preempted; second lookup says 8448; local = 768 - 8448"
        ),
        invariant="As vLLM #36638",
    ),
)

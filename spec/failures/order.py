"""Public failures of the family ORDER: the order of hooks."""

from __future__ import annotations

from interlock.spec.failures.failure import Failure

ORDER = (
    Failure(
        id="B-014",
        family="ORDER",
        reference="vllm-project/vllm #49022",
        outcome="contract violation, leak",
        model="yes",
        evidence="B",
        tags=("abort", "tier"),
        title="Promotion queued in the same step as the finish is submitted after the finish hook",
        scenario=(
            "lookup(R) queues a disk->CPU promotion for end-of-step; R is cancelled in the same step; finish hook"
            " goes to the tier; end-of-step flush submits the load for R"
        ),
        invariant="Queued work counts as outstanding when deciding to finalise",
    ),
    Failure(
        id="B-057",
        family="ORDER",
        reference="vllm-project/vllm #43517 (issue #43031)",
        outcome="crash, hard to diagnose",
        model="yes",
        evidence="A",
        tags=("contract",),
        title="Out-of-range hit count from a connector is not caught at the boundary",
        scenario="Connector returns -5 or more tokens than the request has; value flows on and fails far away",
        invariant="0 <= hit <= tokens not yet computed",
    ),
    Failure(
        id="B-107",
        family="ORDER",
        reference="vllm-project/vllm #34783",
        outcome="crash",
        model="partly",
        evidence="A",
        tags=("ec",),
        title="'both' role treated as encode-only",
        scenario=(
            "Node is producer and consumer; code reads 'producer' as 'encode only': no KV cache, step not counted"
            " as executed; connector never told about allocations"
        ),
        invariant="Behaviour follows the capability (consumes or not), and allocation callback fires for each entry",
        lacks="The roles of a connector (producer, consumer, both) are not modelled.",
    ),
    Failure(
        id="B-119",
        family="ORDER",
        reference="LMCache/LMCache #3499 (dup #3688, #3337)",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("abort",),
        title="First cancelled request kills the engine",
        scenario="Cancel path on the scheduler side asserts an object that exists only on workers",
        invariant="Abort is legal in each role",
    ),
    Failure(
        id="B-130",
        family="ORDER",
        reference="LMCache/LMCache #3866",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("multi",),
        title="Empty dict counts as 'I produce transfer parameters'",
        scenario=(
            "Offload connector returns {} at finish next to the network connector's real parameters; composite "
            "raises 'two producers'"
        ),
        invariant="Absent and empty are the same answer",
    ),
    Failure(
        id="B-163",
        family="ORDER",
        reference="vllm-project/vllm #29987",
        outcome="leak until timeout",
        model="yes",
        evidence="A",
        tags=("abort", "pd"),
        title="A request cancelled during its final step is told to the connector as a normal finish",
        scenario=(
            "Prefill of R is in its last step; client cancels; step output is handled first, so R ends by length;"
            " connector keeps R's blocks for a decode side that will never come; held to the timeout"
        ),
        invariant="A cancel accepted before the output is processed reaches the connector as a cancel",
    ),
    Failure(
        id="B-175",
        family="ORDER",
        reference="taco-project/FlexKV #269",
        outcome="crash",
        model="yes",
        evidence="C",
        tags=("finish",),
        title="Finish arrives with an empty block list while a store task exists",
        scenario=(
            "A store task was planned for R; finish hook gets no blocks; launch asserts. Author did not establish"
            " which side is at fault (compare #50297)"
        ),
        invariant="Blocks passed at finish cover the planned store, or the plan is cancelled",
    ),
    Failure(
        id="B-177",
        family="ORDER",
        reference="vllm-project/tpu-inference #860",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("contract",),
        title="Full hit reported as N instead of N-1",
        scenario=(
            "Whole prompt of N tokens is on the host; connector answers N; scheduler has no token left to compute"
            " and asserts"
        ),
        invariant="External + local hit <= prompt - 1",
    ),
)

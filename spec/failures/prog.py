"""Public failures of the family PROG: progress."""

from __future__ import annotations

from interlock.spec.failures.failure import Failure

PROG = (
    Failure(
        id="B-016",
        family="PROG",
        reference="vllm-project/vllm #49176",
        outcome="livelock",
        model="yes",
        evidence="A",
        tags=("failure", "tier"),
        title="One failed tier read traps the request in an endless retry",
        scenario=(
            "lookup(k)=hit cached; promotion of k fails and the file is removed; cached verdict still says hit; "
            "every step re-submits the same promotion"
        ),
        invariant="A failed load invalidates the positive verdict (each retry makes progress or ends)",
    ),
    Failure(
        id="B-017",
        family="PROG",
        reference="vllm-project/vllm #49829",
        outcome="hang",
        model="yes",
        evidence="A",
        tags=("failure", "tier"),
        title="'Write pending' hits have no deadline",
        scenario=(
            "Store of k stalls (worker never reports); k stays pending and un-evictable; every request that "
            "touches k is deferred each step until its client gives up"
        ),
        invariant="Every deferral has a bound or a live transfer behind it",
    ),
    Failure(
        id="B-058",
        family="PROG",
        reference="vllm-project/vllm #45388 (dup #45387)",
        outcome="deadlock",
        model="yes",
        evidence="A",
        tags=("pressure",),
        title="Two async loads hold blocks, queue head cannot fit, nothing runs again",
        scenario=(
            "2048 blocks; B loaded 1249 and waits for promotion; A is at the head, needs 1600, allocation fails "
            "and the scan stops before B; B is never promoted"
        ),
        invariant="If some waiting request can run with the blocks it holds, it is reached",
    ),
    Failure(
        id="B-059",
        family="PROG",
        reference="vllm-project/vllm #57104",
        outcome="deadlock",
        model="yes",
        evidence="A",
        tags=("pressure", "specdec"),
        title="Same deadlock by one extra block for speculation",
        scenario=(
            "7 blocks; A loads 4 (+1 needed later), B loads 3 (+1); both admitted; A's load ends, needs 1 more, 0"
            " free, scan stops; B never reached; state repeats for ever"
        ),
        invariant="Admission reserves what is needed to make the first step",
    ),
    Failure(
        id="B-062",
        family="PROG",
        reference="vllm-project/vllm #49674",
        outcome="thrash/livelock",
        model="yes",
        evidence="A",
        tags=("preempt", "async-sched", "pressure"),
        title="Preempting a fenced victim frees nothing, so all requests are preempted",
        scenario=(
            "Allocation fails; victim's blocks are fenced by an in-flight step; 0 blocks come back; loop takes "
            "the next victim, and so on; vllm-ascend #16315 reports 0 tok/s"
        ),
        invariant="A preemption that cannot yield blocks in this step is not performed",
    ),
    Failure(
        id="B-113",
        family="PROG",
        reference="vllm-project/vllm #31857",
        outcome="deadlock",
        model="yes",
        evidence="A",
        tags=("ec", "pressure"),
        title="Waiting requests hold the whole encoder cache",
        scenario="Waiting multimodal requests keep entries; running requests need space; none can go on",
        invariant="Holders that cannot run give up what runners need",
    ),
    Failure(
        id="B-164",
        family="PROG",
        reference="vllm-project/vllm #45595",
        outcome="latency, wasted work",
        model="yes",
        evidence="A",
        tags=("idle", "finish"),
        title="Flush of the last stores blocks the engine thread",
        scenario=(
            "Last tracked request ends with stores in flight; metadata build waits for all of them on the engine "
            "thread; a new request that arrives now cannot be scheduled"
        ),
        invariant="Draining never blocks the scheduling of new work",
    ),
    Failure(
        id="B-167",
        family="PROG",
        reference="vllm-project/vllm #42371",
        outcome="deadlock",
        model="partly",
        evidence="C",
        tags=("pressure", "hybrid"),
        title="Requests wait for ever with an almost empty GPU cache",
        scenario=(
            "Hybrid model with CPU offload under sustained load: running goes to 0, 50 wait, GPU cache use falls "
            "to 0%, no throughput. Cause not stated"
        ),
        invariant="With free blocks and waiting requests something is scheduled within a bounded number of steps",
        lacks="The cause is not known: the report gives the symptom only.",
    ),
    Failure(
        id="B-170",
        family="PROG",
        reference="ModelEngine-Group/unified-cache-management #1350",
        outcome="deadlock",
        model="yes",
        evidence="A",
        tags=("preempt", "async-sched", "pressure"),
        title="A cache connector that claims 'delivery required' deadlocks the scheduler",
        scenario=(
            "Default of the flag follows the role and says true; under pressure each preempted request is put "
            "back at once, which preempts the next; all blocks sit in the deferred-free list; the list is only "
            "drained after a non-empty step, and no step is non-empty any more"
        ),
        invariant=(
            "Deferred frees are returned although nothing is scheduled; a best-effort store never blocks preemption"
        ),
    ),
    Failure(
        id="B-182",
        family="PROG",
        reference="ROCm/ATOM #2053 (review 1)",
        outcome="wasted work, idle spin",
        model="yes",
        evidence="A",
        tags=("failure", "idle"),
        title="One lost store report switches storing off for good",
        scenario=(
            "Report of a store is lost; a 'stalled' latch is set; nothing ever clears it; no chunk of any request"
            " is stored again; pending-work stays true and the idle engine spins"
        ),
        invariant="A latch has an exit; one lost report affects one job",
    ),
)

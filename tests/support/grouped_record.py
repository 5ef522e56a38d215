"""What a grouped engine does, in the words of module kv, as seen where it meets the connector.

No connector is told that a block has slid out of a window. It follows from how far a request has come when that gets
tokens, and from the block being given away again: with the first of the two it is in the trace, before all else that
the schedule() gives away.
"""

from __future__ import annotations

from interlock.adapters.embedded.events import Recorder
from interlock.statemachine.trace import event


class GroupedRecord:
    """The trace so far, in ``seen``.

    Args:
        hidden: whether what workers do is in it; at depth 2 the next schedule() may come before it.
    """

    def __init__(self, *, hidden=True):
        self.seen, self._tells_hidden = [], hidden
        self._recorder = Recorder(self._note)
        self._visits = None

    def __call__(self, name, **fields):
        """Something happens; during a schedule() it is told with its end, but for preemptions."""
        if self._visits is None or name == "preempt":
            self._recorder(name, **fields)
        else:
            self._visits.append((name, fields))

    def hidden(self, name, rank, job=None):
        """What a worker does."""
        if not self._tells_hidden:
            return
        more = {} if job is None else {"j": f"job{job}"}
        self._note(name, hidden=True, w=f"worker{rank}", **more)

    def _note(self, name, **fields):
        self.seen.append(event(len(self.seen), name, **fields))

    def allocation(self, block):
        """The allocation that a block is in."""
        return self._recorder.allocation(block)

    def schedule_begins(self):
        """What comes now is told in the order in which the specification has it."""
        self._recorder.step_is_over()
        self._recorder.step += 1
        self._visits = []

    def tells_of(self, request):
        """Whether anything has happened to a request in this schedule()."""
        return any(fields["request"] == request for _, fields in self._visits)

    def schedule_ends(self, slid, scheduled):
        """Tell what the schedule() did, what slid out first.

        Args:
            slid: by request, the blocks of which it is still to be told; those that are told leave it.
            scheduled: requests that got tokens, each with the blocks of which it can be told although it has them yet.
        """
        visits, self._visits = self._visits, None
        given = {fields["block"] for name, fields in visits if name == "allocate"}
        for request in list(slid):
            for block in [b for b in slid[request] if request in scheduled or b in given]:
                del slid[request][block]
                self._recorder("slide_out", request=request, block=block)
            if not slid[request]:
                del slid[request]
        for request, blocks in scheduled.items():
            for block in blocks:
                self._recorder("slide_out", request=request, block=block)
        for name, fields in sorted(visits, key=lambda visit: visit[0] != "look_up_anew"):
            self._recorder(name, **fields)

    def metadata(self, metadata, copies, gone):
        """The schedule() has ended in this."""
        planned = {job.job for job in metadata.store_jobs}
        for job in metadata.load_jobs:
            self._plan("plan_load", job, copies[job.job], gone)
        for job in metadata.jobs_to_flush:
            if job not in planned:
                self._recorder("order_flush", job=job)
        for job in metadata.store_jobs:
            self._plan("plan_store", job, copies[job.job], gone)
            if job.job in metadata.jobs_to_flush:
                self._recorder("order_flush", job=job.job)
        self._recorder.step_is_with_workers()

    def _plan(self, name, job, copy, gone):
        where = {"request": copy.owner, "block": job.block, "chunk": job.chunk, "job": job.job}
        if copy.owner in gone:  # only of who is gone does the specification say which prefix
            _, where["allocation"] = gone[copy.owner][job.block]
            where["hash_"] = f"{copy.key[0]}:{copy.key[1]}"
        self._recorder(name, **where)

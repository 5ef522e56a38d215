"""The workers of a :class:`GroupedEngine`: the bytes of every block and chunk, and who may move them when."""

from __future__ import annotations

from interlock.statemachine.lookup import Mamba
from support.grouped_parts import NULL


class GroupedWorkers:
    """The part of a grouped engine that runs its steps and copies."""

    def can_run(self, rank):
        """The next step of a worker, if it has one."""
        return next((s for s in self.under_way if rank in s.waits_for), None)

    def run(self, rank):
        """A worker runs its next step: flushes, the forward, and then it has what the metadata carries."""
        step = self.can_run(rank)
        step.waits_for.discard(rank)
        for job in step.flushes:
            if job in self.copies:
                copy = self.copies[job]
                if copy.states[rank] in ("coming", "queued"):
                    self._move(copy, rank)
                if copy.states[rank] in ("copied", "failed") and (job, rank) not in self.flushed_reports:
                    self.flushed_reports.append((job, rank))
        self._forward(step.rows, rank)
        for job in step.new:
            if self.copies[job].states[rank] == "coming":
                self.copies[job].states[rank] = "queued"
        if step.seen:
            self.record.hidden("run_step", rank)

    def run_all(self):
        """All workers run the oldest step."""
        for rank in sorted(self.under_way[0].waits_for):
            self.run(rank)

    def _forward(self, rows, rank):
        contents = self.content[rank]
        for row in rows:
            request, start, end = row.request, row.start, row.end
            for g, group in enumerate(self.groups):
                size, table = group.chunk_tokens, row.tables[g]
                for place in range(self.skipped(g, start), -(-start // size)):
                    upto = min(start, (place + 1) * size)
                    there, text, last = contents.get(table[place], (None, "", 0))
                    enough = last == upto if isinstance(group, Mamba) else last >= upto
                    assert (there, enough, text.startswith(request.text(upto))) == (g, True, True), (
                        f"{request.request_id} reads {text} up to {last} of group {there}, for {request.text(upto)}"
                    )
                for place in range(start // size, -(-end // size)):
                    if table[place] != NULL:
                        upto = min(end, (place + 1) * size)
                        contents[table[place]] = g, request.text(upto), upto

    def copy(self, job, rank=None):
        """The bytes of a queued job move, on one worker or on all."""
        copy = self.copies[job]
        for at in copy.ranks("queued"):
            if rank in (None, at):
                self._move(copy, at)
                self.record.hidden("copy_store" if copy.store else "copy_load", at, job)

    def fail(self, job, rank):
        """The copy of a queued job fails on a worker: garbage is left."""
        copy = self.copies[job]
        assert copy.states[rank] == "queued"
        copy.states[rank] = "failed"
        if copy.store:
            self.chunk_content[rank].pop(copy.job.chunk, None)
        else:
            self.content[rank].pop(copy.job.block, None)
        self.record.hidden("copy_fails" if copy.store else "load_fails", rank, job)

    def _move(self, copy, rank):
        copy.states[rank] = "copied"
        block, chunk = copy.job.block, copy.job.chunk
        blocks, chunks = self.content[rank], self.chunk_content[rank]
        source, sink, at = (blocks.get(block), chunks, chunk) if copy.store else (chunks.get(chunk), blocks, block)
        if not copy.stale:
            self._is(source, copy, "saves" if copy.store else "loads")
        if source is None:
            sink.pop(at, None)
        else:
            sink[at] = source

    def _is(self, content, copy, verb):
        g, text, last = content or (None, "", 0)
        whole = g is not None and last % self.groups[g].chunk_tokens == 0
        assert ((g, text), whole) == (copy.key, True), f"{copy.job} {verb} {text} up to {last} for {copy.key}"

    def unreported(self, *states):
        """Job and worker of each copy that is in one of these states and is not reported by itself."""
        flushed = set(self.flushed_reports)
        return [(j, r) for j, c in self.copies.items() for r in c.ranks(*states) if (j, r) not in flushed]

"""What a :class:`GroupedEngine` needs of each group's blocks, and what a hit is: by trying every length."""

from __future__ import annotations

from interlock.statemachine.lookup import ChunkedLocal, FullAttention, Mamba, SlidingWindow
from support.grouped_parts import NULL


class GroupedHits:
    """The part of a grouped engine that asks, and changes nothing."""

    def keys(self, request, g):
        """One per full block of a group."""
        per_block = self.groups[g].chunk_tokens // self.hash_tokens
        return [(g, h) for h in request.block_hashes[per_block - 1 :: per_block]]

    def skipped(self, g, tokens):
        """Blocks that the next token needs no more, as vLLM has it."""
        group = self.groups[g]
        match group:
            case FullAttention():
                return 0
            case SlidingWindow():
                return max(0, tokens - group.window) // group.chunk_tokens
            case ChunkedLocal():
                return tokens // group.window * group.window // group.chunk_tokens
            case Mamba():
                return max(0, tokens - 1) // group.chunk_tokens

    def end_of_chunk(self, request, budget):
        """How far a request computes in a step; with a Mamba group, to the ends of blocks while it is prefilled."""
        start, prefill_end = request.computed, max(request.num_prompt_tokens, request.num_tokens - 1)
        end = min(start + budget, request.known)
        blocks = [g.chunk_tokens for g in self.groups if isinstance(g, Mamba)]
        if blocks and start < prefill_end and end // max(blocks) * max(blocks) > start:
            end = end // max(blocks) * max(blocks)
        return end

    def longest(self, request, has, limit, step):
        for tokens in range(limit // step * step, 0, -step):
            answers = [
                has(g, place)
                for g, group in enumerate(self.groups)
                for place in range(self._first(g, tokens), -(-tokens // group.chunk_tokens))
            ]
            if all(g.fits(tokens) == tokens for g in self.groups) and "miss" not in answers:
                return tokens, "pending" in answers
        return 0, False

    def _first(self, g, tokens):
        return self.groups[g].first_needed(tokens)

    def local_hit(self, request):
        by_key = {key: block for block, key in self.key_of.items()} if self.finds else {}
        keys = [self.keys(request, g) for g in range(len(self.groups))]

        def has(g, place):
            return "hit" if place < len(keys[g]) and keys[g][place] in by_key else "miss"

        tokens, _ = self.longest(request, has, request.num_tokens - 1, self.alignment)
        return tokens, by_key

    def external_hit(self, request, local):
        """What the machine has to answer; to whom a load has failed, that it has nothing."""
        if request.name in self.refused:
            return 0
        keys = [self.keys(request, g) for g in range(len(self.groups))]
        (first, *others) = self.groups
        prefix_only = not others and isinstance(first, FullAttention) and first.chunk_tokens == self.hash_tokens

        def has(g, place):
            if (place + 1) * self.groups[g].chunk_tokens <= local:
                return "hit"
            key = keys[g][place] if place < len(keys[g]) else None
            states = {ready for k, ready in self.tier.values() if k == key}
            # With one group of full attention, and a hash to each block, nothing is waited for: what is being stored is computed.
            return "hit" if True in states else "pending" if states and not prefix_only else "miss"

        tokens, later = self.longest(request, has, request.num_tokens - 1, self.hash_tokens)
        if tokens <= local:
            return 0
        busy = not self.proceeds and any(
            c.store and c.owner == request.name and not c.stale for c in self.copies.values()
        )
        return None if later or busy else tokens - local

    def kept_of(self, request):
        """From how many tokens a request can go on whose load has failed in part: all that it needs there is there."""
        broken = self.broken[request.name]

        def is_there(g, place, tokens):
            block, size = request.tables[g][place], self.groups[g].chunk_tokens
            return block != NULL and (block not in broken or place * size >= tokens)

        return next(
            (
                tokens
                for tokens in range(request.computed // self.alignment * self.alignment, 0, -self.alignment)
                if all(
                    is_there(g, place, tokens)
                    for g, table in enumerate(request.tables)
                    for place in range(self.skipped(g, tokens), len(table))
                )
            ),
            0,
        )

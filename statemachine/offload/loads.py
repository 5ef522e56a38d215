"""Loads: what the tier has of a request's prompt, and how it comes into blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

from interlock.statemachine.errors import ImpossibleGrant, SpecificationViolation, UnsupportedGroups
from interlock.statemachine.lookup import Answer, FullAttention, longest_hit
from interlock.statemachine.offload.groups import BlockGroups, Key
from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.rules import GroupRules
from interlock.statemachine.offload.shapes import refuse_misshapen_match
from interlock.statemachine.offload.tracked import NOTHING, Found, Tracked
from interlock.statemachine.plural import counted
from interlock.statemachine.port import NULL_BLOCK


class Loads:
    """Looks chunks up, and plans loads of them.

    Args:
        hash_tokens: tokens to one hash of a request; hits are multiples of it.
        rules: what lookups know of groups; ``None`` if there is one, of full attention.
    """

    def __init__(self, moves: Moves, groups: BlockGroups, *, hash_tokens: int, rules: GroupRules | None = None) -> None:
        self._moves, self._groups, self._hash_tokens = moves, groups, hash_tokens
        self._too_many = rules is not None and not rules.several and len(groups) > 1
        asks_all = rules is not None and rules.asks_before_windows
        self._kinds = [FullAttention(group.block_size) if asks_all else group.kind for group in groups]
        self._prefix_only = groups.prefix_only
        self._find = self._prefix if self._prefix_only else self._search
        ledger = moves.ledger
        self._state_of = ledger.term("state_of_chunk")
        self._by_hash = ledger.inverse("chunk_hash")
        self._loadable = frozenset(ledger.program.tables["chunk"].states_with("plan_load"))
        self._awaited = frozenset(ledger.program.tables["chunk"].states_with("acknowledge"))
        self._may_load = ledger.condition("plan_load", "no-store-is-open")

    def match(self, tracked: Tracked, num_computed_tokens: int) -> tuple[int | None, bool]:
        """How many tokens the tier has beyond what the GPU has, up to the last token but one.

        ``None`` if a request that the tier has something for may not load yet, or some of it is still to come.

        Raises:
            Misshapen: what the GPU has is no number, below 0, more than the request has, or no whole blocks with one
                KV cache group.
        """
        request = tracked.request
        limit = (request.num_tokens - 1) // self._hash_tokens * self._hash_tokens
        this = num_computed_tokens, limit, len(request.block_hashes)
        if tracked.looked_up != this:
            whole = self._hash_tokens if self._prefix_only else 1
            refuse_misshapen_match(request.request_id, num_computed_tokens, request.num_tokens, whole)
            self.forget(tracked)
            tracked.looked_up, tracked.looked_up_at = this, self._moves.chunks.moves
            tracked.local_tokens = num_computed_tokens
            tracked.found = self._find(tracked, limit, [])
        elif not self._still_found(tracked):
            self._look_again(tracked, limit)
        found = tracked.found
        external = found.tokens - num_computed_tokens
        if external <= 0:
            return 0, False
        if found.later or not self._may_load(tracked.key):
            return None, False
        return external, bool(found.chunks)  # a hit may end where a window needs nothing

    def _still_found(self, tracked: Tracked) -> bool:
        """Whether the tier has what the last look-up has found, if there was one since it last got its blocks."""
        if tracked.looked_up is None:
            return False
        return tracked.looked_up_at == self._moves.chunks.moves or bool(tracked.watch and tracked.watch.holds)

    def _look_again(self, tracked: Tracked, limit: int) -> None:
        """Something has moved since. If the answer is as it was, it holds from now on until it may be another.

        Not from the first look on: to watch its keys costs up to as much as to look, and most are asked about once. Nor
        where one group has nothing: that is one look at one key.
        """
        chunks, before = self._moves.chunks, tracked.found
        asked: list[Key] = []
        tracked.looked_up_at = chunks.moves
        tracked.found = self._find(tracked, limit, asked)
        if tracked.found == before and (before.tokens or not self._prefix_only):
            tracked.watch = chunks.watches.begin(asked)

    def forget(self, tracked: Tracked) -> None:
        """Whatever has been found for a request, it is looked up anew when it is asked about again."""
        tracked.looked_up = None
        if tracked.watch is not None:
            self._moves.chunks.watches.end(tracked.watch)
            tracked.watch = None

    def refuse_impossible(self, tracked: Tracked, tables: Sequence[Sequence[int]], num_tokens: int) -> None:
        """Makes sure that so many tokens have been found, and that there are blocks for them.

        Args:
            tables: the request's blocks, per group.

        Raises:
            ImpossibleGrant: its lookup has not answered with so many, or does no more, as the tier has changed, or
                there is no room for them.
        """
        local, most = tracked.local_tokens, tracked.offered
        if not self._still_found(tracked):
            wrong = "of a look-up of which something has moved since"
            right = "look it up in the schedule in which it gets its blocks"
            raise ImpossibleGrant(tracked.request.request_id, num_tokens, wrong, right)
        total = local + num_tokens
        if not 0 < num_tokens <= most or total % self._hash_tokens:
            wrong = f"where its lookup has answered {most}, in blocks of {self._hash_tokens}"
            raise ImpossibleGrant(tracked.request.request_id, num_tokens, wrong, "grant what it answered, or 0")
        for group, table in zip(self._groups, tables, strict=True):
            if len(table) * group.block_size < total:
                wrong = f"beyond {local}, and has {counted(len(table), 'block')} of {group.block_size}"
                raise ImpossibleGrant(tracked.request.request_id, num_tokens, wrong, "pass its whole table")

    def plan(self, tracked: Tracked, num_tokens: int) -> int:
        """So many tokens of what was found are to be loaded; how long the hit is with what the GPU has.

        Raises:
            SpecificationViolation: they are others, and a block that then has to be loaded is not in the tier.
        """
        found, total = tracked.found, tracked.local_tokens + num_tokens
        if total != found.tokens:
            found = self._needed(tracked, total)
        request, moves = tracked.key, self._moves
        if self._prefix_only:
            blocks = tracked.tables[0].blocks[found.places[0] : found.places[-1] + 1]
        else:
            blocks = [tracked.tables[g].blocks[place] for g, place in zip(found.groups, found.places, strict=True)]
        rows = list(zip(repeat(request), blocks, found.chunks))
        if self._groups.windowed:
            rows = [row for row in rows if row[1] != NULL_BLOCK]
        moves.plan_loads(rows)
        if self._prefix_only:
            for chunk in reversed(found.chunks):  # a prefix is of no use without its beginning, so that is the latest
                moves.chunks.touch(chunk)
        return total

    def _prefix(self, tracked: Tracked, limit: int, asked: list[Key]) -> Found:
        """With one group of full attention a hit is as many of the first blocks as can be read now.

        Args:
            asked: gets the keys of those, and of the one behind them.
        """
        block_size = self._hash_tokens
        first, last = tracked.local_tokens // block_size, limit // block_size
        hashes = tracked.request.block_hashes
        if first >= last or first >= len(hashes) or hashes[first] not in self._by_hash:
            return NOTHING  # as for most prompts
        found, loadable, state_of = self._by_hash.get, self._loadable, self._state_of
        chunks: list[int] = []
        for place in range(first, min(last, len(hashes))):
            for chunk in found(hashes[place], ()):
                if state_of(chunk) in loadable:
                    chunks.append(chunk)
                    break
            else:
                break
        if not chunks:
            return NOTHING
        end = first + len(chunks)
        asked += hashes[first : min(end + 1, last)]
        return Found(end * block_size, False, (0,) * len(chunks), range(first, end), chunks)

    def _search(self, tracked: Tracked, limit: int, asked: list[Key]) -> Found:
        """The longest hit that every group has, or is getting.

        Args:
            asked: gets the keys that it depends on.
        """
        if self._too_many:
            raise UnsupportedGroups(
                f"this lookup knows one KV cache group, and the model has {len(self._groups)}", "set groups=windowed"
            )
        local, hashes = tracked.local_tokens, tracked.request.block_hashes
        if not self._groups.aligned(local):
            return NOTHING  # it ends inside a block of some group, which no load could complete

        def tier(place: int, chunk: int) -> Answer:
            group = self._groups[place]
            if (chunk + 1) * group.block_size <= local:
                return Answer.HIT  # of a window, too, the GPU has what its own hit needs
            if chunk >= group.num_keys(hashes):
                return Answer.MISS
            asked.append(key := group.key(hashes, chunk))
            return self._answer(key)

        hit = longest_hit(self._kinds, tier, limit)
        return Found(hit.tokens, later=True) if hit.later else self._needed(tracked, hit.tokens)

    def _needed(self, tracked: Tracked, tokens: int) -> Found:
        """What is to be loaded for a hit of so many tokens."""
        hashes = tracked.request.block_hashes
        rows = []
        for group in self._groups:
            local, kept = tracked.local_tokens // group.block_size, group.kind.first_kept(tokens)
            for place in range(max(group.kind.first_needed(tokens), local), -(-tokens // group.block_size)):
                chunk = self._loadable_chunk(group.key(hashes, place)) if place < group.num_keys(hashes) else None
                if chunk is None:
                    raise SpecificationViolation(
                        f"request {tracked.request.request_id}: a hit of {tracked.found.tokens} tokens was found, and "
                        f"{tokens} are granted, for which block {place} of group {group.place} is not in the tier: "
                        f"grant all, or none"
                    )
                if place >= kept:
                    rows.append((group.place, place, chunk))
        return Found(tokens, False, *zip(*rows, strict=True))

    def _loadable_chunk(self, key: Key) -> int | None:
        """A chunk of a key that a load could read now."""
        return next((c for c in self._by_hash.get(key, ()) if self._state_of(c) in self._loadable), None)

    def _answer(self, key: Key) -> Answer:
        """What the tier has under a key."""
        if self._loadable_chunk(key) is not None:
            return Answer.HIT
        reserved = self._moves.reserved
        pending = any(self._state_of(c) in self._awaited and c not in reserved for c in self._by_hash.get(key, ()))
        return Answer.PENDING if pending else Answer.MISS

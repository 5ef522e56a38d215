"""What a :class:`GroupedEngine` is made of: its requests, its copies, its steps."""

from __future__ import annotations

from dataclasses import dataclass, field

NULL = 0


def named(key):
    """A key as a trace has it."""
    return f"{key[0]}:{key[1]}"


@dataclass
class Request:
    request_id: str
    symbols: list[str]
    hash_tokens: int
    num_tokens: int
    num_prompt_tokens: int
    max_tokens: int
    tables: list[list[int]]
    computed: int = 0
    """With all steps that are scheduled, processed or not."""
    awaited: int = 0
    """Outputs that scheduled steps will bring."""
    last_step: int = 0
    state: str = "waiting"
    name: str = ""
    """In the ledger: an id may come again."""

    @property
    def block_hashes(self):
        return ["".join(self.symbols[: n + 1]) for n in range(self.num_tokens // self.hash_tokens)]

    def text(self, tokens):
        """What so many tokens say, the last symbol whole; also those that are still to come."""
        count = -(-tokens // self.hash_tokens)
        self.symbols += [f"<{self.request_id}{place}>" for place in range(len(self.symbols), count)]
        return "".join(self.symbols[:count])

    @property
    def known(self):
        """Tokens that may be computed: those of its outputs too that a scheduled step will bring."""
        return self.num_tokens + self.awaited

    @property
    def is_done(self):
        """Whether it has all its outputs, the last of which is never computed."""
        return self.num_tokens > self.num_prompt_tokens + self.max_tokens

    def grow(self):
        """An output is there."""
        self.num_tokens += 1
        self.text(self.num_tokens)


@dataclass
class Copy:
    job: object
    store: bool
    key: tuple
    owner: str
    """The name of the request that it is for."""
    states: list
    """By worker: coming until it runs the step, queued, copied or failed, and over once that is reported."""
    went_wrong: bool = False
    stale: bool = False
    """A reset has made it worthless."""

    def ranks(self, *states):
        return [rank for rank, state in enumerate(self.states) if state in states]


@dataclass
class Row:
    """What a step computes of a request, in the tables that it had then. Args: samples: whether an output comes."""

    request: Request
    tables: list[list[int]]
    start: int
    end: int
    samples: bool


@dataclass
class Step:
    """A step that is with the workers. Args: new: jobs that come with it; waits_for: workers that have not run it."""

    number: int
    rows: list[Row]
    flushes: tuple[int, ...]
    new: list[int]
    seen: bool
    """Whether it is in the trace: others are made for reasons that are not the machine's."""
    waits_for: set[int] = field(default_factory=set)

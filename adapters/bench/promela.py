"""The toy model by hand in Promela, for SPIN; it says word for word what `toy.py` says.

One process whose loop has one option per action instance, sets of blocks as bit masks, which is how one
writes such a model for speed: a state has few bytes and every guard is one comparison. The invariants are one
more option, enabled only where one of them is false, so they add no state and no transition.
"""

from __future__ import annotations

MAX_BLOCKS = 8
"""Blocks in a mask of one byte."""


def promela(requests: int, blocks: int) -> str:
    """The model at a size.

    Raises:
        ValueError: more than :data:`MAX_BLOCKS` blocks.
    """
    if blocks > MAX_BLOCKS:
        raise ValueError(f"{blocks} blocks do not fit in a byte: at most {MAX_BLOCKS}")
    options: list[str] = []
    for r in range(requests):
        options += _of_request(r)
        for b in range(blocks):
            options += _of_pair(r, 1 << b, [f"held[{o}]" for o in range(requests)])
    body = "\n".join(f"  :: d_step {{ {o} }}" for o in (*options, f"{_broken(requests)} -> assert(false)"))
    return (
        "#define waiting 0\n#define running 1\n#define finished 2\n"
        f"byte state[{requests}];\nbyte held[{requests}];\nbyte storing[{requests}];\n"
        "byte in_flight;\nbyte stored;\n"
        f"active proctype scheduler() {{\n  do\n{body}\n  od\n}}\n"
    )


def _of_request(r: int) -> list[str]:
    """schedule, finish, retire, preempt."""
    return [
        f"state[{r}] == waiting -> state[{r}] = running",
        f"state[{r}] == running -> state[{r}] = finished; held[{r}] = storing[{r}]",
        f"state[{r}] == finished && held[{r}] == 0 -> state[{r}] = waiting",
        f"state[{r}] == running && storing[{r}] == 0 -> state[{r}] = waiting; held[{r}] = 0",
    ]


def _of_pair(r: int, bit: int, held: list[str]) -> list[str]:
    """allocate, share, plan_store, complete_store; ``bit`` is the block's, ``held`` the masks of all requests."""
    others = f"({' | '.join(held)})"
    return [
        f"state[{r}] == running && ({others} & {bit}) == 0 -> held[{r}] = held[{r}] | {bit}; stored = stored & ~{bit}",
        f"state[{r}] == running && (held[{r}] & {bit}) == 0 && ({others} & stored & {bit}) != 0 -> "
        f"held[{r}] = held[{r}] | {bit}",
        f"state[{r}] == running && (held[{r}] & ~in_flight & ~stored & {bit}) != 0 -> "
        f"storing[{r}] = storing[{r}] | {bit}; in_flight = in_flight | {bit}",
        f"(storing[{r}] & {bit}) != 0 -> "
        f"storing[{r}] = storing[{r}] & ~{bit}; in_flight = in_flight & ~{bit}; stored = stored | {bit}; "
        f"held[{r}] = (state[{r}] == running -> held[{r}] | {bit} : held[{r}] & ~{bit})",
    ]


def _broken(requests: int) -> str:
    """Where an invariant is false: one-store-per-block, marked-iff-stored, storing-is-held."""
    pairs = [f"(storing[{i}] & storing[{j}]) != 0" for i in range(requests) for j in range(i)]
    marked = f"in_flight != ({' | '.join(f'storing[{r}]' for r in range(requests))})"
    held = [f"(storing[{r}] & ~held[{r}]) != 0" for r in range(requests)]
    return " || ".join([*pairs, marked, *held])

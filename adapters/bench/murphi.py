"""The toy model by hand in Murphi, for Rumur; it says word for word what `toy.py` says.

Written for speed, as `promela.py` is: one rule per action instance, sets of blocks as bit masks (Rumur's
extension of Murphi), and one variable per request and not an array, because Rumur checks each index. Arrays of
booleans under rulesets take ten times as long. A named range type would read better, but Rumur 2022.08 takes
``|`` on one for the logical operator.
"""

from __future__ import annotations

WAITING, RUNNING, FINISHED = range(3)


def murphi(requests: int, blocks: int) -> str:
    """The model at a size."""
    everyone = range(requests)
    mask = f"0 .. {(1 << blocks) - 1}"
    names = [*(f"{kind}_{r}" for r in everyone for kind in ("state", "held", "storing")), "in_flight", "stored"]
    declared = [f"  {n}: {'0 .. 2' if n.startswith('state') else mask};" for n in names]
    held = f"({' | '.join(f'held_{r}' for r in everyone)})"
    rules: list[str] = []
    for r in everyone:
        rules += _of_request(r)
        for b in range(blocks):
            rules += _of_pair(r, 1 << b, (1 << blocks) - 1 - (1 << b), held)
    lines = ["var", *declared, "", "startstate begin", *(f"  {n} := 0;" for n in names), "end;", ""]
    return "\n".join([*lines, *(f"rule {rule} end;" for rule in rules), *_invariants(requests), ""])


def _of_request(r: int) -> list[str]:
    return [
        f'"schedule" state_{r} = {WAITING} ==> begin state_{r} := {RUNNING};',
        f'"finish" state_{r} = {RUNNING} ==> begin state_{r} := {FINISHED}; held_{r} := storing_{r};',
        f'"retire" state_{r} = {FINISHED} & held_{r} = 0 ==> begin state_{r} := {WAITING};',
        f'"preempt" state_{r} = {RUNNING} & storing_{r} = 0 ==> begin state_{r} := {WAITING}; held_{r} := 0;',
    ]


def _of_pair(r: int, bit: int, others: int, held: str) -> list[str]:
    """``bit`` is the block's, ``others`` the mask of all other blocks, ``held`` what any request holds."""
    return [
        f'"allocate" state_{r} = {RUNNING} & ({held} & {bit}) = 0 ==> begin '
        f"held_{r} := held_{r} | {bit}; stored := stored & {others};",
        f'"share" state_{r} = {RUNNING} & (held_{r} & {bit}) = 0 & (stored & {held} & {bit}) != 0 ==> begin '
        f"held_{r} := held_{r} | {bit};",
        f'"plan_store" state_{r} = {RUNNING} & (held_{r} & {bit}) != 0 & ((in_flight | stored) & {bit}) = 0 ==> begin '
        f"storing_{r} := storing_{r} | {bit}; in_flight := in_flight | {bit};",
        f'"complete_store" (storing_{r} & {bit}) != 0 ==> begin '
        f"storing_{r} := storing_{r} & {others}; in_flight := in_flight & {others}; stored := stored | {bit}; "
        f"if state_{r} != {RUNNING} then held_{r} := held_{r} & {others}; else held_{r} := held_{r} | {bit}; end;",
    ]


def _invariants(requests: int) -> list[str]:
    everyone = range(requests)
    apart = [f"(storing_{i} & storing_{j}) = 0" for i in everyone for j in range(i)] or ["true"]
    marked = " | ".join(f"storing_{r}" for r in everyone)
    held = [f"(storing_{r} | held_{r}) = held_{r}" for r in everyone]
    return [
        f'invariant "one-store-per-block" {" & ".join(apart)};',
        f'invariant "marked-iff-stored" in_flight = {f"({marked})" if requests > 1 else marked};',
        f'invariant "storing-is-held" {" & ".join(held)};',
    ]

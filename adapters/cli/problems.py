"""What a user can get wrong, said in one line: what is wrong, and what would be right."""

from collections.abc import Sequence


class UsageProblem(Exception):
    """Usage or environment: exit 2 with this one line, and no document."""

    def __init__(self, wrong: str, right: str) -> None:
        super().__init__(one_line(f"{wrong}; {right}"))


LISTED_BY = {
    "slice": "interlock show slices",
    "sort": "interlock show slices",
    "switch": "interlock show switches",
    "value": "interlock show switches",
    "preset": "interlock show presets",
    "property": "interlock show invariants",
    "invariant": "interlock show invariants",
    "lemma": "interlock show invariants",
    "action": "interlock show actions",
    "conjunct": "interlock show actions",
    "update": "interlock show actions",
    "message": "interlock show actions",
    "row": "interlock show lifecycles",
    "module": "interlock show slices",
}
"""The command that prints all names of a kind, by the kind's first word."""

CHANGES = "interlock mutate --json FILE"
"""Prints everything that can be changed in the specification."""


def unknown(kind: str, name: str, known: Sequence[str]) -> UsageProblem:
    """The problem that `name` is no `kind`, with the nearest known names and the command that lists all.

    >>> str(unknown("slice", "dedpu", ["dedup", "load"]))
    "unknown slice 'dedpu'; did you mean dedup?"
    >>> str(unknown("slice", "xyz", ["dedup", "load"]))
    "unknown slice 'xyz'; known: dedup, load"
    """
    from interlock.statemachine.names import did_you_mean

    command = LISTED_BY.get(kind.partition(" ")[0], CHANGES)
    return UsageProblem(f"unknown {kind} {name!r}", did_you_mean(name, known, command))


def as_usage_problem(error: Exception) -> UsageProblem | None:
    """The problem that an engine's exception stands for, or None if it is a fault of ours."""
    from interlock.proofs.explorer.size import ScopeTooLarge
    from interlock.proofs.mutation.baseline import TooLarge
    from interlock.spec.language.errors import SpecificationError
    from interlock.spec.language.specification import UnknownName
    from interlock.statemachine.trace import TraceError

    if isinstance(error, UsageProblem):
        return error
    if isinstance(error, UnknownName):
        return unknown(error.kind, error.name, error.known)
    if isinstance(error, SpecificationError):
        return UsageProblem(f"{error.place}: {error.problem}", error.fix)
    if isinstance(error, ScopeTooLarge):
        return UsageProblem(error.wrong, error.right)
    if isinstance(error, TooLarge):
        return UsageProblem(str(error), "choose a smaller scope")
    if isinstance(error, TraceError):
        return UsageProblem(f"{error.place}: {error.wrong}", error.fix)
    if type(error).__name__ == "NoDevice":
        # By its name: its module brings numpy, which most errors need not wait for.
        return UsageProblem(getattr(error, "wrong", str(error)), getattr(error, "right", "use --device cpu"))
    return _of_the_gate(error)


def _of_the_gate(error: Exception) -> UsageProblem | None:
    """As above, for what only the gate raises; its modules are there already if it raised something."""
    from interlock.adapters.gate.errors import GateUsageError
    from interlock.adapters.vllm.launch import ChildError
    from interlock.adapters.vllm.releases import VllmReleaseError

    match error:
        case GateUsageError():
            return UsageProblem(error.wrong, error.right)
        case VllmReleaseError():
            return UsageProblem(f"--vllm: {error}", "name a release that exists")
        case ChildError(kind="usage" | "construct" | "observer" | "import"):
            return UsageProblem(f"vLLM does not take this: {error}", "see --connector-config and --vllm")
        case _:
            return None


def one_line(text: str) -> str:
    """The text with every run of white space, line ends included, as one blank."""
    return " ".join(text.split())

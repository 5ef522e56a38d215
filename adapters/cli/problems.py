"""What a user can get wrong, said in one line: what is wrong, and what would be right."""

import difflib
from collections.abc import Sequence


class UsageProblem(Exception):
    """Usage or environment: exit 2 with this one line, and no document."""

    def __init__(self, wrong: str, right: str) -> None:
        super().__init__(one_line(f"{wrong}; {right}"))


def unknown(kind: str, name: str, known: Sequence[str]) -> UsageProblem:
    """The problem that `name` is no `kind`, with the nearest known names, or all if none is near.

    >>> str(unknown("slice", "dedpu", ["dedup", "load"]))
    "unknown slice 'dedpu'; did you mean dedup?"
    >>> str(unknown("slice", "xyz", ["dedup", "load"]))
    "unknown slice 'xyz'; known: dedup, load"
    """
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    # Also what someone means who types the beginning or the middle of a long id.
    near += [k for k in known if len(name) >= 3 and name in k and k not in near][: 3 - len(near)]
    if near:
        return UsageProblem(f"unknown {kind} {name!r}", f"did you mean {' or '.join(near)}?")
    return UsageProblem(f"unknown {kind} {name!r}", f"known: {', '.join(known) or 'none'}")


def as_usage_problem(error: Exception) -> UsageProblem | None:
    """The problem that an engine's exception stands for, or None if it is a fault of ours."""
    from interlock.spec.language.errors import SpecificationError
    from interlock.spec.language.specification import UnknownName
    from interlock.statemachine.trace import TraceError

    if isinstance(error, UsageProblem):
        return error
    if isinstance(error, UnknownName):
        return unknown(error.kind, error.name, error.known)
    if isinstance(error, SpecificationError):
        return UsageProblem(f"{error.place}: {error.problem}", error.fix)
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

"""The entry point: runs a verb and turns every way that it can end into an exit code."""

import os
import sys
import traceback
from collections.abc import Sequence

import typer
from typer.exceptions import TyperException

from interlock.adapters.cli.app import GROUPS, VERBS, app
from interlock.adapters.cli.mistakes import mistake_in_specification
from interlock.adapters.cli.once import require_once
from interlock.adapters.cli.problems import UsageProblem, one_line

USAGE = 2
INCONCLUSIVE = 3
TYPER_INTERRUPTED = 130
"""What typer returns for Ctrl-C before a verb had anything to say (afterwards: conduct.py)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `interlock` with the given arguments (default: those of the process); returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # pydantic and vLLM's child are told before they speak: an error of ours names no page of theirs.
    os.environ.setdefault("PYDANTIC_ERRORS_INCLUDE_URL", "0")
    where = _where(arguments)
    try:
        require_once(where, arguments)
        code = app(args=arguments, prog_name="interlock", standalone_mode=False, obj=arguments)
    except UsageProblem as problem:
        return _usage(where, str(problem))
    except TyperException as problem:
        return _usage(where, _message(problem, where, arguments))
    except (KeyboardInterrupt, typer.Abort):
        return INCONCLUSIVE
    except Exception as error:
        if (mistake := mistake_in_specification(error)) is not None:
            return _usage(where, str(mistake))
        # A fault of ours; Python's own exit code 1 would be read as a violation.
        traceback.print_exc()
        return INCONCLUSIVE
    return INCONCLUSIVE if code == TYPER_INTERRUPTED else int(code or 0)


def _where(arguments: list[str]) -> str:
    """The verb that was asked for: `interlock`, `interlock check`, `interlock bench check`."""
    if not arguments or arguments[0] not in {*VERBS, *GROUPS}:
        return "interlock"
    group = GROUPS.get(arguments[0])
    names = {command.name for command in group.registered_commands} if group is not None else set()
    return " ".join(["interlock", arguments[0], *(name for name in arguments[1:2] if name in names)])


def _unknown_verb(where: str, arguments: list[str]) -> str | None:
    """What is wrong and what would be right, if the first word after a group is none of its verbs."""
    group = where.removeprefix("interlock").strip()
    at = 1 if group in GROUPS else 0
    names = [str(c.name) for c in GROUPS[group].registered_commands] if group in GROUPS else [*VERBS, *GROUPS]
    if (group and group not in GROUPS) or len(arguments) <= at or arguments[at].startswith("-"):
        return None
    if arguments[at] in names:
        return None
    from interlock.statemachine.names import did_you_mean

    return one_line(f"no such command {arguments[at]!r}; {did_you_mean(arguments[at], names)}")


def _usage(where: str, line: str) -> int:
    print(f"{where}: {line}", file=sys.stderr)
    return USAGE


def _message(problem: TyperException, where: str, arguments: list[str]) -> str:
    """Typer's message as one line that ends with where to look."""
    if (verb := _unknown_verb(where, arguments)) is not None:
        return f"{verb} (see {where} --help)"
    # Nearest first; typer's own rendering lists them in the order of the alphabet.
    near: Sequence[str] = getattr(problem, "possibilities", None) or ()
    text = (
        one_line(problem.message if near else problem.format_message())
        .replace("Value error, ", "")
        .replace(". Did", "; did")
    )
    text = text[:1].lower() + text[1:].rstrip(".")
    if near:
        text += f"; did you mean {near[0]}?"
    return f"{text} (see {where} --help)"


if __name__ == "__main__":
    sys.exit(main())

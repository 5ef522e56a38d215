"""`interlock bench …`: measurements that a reader can repeat."""

from enum import StrEnum
from typing import Annotated

import typer

from interlock.adapters.cli import options
from interlock.adapters.cli.problems import UsageProblem

bench = typer.Typer(
    name="bench",
    invoke_without_command=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Size(StrEnum):
    """How large a model is."""

    SMALL = "small"
    LARGE = "large"


@bench.callback()
def choose(context: typer.Context) -> None:
    """Measure, side by side and in one run."""
    if context.invoked_subcommand is None:
        raise UsageProblem("no measurement given", f"give one of {', '.join(BENCHES)} (see interlock bench --help)")


@bench.command("check")
def bench_check(
    context: typer.Context,
    size: Annotated[
        Size, typer.Option(help="small: 11,668 states, to try it; large: 1,171,401, for figures.")
    ] = Size.LARGE,
    json: options.JsonFile = None,
    json_schema: Annotated[bool, options.json_schema("bench_check", "BenchCheckDocument")] = False,
) -> int:
    """Measure our explorers, SPIN and Rumur on one toy model.

    All must find the same states and transitions. Needs spin, rumur and gcc.
    """
    from interlock.adapters.cli.bindings.bench_check import BenchCheckBinding
    from interlock.adapters.cli.conduct import conduct
    from interlock.adapters.cli.session import Session

    session = Session(context.obj, json)
    return conduct(BenchCheckBinding(size.value, session), session)


BENCHES = tuple(str(command.name) for command in bench.registered_commands)

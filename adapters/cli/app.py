"""The typer application: the verbs that exist, in the order in which a person meets them."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from interlock.adapters.cli.bench import bench
from interlock.adapters.cli.bisect import bisect
from interlock.adapters.cli.check import check
from interlock.adapters.cli.conformance import conformance
from interlock.adapters.cli.explain import explain
from interlock.adapters.cli.gate import gate
from interlock.adapters.cli.mutate import mutate
from interlock.adapters.cli.problems import UsageProblem
from interlock.adapters.cli.prove import prove
from interlock.adapters.cli.replay import replay
from interlock.adapters.cli.show import show
from interlock.adapters.cli.simulate import simulate


class _InOrder(TyperGroup):
    """Lists groups of verbs after the verbs; typer has them first."""

    def list_commands(self, ctx: Any) -> list[str]:
        names: list[str] = super().list_commands(ctx)
        return sorted(names, key=[*VERBS, *GROUPS].index)


app = typer.Typer(
    name="interlock",
    cls=_InOrder,
    add_completion=False,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    rich_markup_mode=None,  # plain help: rich's would take longer to import than all the rest
    context_settings={"help_option_names": ["-h", "--help"]},
)

VERBS = {
    verb.__name__: verb for verb in (check, prove, mutate, gate, bisect, conformance, replay, explain, show, simulate)
}

GROUPS = {"bench": bench}
"""Verbs that have verbs of their own."""

for _name, _verb in VERBS.items():
    app.command(_name)(_verb)
for _name, _group in GROUPS.items():
    app.add_typer(_group, name=_name)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"interlock {version('interlock')}")
        raise typer.Exit


@app.callback()
def interlock(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version.")
    ] = False,
) -> None:
    """The verified lifecycle of KV-cache and encoder-cache transfers for vLLM.

    Exit codes: 0 all holds; 1 a violation or finding; 2 usage or environment; 3 inconclusive.
    """
    if context.invoked_subcommand is None:
        raise UsageProblem("no verb given", f"give one of {', '.join([*VERBS, *GROUPS])} (see interlock --help)")

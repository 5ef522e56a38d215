"""`interlock show`: the specification, for a person or a program."""

from enum import StrEnum
from typing import Annotated

import typer

from interlock.adapters.cli import options
from interlock.adapters.cli.problems import UsageProblem


class Part(StrEnum):
    """What can be shown."""

    LIFECYCLES = "lifecycles"
    ACTIONS = "actions"
    INVARIANTS = "invariants"
    SWITCHES = "switches"
    VERDICTS = "verdicts"
    PRESETS = "presets"
    SLICES = "slices"
    RULES = "rules"
    FAILURES = "failures"


class Format(StrEnum):
    """How it is shown."""

    TABLE = "table"
    MARKDOWN = "markdown"
    MERMAID = "mermaid"


def show(
    context: typer.Context,
    part: Annotated[Part | None, typer.Argument(help="What to show. Default: everything.")] = None,
    module: options.Module = None,
    form: Annotated[Format, typer.Option("--format", help="mermaid: lifecycles only.")] = Format.TABLE,
    json: options.JsonFile = None,
    json_schema: Annotated[bool, options.json_schema("show", "ShowDocument")] = False,
) -> int:
    """Show what the specification declares.

    Its lifecycles and actions (with guards and updates: the names in traces and in --change),
    properties, switches, verdicts (what fails and what holds under their values, and why), presets
    (of releases and connectors: the switches that each sets otherwise) and slices; the rules of the
    contract and what checks each; the public failures and the setting under which `interlock check`
    finds each.
    """
    from interlock.adapters.cli.bindings.show import ShowBinding
    from interlock.adapters.cli.conduct import conduct
    from interlock.adapters.cli.session import Session

    if form is Format.MERMAID and part is not Part.LIFECYCLES:
        raise UsageProblem("mermaid draws lifecycles", "give interlock show lifecycles --format mermaid")
    session = Session(context.obj, json)
    parts = [part.value] if part else [each.value for each in Part]
    return conduct(ShowBinding(parts, form.value, module, session), session)

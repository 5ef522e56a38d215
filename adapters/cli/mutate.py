"""`interlock mutate`: does a named property notice when the specification is wrong?"""

from pathlib import Path
from typing import Annotated

import typer

from interlock.adapters.cli import options


def mutate(
    context: typer.Context,
    slices: Annotated[
        list[str] | None,
        typer.Option(
            "--slice",
            metavar="NAME",
            help="Look at mutants in this slice only, and change only actions that it has; may be repeated. "
            "Default: the default slices, and the lemmas of proofs.",
        ),
    ] = None,
    modules: Annotated[
        list[str] | None,
        typer.Option(
            "--module", metavar="NAME", help="Only this module of the specification; may be repeated. Default: all."
        ),
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind", metavar="KIND", help="Only changes of this kind, as drop-update; may be repeated. Default: all."
        ),
    ] = None,
    preset: Annotated[str, typer.Option(metavar="NAME", help="Preset of the switches.")] = "interlock",
    sets: options.Sets = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Without the properties that only restate their action or their row of a table."),
    ] = False,
    trace_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the shortest counterexample to each mutant that has one into DIR."),
    ] = None,
    jobs: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Processes; each keeps its own graphs.")] = 2,
    budget: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=1, help="Time for everything; what is undecided by then is exit 3."),
    ] = 480.0,
    json: options.JsonFile = None,
    json_schema: Annotated[bool, options.json_schema("mutate", "MutateDocument")] = False,
) -> int:
    """Change the specification, one small thing at a time, and see which property notices.

    A mutant lacks a conjunct of a guard, an update, a row of a table, a message, a fairness or a
    lemma, or has another target state, a bound moved by one, a guard that is never true, an update
    that hits others too (`r` is refused, and so is everybody). It is killed
    by a named property: one that is violated, a witness that is reached no more, a premise or an action
    that never comes, a proof that fails. Automatic checks of ranges and domains do not count.

    A survivor says what no property asks: add one, or delete what is dead. It is equivalent if its
    reachable states and labelled transitions are the same at two sizes of every slice that has its action.

    Some properties of steps follow from the action alone, whatever the state: they remind a reader,
    and kill what changes the action. So does the witness that a row of a table fires: it is made from
    the table. --strict leaves both out.

    --preset and --set give the switches other values: what is noticed there is what these values use and
    the default does not (with --slice, all changes). Properties that fail there unchanged are left out.

    To look at one: interlock check --change ID --property PROPERTY.

    Exit codes: 0 at least 95 % of the mutants that are not equivalent are killed; 1 fewer are;
    2 usage; 3 the budget ran out, or the specification breaks a property as it is.
    """
    from interlock.adapters.cli.bindings.mutate import MutateBinding, MutateRequest
    from interlock.adapters.cli.conduct import conduct
    from interlock.adapters.cli.session import Session

    if trace_dir is not None:
        options.make_folder("--trace-dir", trace_dir)
    session = Session(context.obj, json)
    request = MutateRequest(
        slices=slices or None,
        modules=modules or None,
        kinds=kinds or None,
        preset=preset,
        sets=options.pairs("--set", sets, "scheduling_policy=priority"),
        strict=strict,
        trace_dir=trace_dir,
        jobs=jobs,
        budget=budget,
    )
    return conduct(MutateBinding(request, session), session)

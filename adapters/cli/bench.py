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


@bench.command("machine")
def bench_machine(
    context: typer.Context,
    requests: Annotated[int, typer.Option(min=1, max=1024, help="Requests that decode together.")] = 128,
    prompt: Annotated[int, typer.Option(min=16, max=1_000_000, help="Tokens of each prompt.")] = 4096,
    decode_steps: Annotated[int, typer.Option(min=1, max=10_000, help="Decoding steps that are measured.")] = 64,
    rounds: Annotated[int, typer.Option(min=1, max=100, help="Runs of each connector; medians are shown.")] = 3,
    vllm: Annotated[
        str, typer.Option("--vllm", metavar="VERSION", help="Release of vLLM whose scheduler drives them.")
    ] = "0.32.0",
    json: options.JsonFile = None,
    json_schema: Annotated[bool, options.json_schema("bench_machine", "BenchMachineDocument")] = False,
) -> int:
    """Measure our machine and vLLM's native connectors under a real scheduler.

    The same requests for all, in one run: they prefill, decode, end, come again, and are asked about again.
    What is timed is each hook of the connector. Then 16 requests decode at 4k to 128k tokens of context:
    a step costs the same where cost does not grow with it. At last 16 requests with a model that has a
    KV cache group of full attention and one of a sliding window. No GPU: a worker is played.
    """
    from interlock.adapters.cli.bindings.bench_machine import BenchMachineBinding
    from interlock.adapters.cli.conduct import conduct
    from interlock.adapters.cli.session import Session
    from interlock.adapters.vllm.hook_times import Workload

    session = Session(context.obj, json)
    return conduct(BenchMachineBinding(Workload(requests, prompt, decode_steps), vllm, rounds, session), session)


BENCHES = tuple(str(command.name) for command in bench.registered_commands)

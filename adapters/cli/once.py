"""An option that takes one value is given once: of two, typer would keep the last and say nothing."""

from collections import Counter
from collections.abc import Sequence

import typer.main

from interlock.adapters.cli.app import app
from interlock.adapters.cli.problems import UsageProblem


def require_once(where: str, arguments: Sequence[str]) -> None:
    """Refuse an option that is given more than once and may not be repeated.

    Args:
        where: the verb, as ``interlock check``.

    Raises:
        UsageProblem: names the option.
    """
    written = list(arguments)
    words = written[: written.index("--")] if "--" in written else written
    times = Counter(w.partition("=")[0] for w in words if w.startswith("--"))
    repeated = [option for option, n in times.items() if n > 1]
    if not repeated:
        return
    command = typer.main.get_command(app)
    for name in where.split()[1:]:
        command = getattr(command, "commands", {}).get(name, command)
    for p in command.params:
        single = not (getattr(p, "multiple", False) or getattr(p, "is_flag", False))
        if single and (option := next((o for o in repeated if o in p.opts), None)) is not None:
            raise UsageProblem(f"{option} is given twice", "give it once")

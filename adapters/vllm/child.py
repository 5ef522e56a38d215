"""The child process: one release of vLLM, JSON lines in, JSON lines out.

    PYTHONPATH=<overlay of the release> python -m interlock.adapters.vllm.child

The first line out is {"ready": {"vllm": "0.20.2", "seconds": 9.1}}. Then each line in is a job:

    {"connector": "vllm:SimpleCPUOffloadConnector", "config": {...}, "sizes": {"gpu_blocks": 8},
     "scenarios": [[{"op": "add", ...}, {"op": "step"}], ...], "step_seconds": 10,
     "observer": "package.module:Class", "module": "kv", "load_failures": "recompute"}

or one to time a connector's hooks (hook_times.py),

    {"connector": ..., "config": ..., "sizes": ..., "workload": {"requests": 128, "prompt": 4096, "decode_steps": 64},
     "groups": [["full", 16, 0], ["window", 16, 1024]]}

where groups (of hybrid_models.py; without any the model has one, of full attention) may be left out. It is answered by
one line, {"results": [...]} with one result per scenario (scenario.Played), {"measured": {...}}, or {"error": {"kind":
"usage" | "construct" | "observer", "message": one line}}. The config of a job is built once and kept for later jobs
with the same connector, config, sizes, policy and groups. Ends at the end of stdin.

Standard output carries nothing else: what vLLM prints goes to standard error.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from typing import IO, Any

CONSTRUCT_SECONDS = 120.0


def _take_stdout() -> IO[str]:
    """The real standard output for answers; everybody else's prints go to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _quiet() -> None:
    # Hashes of equal prompts must be equal in every run: NONE_HASH is random without a hash seed.
    os.environ.setdefault("PYTHONHASHSEED", "0")
    os.environ["VLLM_LOGGING_LEVEL"] = "ERROR"
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    logging.disable(logging.ERROR)


class Jobs:
    """Answers jobs; keeps what is expensive to build."""

    def __init__(self) -> None:
        self._constructors: dict[str, Any] = {}

    def answer(self, job: Any) -> dict[str, Any]:
        """One job, one answer; never raises for what a job says or a connector does."""
        from interlock.adapters.vllm.construct import ConstructError
        from interlock.adapters.vllm.hook_times import Workload, measure
        from interlock.adapters.vllm.observers import NoObserverError, ObserverError
        from interlock.adapters.vllm.scenario import ScenarioError, play
        from interlock.adapters.vllm.timeout import StepTimeoutError

        try:
            if isinstance(job, dict) and isinstance(job.get("workload"), dict):
                return {"measured": measure(self._constructor(job), Workload(**job["workload"]))}
            if not isinstance(job, dict) or not isinstance(job.get("scenarios"), list):
                raise ScenarioError("a job is an object with connector and scenarios, or a workload")
            constructor = self._constructor(job)
            seconds = float(job.get("step_seconds", 10.0))
            observer = job.get("observer")
            module = job.get("module", "kv")
            results = [play(constructor, s, seconds, observer, module).to_json() for s in job["scenarios"]]
        except ScenarioError as error:
            return {"error": {"kind": "usage", "message": str(error)}}
        except NoObserverError as error:
            return {"error": {"kind": "observer", "message": str(error)}}
        except (ConstructError, ObserverError, StepTimeoutError) as error:
            return {"error": {"kind": "construct", "message": str(error)}}
        return {"results": results}

    def _constructor(self, job: dict[str, Any]) -> Any:
        from interlock.adapters.vllm.construct import ConstructError, Constructor, Sizes, Target
        from interlock.adapters.vllm.hybrid_models import CONFIG_KEY, HybridConstructor
        from interlock.adapters.vllm.timeout import time_limit

        parts: list[Any] = [job.get("connector"), job.get("config") or {}, job.get("sizes") or {}]
        parts += [job.get("load_failures") or "fail", job.get("groups")]
        key = json.dumps(parts, sort_keys=True)
        if key not in self._constructors:
            connector, config, sizes, load_failures, groups = parts
            try:
                kind = "ec" if job.get("module") in ("encoder", "released-encoder") else "kv"
                target = Target(str(connector), dict(config), kind=kind, load_failures=str(load_failures))
                wanted = Sizes(**sizes)
            except TypeError as error:
                raise ConstructError(f"sizes or config of the job: {error}") from error
            with time_limit(CONSTRUCT_SECONDS, f"building the config for {connector}"):
                if job.get("module") == "groups":
                    made: Constructor = HybridConstructor(target, wanted, target.extra[CONFIG_KEY], caching=False)
                else:
                    made = HybridConstructor(target, wanted, groups) if groups else Constructor(target, wanted)
            self._constructors[key] = made
        return self._constructors[key]


def main() -> int:
    """Serve until the end of standard input."""
    answers = _take_stdout()
    _quiet()

    def say(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer, separators=(",", ":")) + "\n")
        answers.flush()

    start = time.perf_counter()
    try:
        import vllm
        import vllm.v1.core.sched.scheduler
    except Exception as error:
        message = f"{type(error).__name__}: {error}".split("\n")[0]
        say({"error": {"kind": "import", "message": message}})
        return 2
    seconds = round(time.perf_counter() - start, 2)
    say({"ready": {"vllm": vllm.__version__, "path": vllm.__path__[0], "seconds": seconds}})
    jobs = Jobs()
    for line in sys.stdin:
        if line.strip():
            try:
                job = json.loads(line)
            except json.JSONDecodeError as error:
                say({"error": {"kind": "usage", "message": f"a job is one JSON line: {error}"}})
                continue
            say(jobs.answer(job))
    return 0


if __name__ == "__main__":
    sys.exit(main())

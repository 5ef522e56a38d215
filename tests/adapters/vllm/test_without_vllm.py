"""What needs no vLLM: contents, scenarios, the words of refusals."""

import re
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from interlock.adapters import vllm
from interlock.adapters.vllm.ghost import Ghost, Prefix
from interlock.adapters.vllm.launch import Child, ChildError, interlock_path
from interlock.adapters.vllm.observers.offloading import _ByRequest
from interlock.adapters.vllm.releases import VllmReleaseError, _explain, fetch
from interlock.adapters.vllm.scenario import ScenarioError, check, prompt_tokens
from interlock.adapters.vllm.timeout import StepTimeoutError, time_limit


def test_equal_prefixes_have_equal_contents_and_next_tokens():
    one, two = Prefix([5, 6, 7, 8, 9], 4, 100), Prefix([5, 6, 7, 8, 9], 4, 100)
    other = Prefix([4, 6, 7, 8, 9], 4, 100)
    assert one.content(0, 5) == two.content(0, 4)
    assert one.content(1, 5) != other.content(1, 5)  # the prefix counts, not the block's tokens
    assert one.content(0, 3).startswith("partial:")
    assert one.next_token() == two.next_token() != other.next_token()


def test_a_block_that_holds_no_computed_token_has_no_content():
    with pytest.raises(ValueError, match="holds no token"):
        Prefix([5, 6, 7, 8], 4, 100).content(1, 4)


def test_a_copy_moves_whatever_is_there():
    ghost = Ghost()
    ghost.blocks[1] = "x"
    ghost.copy("store", [(1, 0), (2, 3)])
    assert ghost.chunks == {0: "x"}
    ghost.copy("load", [(7, 0), (1, 3)])
    assert ghost.blocks == {7: "x"}


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ({"op": "step"}, "JSON list"),
        ([{"op": "fly"}], "operation 0"),
        ([{"op": "step"}, {"op": "add", "request": "A"}], "missing or unknown prompt"),
        ([{"op": "complete", "nth": "0"}], "nth is '0'"),
        ([{"op": "complete", "nth": True}], "nth is True"),
        ([{"op": "step", "n": 1}], "unknown n"),
    ],
)
def test_malformed_scenarios_are_refused(scenario, said):
    with pytest.raises(ScenarioError, match=said):
        check(scenario)


def test_symbols_are_blocks():
    a, b = prompt_tokens("pq", 1, 16), prompt_tokens("pr", 0, 16)
    assert len(a) == 33
    assert a[:16] == b[:16]
    assert a[16:32] != b[16:32]


def test_an_unknown_release_names_those_near_it():
    said = "ERROR: ... (from versions: 0.19.1, 0.20.1, 0.20.2, 0.21.0, 0.32.0)\nERROR: No match"
    line = _explain("0.20.7", said)
    assert "0.20.1, 0.20.2, 0.21.0, 0.32.0" in line
    assert "\n" not in line
    with pytest.raises(VllmReleaseError, match="name one as"):
        fetch("newest")


def test_old_offloading_reports_a_requests_stores_once_it_has_finished():
    class Spec:
        def __init__(self, *ids):
            self.block_ids = ids

    stores = {"A": (Spec(1, 2), Spec(0, 1))}
    metadata = SimpleNamespace(reqs_to_load={}, reqs_to_store=stores, reqs_to_flush=None)
    observer = _ByRequest()
    [job] = observer.decode(metadata).jobs
    assert job.pairs == ((1, 0), (2, 1))
    assert not observer.report([job], set())
    report = observer.report([], {"A"})
    assert report.finished_sending == {"A"}
    assert report.acknowledged == [job]


def test_a_time_limit_ends_a_blocked_call_and_leaves_no_alarm():
    ended = pytest.raises(StepTimeoutError, match="sleeping did not end within")
    with ended, time_limit(0.05, "sleeping"):
        time.sleep(5)
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_a_child_without_vllm_says_so(tmp_path):
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "__init__.py").write_text("raise ImportError('not this one')\n")
    with pytest.raises(ChildError, match="not this one") as caught:
        Child(tmp_path)
    assert caught.value.kind == "import"


def test_a_child_in_an_environment_without_interlock_finds_all_that_it_imports():
    """What `adapters/vllm` imports of Interlock imports from the folder that children are given, and from it alone."""
    (folder,) = interlock_path()
    sources = [p.read_text() for p in Path(vllm.__path__[0]).rglob("*.py")]
    wanted = sorted({m for text in sources for m in re.findall(r"from (interlock\.[\w.]+) import", text)})
    say = (
        f"import sys; sys.path[:0] = [{folder!r}]; sys.path.append({sysconfig.get_path('purelib')!r})\n"
        f"import importlib\n"
        f"for name in {wanted!r}:\n"
        f"    try: module = importlib.import_module(name)\n"
        f"    except ModuleNotFoundError as e:\n"
        f"        if (e.name or '').startswith('interlock'): raise\n"  # vLLM itself may not be here
        f"    else: assert module.__file__.startswith({folder!r}), module.__file__\n"
    )
    child = subprocess.run([sys.executable, "-S", "-c", say], env={}, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    assert "interlock.statemachine.machine" in wanted

"""Random runs are the same whatever else has been imported."""

import sys
from importlib.util import module_from_spec, spec_from_file_location

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from support.repeatable import repeatable


def examples() -> list[int]:
    seen: list[int] = []

    @seed(3)
    @settings(max_examples=300, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 254))
    def see(number: int) -> None:
        seen.append(number)

    see()
    return seen


def more_is_imported(folder, monkeypatch) -> None:
    """A module, with constants that could be drawn."""
    file = folder / "more.py"
    file.write_text(f"NUMBERS = {list(range(150, 200))}\n")
    spec = spec_from_file_location("more_for_test_repeatable", file)
    monkeypatch.setitem(sys.modules, spec.name, module := module_from_spec(spec))
    spec.loader.exec_module(module)


def test_examples_are_the_same_whatever_is_imported(tmp_path, monkeypatch):
    with repeatable():
        before = examples()
        more_is_imported(tmp_path, monkeypatch)
        after = examples()

    assert after == before
    assert len(set(before)) > 100

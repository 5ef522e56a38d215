"""Never several GB of CUDA by accident."""

import pytest
from install_torch import VERSION, main, requirement


@pytest.mark.parametrize(
    ("system", "gpu", "environ", "expected"),
    [
        ("Linux", False, {}, f"torch=={VERSION}+cpu"),
        ("Linux", True, {}, f"torch=={VERSION}"),
        ("Linux", True, {"INTERLOCK_TORCH": "cpu"}, f"torch=={VERSION}+cpu"),
        ("Linux", False, {"INTERLOCK_TORCH": "cuda"}, f"torch=={VERSION}"),
        ("Darwin", False, {}, f"torch=={VERSION}"),
    ],
)
def test_asks_for_the_build_of_the_machine(system, gpu, environ, expected):
    assert requirement(system, gpu, environ) == expected


def test_a_misspelt_build_is_refused(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("INTERLOCK_TORCH", "gpu")

    assert main(["--constraint", str(tmp_path)]) == 2
    assert "it is cpu or cuda" in capsys.readouterr().err

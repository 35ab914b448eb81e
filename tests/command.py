"""The command run in the process of the tests, through its entry point."""

import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from solver.cli import main


class Ran(NamedTuple):
    """What a command leaves behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


Trainplan = Callable[..., Ran]


@pytest.fixture
def trainplan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Trainplan:
    """Runs the command in this process."""

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["trainplan", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return Ran(stopped.value.code, out, err)

    return run

"""What the tests share. They run against the installed package: `pytest packaging/python/tests`."""

import os
import pathlib

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session", autouse=True)
def key_of_their_own(tmp_path_factory):
    """Journals are signed with a key of the tests' own."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture
def root(tmp_path):
    """A workspace with one file."""
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    return tmp_path

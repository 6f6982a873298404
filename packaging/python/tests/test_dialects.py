"""Patches as models and people send them (tests/dialects/README.md): what is taken is the patch inside, or the text is refused."""

import pytest
from conftest import REPOSITORY

import apply_patch
from apply_patch import PatchError

FOLDER = REPOSITORY / "tests" / "dialects"
CASES = sorted(FOLDER.glob("[0-9]*.txt"))
BEFORE = {
    path.relative_to(FOLDER / "before").as_posix(): path.read_bytes()
    for path in (FOLDER / "before").rglob("*")
    if path.is_file()
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_dialect(case):
    head, _, rest = case.read_bytes().partition(b"=====sent\n")
    sent, is_taken, inside = rest.partition(b"\n=====is\n")
    outcome, _, words = head.decode().splitlines()[0].partition(": ")
    assert (outcome == "recovered") == bool(is_taken)
    if outcome == "refused":
        with pytest.raises(PatchError) as error:
            apply_patch.apply_in_memory(dict(BEFORE), sent)
        assert words in str(error.value)
        return
    form = "unified" if words == "diff" else "envelope"
    wanted = apply_patch.apply_in_memory(dict(BEFORE), inside, form=form)
    assert apply_patch.apply_in_memory(dict(BEFORE), sent) == wanted


def test_enough_cases_run():
    assert len(CASES) >= 200

"""What stands inside a type annotation."""

from typing import Annotated

import pytest
from pydantic import BaseModel, SecretBytes, SecretStr
from scigate.annotation import holds_secret, model_in


class Inner(BaseModel):
    """A model to be found."""


@pytest.mark.parametrize("annotation", [Inner, Inner | None, list[Inner], dict[str, list[Annotated[Inner, "mark"]]]])
def test_a_model_is_found_at_any_depth(annotation: object) -> None:
    """In unions, collections and under marks."""
    assert model_in(annotation) is Inner


@pytest.mark.parametrize("annotation", [SecretStr, SecretBytes | None, dict[str, Annotated[SecretStr, "mark"]]])
def test_a_secret_is_found_at_any_depth(annotation: object) -> None:
    """What is under it may not be shown."""
    assert holds_secret(annotation)
    assert not holds_secret(dict[str, list[Inner]])


def test_what_holds_no_model_gives_none() -> None:
    """Plain values, and a model's name as text."""
    assert model_in(dict[str, int]) is None
    assert model_in("Inner") is None

"""The provider's section of the configuration."""

import pytest
from pydantic import ValidationError
from scigate_pubmed.settings import PubMedSettings


@pytest.mark.parametrize("value", ["", "  ", "${NCBI_API_KEY}"])
def test_an_empty_or_unfilled_value_is_unset(value: str) -> None:
    """Templates of client configurations leave such values behind."""
    settings = PubMedSettings.model_validate({"api_key": value, "email": value})
    assert settings.api_key is None
    assert settings.email is None


def test_a_key_is_not_shown() -> None:
    """Neither the settings nor the identity made of them print it."""
    settings = PubMedSettings.model_validate({"api_key": "s3cret"})
    assert "s3cret" not in repr(settings) + repr(settings.identity)


@pytest.mark.parametrize("section", [{"email": "nobody"}, {"tool": "two words"}, {"apikey": "x"}])
def test_a_wrong_value_or_key_is_refused(section: dict[str, str]) -> None:
    """A misspelt setting that is silently ignored would send requests without a name."""
    with pytest.raises(ValidationError):
        PubMedSettings.model_validate(section)

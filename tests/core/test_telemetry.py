"""Log lines go to standard error, and hold no more than they should."""

import json
import logging

import pytest
import structlog
from scigate.settings import LogSettings
from scigate.telemetry import configure_logging


@pytest.fixture(autouse=True)
def restored():
    """The process's own set-up comes back after each test."""
    root = logging.getLogger()
    before = (root.handlers[:], root.level)
    yield
    root.handlers[:], root.level = before
    structlog.reset_defaults()


def fail_with_a_secret_in_sight() -> None:
    key = "s3cret"
    raise ValueError(f"{len(key)} letters")


def logged_error() -> None:
    try:
        fail_with_a_secret_in_sight()
    except ValueError:
        structlog.get_logger("scigate.test").exception("fault", tool="x")


def test_both_kinds_of_logger_write_json_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """structlog's own, and the standard library's with its extra values."""
    configure_logging(LogSettings(format="json"))
    structlog.get_logger("scigate.test").info("call", tool="x")
    logging.getLogger("scigate.endpoint").info("serving", extra={"url": "u"})
    captured = capsys.readouterr()
    first, second = (json.loads(line) for line in captured.err.splitlines())
    assert (first["event"], first["tool"], first["level"]) == ("call", "x", "info")
    assert (second["event"], second["url"], second["level"]) == ("serving", "u", "info")
    assert captured.out == ""


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_traceback_shows_no_local_variable(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """They may hold keys."""
    configure_logging(LogSettings.model_validate({"format": form}))
    logged_error()
    text = capsys.readouterr().err
    assert "Traceback" in text
    assert "s3cret'" not in text


def test_a_brief_command_names_an_error_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Its answer should not drown; `debug` brings the traceback back."""
    configure_logging(LogSettings(), brief=True)
    structlog.get_logger("scigate.test").info("call")
    logged_error()
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert "ValueError: 6 letters" in text
    configure_logging(LogSettings(level="debug"), brief=True)
    logged_error()
    assert "Traceback" in capsys.readouterr().err


def test_http_clients_do_not_log_addresses(capsys: pytest.CaptureFixture[str]) -> None:
    """httpx logs each URL with its query at info, and a key may stand there."""
    configure_logging(LogSettings(level="debug"))
    logging.getLogger("httpx").info("HTTP Request: GET https://lab.example/?api_key=s3cret")
    assert capsys.readouterr().err == ""

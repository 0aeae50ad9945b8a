"""What can be set, where it is read, and what is said when it is wrong.

`Settings()` is the defaults and reads nothing; `Settings.load(path)` reads one TOML file and the environment.
"""

from scigate.settings.access import AuditSettings, AuthSettings, LimitSettings, RuleSettings
from scigate.settings.model import (
    CacheSettings,
    LogSettings,
    ProviderSettings,
    QuotaSettings,
    ServerSettings,
    Settings,
    TelemetrySettings,
    UpstreamSettings,
)
from scigate.settings.origin import Origin, Origins
from scigate.settings.problem import SettingsError
from scigate.settings.section import validate_section

__all__ = [
    "AuditSettings",
    "AuthSettings",
    "CacheSettings",
    "LimitSettings",
    "LogSettings",
    "Origin",
    "Origins",
    "ProviderSettings",
    "QuotaSettings",
    "RuleSettings",
    "ServerSettings",
    "Settings",
    "SettingsError",
    "TelemetrySettings",
    "UpstreamSettings",
    "validate_section",
]

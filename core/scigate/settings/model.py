"""The settings themselves: one model, nested by concern, each field with its unit and its reason.

Field docstrings are what `scigate config example` prints beside each setting, so each is one line.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from scigate.settings.access import AuditSettings, AuthSettings, Effect, LimitSettings, RuleSettings
from scigate.settings.origin import Origins
from scigate.settings.problem import SettingsError, problems_of, unknown_name
from scigate.settings.secret import Reference, references, resolved
from scigate.settings.section import Section, validate_section
from scigate.settings.source import anchored, read_environment, read_file, unknown_variables
from scigate.settings.value import STRICT_KEYS, Count, Quota, Seconds, StateKeys


class LogSettings(BaseModel):
    """What is written to standard error; standard output belongs to the protocol or to the answer."""

    model_config = STRICT_KEYS

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severe line that is written; info is one line a call."""
    format: Literal["console", "json"] = "console"
    """console for a person who reads along, json for a collector."""


class TelemetrySettings(BaseModel):
    """Traces and figures for the tools of whoever runs the gateway; off, nothing is measured."""

    model_config = STRICT_KEYS

    prometheus: bool = False
    """Serve the figures at /metrics of the HTTP endpoint, to whom auth lets in; needs scigate[prometheus]."""
    otlp_endpoint: Annotated[str, Field(pattern=r"^https?://[^/]+")] | None = Field(
        default=None, examples=["http://127.0.0.1:4318"]
    )
    """The OTLP/HTTP collector that traces and figures are sent to; needs scigate[otlp]."""
    sampled: Annotated[float, Field(ge=0, le=1)] = 1.0
    """The part of the traces that is kept, of those that no client has decided about."""
    traces_per_s: Annotated[float, Field(gt=0)] = 20.0
    """Traces begun in a second at most, inf for no bound; scigate.traces.left_out counts the others."""
    trace_upstreams: list[str] = []
    """Upstreams that are told a trace's id (traceparent): your own services, as third parties need not know it."""

    @property
    def wanted(self) -> bool:
        """Whether anything is measured."""
        return self.prometheus or self.otlp_endpoint is not None


class ServerSettings(BaseModel):
    """The Streamable HTTP endpoint; stdio uses none of it."""

    model_config = STRICT_KEYS

    host: str = "127.0.0.1"
    """The address to bind; any but a loopback address also needs auth.accept, or insecure = true."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8765
    """The TCP port; 0 takes a free one and says which."""
    path: Annotated[str, Field(pattern=r"^/[^?#]*$")] = "/mcp"
    """The path of the endpoint; clients are given the whole URL."""
    allowed_hosts: list[str] = []
    """Host headers accepted besides the bound address, such as the public name behind a proxy (DNS rebinding)."""
    allowed_origins: list[str] = []
    """Origin headers accepted besides the bound address: the web pages whose scripts may call."""
    max_body_bytes: Count = 4 * 1024 * 1024
    """The largest request body read; a larger one is answered 413."""
    max_header_bytes: Count = 32 * 1024
    """The longest request line and headers together; longer ones are answered 431."""
    receive_timeout_s: Seconds = 30.0
    """Seconds that a client may take to send a whole request, or not read the answer to one."""
    connections: Count = 1024
    """Connections open at once, idle ones included; one more is answered 503 and closed."""
    concurrency: Count = 256
    """Requests served at once, above which the answer is 503; also the most calls that one caller has in flight."""
    state_keys: StateKeys = []
    """Secrets that seal what a client carries from round to round: the first seals, all open; replicas share them."""
    insecure: bool = False
    """Accept callers from other machines although nobody is asked who they are: for a proxy in front that asks."""


class QuotaSettings(BaseModel):
    """Where the upstreams' budgets live; whoever shares a store shares them."""

    model_config = STRICT_KEYS

    store: Literal["auto", "memory", "sqlite", "redis"] = "auto"
    """memory is this process alone, sqlite all of this user's on this machine, redis a fleet; auto: see docs."""
    redis_url: SecretStr | None = Field(default=None, examples=["redis://127.0.0.1:6379/0"])
    """Redis or Valkey, which replicas share budgets through, and answers where cache.store is redis."""
    directory: Path | None = None
    """Where SQLite files are; unset, scigate in the user's cache directory. Never a network drive."""
    replicas: Count = 3
    """Gateways that there are at least, among which the budget is divided while the store is away."""


class CacheSettings(BaseModel):
    """Upstream answers kept for as long as their upstream's declaration allows."""

    model_config = STRICT_KEYS

    enabled: bool = True
    """Off asks the upstream every time, at the price of its quota."""
    max_bytes: Count = 64 * 1024 * 1024
    """Bytes of answers kept by one process; the least recently used go first."""
    max_entries: Count = 10_000
    """Answers kept by one process."""
    store: Literal["memory", "sqlite", "redis"] = "memory"
    """What is behind the memory: nothing, a file that outlives the process, or quota.redis_url for a fleet."""
    max_stored_bytes: Count = 512 * 1024 * 1024
    """Bytes of answers in the SQLite file; the oldest go first. Redis has its own maxmemory."""
    max_stored_entries: Count = 100_000
    """Answers in the SQLite file."""
    stale_s: Annotated[float, Field(ge=0)] = 86_400.0
    """Seconds past its lifetime for which an answer is still served when the upstream fails; 0 for never."""


class ProviderSettings(BaseModel):
    """One provider's section: core's two switches, and whatever keys the provider's own model declares."""

    model_config = ConfigDict(extra="allow", frozen=True, use_attribute_docstrings=True)

    enabled: bool = True
    """Off leaves the provider unloaded: its tools are neither listed nor called."""
    tool_prefix: Annotated[str, Field(pattern=r"^([a-z][a-z0-9_]*)?$")] = ""
    """Put before each of its tools' names, where two providers offer a tool of one name."""

    @property
    def own(self) -> dict[str, object]:
        """The keys that are the provider's own, not yet validated."""
        return dict(self.model_extra or {})

    def __repr_args__(self) -> Iterator[tuple[str | None, object]]:
        # Which of the provider's own keys are secrets only its model knows.
        own = self.own
        for name, value in super().__repr_args__():
            yield name, "..." if name in own else value


class UpstreamSettings(BaseModel):
    """What is different from the upstream's declaration; None leaves a value as declared."""

    model_config = STRICT_KEYS

    base_url: Annotated[str, Field(pattern=r"^https?://[^/]+")] | None = None
    """Another address for the service: a mirror, or `scigate emulate` on a socket."""
    quotas: list[Quota] | None = None
    """Requests allowed, such as ["5/second", "400/minute"]; all of them hold at once."""
    concurrency: Count | None = None
    """Requests on the wire at once."""
    timeout_s: Seconds | None = None
    """Seconds that one attempt may take."""
    retries: Annotated[int, Field(ge=0)] | None = None
    """Attempts after the first, where a request may be repeated."""
    cache: bool | None = None
    """Off asks this upstream every time."""


class Settings(BaseSettings):
    """Everything that can be set. The environment wins over the file, options of a command over both."""

    model_config = SettingsConfigDict(
        env_prefix="SCIGATE_",
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
    )

    offline: bool = False
    """Answer from the emulators' sample data and open no connection to any upstream."""
    deadline_s: Seconds = 60.0
    """Seconds that one tool call may take, waiting for a quota included."""
    rules_default: Effect = "allow"
    """What becomes of a call that no rule fits."""
    log: LogSettings = LogSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    server: ServerSettings = ServerSettings()
    auth: AuthSettings = AuthSettings()
    rules: list[RuleSettings] = []
    """Who may call which tool with which arguments; the first rule that fits decides."""
    limits: list[LimitSettings] = []
    """How much one caller may ask; the first that fits the caller counts."""
    audit: AuditSettings = AuditSettings()
    quota: QuotaSettings = QuotaSettings()
    cache: CacheSettings = CacheSettings()
    providers: dict[str, ProviderSettings] = {}
    """Sections by the name of the provider's entry point."""
    upstreams: dict[str, UpstreamSettings] = {}
    """Sections by the name of the upstream's declaration."""

    _origins: Origins = PrivateAttr(default_factory=Origins)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take values from the constructor alone: only `load` reads the file and the environment."""
        return (init_settings,)

    @classmethod
    def load(cls, path: Path | None = None, **options: object) -> Self:
        """Read the file at `path` (None: no file) and the environment.

        Args:
            path: A TOML file, like config/scigate.toml.
            options: Fields given on a command line, nested ones as dicts: `server={"port": 0}`. They win.

        Raises:
            SettingsError: The file cannot be read, or a key, variable or value is wrong. The text names all of them.
        """
        text, from_file = read_file(path)
        if path is not None:
            from_file = anchored(from_file, path.absolute().parent)
        from_environment, variables = read_environment(cls)
        origins = Origins(
            options=options, environment=from_environment, variables=variables, file=from_file, path=path, text=text
        )
        found = resolved(cls, origins.merged(), origins)
        problems = [*unknown_variables(cls), *found.problems.values()]
        try:
            settings = cls.model_validate(found.values)
        except ValidationError as error:
            # Without it as the cause, since its text can hold any value, secrets among them.
            raise SettingsError([*problems, *problems_of(error, cls, origins, found.problems)]) from None
        if problems:
            raise SettingsError(problems)
        settings._origins = origins
        return settings

    @property
    def origins(self) -> Origins:
        """Where each value came from."""
        return self._origins

    def provider(self, name: str) -> ProviderSettings:
        """The section of one provider, or the defaults where it has none."""
        return self.providers.get(name) or ProviderSettings()

    def provider_section(self, name: str, model: type[Section]) -> Section:
        """Validate a provider's own keys by the model that it declares.

        Raises:
            SettingsError: As `load`, for the keys below `providers.<name>`.
        """
        return validate_section(
            model, self.provider(name).own, self._origins.below("providers", name), also=ProviderSettings.model_fields
        )

    def references(self, models: Mapping[str, type[BaseModel] | None]) -> list[Reference]:
        """The secrets that are kept in a file or a keyring.

        Args:
            models: The providers, each with the model of its own keys or None.
        """
        found = references(type(self), self._origins.merged(), self._origins)
        for name, model in models.items():
            if model is not None:
                found += references(model, self.provider(name).own, self._origins.below("providers", name))
        return found

    def require_known(self, *, providers: Iterable[str], upstreams: Iterable[str]) -> None:
        """Refuse sections for providers or upstreams that nobody declares.

        Raises:
            SettingsError: It names each, where it stands, and the nearest declared name.
        """
        sections: list[tuple[str, Mapping[str, object], list[str]]] = [
            ("providers", self.providers, list(providers)),
            ("upstreams", self.upstreams, list(upstreams)),
        ]
        problems = [
            unknown_name((section, name), self._origins, [(section, right) for right in known])
            for section, given, known in sections
            for name in given
            if name not in known
        ]
        if problems:
            raise SettingsError(problems)

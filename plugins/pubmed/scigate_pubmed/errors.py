"""What goes wrong between this provider and its services, as exceptions that carry facts.

    NcbiError
      NcbiUnavailable      no answer now: a 5xx, a page of HTML, an empty body, a crash trace, an ERROR text
      NcbiRateLimited      too many requests, by status or by body
      NcbiKeyRefused       the API key is wrong
      NcbiNotFound         NCBI states that it has no such record
      NcbiUnreadable       a body that is neither the answer nor an error that is known
        NcbiOtherDocument  well-formed, but with another root than the answer has
      ConverterRefused     the ID converter cannot read one of the ids
    LinksUnavailable         another service that is asked for links has no usable answer

No message holds a URL, a body or a key: NCBI echoes the caller's key and address in some of its errors.
"""


class NcbiError(Exception):
    """An answer of an NCBI service that is not the one asked for."""

    transient = False
    """Whether the same request may well succeed a little later."""


class NcbiUnavailable(NcbiError):
    """NCBI could not answer; `status` is the HTTP status, 200 where the trouble is in the body."""

    def __init__(self, what: str, *, status: int = 200, transient: bool = True) -> None:
        super().__init__(what)
        self.status = status
        self.transient = transient


class NcbiRateLimited(NcbiError):
    """NCBI counts too many requests of this address or key; `retry_after_s` is its own wish where it has one."""

    transient = True

    def __init__(self, retry_after_s: float | None = None) -> None:
        super().__init__("NCBI counts more requests than it allows")
        self.retry_after_s = retry_after_s


class NcbiKeyRefused(NcbiError):
    """NCBI does not know the API key that it was given."""

    def __init__(self) -> None:
        super().__init__("NCBI does not accept the configured API key")


class NcbiNotFound(NcbiError):
    """NCBI states in a well-formed answer that the records asked for do not exist."""

    def __init__(self) -> None:
        super().__init__("NCBI has no record for the identifiers asked for")


class NcbiUnreadable(NcbiError):
    """The body is damaged, or lacks what makes it an answer of `endpoint`."""

    def __init__(self, endpoint: str, what: str) -> None:
        super().__init__(f"the answer of {endpoint} {what}")
        self.endpoint = endpoint


class NcbiOtherDocument(NcbiUnreadable):
    """The body is a document, but not the one that `endpoint` gives."""


class ConverterRefused(NcbiError):
    """The ID converter cannot read one of the ids it was given."""

    def __init__(self) -> None:
        super().__init__("the ID converter cannot read one of the ids")


class LinksUnavailable(Exception):
    """A service that is asked for links in NCBI's place has no usable answer; `service` is its name for readers."""

    def __init__(self, service: str, what: str) -> None:
        super().__init__(f"{service} {what}")
        self.service = service

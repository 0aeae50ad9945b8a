from collections.abc import Mapping, Sequence

class CiteProcJSON:
    def __init__(self, json_data: Sequence[Mapping[str, object]]) -> None: ...

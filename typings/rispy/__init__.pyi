from collections.abc import Mapping

from rispy.writer import RisWriter as RisWriter

def dumps(references: list[Mapping[str, str | list[str]]], *, implementation: type[RisWriter] = ...) -> str: ...

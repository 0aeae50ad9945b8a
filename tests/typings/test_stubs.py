"""The stubs of `typings` against the libraries as they are installed."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

STUBS = Path(__file__).parents[2] / "typings"


def modules() -> list[str]:
    paths = (path.relative_to(STUBS).with_suffix("") for path in STUBS.rglob("*.pyi"))
    return sorted(".".join(part for part in path.parts if part != "__init__") for path in paths)


def names(body: list[ast.stmt]) -> Iterator[tuple[str, ...]]:
    """Dotted names that a stub declares; what only its types need, a Protocol or an alias, is left out."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name):
                yield (name,)
            case ast.ClassDef(name=name, bases=[ast.Name(id="Protocol")]):
                pass
            case ast.ClassDef(name=name):
                yield (name,)
                yield from ((name, *inner) for inner in names(node.body))
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Subscript(value=ast.Name(id="ClassVar"))):
                yield (name,)
            case ast.ImportFrom(names=imported):
                yield from ((alias.asname,) for alias in imported if alias.asname)


@pytest.mark.parametrize("module", modules())
def test_what_a_stub_declares_is_there(module: str) -> None:
    """A stub is believed by the type checker, so a library that drops a name must be noticed here."""
    stub = STUBS.joinpath(*module.split("."))
    path = stub / "__init__.pyi" if stub.is_dir() else stub.with_suffix(".pyi")
    for dotted in names(ast.parse(path.read_text(encoding="utf-8")).body):
        found: object = importlib.import_module(module)
        for name in dotted:
            assert hasattr(found, name), f"{module}.{'.'.join(dotted)}"
            found = getattr(found, name)

from collections.abc import Sequence
from typing import ClassVar, Self

from rdkit.Chem.rdchem import Mol

class FilterMatch:
    @property
    def atomPairs(self) -> Sequence[tuple[int, int]]: ...

class FilterCatalogEntry:
    def GetDescription(self) -> str: ...
    def GetFilterMatches(self, mol: Mol, /) -> Sequence[FilterMatch]: ...
    def GetProp(self, key: str, /) -> str: ...

class FilterCatalogParams:
    class FilterCatalogs:
        BRENK: ClassVar[Self]
        PAINS_A: ClassVar[Self]
        PAINS_B: ClassVar[Self]
        PAINS_C: ClassVar[Self]

    def AddCatalog(self, catalogs: FilterCatalogs, /) -> bool: ...

class FilterCatalog:
    def __init__(self, params: FilterCatalogParams, /) -> None: ...
    def GetMatches(self, mol: Mol, /) -> Sequence[FilterCatalogEntry]: ...

from bibtexparser.library import Library
from bibtexparser.writer import BibtexFormat

def write_string(library: Library, *, bibtex_format: BibtexFormat | None = None) -> str: ...

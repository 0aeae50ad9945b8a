class BibtexFormat:
    indent: str

"""`python -m scigate.cli`, for where the script's directory is not known."""

from scigate.cli import main

main()

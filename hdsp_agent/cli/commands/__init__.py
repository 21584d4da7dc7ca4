"""One module a command, named as it is (``explain_error`` is ``explain-error``; ``import_`` is ``import``).

A module has a ``COMMAND``. It is imported to show the help, so whatever is slow to import is imported in functions.
"""

from __future__ import annotations

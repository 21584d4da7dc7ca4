"""What a question about an action warns of, in words. The panel says the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..messages import ClineMessage

__all__ = ["flag_lines"]

_WORDS: Final[Mapping[str, str]] = {
    "deletes_recursively": "It deletes folders with everything in them.",
    "network_to_shell": "It runs what it downloads before anyone can read it.",
    "as_other_user": "It runs with the permissions of another user, such as root.",
    "reads_secrets": "It reads files that usually contain passwords or keys.",
    "reads_outside": "It reads files outside the folder the agent works in.",
    "writes_outside": "It can create, change or delete files outside the folder the agent works in.",
    "installs": "It installs software, which can run code while it is installed.",
    "uses_network": "It can fetch and send data over the network.",
    "runs_text": "It runs code that is written inside it as a string. Read that code too.",
    "runs_programs": "The code starts programs. Your command rules do not check these.",
    "overwrites_history": "Git may lose commits, or changes you have not committed.",
    "hidden_parts": "Some parts, such as variables and substitutions, are only known when it runs.",
    "strange_characters": "It contains invisible or misleading characters and may not do what it seems to do.",
    "remote_content": "Showing it loads images or other content from the network.",
    "mcp_changed": "The server changed this tool after you allowed it without asking.",
}
_UNKNOWN: Final = "The agent warns of something that this program has no words for. Check carefully."


def flag_lines(message: ClineMessage) -> Iterator[str]:
    """One line a warning, in the order of the question."""
    # From the wire's form: a question of an older server has none.
    flags = message.to_wire().get("approvalFlags")
    for flag in flags if isinstance(flags, list) else ():
        yield f"! {_WORDS.get(str(flag), _UNKNOWN)}"

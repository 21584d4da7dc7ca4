"""Take from gitleaks' rules which service's secrets look how, for masking: ``python scripts/secret_rules.py gitleaks.toml VERSION``.

Its rules of tokens with a prefix of their own are not taken: ours know more of those. Taken is what only the name before
it tells for a secret: ``datadog = "…"``. Everything is compiled here, so that what is written is known to work.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

_TARGET = Path(__file__).parent.parent / "hdsp_agent" / "persistence" / "masking" / "service_secrets.json"
_RULE = re.compile(
    r"(?P<flags>\(\?i\))?(?:\[\\w\.-\]\{0,50\}\?\(\?i:)?\[\\w\.-\]\{0,50\}\?\(\?:(?P<names>.+)\)\(\?:\[ \\t\\w\.-\]\{0,20\}\)"
    r".*?\{0,5\}\((?P<value>.+?)\)\(\?:\[\\x60'\"\\s;\]\|\\\\\[nr\]\|\$\)(?:\|.*)?"
)
_NAME = re.compile(r"[a-z0-9_-]{3,30}")
_NOT_TAKEN = (
    "client-id", "pub-key", "pub-api-key", "access-id", "user-api-id",
    "generic-api-key", "hashicorp-tf-password", "defined-networking-api-token",
)  # fmt: skip
"""Identifiers, and what other rules of ours tell."""


def _names(pattern: str) -> list[str]:
    """The names that a pattern stands for: of one with groups in it, the word that it begins with."""
    pattern = re.sub(r"\(\?-i:([^()]*)\)", r"\1", pattern)
    if "(" in pattern:
        return re.findall(r"\A[a-z]{3,}", pattern)
    spelled = [name.replace("[_-]?", sign) for name in pattern.split("|") for sign in ("", "_", "-")]
    return [name for name in dict.fromkeys(spelled) if _NAME.fullmatch(name)]


def services(text: str) -> list[dict[str, str | list[str]]]:
    """Names of services with the form of their secrets."""
    found: list[dict[str, str | list[str]]] = []
    for rule in tomllib.loads(text)["rules"]:
        parts = _RULE.fullmatch(rule.get("regex", ""))
        if parts is None or rule["id"].endswith(_NOT_TAKEN):
            continue
        names = _names(parts["names"].lower())
        body = parts["value"].replace("(?i)", "")
        value = f"(?i:{body})" if parts["flags"] or body != parts["value"] else body
        re.compile(value)
        if names:
            found.append({"id": rule["id"], "names": names, "value": value})
        else:
            print(f"{rule['id']}: {parts['names']} is not a list of names; left out", file=sys.stderr)
    return found


def main() -> None:
    """Write the data file."""
    source, version = sys.argv[1:]
    data = {
        "source": f"gitleaks {version}, config/gitleaks.toml",
        "licence": json.loads(_TARGET.read_text("utf-8"))["licence"],
        "services": services(Path(source).read_text("utf-8")),
    }
    _TARGET.write_text(json.dumps(data, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

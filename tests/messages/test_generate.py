"""What is derived from the models is in step with them, and a file that is not is noticed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.messages._helpers.vocabulary_samples import node

ROOT = Path(__file__).parents[2]
GENERATED = [
    "src/generated/wire.ts",
    "src/generated/rest.ts",
    "src/generated/settingsText.ts",
    *(f"docs/reference/{name}.md" for name in ("cli", "errors", "protocol", "rest", "settings", "shortcuts", "traits")),
    "recipe/meta.yaml",
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with its own copy of what is generated, and everything else of this one."""
    for path in GENERATED:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "labextension" / "schema", tmp_path / "labextension" / "schema")
    for name in (".prettierignore", "package.json", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    return tmp_path


def generate(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(checkout / "scripts" / "generate.py"), *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=280,
    )


@pytest.mark.long
def test_check_names_what_is_stale_and_changes_nothing(checkout: Path) -> None:
    # That all is in step otherwise, `make lint` finds.
    stale = checkout / "docs" / "reference" / "protocol.md"
    stale.write_text("old", encoding="utf-8")
    (checkout / "src" / "generated" / "wire.ts").unlink()
    done = generate(checkout, "--check")

    assert done.returncode == 1
    assert "docs/reference/protocol.md is stale" in done.stdout
    assert "src/generated/wire.ts is stale" in done.stdout
    assert "settingsText" not in done.stdout
    assert stale.read_text(encoding="utf-8") == "old"


def test_the_types_hold_what_a_page_may_and_may_not_send(tmp_path: Path) -> None:
    """The types are of use only if the compiler tells good from bad."""
    for name in ("wire.ts", "rest.ts"):
        shutil.copy(ROOT / "src" / "generated" / name, tmp_path / name)
    (tmp_path / "use.ts").write_text(
        """
import type { Endpoints } from './rest';
import type { ClineMessage, ExtensionMessage, WebviewMessage } from './wire';
import { PROTOCOL_VERSION } from './wire';

export const good: WebviewMessage[] = [
  { type: 'newTask', requestId: 'r1', text: 'plot it' },
  { type: 'askResponse', requestId: 'r1', messageTs: PROTOCOL_VERSION, askResponse: 'yesButtonClicked' }
];
// @ts-expect-error A new task needs a text.
export const withoutText: WebviewMessage = { type: 'newTask', requestId: 'r1' };
// @ts-expect-error Every request has an id.
export const withoutId: WebviewMessage = { type: 'cancelTask' };
// @ts-expect-error There is no such type.
export const unknownType: WebviewMessage = { type: 'sing', requestId: 'r1' };
// @ts-expect-error There is no such field.
export const unknownField: WebviewMessage = { type: 'clearTask', requestId: 'r1', loudly: true };

type Input<E extends keyof Endpoints> = Omit<Endpoints[E], 'answer'>;
export const rename: Input<'PATCH /profiles/{name}'> = { path: { name: 'a' }, body: { name: 'b' } };
// @ts-expect-error A profile to change has a name.
export const nobody: Input<'PATCH /profiles/{name}'> = { body: { name: 'b' } };
// @ts-expect-error Keys are kept in one of four ways.
export const storage: Input<'PUT /secrets/storage'> = { body: { kind: 'drawer' } };
export function currentAfter(answer: Endpoints['POST /profiles/{name}/activate']['answer']): string {
  return answer.current + answer.profiles[0].id;
}

export function textOf(message: ExtensionMessage): string | undefined {
  switch (message.type) {
    case 'messageCreated':
      return message.message.text;
    case 'messageUpdated':
      return message.clineMessage.text;
    case 'messageDelta':
      // @ts-expect-error A delta appends; it has no text of its own.
      return message.text;
    default:
      return undefined;
  }
}

export function isQuestion(message: ClineMessage): boolean {
  return message.ask === 'followup';
}
""",
        encoding="utf-8",
    )
    tsc = ROOT / "node_modules" / "typescript" / "bin" / "tsc"
    done = subprocess.run(
        [node(), str(tsc), "--noEmit", "--strict", "--exactOptionalPropertyTypes", "use.ts"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=280,
    )
    assert done.stdout == ""
    assert done.returncode == 0

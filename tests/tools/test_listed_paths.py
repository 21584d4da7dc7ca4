"""Which names of files steer the agent or hold passwords."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from hdsp_agent.tools import PathPolicy, ToolFailed, is_protected_name
from hdsp_agent.tools._path_policy import kind_of

STEER = ["agents.md", "AGENTS.md", "agents.local.md", "AGENT.md", "CLAUDE.md", "gemini.md", "x.code-workspace", "jupyter_config.py", "jupyter_server_config.py", "jupyter_lab_config.json", "jupyter_server_config.d", "ipython_config.py", "ipython_kernel_config.py", "kernel.json", "kernelspecs", "labconfig", "sitecustomize.py", "usercustomize.py", "x.pth", "x.PTH", ".hdspmodes", ".vscode", ".git", "..x"]  # fmt: skip
ORDINARY = ["readme.md", "agents.txt", "my-agents.md", "kernel.py", "xkernel.json", "config.py", "jupyter.py", "pth", ".", "..", "x.pth.txt", "kernelspecs2"]  # fmt: skip
PASSWORDS = [".env", ".env.local", "prod.env", ".ENV", ".netrc", ".pgpass", ".pypirc", ".npmrc", ".git-credentials", ".htpasswd", ".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".config", ".jupyter", ".password-store", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "ID_RSA", "id_ed25519_sk", "_netrc", ".bash_history", "server.pem", "tls.key", "x.ppk", "x.p12", "x.pfx", "x.jks", "x.keystore", "x.kdbx", "credentials", "credentials.json", "secrets.toml", "secrets.json", "secrets.yml", "secrets.yaml", "client_secret_1.json", "service-account.json", "service_account-x.json", "kaggle.json", ".envrc", ".Renviron", ".boto", ".s3cfg", ".databrickscfg", ".my.cnf", ".vault-token", ".dockercfg", ".terraformrc", ".streamlit", ".kaggle", ".huggingface", ".hdsp-agent"]  # fmt: skip
NO_PASSWORDS = [".env.example", ".env.sample", ".env.template", "env", "x.envy", "id_rsa.pub", "ssh", "aws", "netrc", "history", "pem", "keys.py", "credentials_test.py", "secrets.py", "serviceaccount.json"]  # fmt: skip


@pytest.fixture
def paths(workspace: Path) -> PathPolicy:
    return PathPolicy(workspace)


def test_what_steers_is_protected_wherever_it_lies(paths: PathPolicy) -> None:
    assert [name for name in STEER if not is_protected_name([name])] == []
    for name in STEER:
        for path in (name, f"sub/{name}", f"{name}/sub"):
            assert "write_protected" in paths.resolve(path).write_risks, path
    assert [name for name in ORDINARY if is_protected_name([name])] == []


def test_what_holds_passwords_is_no_plain_reading(paths: PathPolicy, workspace: Path) -> None:
    for name in PASSWORDS:
        for path in (name, f"sub/{name}", f"{name}/sub"):
            assert paths.resolve(path).read_risks == {"read_outside"}, path
    for name in NO_PASSWORDS:
        assert paths.resolve(name).read_risks == {"read"}, name
        (workspace / name).touch()
        assert paths.is_plain(workspace / name), name
    (workspace / ".netrc").touch()
    assert not paths.is_plain(workspace / ".netrc")
    assert not paths.is_plain(workspace / "not-there")


@pytest.mark.parametrize("folder", ["/proc", "/sys", "/dev"])
def test_what_tells_of_devices_and_processes_is_no_file(folder: str, paths: PathPolicy) -> None:
    for path in (folder, f"{folder}/x/y"):
        with pytest.raises(ToolFailed, match="no ordinary file"):
            paths.resolve(path)
    assert paths.resolve(f"{folder}x").is_outside


def test_a_file_of_another_kind_is_named() -> None:
    kinds = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFDIR: "a directory", stat.S_IFREG: None, stat.S_IFLNK: None}  # fmt: skip
    assert {kind: kind_of(kind | 0o644) for kind in kinds} == kinds

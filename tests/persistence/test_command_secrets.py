"""Passwords in commands, in files of logins and of passwords: found where they stand, and nowhere else."""

from __future__ import annotations

import random
import string

import pytest

from hdsp_agent.config import ALL_MASKED_KINDS
from hdsp_agent.persistence.masking._masker import Masker

USERS = ["curl", "http", "https", "xh", "siege", "lftp", "smbclient"]
GLUED = [
    "mysql",
    "mysqldump",
    "mysqladmin",
    "mysqlimport",
    "mysqlshow",
    "mysqlcheck",
    "mysqlpump",
    "mariadb",
    "mariadb-dump",
    "mycli",
]
APART = ["sshpass", "mongo", "mongosh", "mongodump", "mongorestore"]
LOG_IN = ["docker", "podman", "helm", "oc", "az", "nerdctl", "buildah", "skopeo"]
OTHERS = {"-a": ["redis-cli"], "-w": ["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd"], "-P": ["sqlcmd", "bcp", "isql"]}  # fmt: skip
WORD = "hunter" + "-zwei"


def masked(text: str) -> str:
    return Masker(ALL_MASKED_KINDS).mask(text)


def left(*texts: str) -> list[str]:
    """The texts of which the password is not masked, and just it."""
    return [text for text in texts if masked(text) != text.replace(WORD, "[SECRET]")]


def changed(*texts: str) -> list[str]:
    return [text for text in texts if masked(text) != text]


def test_the_password_of_a_user_goes_and_the_name_stays() -> None:
    for name in USERS:
        for option in ("-u ", "-u", "-U ", "--user ", "--user=", "--proxy-user ", "-a ", "--auth "):
            texts = (
                f"{name} {option}mia:{WORD}",
                f"x | {name} -s {option}'mia:{WORD}' y",
                f"/usr/bin/{name} {option}mia:{WORD} y",
            )
            assert left(*texts) == [], (name, option)
        assert (
            changed(f"{name} -u mia", f"{name} -u mia:$PASSWORD", f"{name} -u mia:<password>", f"{name} -u http://x")
            == []
        )
        assert changed(f"{name} -w mia:{WORD}", f"{name}; ls -u mia:{WORD}", f"{name} x | ls -u mia:{WORD}") == []
    assert changed(f"ls -u mia:{WORD}", f"x{USERS[0]} -u mia:{WORD}") == []


def test_the_password_behind_an_option_goes() -> None:
    for name in GLUED:
        assert left(f"{name} -p{WORD} db", f"{name} -u mia -p'{WORD}' db", f"nice {name} -h x -p{WORD}") == [], name
        assert changed(f"{name} -p {WORD}", f"{name} -p$X db", f"{name} -pab db", f"{name} -p'<password>'") == [], name
    for name in APART:
        assert left(f"{name} -p {WORD} x", f"{name} -p{WORD} x", f"{name} -p '{WORD}' x") == [], name
    for name in LOG_IN:
        assert left(f"{name} login -u mia -p {WORD} x", f"{name} login -p={WORD}") == [], name
        assert changed(f"{name} run -p {WORD}", f"{name} build -p {WORD}") == [], name
    for option, names in OTHERS.items():
        for name in names:
            assert left(f"{name} -h x {option} {WORD}", f"{name} {option} '{WORD}'") == [], name
            assert changed(f"{name} {option} ab", f"{name} -x {WORD}", f"{name} {option} $WORD") == [], name
    assert left('["mysql", "-phunter-zwei"]') == left('run(["redis-cli", "-a", "hunter-zwei"])') == []
    assert changed("mkdir -p some/folder", "cp -a data-1 data-2", "grep -w word-2 f", "ls -p abc-1") == []


@pytest.mark.parametrize("password", ["abc", "a1!"])
def test_a_short_password_goes_too(password: str) -> None:
    assert masked(f"sshpass -p {password} x") == "sshpass -p [SECRET] x"


def test_the_password_of_a_login_file_goes() -> None:
    assert left(
        f"machine x.org login mia password {WORD}", f"machine x.org\n  login mia\n  password {WORD}\n", f"default login mia password {WORD}", f"machine x login mia account y password {WORD}", f"machine x\\n login mia\\n password {WORD}",
    ) == []  # fmt: skip
    assert changed(f"login mia password-{WORD}", "login mia password is wrong", "machine x login mia password $PASSWORD", "machine x login mia password <password>", "machine x login mia") == []  # fmt: skip


def drawn(length: int, more: str = "./") -> str:
    rng = random.Random(length)
    return "".join(rng.choices(string.ascii_letters + string.digits + more, k=length))


HASHES = (
    "$1$abcdefgh$" + drawn(22), "$apr1$abcdefgh$" + drawn(22), "$5$saltsalt$" + drawn(43), "$6$saltsalt$" + drawn(86), "$6$rounds=5000$saltsalt$" + drawn(86), "$y$j9T$" + drawn(22) + "$" + drawn(43), "$gy$j9T$" + drawn(22) + "$" + drawn(43),
    "$7$" + drawn(30) + "$" + drawn(43), "$2a$10$" + drawn(53), "$2b$12$" + drawn(53), "$2y$05$" + drawn(53), "$argon2i$v=19$m=4096,t=3,p=1$" + drawn(22, "+/") + "$" + drawn(43, "+/"), "$argon2id$v=19$m=65536,t=3,p=4$" + drawn(22, "+/") + "$" + drawn(43, "+/"),
)  # fmt: skip


def test_hashes_of_passwords_go_whole() -> None:
    for value in HASHES:
        assert masked(f"mia:{value}:19000:0") == "mia:[SECRET]:19000:0", value
        assert masked(f"x '{value}'") == "x '[SECRET]'", value
    # Those of one length only are none when a letter is missing.
    assert changed(*(value[:-1] for value in HASHES if value.startswith(("$1$", "$apr1$", "$5$", "$2")))) == []
    assert changed("$1$abcdefgh$" + "a" * 22, "$2b$12$" + "ab" * 26 + "a") == []


def test_keys_of_fernet_go() -> None:
    key = drawn(43, "-_") + "="
    for quote in ("'", '"', '\\"'):
        for before in ("", "b"):
            assert masked(f"Fernet({before}{quote}{key}{quote})") == f"Fernet({before}{quote}[SECRET]{quote})"
    assert (
        changed(
            "Fernet(key)", f"Fernet('{key[4:]}')", "Fernet('" + "ab" * 21 + "a=')", "Fernet('x')", f"fernet('{key}')"
        )
        == []
    )

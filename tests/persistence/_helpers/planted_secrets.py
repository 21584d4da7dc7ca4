"""Made-up secrets of every kind, in the places where people leave them."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

from hdsp_agent.config import MaskedKind

__all__ = ["Planted", "planted_secrets", "private_key"]

ALPHANUMERIC = string.ascii_letters + string.digits
URL_SAFE = ALPHANUMERIC + "-_"
HEX = "0123456789abcdef"
BASE64 = ALPHANUMERIC + "+/"


class Planted(NamedTuple):
    """A text with one secret in it."""

    kind: MaskedKind
    secret: str
    text: str


Maker = Callable[[random.Random], str]


def _drawn(prefix: str, length: int, alphabet: str = ALPHANUMERIC, suffix: str = "") -> Maker:
    return lambda rng: prefix + "".join(rng.choices(alphabet, k=length)) + suffix


def _jwt(rng: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")

    header = part({"alg": rng.choice(["HS256", "RS256", "ES256"]), "typ": "JWT"})
    payload = part({"sub": str(rng.randrange(10**9)), "name": "Mia", "iat": rng.randrange(10**9)})
    return f"{header}.{payload}.{_drawn('', 43, URL_SAFE)(rng)}"


def _gitlab_routable(rng: random.Random) -> str:
    return f"glpat-{_drawn('', 27, URL_SAFE)(rng)}.01.{_drawn('', 9, string.ascii_lowercase + string.digits)(rng)}"


def _slack_bot(rng: random.Random) -> str:
    first, second = (rng.randrange(10**11, 10**12) for _ in range(2))
    return f"{rng.choice(['xoxb', 'xoxp', 'xoxa', 'xoxs'])}-{first}-{second}-{_drawn('', 24)(rng)}"


def _slack_app(rng: random.Random) -> str:
    return f"xapp-1-A{_drawn('', 10, string.ascii_uppercase)(rng)}-{rng.randrange(10**12, 10**13)}-{_drawn('', 64, HEX)(rng)}"


def _uuid(rng: random.Random) -> str:
    return "-".join(_drawn("", length, HEX)(rng) for length in (8, 4, 4, 4, 12))


# Everything with a prefix of its own, which needs no context to be known.
PREFIXED: tuple[tuple[MaskedKind, Maker], ...] = (
    ("openai-key", _drawn("sk-", 48)),
    ("openai-key", _drawn("sk-proj-", 124, URL_SAFE)),
    ("openai-key", _drawn("sk-svcacct-", 124, URL_SAFE)),
    ("openai-key", _drawn("sk-admin-", 100, URL_SAFE)),
    ("openai-key", _drawn("sk-or-v1-", 64, HEX)),
    ("openai-key", _drawn("sk-", 32, HEX)),
    ("openai-key", _drawn("gsk_", 52)),
    ("openai-key", _drawn("xai-", 80)),
    ("openai-key", _drawn("pplx-", 48)),
    ("openai-key", _drawn("nvapi-", 64, URL_SAFE)),
    ("anthropic-key", _drawn("sk-ant-api03-", 93, URL_SAFE, "AA")),
    ("anthropic-key", _drawn("sk-ant-admin01-", 93, URL_SAFE, "AA")),
    ("github-token", _drawn("ghp_", 36)),
    ("github-token", _drawn("gho_", 36)),
    ("github-token", _drawn("ghu_", 36)),
    ("github-token", _drawn("ghs_", 36)),
    ("github-token", _drawn("ghr_", 76)),
    ("github-token", lambda rng: f"github_pat_{_drawn('', 22)(rng)}_{_drawn('', 59)(rng)}"),
    ("gitlab-token", _drawn("glpat-", 20, URL_SAFE)),
    ("gitlab-token", _gitlab_routable),
    ("gitlab-token", _drawn("gldt-", 20, URL_SAFE)),
    ("gitlab-token", _drawn("glrt-", 20, URL_SAFE)),
    ("slack-token", _slack_bot),
    ("slack-token", _slack_app),
    ("huggingface-token", _drawn("hf_", 34)),
    ("huggingface-token", _drawn("hf_", 34, string.ascii_letters)),
    ("aws-key", _drawn("AKIA", 16, string.ascii_uppercase + "234567")),
    ("aws-key", _drawn("ASIA", 16, string.ascii_uppercase + "234567")),
    ("google-key", _drawn("AIzaSy", 33, URL_SAFE)),
    ("google-key", _drawn("ya29.a0", 160, URL_SAFE)),
    ("google-key", _drawn("GOCSPX-", 28, URL_SAFE)),
    ("jwt", _jwt),
    ("assigned-secret", _drawn("sk_live_", 24)),
    ("assigned-secret", _drawn("npm_", 36)),
    ("assigned-secret", _drawn("dapi", 32, HEX)),
)

ANYWHERE = (
    "{}",
    "my key is {} please do not share it",
    "use `{}` for the staging account, or ask Mia.\n",
    "| service | `{}` | expires in May |",
    "2026-07-01 10:22:31,004 WARNING client.auth: rejected credential {} (401)",
    "\x1b[0;31mAuthenticationError\x1b[0m: Incorrect API key provided: {}. You can find your key in the console.",
    "\x1b[38;5;28mprint\x1b[39m(\x1b[38;5;124m'{}'\x1b[39m)",
    "client = Client('{}', timeout=3)",
    'client = Client("{}")',
    "curl -H 'X-Service: {}' https://api.example.com/v1/models",
    "https://api.example.com/v1/items?limit=5&key={}&page=2",
    '{{"cells": [{{"cell_type": "code", "source": ["import os\\n", "key = \'{}\'\\n"]}}]}}',
    '{{"text": "first line\\n{}\\nlast line"}}',
    "export SERVICE='{}'",
    "%env SERVICE={}",
    "git clone https://oauth2:{}@git.example.com/team/code.git",
    "https://{}@git.example.com/team/code.git",
    "키는 {}입니다",
    "鍵は「{}」です。",
    "<td>{}</td>",
    "[service]\nvalue = {}\n",
    "- {}\n- next\n",
    "({})",
    "value:{};next",
)

OPAQUE: tuple[Maker, ...] = (
    _drawn("", 32, HEX),
    _drawn("", 40, HEX),
    _drawn("", 64, HEX),
    _drawn("", 24),
    _drawn("", 32),
    _drawn("", 64),
    _drawn("", 43, BASE64, "="),
    _drawn("", 86, BASE64, "=="),
    _drawn("", 36, URL_SAFE),
    _uuid,
)

ASSIGNED = (
    "OPENAI_API_KEY={}",
    "export MY_SERVICE_TOKEN='{}'",
    'export AZURE_OPENAI_API_KEY="{}"',
    "WANDB_API_KEY={} python train.py",
    "api_key = '{}'",
    'api_key="{}",',
    "client = Client(api_key='{}', timeout=3)",
    'self.api_key = "{}"',
    'api_key: str = "{}"',
    'token: Optional[str] = "{}"',
    'os.environ["COMET_API_KEY"] = "{}"',
    "os.environ['APP_SECRET']='{}'",
    'os.environ.setdefault("APP_TOKEN", "{}")',
    '{{"api_key": "{}", "model": "m"}}',
    '{{"apiKey":"{}"}}',
    "{{'access_token': '{}', 'expires_in': 3600}}",
    '"client_secret" : "{}",',
    '"{{\\"api_key\\": \\"{}\\"}}"',
    "'{{\\'secret\\': \\'{}\\'}}'",
    "api_key: {}",
    "  auth_token: {}\n",
    "  secret_key: '{}'\n",
    "secret = {}\n",
    'const accessToken = "{}";',
    "const config = {{ clientSecret: '{}' }};",
    "X-Api-Key: {}",
    "-H 'x-api-key: {}'",
    '"Authorization": "Token {}"',
    "tool --token {} --verbose",
    "tool --api-key={} --verbose",
    'tool --secret-key "{}"',
    "https://api.example.com/v1?api_key={}&limit=5",
    "https://api.example.com/v1#access_token={}",
    "DefaultEndpointsProtocol=https;AccountName=data;AccountKey={};EndpointSuffix=core.windows.net",
    "ENV APP_SECRET_KEY={}",
    "      - APP_SECRET={}\n",
    "<apiKey>{}</apiKey>",
    "%env COMET_API_KEY={}",
    "%env COMET_API_KEY {}",
    "SECRET_KEY = b'{}'",
    'api_key=SecretStr("{}")',
    "KeyError: 'bad token=\"{}\"'",
    "INFO login ok, token={}, user=mia",
)


def _word_password(rng: random.Random) -> str:
    word = rng.choice(["hunter", "sunrise", "Dragon", "monkey", "Winter", "kimchi", "sakura", "postgres"])
    return f"{word}{rng.randrange(2, 9999)}"


def _symbol_password(rng: random.Random) -> str:
    return (
        "".join(rng.choices(string.ascii_letters, k=5)) + rng.choice("!@%^*") + "".join(rng.choices(ALPHANUMERIC, k=6))
    )


PASSWORDS: tuple[Maker, ...] = (
    _word_password,
    lambda rng: _word_password(rng).capitalize() + rng.choice("!*"),
    _symbol_password,
    _drawn("", 12, ALPHANUMERIC, "7x"),
    _drawn("", 14, string.ascii_lowercase, ""),
)
PASSWORD_PLACES = (
    "password = '{}'",
    'password="{}",',
    "DB_PASSWORD={}",
    "export PGPASSWORD='{}'",
    "MYSQL_ROOT_PASSWORD={}\n",
    '{{"username": "mia", "password": "{}"}}',
    "'passwd': '{}',",
    'conn = connect(host="db", user="mia", password="{}")',
    "passphrase: '{}'",
    '      POSTGRES_PASSWORD: "{}"',
    "tool --password '{}'",
    'os.environ["SMTP_PASSWORD"] = "{}"',
    '"{{\\"password\\": \\"{}\\"}}"',
)
URLS = (
    "postgres://mia:{}@db.example.com:5432/sales",
    "engine = create_engine('postgresql+psycopg2://mia:{}@localhost/sales')",
    "mongodb+srv://mia:{}@cluster0.example.net/?retryWrites=true",
    "redis://:{}@cache:6379/0",
    "HTTPS_PROXY=http://mia:{}@proxy.corp:8080",
    "index-url = https://mia:{}@pypi.example.com/simple",
    "amqp://guest:{}@mq//",
    "OperationalError: could not connect to mysql://mia:{}@10.0.0.3/sales: timeout",
)
BEARER = (
    "Authorization: Bearer {}",
    "headers = {{'Authorization': 'Bearer {}'}}",
    '-H "authorization: bearer {}" https://api.example.com',
    'headers={{"Authorization": f"Bearer {}"}}',
)
BASIC = (
    "Authorization: Basic {}",
    "headers = {{'Authorization': 'Basic {}'}}",
    "> Proxy-Authorization: Basic {}\n",
)
EMAILS = (
    "{}",
    "Mia <{}>",
    "write to {}, please",
    '{{"email": "{}"}}',
    "mailto:{}",
    "| {} | 2024 |",
    "df.loc[df.mail == '{}']",
    "id,mail\n1,{}\n",
    "Contact {}.",
    '{{"text": "ask\\n{}\\nfirst"}}',
    "메일은 {}로",
)
KEY_PLACES = (
    "{}",
    "KEY = '''{}'''\n",
    "apiVersion: v1\ndata:\n  key: |\n    {}\nkind: Secret\n",
    "cat id_rsa\n{}\n$ ls\n",
)


def private_key(rng: random.Random, name: str = "RSA PRIVATE KEY", newline: str = "\n", lines: int = 12) -> str:
    """A made-up PEM block."""
    body = ["".join(rng.choices(BASE64, k=64)) for _ in range(lines)] + ["".join(rng.choices(BASE64, k=20)) + "=="]
    return newline.join([f"-----BEGIN {name}-----", *body, f"-----END {name}-----"])


def _private_keys(rng: random.Random) -> Iterator[Planted]:
    names = ["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"]
    names += ["DSA PRIVATE KEY"]
    for name in names:
        for place in KEY_PLACES:
            newline = "\n    " if "\n    {}" in place else rng.choice(["\n", "\r\n"])
            key = private_key(rng, name, newline)
            yield Planted("private-key", key, place.format(key))
        key = private_key(rng, name, "\\n")
        account = f'{{"type": "service_account", "private_key": "{key}\\n", "client_id": "1"}}'
        yield Planted("private-key", key, account)
        yield Planted("private-key", key.replace("\\n", "\\\\n"), json.dumps(account).replace("\\\\\\\\", "\\\\"))
        cut = private_key(rng, name)[:400]
        yield Planted("private-key", cut, f"$ head -c 400 key.pem\n{cut}")
    headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n"
    key = private_key(rng).replace("-----\n", f"-----\n{headers}", 1)
    yield Planted("private-key", key, key)
    key = private_key(rng, "PGP PRIVATE KEY BLOCK").replace("-----\n", "-----\nVersion: GnuPG v2\n\n", 1)
    yield Planted("private-key", key, key)


def _email(rng: random.Random) -> str:
    local = rng.choice(["mia.kim", "j_doe+test", "haruto", "kim.minji", "info", "d.o'brien".replace("'", "")])
    domain = rng.choice(
        ["example.com", "naver.com", "corp.example.co.kr", "u-tokyo.ac.jp", "mail.example.org", "acme.io"]
    )
    return f"{local}{rng.randrange(1000)}@{domain}"


def planted_secrets(seed: int = 3) -> list[Planted]:
    """Over two thousand texts with a secret in each; always the same ones."""
    rng = random.Random(seed)
    planted: list[Planted] = []

    def plant(kind: MaskedKind, makers: tuple[Maker, ...], places: tuple[str, ...], times: int = 1) -> None:
        for _ in range(times):
            for maker in makers:
                for place in places:
                    secret = maker(rng)
                    planted.append(Planted(kind, secret, place.format(secret)))

    for kind, maker in PREFIXED:
        plant(kind, (maker,), ANYWHERE)
    plant("assigned-secret", OPAQUE, ASSIGNED, 2)
    plant("assigned-secret", PASSWORDS, PASSWORD_PLACES, 3)
    plant("url-password", PASSWORDS[:4], tuple(place for place in URLS), 3)
    plant("bearer-token", (OPAQUE[3], OPAQUE[4], OPAQUE[8], _drawn("", 80, URL_SAFE)), BEARER, 4)
    plant("bearer-token", (lambda rng: base64.b64encode(f"mia:{_word_password(rng)}".encode()).decode(),), BASIC, 6)
    plant("email", (_email,), EMAILS, 6)
    aws = _drawn("", 40, BASE64)
    plant("aws-key", (aws,), ("aws_secret_access_key = {}", "AWS_SECRET_ACCESS_KEY={}", '"SecretAccessKey": "{}"'), 8)
    hook = _drawn("T0", 8, string.ascii_uppercase, "/B01234567/abcDEF0123456789abcDEF01")
    plant(
        "slack-token", (hook,), ("https://hooks.slack.com/services/{}", "hook='https://hooks.slack.com/services/{}'"), 4
    )
    planted.extend(_private_keys(rng))
    return planted

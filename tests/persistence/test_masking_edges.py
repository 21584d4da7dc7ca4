"""Where masking turns: the shortest token that goes and the longest that stays, in values, names and forms."""

from __future__ import annotations

import pytest

from hdsp_agent.config import ALL_MASKED_KINDS, MaskedKind, keys_in_use
from hdsp_agent.persistence.masking._masker import Masker
from hdsp_agent.persistence.masking._rule_candidates import SecretFound, Triggers
from hdsp_agent.persistence.masking._token_forms import token_rule
from hdsp_agent.persistence.masking._values import is_opaque, is_password, is_placeholder, is_random, name_kind

MIX = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
"""Letters of both cases and digits, none often."""


def masked(text: str) -> str:
    return Masker(ALL_MASKED_KINDS).mask(text)


def parts(run: int, length: int, sign: str) -> str:
    """At least so many characters, in parts of ``run`` with a sign between them."""
    pieces = [(MIX * 30)[at : at + run] for at in range(0, 30 * run, run)]
    text = pieces[0]
    for piece in pieces[1:]:
        text += "" if len(text) >= length else sign + piece
    return text


# ---- tokens with a prefix: how long a part without a break has to be

TOKENS = (
    ("ghp_", 30, ""), ("gho_", 30, ""), ("ghr_", 30, ""), ("ghu_", 12, "."), ("ghs_", 12, "_"), ("github_pat_", 12, "_"), ("glpat-", 5, "-"), ("sk-ant-", 12, "-"), ("AIza", 6, "-"), ("GOCSPX-", 6, "-"), ("ya29.", 8, "-"), ("xapp-", 10, "-"),
    ("xoxb-", 8, "-"), ("hf_", 30, ""), ("gsk_", 24, ""), ("nvapi-", 12, "_"), ("npm_", 30, ""), ("sk_live_", 20, ""), ("SG.", 12, "."), ("hvs.", 8, "-"), ("figd_", 8, "_"), ("CFPAT-", 8, "-"), ("pscale_tkn_", 8, "-"), ("jina_", 8, "_"),
    ("ATATT3", 8, "-"), ("GR1348941", 8, "-"),
)  # fmt: skip
LEAST = {"github_pat_": 22, "AIza": 35, "xoxb-": 14, "nvapi-": 24, "SG.": 24, "ghu_": 30, "ghs_": 30, "figd_": 36, "CFPAT-": 43, "pscale_tkn_": 32, "jina_": 50, "ATATT3": 60}  # fmt: skip


@pytest.mark.parametrize(("prefix", "run", "sign"), TOKENS)
def test_a_token_goes_whose_parts_are_just_long_enough(prefix: str, run: int, sign: str) -> None:
    least = LEAST.get(prefix, 20)
    token = prefix + (parts(run, least, sign)[: None if prefix != "CFPAT-" else least] if sign else MIX[:run])
    assert masked(f"x {token} y").startswith("x [") and masked(f"x {token} y").endswith("] y")
    shorter = prefix + (parts(run - 1, least, sign)[: None if prefix != "CFPAT-" else least] if sign else MIX[: run - 1])  # fmt: skip
    assert masked(f"x {shorter} y") == f"x {shorter} y"


@pytest.mark.parametrize(
    ("before", "prefix", "most"),
    [
        ("", "ghp_", 600), ("", "glpat-", 600), ("", "sk-ant-", 600), ("", "sk-", 600), ("hooks.slack.com/", "services/", 284), ("Bearer ", "", 2_041), ("", "glc_", 404), ("sshpass -p ", "", 200), ("mysql -p", "", 200),
        ("", "eyJhbGciOiJIUzI1NiJ9.", 8_192), ("api_key = '", "", 1_017), ("--api-key ", "", 1_020), ("api_key = ", "", 512), ("api/webhooks/", "123456789012345678/", 387),
    ],
)  # fmt: skip
def test_of_what_is_longer_than_any_token_the_beginning_goes(before: str, prefix: str, most: int) -> None:
    text = before + prefix + MIX * 300
    rest = masked(text).rpartition("]")[2]
    assert rest == text[len(before) + most :]


@pytest.mark.parametrize(
    ("body", "goes"),
    [
        ("a1" * 10, False),
        (MIX[:20], True),
        (MIX[:19], False),
        ("-".join((MIX[:12], MIX[:7])), True),
        ("-".join((MIX[:11], MIX[:8])), False),
        ("abcdefghijklMNOPQRSTUVWXYZabcd", True),
        ("abcdefghijklMNOPQRSTUVWXYZabc", False),
        ("proj-" + parts(4, 34, "-") + "x", True),
        ("proj-" + parts(4, 34, "-"), False),
        ("svcacct-" + parts(4, 40, "-"), True),
        ("admin-" + parts(4, 40, "-"), True),
        ("other-" + parts(4, 40, "-"), False),
    ],
)
def test_keys_of_openai_are_told_from_names_of_classes(body: str, goes: bool) -> None:
    assert (masked(f"x sk-{body} y") == "x [OPENAI_KEY] y") is goes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hooks.slack.com/services/T1/B1/aB3dE5gH", "hooks.slack.com/services/[SLACK_TOKEN]"),
        ("hooks.slack.com/services/T1/B1/aB3dE5g", None),
        ("hooks.slack.com/services/abcdEFGH", None),
        ("eyJhbGciOiJIUzI1NiJ9.aB3dE5gH.x", "[JWT]"),
        ("eyJhbGciOiJIUzI1NiJ9.aB3dE5gH", "[JWT]"),
        ("eyJhbGciOiJIUzI1NiJ9.aB3dE5gH...", "[JWT]..."),
        ("eyJhbGciOiJIUzI1NiJ9.aB3dE5g.x", None),
        ("eyJhbGciOiJIUzI1NiJ9", None),
        ("eyJvdGhlciI6IkhTMjU2In0.aB3dE5gH.x", None),
        ("eyJrIjoi" + MIX + MIX[:28] + ".x", "[API_KEY].x"),
        ("eyJrIjoi" + MIX + MIX[:27] + ".x", None),
        ("AKIA" + "A1B2C3D4" * 2, "[AWS_KEY]"),
        ("AKIA" + "ABCDEFGH" * 2, "[AWS_KEY]"),
        ("sk-ant-abcdefghijklmnopqrst", None),
        ("sk-ant-abcdefghijklmnopqrsT", "[ANTHROPIC_KEY]"),
        ("AKIA" + "A1B2C3D4" * 2 + "X", None),
        ("xAKIA" + "A1B2C3D4" * 2, None),
        ("\\nAKIA" + "A1B2C3D4" * 2, "\\n[AWS_KEY]"),
        ("%3DAKIA" + "A1B2C3D4" * 2, "%3D[AWS_KEY]"),
        ("\\u001bAKIA" + "A1B2C3D4" * 2, "\\u001b[AWS_KEY]"),
    ],
)
def test_tokens_are_known_by_their_form(text: str, expected: str | None) -> None:
    assert masked(text) == (text if expected is None else expected)


# ---- headers, addresses, mailboxes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bearer aB3dE5gH7jK9mN1p", "Bearer [BEARER_TOKEN]"),
        ("Bearer aB3dE5gH7jK9mN1", None),
        ("Bearer abcdefghijklmnop1", "Bearer [BEARER_TOKEN]"),
        ("Bearer abcdefgh/ijklmnop1", None),
        ("Bearer abcdefghijklmnop", None),
        ("Bearer ghp_" + MIX, "Bearer [GITHUB_TOKEN]"),
        ("bearer%20aB3dE5gH7jK9mN1p", "bearer%20[BEARER_TOKEN]"),
        ("xBearer aB3dE5gH7jK9mN1p", None),
        ("Basic YTpiY2Q=", "Basic [BASIC_AUTH]"),
        ("Basic YTpiYw==", "Basic [BASIC_AUTH]"),
        ("Basic YTpiYw", "Basic YTpiYw"),
        ("Basic YWJjZGVm", None),
        ("Basic AToBAgME", None),
        ("Basic /zo6/w==", None),
        ("://u:p@h", "://u:[URL_PASSWORD]@h"),
        ("http://u:p", None),
        ("http://u:@h", None),
        ("http://u:{p}@h", None),
        (f"http://u:ghp_{MIX}@h", "http://u:[GITHUB_TOKEN]@h"),
        (f"http://u:ghp_{MIX}!@h", "http://u:[URL_PASSWORD]@h"),
        ("a" * 64 + "@x.org", "[EMAIL]"),
        ("a" * 65 + "@x.org", None),
        ("a@x.org", "[EMAIL]"),
        ("a.b+c%d-e@x.org", "[EMAIL]"),
        (".a@x.org", ".[EMAIL]"),
        ("-a@x.org", "-[EMAIL]"),
        ("+@x.org", None),
        ("\\na@x.org", "\\n[EMAIL]"),
        ("\\n@x.org", "\\[EMAIL]"),
        ("\\xa@x.org", "\\[EMAIL]"),
        ("\\Xa@x.org", "\\[EMAIL]"),
        ("na@x.org\\", "[EMAIL]\\"),
        ("Xa@x.org", "[EMAIL]"),
        ("://a@x.org", None),
        *((f"a@x.{ending}", None) for ending in ("cs", "db", "go", "gz", "js", "rb", "ts", "vb", "xz")),
        ("a@x.org.", "[EMAIL]."),
        ("a@x.org-", "[EMAIL]-"),
        ("git@x.org", None),
        ("HG@x.org", None),
        ("svn@x.org", None),
        ("a@x.py", None),
        ("a@x.DE", "[EMAIL]"),
        ("a@x.weight", None),
        ("a@x.museum", "[EMAIL]"),
        ("a@x.at[0]", None),
        ("a@x.at(0)", None),
        ("a@x.at@y", None),
        ("a@x.org(0)", "[EMAIL](0)"),
        ("a@x.org:b/c", None),
        ("a@x.org:b.git", None),
        ("a@x.org:b", "[EMAIL]:b"),
        ("ftp://a@x.org", None),
        ("ssh a@x.org", None),
        ("ssh x\na@x.org", "ssh x\n[EMAIL]"),
        ("git clone a@x.org", None),
    ],
)
def test_headers_addresses_and_mailboxes(text: str, expected: str | None) -> None:
    assert masked(text) == (text if expected is None else expected)


def test_private_keys_at_their_edges() -> None:
    begin = "-----BEGIN PRIVATE KEY-----\n"
    for letters, goes in (("ABCDEFGHIJK", True), ("ABCDEFGHIJ", False)):
        text = begin + letters * 2 + "\n-----END PRIVATE KEY-----"
        assert masked(text) == ("[PRIVATE_KEY]" if goes else text), letters
    long = begin + MIX * 2_100
    assert masked(long) == "[PRIVATE_KEY]" + long[65_536:]
    whole = begin + MIX + "\n-----END PRIVATE KEY-----"
    for behind, is_given in ((256, True), (255, False)):
        given_out = Masker(ALL_MASKED_KINDS).stream().feed(whole + " " * behind)
        assert given_out.startswith("[PRIVATE_KEY]") is is_given and (is_given or given_out == "")


# ---- which values are secrets


@pytest.mark.parametrize(
    ("body", "run", "is_one"),
    [
        ("aB3dE5gH7jK9", 12, True), ("aB3dE5gH7jK", 12, False), ("-aB3dE5gH7jK9_x", 12, True), ("abcdefghijkl", 12, False), ("abcdefghijkL", 12, True), ("ABCDEFGHIJKL", 12, False), ("abcdefghijkl-1", 12, True), ("a1a1a1a1a1a1", 12, False),
        ("abc1abc1abc1", 12, True), ("aabbccaabbcc", 12, False), ("a" * 30, 12, True), ("a" * 29, 12, False), ("aB3dE5gHxxxx7jK9", 12, False), ("", 12, False),
    ],
)  # fmt: skip
def test_what_is_random(body: str, run: int, is_one: bool) -> None:
    assert is_random(body, run) is is_one


def test_what_is_random_may_have_no_digits_where_its_prefix_says_enough() -> None:
    assert is_random("abcdefghijkl", mixed=False) and not is_random("abcabcabcabc", mixed=False)
    assert is_random("abcdabcdabcd", mixed=False) and not is_random("abcdefghijk", mixed=False)


OPAQUE = ("a1b2c3d4", "aB3dEaB3dE", "x9abcdeq7", "ABcdEfghijKlMnOp", "abcdefghijklmnop12345", "word-word-a1b2c3d4", "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAaB3dE5g+", f"/{MIX}aB3dE5gH7j+")  # fmt: skip
NOT_OPAQUE = ("aB3daB3da", "ABCDEFabcdefghijklmn", "ABCDEFGHIJKLMNOPabcd", "a1b2c3d", "a1a1b2b2", "abcdefgh", "word-word-word12", "v12.34.5678", "sha256-md5-aes128", "my.ApiKeyType", "get(a1b2c3d4)", "/a1b2c3d4", "a1b2c3d4://", "abcdefghijklmnop", "ABCDEFGHIJKLMNOP", "abcdefghijklmnop1234", "Abcdefghijklmnopqrst", f"/{MIX}aB3dE5gH+")  # fmt: skip


def test_what_is_drawn_by_lot() -> None:
    assert [value for value in OPAQUE if not is_opaque(value)] == []
    assert [value for value in NOT_OPAQUE if is_opaque(value)] == []


QUOTED = {"hunter2": True, "hunter": False, "abc1": True, "ab1": False, "ab!d": True, "aab1": True, "aaa1": False, "1234": True, "a(1)bcd": False, "password2": True, "pass12": True, "pass1": False, "user_pass1": False, "correcthorse": True, "correcthors": False, "Correcthorse": False, "correct horse": False, "correct-horses": False, "Hunter2": True, "user": False, "tok$en": True, "123456": True}  # fmt: skip
BARE = {"hunter2": True, "hunt12": True, "hunt1": False, "Hunter2": False, "Hunter2!": True, "hUnter2": True, "hunter": False, "123456": False, "password2": False, "hunter!": True, "correcthorse": False, "correcthorsebatterystaple": False, "a1b2c3d4": True}  # fmt: skip


def test_what_a_person_may_have_chosen_as_a_password() -> None:
    assert {value: is_password(value, quoted=True) for value in QUOTED} == QUOTED
    assert {value: is_password(value, quoted=False) for value in BARE} == BARE


def test_what_only_stands_where_a_secret_will_be() -> None:
    stands = (
        "your-key",
        "changeme",
        "${KEY}",
        "%(key)s",
        "x" * 4,
        "None",
        "{key}",
        "[SECRET]",
        "<key>",
        "fake" + "a1" * 13 + "b",
    )
    assert [value for value in stands if not is_placeholder(value)] == []
    assert [value for value in ("hunter2", "a1b2c3d4", "fake" + "a1" * 14, "xxx") if is_placeholder(value)] == []


def test_which_names_have_secrets() -> None:
    kinds = {
        "password": "password", "db.password": "password", "DB_PASS": "password", "pgpass": "password", "compass": None, "my_pwd": "password", "api_key": "token", "apikey": "token", "key": None, "token": "token", "next_token": None,
        "pad_token": None, "secret_2": "token", "client-secret": "token", "password_prod": "password", "password_hash": None, "x" * 60 + "_token": "token", "authorization": "token", "password.name": None,
        "token_" + "x" * 60: None,
    }  # fmt: skip
    assert {name: name_kind(name) for name in kinds} == kinds


# ---- values that are assigned: which of them go in which form

VALUES = {"drawn": "0f9a8b7c6d5e4f3a", "chosen": "hunter2", "signs": "Hunter!2", "words": "correcthorses", "variable": "user_name", "number": "31415926", "function": "get_password", "template": "${PASSWORD}"}  # fmt: skip
FORMS = (
    # the form, and by their first letters the values that go in it: of a password, of a token
    ("{N}={v}", "dcswvnf", "dsn"),
    ("{N}= {v}", "dcs", "ds"),
    ("{n}={v}", "dcs", "ds"),
    ("{n} = {v}", "dcs", "ds"),
    ("{n}: {v}", "dcs", "ds"),
    ("{n}:{v}", "d", "d"),
    ("{n} = '{v}'", "dcswn", "dsn"),
    ('"{n}": "{v}"', "dcswn", "dsn"),
    ("{n}: str = '{v}'", "dcswn", "dsn"),
    ("{n}: str = {v}", "", ""),
    ("{n} == '{v}'", "dcswn", "dsn"),
    ("{n} == {v}", "", ""),
    ("{n} != {v}", "", ""),
    ("{n} != '{v}'", "dcswn", "dsn"),
    ("{n} => '{v}'", "dcswn", "dsn"),
    ("{n} := '{v}'", "dcswn", "dsn"),
    ("f('{n}', '{v}')", "dsn", "dsn"),
    ("f({n}, '{v}')", "", ""),
    ("f('{n}', {v})", "", ""),
    ("--{n} {v}", "dcsn", "dsn"),
    ("--{n} '{v}'", "dcswn", "dsn"),
    ("{n} {v}", "", ""),
    ("%env {N} {v}", "dcsn", "dsn"),
    ("ENV {N} {v}", "dcsn", "dsn"),
    ("<{n}>{v}</{n}>", "dcswn", "dcswn"),
    ("<{n}>{v}", "", ""),
    ("{n}={v}(x)", "", ""),
    ("{n}={v}[0]", "", ""),
    ("x['{n}'] = '{v}'", "dcswn", "dsn"),
    ("{n} = b'{v}'", "dcswn", "dsn"),
    ("{n} = SecretStr('{v}')", "dcswn", "dsn"),
    ('{{\\"{n}\\": \\"{v}\\"}}', "dcswn", "dsn"),
    ("{n}: '{v}'", "dcswn", "dsn"),
    ("{n} = '''{v}'''", "dcswn", "dsn"),
    ("{n} = '{v}", "dcswn", "dsn"),
)


@pytest.mark.parametrize(("form", "passwords", "tokens"), FORMS)
def test_which_values_go_in_which_form(form: str, passwords: str, tokens: str) -> None:
    for name, expected in (("password", passwords), ("api_key", tokens)):
        for kind, value in VALUES.items():
            text = form.format(n=name, N=name.upper(), v=value)
            assert masked(text) == (text.replace(value, "[SECRET]") if kind[0] in expected else text), text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password: hunter2.", "password: [SECRET]."),
        ("password: hunter2!?", "password: [SECRET]!?"),
        ("--password hunter2.", "--password [SECRET]."),
        ("DB_PASSWORD=hunter2!", "DB_PASSWORD=[SECRET]"),
        ("<password>hunter2!</password>", "<password>[SECRET]</password>"),
        ("password>'hunter2'", None),
        ("password>'0f9a8b7c6d5e4f3a'", "password>'[SECRET]'"),
        ("DB_PASSWORD=hunt", None),
        ("DB_PASSWORD=hunte", "DB_PASSWORD=[SECRET]"),
        ("DB_PASSWORD=/run/secret", None),
        ("DB_PASSWORD=~/secret", None),
        ("DB_PASSWORD=.secret", None),
        ("DB_PASSWORD=a.secret", None),
        ("DB_PASSWORD=letmein.", "DB_PASSWORD=[SECRET]"),
        ("password:a1b2c3d4e5f6a7b8", "password:[SECRET]"),
        ("password:a1b2c3d4e5f6a7b", None),
        ('"password":"a1b2c3d4"', '"password":"[SECRET]"'),
        ("'password':a1b2c3d4", "'password':[SECRET]"),
        ('"Authorization": "Token 0f9a8b7c6d5e4f3a"', '"Authorization": "Token [SECRET]"'),
        ("Authorization: ApiKey 0f9a8b7c6d5e4f3a", "Authorization: ApiKey [SECRET]"),
        ("token=password=0f9a8b7c6d5e4f3a", "token=password=[SECRET]"),
        ("token=user:0f9a8b7c6d5e4f3a", None),
        (f"api_key=ghp_{MIX}", "api_key=[GITHUB_TOKEN]"),
        (f"secret = 'ghp_{MIX}'", "secret = '[GITHUB_TOKEN]'"),
        ("x\\npassword=hunter2", "x\\npassword=[SECRET]"),
        ("x\\npassword = 'hunter2'", "x\\npassword = '[SECRET]'"),
        ("x\\n--password hunter2", "x\\n--password [SECRET]"),
        ("x\\n%env TOKEN 0f9a8b7c6d5e4f3a", "x\\n%env TOKEN [SECRET]"),
        ("password = 'password'", None),
        ("my_password1 = 'MY_password1'", None),
        ("my_password1 = 'MY_password2'", None),
        ("password = 'your-password1'", None),
        ("password: str1 = x", None),
        ("password: x y = 'hunter2'", None),
        ("password: Optional[str] = 'hunter2'", "password: Optional[str] = '[SECRET]'"),
        ("password: str | None = 'hunter2'", "password: str | None = '[SECRET]'"),
        ("password: hunter2 = 'x'", None),
        ("password: 12 = 'hunter2'", None),
        ("f('api_key', 'hunter2')", None),
        ("f(\"password\", '0f9a8b7c')", "f(\"password\", '[SECRET]')"),
        ("f(password, '0f9a8b7c')", None),
        ("f('password', 0f9a8b7c)", None),
        ("api_key = {x", None),
        ("api_key=0f9a8b7c6d5e4f3a{", None),
        ("--api-key 0f9a8b7c", "--api-key [SECRET]"),
        ("--api-key 'hunter2'", None),
        ("--password Hunter2", None),
        ("%env" + " " * 12 + "PASSWORD hunter2", "%env" + " " * 12 + "PASSWORD [SECRET]"),
        ("%env" + " " * 13 + "PASSWORD hunter2", None),
        ("x\\nDB_PASSWORD=letmein", "x\\nDB_PASSWORD=[SECRET]"),
        ("x\\rDB_PASSWORD=letmein", "x\\rDB_PASSWORD=[SECRET]"),
        ("x\\tDB_PASSWORD=letmein", "x\\tDB_PASSWORD=[SECRET]"),
        ("x\\bDB_PASSWORD=letmein", None),
        ("xnDB_PASSWORD=letmein", None),
        ("nDB_PASSWORD=letmein", None),
        ("nDB_PASSWORD=letmein\\", None),
        ("setenv PASSWORD hunter2", "setenv PASSWORD [SECRET]"),
        ("xsetenv PASSWORD hunter2", None),
        ("%set_env PASSWORD hunter2", "%set_env PASSWORD [SECRET]"),
        ('{"username":"mia","key":"0123456789abcdef0123456789abcdee"}', '{"username":"mia","key":"[SECRET]"}'),
        ('{"username":"mia","key":"0123456789abcdef0123456789abcde"}', None),
        ('{"name":"mia","key":"0123456789abcdef0123456789abcdee"}', None),
        ('{"username":"mia","keys":"0123456789abcdef0123456789abcdee"}', None),
        ("aws_secret_key == aB3dE/fG4hJ+kL5mN/pQ6rS+tU7vW/xY8zA+bC9dE0", None),
        ("aws_secret_key == aB3dE/fG4hJ+kL5mN/pQ6rS+tU7vW/xY8zA+bC9d", "aws_secret_key == [AWS_KEY]"),
        ("aws_secret_key == aB3d/E4hJ+kL5m/NpQ6+rS7t/UvW8+xY9z/AbC1+", None),
        ("other_secret_key == aB3dE/fG4hJ+kL5mN/pQ6rS+tU7vW/xY8zA+bC9d", None),
    ],
)
def test_what_goes_of_an_assignment(text: str, expected: str | None) -> None:
    assert masked(text) == (text if expected is None else expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?sig=" + "aB3dE5" * 6 + "1%3D", "?sig=[SECRET]"),
        ("?sig=" + "aB3dE5" * 6 + "123=", "?sig=[SECRET]"),
        ("?sig=" + "aB3dE5" * 6 + "12=", None),
        ("?xsig=" + "aB3dE5" * 6 + "123=", None),
        ("?sig=" + "aB3dE5+" * 6 + "aB3=", "?sig=[SECRET]"),
        ("?sig=" + "aB3dE+" * 6 + "aB3=", None),
        ("?sig=" + "abcdef+" * 6 + "abc=", None),
        ("GR1348941abcdefghijklmnopqrst", "[GITLAB_TOKEN]"),
        ("x-vault-token: s.abcdefghijklmnopqrstuvwX", "x-vault-token: [API_KEY]"),
        ("x-vault-token: s.abcdefghijklmnopqrstuvwx", None),
        ("x-vault-token: s." + MIX[:23], "x-vault-token: [SECRET]"),
        ("?sig=" + "aB3dE5" * 6 + "1234", None),
        ("xsig=" + "aB3dE5" * 6 + "123=", None),
        ("?sig=" + "aB3dE5" * 19 + "12345=", "?sig=[SECRET]"),
        ("?sig=" + "aB3dE5" * 19 + "123456=", None),
        ("?sig=" + "aB3dE%" * 6 + "aB3d=", None),
        ("sig=" + "aB3dE5" * 6 + "123=", "sig=[SECRET]"),
        ("LTAI" + MIX[:16], "[API_KEY]"),
        ("LTAI" + MIX[:15] + ".", None),
        ("ABIA" + "A1B2C3D4" * 2, "[AWS_KEY]"),
        ("A3-ABC123-ABC123ABC12-ABC12-ABC12-ABC12", "[API_KEY]"),
        (f"x {MIX[:14]}.atlasv1.{(MIX * 20)[:391]}", "x [API_KEY]"),
        (f"x {MIX[:14]}.atlasv1.{(MIX * 20)[:392]}", None),
        ("figd_" + (MIX * 50)[:1_299], "[API_KEY]"),
        ("figd_" + (MIX * 50)[:1_300], None),
        ("GR1348941" + (MIX * 50)[:1_291], "[GITLAB_TOKEN]"),
        ("GR1348941" + (MIX * 50)[:1_292], None),
        ("$1$abcdefgh$zz" + "abcde" * 4, "[SECRET]"),
        ("$1$abcdefgh$zz" + "abcd" * 5, None),
        ("$argon2d$v=19$m=4096,t=3,p=1$" + MIX[:22] + "$" + MIX[:30], "[SECRET]"),
        ("Fernet('" + "ABCDEFGHI" * 4 + "ABCDEFG=')", "Fernet('[SECRET]')"),
        ("Fernet('" + "ABCDEFGH" * 5 + "ABC=')", None),
        ("mysql -pabc", "mysql -p[SECRET]"),
        ("mysql -pab", None),
    ],
)
def test_tokens_of_services_and_hashes_at_their_edges(text: str, expected: str | None) -> None:
    assert masked(text) == (text if expected is None else expected)


@pytest.mark.parametrize("prefix", ["figd_", "xkeysib-", "dt0c01."])
@pytest.mark.parametrize("before", ["\\n", "x\\n", "%3D", "x%3D", "[31m", "\x1b[0;31m", "\\u001b", "\\x1b"])
def test_a_token_begins_behind_the_letters_of_an_escape(before: str, prefix: str) -> None:
    bodies = {"figd_": MIX + MIX, "xkeysib-": "0123456789abcdef" * 4 + "-" + MIX[:16], "dt0c01.": "A1B2C3D4" + "." + "A1B2C3D4" * 8}  # fmt: skip
    assert masked(before + prefix + bodies[prefix]) == f"{before}[API_KEY]"
    assert masked(f"nx{prefix}{bodies[prefix]}") == f"nx{prefix}{bodies[prefix]}"


def test_each_trigger_is_looked_for_by_its_rarest_letter_or_by_one_that_is_looked_for_anyway() -> None:
    def looked_for(*triggers: str) -> dict[str, str]:
        return Triggers(triggers, {})._whole

    assert looked_for("token") == {"ken": "token"}
    assert looked_for("password") == {"word": "password"}
    assert looked_for("a1b") == {"1b": "a1b"} and looked_for("a=1") == {"1": "a=1"}
    assert looked_for("eyJ", "Bearer") == {"J": "eyJ", "Bearer": "Bearer"}
    # The k of "key" costs nothing more once "token" has it; what ends in another trigger is looked for whole.
    assert looked_for("key", "token") == {"ken": "token", "key": "key"}
    assert looked_for("sk-", "sk-ant-") == {"sk-ant-": "sk-ant-", "k-": "sk-"}


def test_the_beginning_of_a_key_in_use_is_held_back_and_given_out_when_the_text_ends() -> None:
    keys_in_use.add("some-key-in-use-123")
    stream = Masker(ALL_MASKED_KINDS).stream()
    assert stream.feed("it is some-key-in") == "it is "
    assert stream.held == len("some-key-in")
    assert stream.finish() == "some-key-in" and stream.held == 0
    assert stream.feed("some-key-in") + stream.feed("-use-123.") + stream.finish() == "[KEY_IN_USE]."
    nothing = Masker([]).stream()
    assert nothing.feed("some-key-in") + nothing.finish() == "some-key-in" and nothing.finish() == ""


def test_of_prefixes_that_begin_alike_the_longest_counts() -> None:
    rule = token_rule("jwt", "TOKEN", "ab abc", "[0-9]{12}", mixed=False)
    text = "abc904716382516"
    match = rule.reach.match(text)
    assert match is not None
    assert rule.check(text, match, 0) == SecretFound(0, len(text), "jwt", "TOKEN")


def test_a_token_that_is_the_password_of_an_address_goes_as_either() -> None:
    text = "https://u:ghp_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1b2C@host/x"
    every: tuple[set[MaskedKind], ...] = ({"url-password"}, {"github-token"}, {"url-password", "github-token"})
    for kinds in every:
        assert Masker(frozenset(kinds)).mask(text) == "https://u:[GITHUB_TOKEN]@host/x"


def test_of_two_beginnings_of_a_token_the_longer_names_it() -> None:
    key = "sk-ant-api03-aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1b2C"
    assert masked(f"https://u:{key}@host/x") == "https://u:[ANTHROPIC_KEY]@host/x"

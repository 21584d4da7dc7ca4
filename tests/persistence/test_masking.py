"""What is masked, what is left alone, and what comes back."""

from __future__ import annotations

import copy
import pickle
import random
import re
import string
import sysconfig
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdsp_agent.config import MaskedKind
from hdsp_agent.persistence.masking import _masker
from hdsp_agent.persistence.masking._masker import Masker

from .._helpers.long_tests import rounds
from .._helpers.timing import processor_time
from ._helpers.planted_secrets import Planted, planted_secrets, private_key

KINDS: tuple[MaskedKind, ...] = get_args(get_args(MaskedKind)[0])
PLANTED = planted_secrets()


def masked(text: str) -> str:
    return Masker(KINDS).mask(text)


def still_readable(planted: Planted, text: str) -> bool:
    """Whether any ten characters in a row of the secret are left."""
    secret = planted.secret
    if planted.kind == "private-key":
        secret = max(re.findall(r"[A-Za-z0-9+/]{20,}", secret), key=len)
    size = min(10, len(secret))
    return any(secret[at : at + size] in text for at in range(len(secret) - size + 1))


# ---- what is found


@pytest.mark.parametrize("seed", [3, 77, 2026])
def test_at_least_99_of_100_planted_secrets_are_found(seed: int) -> None:
    planted = planted_secrets(seed)
    missed = [each for each in planted if still_readable(each, masked(each.text))]
    print(
        f"\nseed {seed}: {len(planted) - len(missed)} of {len(planted)} found; missed:", Counter(m.kind for m in missed)
    )
    assert len(planted) >= 2000
    assert len(missed) < len(planted) / 100, missed


def test_every_kind_is_planted_and_nearly_all_of_each_is_found() -> None:
    total, found = Counter[str](), Counter[str]()
    for each in PLANTED:
        total[each.kind] += 1
        found[each.kind] += not still_readable(each, masked(each.text))
    assert set(total) == set(KINDS)
    assert all(found[kind] >= 0.97 * total[kind] for kind in KINDS), {
        kind: (found[kind], total[kind]) for kind in KINDS
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"ghp_{'a1B2' * 9}", "[GITHUB_TOKEN]"),
        (f"github_pat_{'a1B2' * 20}", "[GITHUB_TOKEN]"),
        (f"OPENAI_API_KEY=sk-proj-{'a1B2_c3D4-' * 8}x", "OPENAI_API_KEY=[OPENAI_KEY]"),
        (f"sk-{'a1B2' * 12}", "[OPENAI_KEY]"),
        (f"glpat-{'a1B2' * 5}", "[GITLAB_TOKEN]"),
        ("mail mia@example.com.", "mail [EMAIL]."),
        ("postgres://user:pass@host", "postgres://user:[URL_PASSWORD]@host"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [BASIC_AUTH]"),
        ('"api_key": "0f9a8b7c6d5e4f3a"', '"api_key": "[SECRET]"'),
        ("password = 'hunter2'  # noqa", "password = '[SECRET]'  # noqa"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = [AWS_KEY]"),
        ('{"username":"mia","key":"0123456789abcdef0123456789abcdee"}', '{"username":"mia","key":"[SECRET]"}'),
        ("--password 'hunter2'", "--password '[SECRET]'"),
        ("<password>Hunter2!</password>", "<password>[SECRET]</password>"),
    ],
)
def test_labels_are_those_of_the_design_and_only_the_secret_goes(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize("form", ["{} | ", "{:>6} | ", "{:>6}\t", "{}:", "{}-"])
def test_a_private_key_shown_with_line_numbers_goes(form: str) -> None:
    # As read_file, cat -n and grep -n show one.
    lines = [
        f"{form.format(number)}{line}" for number, line in enumerate(private_key(random.Random(11)).splitlines(), 9)
    ]
    assert masked("\n".join([*lines, f"{form.format(99)}hello"])).endswith(f"[PRIVATE_KEY]\n{form.format(99)}hello")
    cut = masked("\n".join(lines[:6]))
    assert not re.search(r"[A-Za-z0-9+/]{30,}", cut)


@pytest.mark.parametrize(
    ("key", "label"), [(f"csk-{'a1B2' * 12}", "API_KEY"), (f"sk-ant-api03-{'a1B2' * 12}", "ANTHROPIC_KEY")]
)
def test_a_prefix_inside_another_does_not_hide_it(key: str, label: str) -> None:
    assert masked(f"see {key}.") == f"see [{label}]."


def test_a_whole_service_account_keeps_its_form() -> None:
    import json
    import random

    account = {
        "type": "service_account",
        "private_key": private_key(random.Random(1), "PRIVATE KEY") + "\n",
        "client_email": "x@proj.iam.gserviceaccount.com",
    }
    kept = json.loads(masked(json.dumps(account, indent=1)))
    assert kept == {"type": "service_account", "private_key": "[PRIVATE_KEY]\n", "client_email": "[EMAIL]"}


# ---- what is left alone

CODE = r"""
from sklearn import datasets  # sk-learn, scikit-learn, sk-learn-contrib-imbalanced-learning-2024
<div class="sk-top-container" id="sk-container-id-12"><div class="sk-estimator-doc-link-fitted sk-toggleable__control--abc1"></div>
git clone git@github.com:org/repo.git
git remote add deploy ops@git.example.com:team/code.git
ssh mia@web1.example.com
scp out.csv mia@web1.example.com:/data/
@property
@app.route("/login")
@functools.lru_cache(maxsize=None)
@media (min-width: 600px) { a { color: red } }
npm install @scope/pkg pkg@1.2.3 lodash@^4.17.21 left-pad@1.0.0-rc.1
uses: actions/checkout@v4
pip install "pkg @ git+https://example.org/team/pkg@v1.2"
y = a@b.T + x@w.at[0].set(1) + q@k.transpose(-2, -1) + x@self.weight
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
commit 5f1c59d0c1a2b3c4d5e6f708192a3b4c5d6e7f80
md5 d41d8cd98f00b204e9800998ecf8427e
"cache_key": "d41d8cd98f00b204e9800998ecf8427e"
"key": "d41d8cd98f00b204e9800998ecf8427e"
550e8400-e29b-41d4-a716-446655440000
"integrity": "sha512-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08ABCDEFG=="
password = getpass.getpass()
password = getpass.getpass("Password for user1: ")
password = input("password: ")
password = os.environ["DB_PASSWORD"]
password=password, token=token1, api_key=api_key2
password: str
password: str = Field(min_length=8)
password: Optional[str] = None
api_key: str | None = None
token: Token2 = tokens[0]
def login(user: str, password: str = "password") -> Token: ...
token = tokenizer.next()
token = self.tokens[i1]
token = "identifier"
tokens = 128000, max_tokens=4096, n_tokens: 512
if token == "endfor": parser.skip("token:endfor")
tokenizer = AutoTokenizer.from_pretrained("gpt2-medium-v2")
eos_token = "<|endoftext|>", pad_token="[PAD]", next_page_token="CAUQAA2b3c4d5"
secret = "secret"
client_secret = client.get_secret("sales/db-1")
secrets = {"password": "Password", "token": "Token", "placeholder": "Enter your password"}
os.environ["OPENAI_API_KEY"]
os.getenv("OPENAI_API_KEY", "")
api_key = os.environ.get("OPENAI_API_KEY", "none")
OPENAI_API_KEY=${OPENAI_API_KEY}
OPENAI_API_KEY=$OPENAI_API_KEY
TOKEN=$(cat token.txt)
OPENAI_API_KEY=<your-key>
api_key = "your-api-key-here"
api_key = "YOUR_API_KEY_123"
api_key: "xxxxxxxxxxxxxxxx"
api_key = "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
api_key = "sk-..."
password: changeme
password: "********"
f"postgres://{user}:{password}@{host}/db"
"postgres://%s:%s@%s" % (user, password, host)
postgres://user:${DB_PASSWORD}@db/sales
Authorization: Bearer $TOKEN
headers = {"Authorization": f"Bearer {token}", "X-Api-Key": api_key}
bearer authentication/authorization is described in the basic introduction
password_hash = hash_password(password)
PWD=/home/mia/work2
private_key: ed25519.Ed25519PrivateKey
key = jax.random.PRNGKey(42); sort_key=lambda k: k[1]; primary_key=True
-----BEGIN CERTIFICATE-----
MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ
-----END CERTIFICATE-----
if "-----BEGIN RSA PRIVATE KEY-----" in data and "-----END RSA PRIVATE KEY-----" in data: pass
AIza is how Google's keys start; ghp_ and hf_ are prefixes, eyJ starts a token, AKIA too
from hf_hub import hf_hub_download as hf_download_file_with_a_long_name
http://localhost:8888/lab?token=
http://localhost:8888/lab/tree/a@b
icon@2x.png, module@3.py
!function(e,t){var n=t.key,r=t.token;return n===r?e(n):t.pass=r}(a,b),x.token=function(){return"key"};
"""


@pytest.mark.parametrize("line", CODE.strip().splitlines())
def test_ordinary_code_is_not_damaged(line: str) -> None:
    assert masked(line) == line


def test_ordinary_code_is_not_damaged_by_its_neighbours() -> None:
    assert masked(CODE) == CODE


def test_images_in_base64_are_not_damaged() -> None:
    import base64
    import random

    image = base64.b64encode(random.Random(5).randbytes(200_000)).decode()
    for text in (
        f"data:image/png;base64,{image}",
        f'{{"image/png": "{image}"}}',
        f'<img src="data:image/png;base64,{image}"/>',
    ):
        assert masked(text) == text
    token_like = base64.urlsafe_b64encode(random.Random(6).randbytes(200_000)).decode()
    assert masked(token_like) == token_like


def _source_trees() -> list[tuple[Path, int]]:
    paths = sysconfig.get_paths()
    return [(Path(paths["purelib"]), rounds(24, 8)), (Path(paths["stdlib"]), 12)]


@pytest.mark.in_short(1)
@pytest.mark.parametrize(("tree", "every"), _source_trees(), ids=["site-packages", "stdlib"])
def test_false_positives_on_real_source_trees_are_below_half_a_percent(tree: Path, every: int) -> None:
    files = sorted(
        path for path in tree.rglob("*.py") if tree.name == "site-packages" or "site-packages" not in path.parts
    )
    lines = mails = changed = 0
    examples: list[str] = []
    for path in files[::every]:
        text = path.read_text(encoding="utf-8", errors="replace")
        before, after = text.split("\n"), masked(text).split("\n")
        assert len(before) == len(after), path
        lines += len(before)
        for old, new in zip(before, after, strict=True):
            if old != new and set(re.findall(r"\[([A-Z_]+?)(?:_\d+)?\]", new)) - set(
                re.findall(r"\[([A-Z_]+?)\]", old)
            ) == {"EMAIL"}:
                mails += 1
            elif old != new:
                changed += 1
                examples.append(new.strip()[:100])
    print(
        f"\n{tree.name}: {lines} lines, {changed} changed ({changed / lines:.4%}) and {mails} with e-mails ({mails / lines:.4%})"
    )
    assert lines >= 20_000
    assert changed + mails < lines * 0.005
    assert changed < lines * 0.0005, examples


# ---- kinds


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_that_is_switched_off_is_left_and_the_others_are_not(kind: MaskedKind) -> None:
    others = [each for each in KINDS if each != kind]
    for each in PLANTED[::3]:
        labels = set(Masker([kind]).mask(each.text).split()) - set(each.text.split())
        if each.kind != kind and kind != "assigned-secret":
            assert each.secret in Masker([kind]).mask(each.text) or labels, each
        if each.kind == kind and kind not in {"bearer-token", "url-password", "aws-key"}:
            assert still_readable(each, Masker([kind]).mask(each.text)) is False, each
    lone = next(each for each in PLANTED if each.kind == kind)
    if kind in {"github-token", "gitlab-token", "slack-token", "huggingface-token", "jwt", "private-key", "email"}:
        assert Masker(others).mask(lone.secret) == lone.secret


def test_no_kinds_switch_masking_off() -> None:
    masker = Masker([])
    stream = masker.stream()
    for each in PLANTED:
        assert masker.mask(each.text) == each.text
        assert stream.feed(each.text) == each.text
    assert stream.finish() == ""


# ---- placeholders and the vault


@pytest.mark.parametrize("before", [65_500, 65_530, 65_536, 131_000])
def test_secrets_anywhere_in_a_long_text_are_masked_as_in_a_short_one(before: int) -> None:
    filler = "x" * 99 + "\n"
    secret = next(each for each in PLANTED if each.kind == "github-token")
    head, tail = (filler * 2_000)[:before] + "\n", "\n" + filler * 3_000
    assert masked(head + secret.text + tail) == head + masked(secret.text) + tail


def test_no_search_holds_the_interpreter_for_a_long_text(monkeypatch: pytest.MonkeyPatch) -> None:
    text = ("x" * 999 + "\n") * 1_000
    searched: list[int] = []
    scan = _masker._scan

    def counted(rules: _masker._Rules, text: str, start: int, *, final: bool) -> _masker._Scan:
        searched.append(len(text) - start)
        return scan(rules, text, start, final=final)

    monkeypatch.setattr(_masker, "_scan", counted)
    assert masked(text) == text
    assert sum(searched) >= len(text) and max(searched) < len(text) / 4


def test_masking_what_is_masked_changes_nothing() -> None:
    whole = "\n".join(each.text for each in PLANTED)
    masker = Masker(KINDS)
    once = masker.mask(whole)
    assert masker.mask(once) == once
    assert masked(once) == once


def test_distinct_values_stay_distinct_and_equal_ones_equal() -> None:
    masker = Masker(KINDS)
    assert masker.mask("a@x.com b@x.com a@x.com") == "[EMAIL] [EMAIL_2] [EMAIL]"
    assert masker.mask("c@x.com b@x.com") == "[EMAIL_3] [EMAIL_2]"
    assert masker.unmask("to [EMAIL_3], cc [EMAIL]") == "to c@x.com, cc a@x.com"


def test_all_that_was_masked_comes_back() -> None:
    masker = Masker(KINDS)
    for each in PLANTED:
        assert masker.unmask(masker.mask(each.text)) == each.text


def test_only_complete_placeholders_of_this_task_come_back() -> None:
    masker = Masker(KINDS)
    masker.mask("a@x.com")
    for text in ("[EMAIL_2]", "[EMAIL", "EMAIL]", "[email]", "[EMAIL_1 ]", "[OPENAI_KEY]", "[EMAIL_01]"):
        assert masker.unmask(text) == text
    assert Masker(KINDS).unmask("[EMAIL]") == "[EMAIL]"


def test_a_placeholder_that_someone_wrote_is_never_given_to_a_secret() -> None:
    masker = Masker(KINDS)
    assert masker.mask("write [EMAIL] for a@x.com") == "write [EMAIL] for [EMAIL_2]"
    assert masker.unmask("[EMAIL]") == "[EMAIL]"


def test_a_resumed_task_does_not_reuse_its_old_placeholders() -> None:
    masker = Masker(KINDS)
    masker.vault.reserve("earlier: [EMAIL], [EMAIL_4] and [OPENAI_KEY]")
    assert masker.mask("a@x.com") == "[EMAIL_5]"


def test_secrets_do_not_leave_the_vault_by_print_copy_or_pickle() -> None:
    masker = Masker(KINDS)
    stream = masker.stream()
    masker.mask("a@x.com")
    stream.feed("password='hunter")
    for each in (masker, masker.vault, stream):
        assert "a@x" not in f"{each!r} {each}" and "hunter" not in f"{each!r} {each}"
        assert not hasattr(each, "__dict__")
        for leave in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="neither copied nor pickled"):
                leave(each)


# ---- cost


HOSTILE = (
    *(
        "a",
        "@",
        "a@",
        "a@a.",
        "a.",
        "key",
        "key=",
        'key="',
        "token=",
        "token='",
        "token:",
        "token: ",
        "= ",
        "한",
        "\\n",
    ),
    *("eyJ", "eyJ.", ".eyJ-", "sk-", "sk-ant-", "ghp_", "github_pat_", "glpat-", "xoxb-1-", "AKIA", '"', "\\"),
    *("://", "://a:", "://a:b@", "a://b:c@d", "bearer+", "Bearer ", "Basic ", "[SECRET", "[SECRET]", "<password>"),
    *('password="a\\', 'password=\\"', "--password ", '--token "x ', "key: a[", "api_key:x[", "%env TOKEN "),
    *('"username":"a","key":"', "Authorization: Token ", "-----BEGIN RSA PRIVATE KEY-----"),
    "-----BEGIN PRIVATE KEY-----\nA",
)


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_costs_no_more_than_its_length(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    with processor_time(3):
        masked(text)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*HOSTILE, *(each.text for each in PLANTED[::40]), "\n", " "]), max_size=12))
def test_any_mixture_comes_back_whole(pieces: list[str]) -> None:
    text = "".join(pieces)
    masker = Masker(KINDS)
    once = masker.mask(text)
    if "[" not in text:
        assert masker.unmask(once) == text
    assert masker.mask(once) == once


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=string.printable + "한é", max_size=300))
def test_any_text_is_masked_once_and_for_all(text: str) -> None:
    once = masked(text)
    assert masked(once) == once

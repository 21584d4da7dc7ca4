"""Made-up tokens of many services, put together as the tests run: no file of ours holds one."""

from __future__ import annotations

import base64
import random
import string
import uuid
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["ORDINARY", "Token", "vendor_tokens"]

LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
PLAIN = string.ascii_letters + string.digits
URL_SAFE = PLAIN + "-_"
BASE64 = PLAIN + "+/"
HEX = "0123456789abcdef"

# Prefix, alphabet, length, suffix; several prefixes have blanks between.
_SIMPLE = (
    ("ghp_ gho_ ghr_", PLAIN, 36, ""), ("ghu_ ghs_", PLAIN, 36, ""), ("github_pat_", PLAIN + "_", 82, ""),
    ("glpat- gldt- glrt- glptt- glft- glimt- glsoat- glffct-", URL_SAFE, 24, ""), ("glagent- gloas-", URL_SAFE, 50, ""),
    ("GR1348941", URL_SAFE, 20, ""), ("AKIA ASIA ABIA ACCA", UPPER, 16, ""), ("ABSK", BASE64, 120, ""),
    ("bedrock-api-key-", BASE64, 60, ""), ("LTAI", PLAIN, 20, ""), ("AIza", URL_SAFE, 35, ""),
    ("GOCSPX-", URL_SAFE, 28, ""), ("dop_v1_ doo_v1_ dor_v1_", HEX, 64, ""), ("AQVN", URL_SAFE, 36, ""),
    ("YCA YCM YCN YCO YCP", URL_SAFE, 36, "a"), ("HRKU-AA", URL_SAFE, 58, ""), ("fo1_", URL_SAFE, 43, ""),
    ("fm1r_ fm1a_ fm2_", BASE64, 120, ""), ("tk-us-", URL_SAFE, 47, "a"), ("CLOJARS_", LOWER, 60, ""),
    ("ATATT3 ATCTT3", URL_SAFE + "=", 180, "a"), ("ATBB", PLAIN, 32, ""), ("rubygems_", HEX, 48, ""),
    ("npm_", PLAIN, 36, ""), ("pypi-AgEIcHlwaS5vcmc", URL_SAFE, 80, "a"), ("AKCp", PLAIN, 69, ""),
    ("squ_ sqp_ sqa_", HEX, 40, ""), ("sgp_", HEX, 40, ""), ("bkua_", HEX, 40, ""), ("pul-", HEX, 40, ""),
    ("pnu_ pnb_", PLAIN, 36, ""), ("API-", UPPER, 26, ""), ("ico-", PLAIN, 32, ""), ("sntryu_", HEX, 64, ""),
    ("nfp_ vcp_", PLAIN, 40, ""), ("sbp_", HEX, 40, ""), ("sb_secret_", URL_SAFE, 31, ""), ("rnd_", PLAIN, 32, ""),
    ("dckr_pat_ dckr_oat_", URL_SAFE, 27, "a"), ("rdme_", LOWER, 70, ""), ("shippo_live_ shippo_test_", HEX, 40, ""),
    ("api_org_ hf_", string.ascii_letters, 34, ""), ("hvs.", URL_SAFE, 95, "a"), ("hvb.", URL_SAFE, 140, "a"),
    ("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58, ""), ("dp.pt. dp.ct. dp.sa. dp.scim.", PLAIN, 43, ""),
    ("sk_live_ sk_test_ rk_live_ sk_prod_ rk_prod_", PLAIN, 24, ""), ("EAAA", URL_SAFE, 60, ""),
    ("sq0atp- sq0csp-", URL_SAFE, 43, ""), ("shpat_ shpca_ shppa_ shpss_", HEX, 32, ""),
    ("duffel_test_ duffel_live_", URL_SAFE, 43, ""), ("EZAK EZTK", PLAIN, 54, ""), ("key-", HEX, 32, ""),
    ("SK", HEX, 32, ""), ("tfp_", URL_SAFE, 59, ""), ("EAAM EAAC", PLAIN, 120, ""), ("lin_api_", PLAIN, 40, ""),
    ("secret_", PLAIN, 43, ""), ("figd_", URL_SAFE, 40, ""), ("fio-u-", URL_SAFE, 64, ""),
    ("sm_aat_ sm_pat_ sm_sat_", PLAIN, 16, ""), ("CFPAT-", URL_SAFE, 42, "a"), ("sl.", URL_SAFE, 135, ""),
    ("pscale_tkn_ pscale_oauth_ pscale_pw_", URL_SAFE, 43, ""), ("glc_", BASE64, 80, ""), ("NRAK-", UPPER, 27, ""),
    ("NRJS-", HEX, 19, ""), ("NRII-", URL_SAFE, 31, "a"), ("phx_", PLAIN, 43, ""), ("jina_", URL_SAFE, 60, ""),
    ("tgp_v1_ wandb_v1_", URL_SAFE, 43, ""), ("p8e-", PLAIN, 32, ""), ("s-s4t2ud- s-s4t2af-", HEX, 64, ""),
    ("sk-ant-api03-", URL_SAFE, 93, "AA"), ("gsk_ xai-", PLAIN, 52, ""), ("pplx-", PLAIN, 48, ""),
    ("nvapi- tvly-", URL_SAFE, 40, ""), ("xapp-1-A", UPPER, 40, ""), ("dapi", HEX, 32, ""), ("cmVmdGtu", PLAIN, 56, ""),
    ("sk-proj-", URL_SAFE, 120, ""), ("sk-or-v1-", HEX, 64, ""), ("sha256~", URL_SAFE, 42, "a"), ("mfa.", URL_SAFE, 84, ""),
)  # fmt: skip


class Token(NamedTuple):
    """A secret, and a text that it stands in."""

    name: str
    secret: str
    text: str


def vendor_tokens(seed: int = 7) -> list[Token]:
    """One of each form, alone in a sentence or where it belongs."""
    rng = random.Random(seed)
    return [*_alone(rng), *_in_place(rng)]


def _drawn(rng: random.Random, alphabet: str, length: int) -> str:
    """Letters and digits as they come, with at least one of each sort that there is, early on."""
    if length == 0:
        return ""
    drawn = rng.choices([each for each in alphabet if each not in "-_+/="], k=1) + rng.choices(alphabet, k=length - 1)
    if length > 10 and set(alphabet) & set(string.digits):
        drawn[2] = rng.choice([each for each in alphabet if each.isdigit()])
    return "".join(drawn)


def _alone(rng: random.Random) -> Iterator[Token]:
    def drawn(alphabet: str, length: int) -> str:
        return _drawn(rng, alphabet, length)

    secrets = {
        prefix: prefix + drawn(alphabet, length) + suffix
        for prefixes, alphabet, length, suffix in _SIMPLE
        for prefix in prefixes.split()
    }
    secrets |= {
        "ntn_": "ntn_" + drawn(string.digits, 11) + drawn(PLAIN, 35),
        "1Password": "A3-" + "-".join(drawn(UPPER, size) for size in (6, 11, 5, 5, 5)),
        "1Password, older": "A3-" + "-".join(drawn(UPPER, size) for size in (6, 6, 5, 5, 5, 5)),
        "1Password service": "ops_eyJ" + "1c2VyQXV0aCI6" + drawn(BASE64, 250),
        "Airtable": "pat" + drawn(PLAIN, 14) + "." + drawn(HEX, 64),
        "Harness": f"pat.{drawn(PLAIN, 22)}.{drawn(PLAIN, 24)}.{drawn(PLAIN, 20)}",
        "Azure AD": drawn(PLAIN, 3) + "8Q~" + drawn(PLAIN, 34),
        "Cloudflare origin": f"v1.0-{drawn(HEX, 24)}-{drawn(HEX, 146)}",
        "ClickHouse": "4b1d" + "Z" + drawn(PLAIN, 37),
        "Discord bot": f"MTA{drawn(PLAIN, 21)}.G{drawn(PLAIN, 5)}.{drawn(PLAIN, 38)}",
        "Telegram": f"{rng.randrange(10**9, 10**10)}:AA{drawn(URL_SAFE, 32)}a",
        "Terraform": f"{drawn(PLAIN, 14)}.atlasv1.{drawn(URL_SAFE, 66)}a",
        "Dynatrace": f"dt0c01.{drawn(UPPER, 24)}.{drawn(UPPER, 64)}",
        "Grafana service": f"glsa_{drawn(PLAIN, 32)}_{drawn(HEX, 8)}",
        "Grafana": "eyJrIjoi" + drawn(PLAIN, 80),
        "Mailchimp": drawn(HEX, 32) + "-us12",
        "MaxMind": f"{drawn(PLAIN, 6)}_{drawn(PLAIN, 29)}_mmk",
        "Mapbox": f"sk.eyJ{drawn(PLAIN, 60)}.{drawn(PLAIN, 22)}",
        "Plaid": f"access-sandbox-{uuid.UUID(int=rng.getrandbits(128))}",
        "Postman": f"PMAK-{drawn(HEX, 24)}-{drawn(HEX, 34)}",
        "Brevo": f"xkeysib-{drawn(HEX, 64)}-{drawn(PLAIN, 16)}",
        "Sentry org": f"sntrys_eyJ1{drawn(BASE64, 90)}_{drawn(PLAIN, 43)}",
        "SendGrid": f"SG.{drawn(PLAIN, 22)}.{drawn(URL_SAFE, 42)}a",
        "Slack bot": f"xoxb-{rng.randrange(10**11, 10**12)}-{rng.randrange(10**11, 10**12)}-{drawn(PLAIN, 24)}",
        "Tailscale": f"tskey-auth-k{drawn(PLAIN, 11)}-{drawn(PLAIN, 32)}",
        "Flutterwave": f"FLWSECK_TEST-{drawn(HEX, 32)}-X",
        "Langfuse": f"sk-lf-{uuid.UUID(int=rng.getrandbits(128))}",
        "CircleCI": f"CCIPAT_{drawn(PLAIN, 22)}_{drawn(HEX, 40)}",
        "Firebase": f"AAAA{drawn(PLAIN, 7)}:APA91b{drawn(URL_SAFE, 133)}a",
        "Defined": f"dnkey-{drawn(PLAIN, 26)}-{drawn(PLAIN, 52)}",
        "Yandex IAM": f"t1.{drawn(PLAIN, 60)}.{drawn(PLAIN, 86)}",
        "Authress": f"authress_{drawn(LOWER, 12)}.{drawn(LOWER, 5)}.acc-{drawn(LOWER, 20)}.{drawn(PLAIN, 60)}",
    }  # fmt: skip
    for name, secret in secrets.items():
        yield Token(name, secret, f"I set it to {secret} today.")


def _in_place(rng: random.Random) -> Iterator[Token]:
    def drawn(alphabet: str, length: int) -> str:
        return _drawn(rng, alphabet, length)

    def put(name: str, secret: str, text: str) -> Token:
        return Token(name, secret, text.replace("@@", secret))

    word, mixed = "hunter-" + "zwei", drawn(PLAIN, 14)
    yield put("SAS", drawn(PLAIN, 43) + "%3D", "https://a.blob.core.windows.net/c/b.csv?sv=2024-01-01&sp=r&sig=@@")
    yield put("SAS, not escaped", drawn(PLAIN, 43) + "=", "?se=2026-01-01&sig=@@&sv=2024-01-01")
    yield put(
        "Discord hook", f"{rng.randrange(10**17, 10**18)}/{drawn(URL_SAFE, 67)}a", "https://discord.com/api/webhooks/@@"
    )
    yield put("Teams hook", f"{uuid.UUID(int=rng.getrandbits(128))}@{uuid.UUID(int=rng.getrandbits(128))}/IncomingWebhook/"
              f"{drawn(HEX, 32)}/{uuid.UUID(int=rng.getrandbits(128))}", "https://x.webhook.office.com/webhookb2/@@")  # fmt: skip
    yield put(
        "Slack hook",
        f"services/T0{drawn(UPPER, 9)}/B0{drawn(UPPER, 9)}/{drawn(PLAIN, 24)}"[9:],
        "https://hooks.slack.com/services/@@",
    )
    yield put("old Vault", "s." + drawn(PLAIN, 24), "VAULT_TOKEN=@@")
    yield put("old Vault in a table", "s." + drawn(PLAIN, 24), "token                @@")
    for command in (
        "curl -u mia:@@ https://api.example/x",
        "curl -s -X POST -u 'mia:@@' https://api.example/x",
        'curl --user "mia:@@" https://api.example/x',
        "curl -umia:@@ https://api.example/x",
        "!curl -L --proxy-user mia:@@ https://api.example/x",
        'subprocess.run(["curl", "-u", "mia:@@", url])',
        "http -a mia:@@ GET example.com/x",
        "mysql -h db -u mia -p@@ shop",
        "mysqldump -umia -p'@@' shop > dump.sql",
        "mysqladmin -u root -p@@ status",
        "sshpass -p @@ ssh mia@host",
        "sshpass -p '@@' scp a mia@host:b",
        "docker login -u mia -p @@ registry.example",
        "redis-cli -h cache -a @@ ping",
        "ldapsearch -x -D cn=mia -w @@ -b dc=x",
        "sqlcmd -S db -U sa -P @@ -Q 'select 1'",
        "mongodump --host db -u mia -p @@",
        "psql postgres://mia:@@@db/shop",
        "PGPASSWORD=@@ psql -h db shop",
        "machine api.example login mia password @@\n",
        "machine api.example\n  login mia\n  password @@\n",
        "default login anonymous password @@",
    ):  # fmt: skip
        for secret in (word, mixed):
            yield put(command, secret, command)
    fernet = base64.urlsafe_b64encode(rng.randbytes(32)).decode()
    for place in (
        "FERNET_KEY=@@",
        "fernet_key: @@",
        "AIRFLOW__CORE__FERNET_KEY=@@",
        'f = Fernet("@@")',
        "f = Fernet(b'@@')",
    ):
        yield put(f"Fernet in {place}", fernet, place)
    salt = drawn(PLAIN, 8)
    for hashed in (
        f"$6${salt}${drawn(PLAIN + './', 86)}",
        f"$6$rounds=5000${salt}${drawn(PLAIN + './', 86)}",
        f"$5${salt}${drawn(PLAIN + './', 43)}",
        f"$1${salt}${drawn(PLAIN + './', 22)}",
        f"$y$j9T${drawn(PLAIN, 22)}${drawn(PLAIN + './', 43)}",
        f"$2b$12${drawn(PLAIN + './', 53)}",
    ):
        yield put(f"shadow {hashed[:4]}", hashed, "mia:@@:19000:0:99999:7:::")


ORDINARY: tuple[str, ...] = (
    "0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a",
    "commit 4b1dabcdefabcdefabcdefabcdefabcdefabcdef",
    "4b1d" + "0f9a8b7c" * 7 + "0f9a",
    "550e8400-e29b-41d4-a716-446655440000",
    "urn:uuid:550e8400-e29b-41d4-a716-446655440000",
    "sha256:" + "0f9a8b7c" * 8,
    "sha256-" + base64.b64encode(bytes(range(32))).decode(),
    '"integrity": "sha512-' + base64.b64encode(bytes(range(64))).decode() + '"',
    "iVBORw0KGgoAAAANSUhEUgAA" + base64.b64encode(bytes(range(200))).decode(),
    "data:image/png;base64," + base64.b64encode(bytes(range(250))).decode(),
    "mkdir -p data/raw/2026-01-02",
    "ssh -p 2222 mia-host",
    "rsync -a src/ dest/",
    "cp -a data backup",
    "sort -u names.txt",
    "git push -u origin main",
    "curl -u mia https://api.example",
    "curl -u $USER:$PASS https://api.example",
    "curl -u ${USER}:${PASS} https://api.example",
    "curl -u user:<password> https://api.example",
    "curl -sSL -o out.json https://api.example/v1/items?page=2",
    "mysql -u mia -p shop",
    "mysql -u mia -p -h db shop",
    "mysql -P 3306 -u mia shop",
    "docker run -p 8888:8888 jupyter/base-notebook",
    "docker run -u 1000:1000 image",
    "kubectl logs -p web-7d4b9c6f5-x2x9k",
    "python -u train.py --lr 0.001",
    "jupyter lab -p 8890",
    "wc -w notes.txt",
    "redis-cli -a $REDIS_PASSWORD ping",
    "sshpass -p $PASSWORD ssh host",
    "the login page asks for a password today",
    "login and password are wrong",
    "machine learning login password flow",
    "$6 for lunch, $5 for coffee, $1 off",
    "echo $1$2 | awk '{print $1$3}'",
    "s.append(value); self.s.update_layer_names_2",
    "layers.conv2d_transpose_block1_residual_out",
    "model.encoder.layer.11.attention.self.query.weight",
    "feature_2024_01_revenue_per_customer_mean_30d",
    "x_train_scaled_pca_components_128_whitened",
    "test_that_the_42nd_value_is_kept_when_sorted",
    "secret_santa_list_for_2026_and_later_years_at_the_office",
    "npm_config_registry_2_and_other_names_of_settings",
    "api_org_chart_of_2026_with_all_the_departments_in_it",
    "pat.match(line).group(1)",
    "dp.pt.shape[0]",
    "hvs.count(3)",
    "df.groupby('key').agg({'x': 'mean'})",
    "key-value pairs of 32 entries",
    "sl.SomeLongClassNameOfTheLibrary2",
    "https://example.com/search?sig=abc&page=2",
    "https://discord.com/api/webhooks/",
    "https://discord.com/channels/123456789012345678/234567890123456789",
    "12:34:56:AA:BB:CC",
    "MAC 00:1A:2B:3C:4D:5E",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "us-east-1, eu-west-3-us12, ap-us2",
    "ATATAT TATATA GCGCGC ATBBAT",
    "SKU12345678",
    "SKLEARN_SITE_JOBLIB",
    "EAAB GEAACGT" + "ACGT" * 30,
    ">seq1\n" + "MTEYKLVVVGAGGVGKSALTIQLIQNHFVDEYDPTIEDSYRKQVVIDGETCLLDILDTAGQEEYSAMRDQYMRTGEGFLCVFAINN",
    "2026-01-02T03:04:05.678901Z,0.123456789012345,-0.000000000123456",
    "[0.12345678901234567, 1.2345678901234567e-05]",
    "pip install torch==2.3.1+cu121 -f https://download.pytorch.org/whl/torch_stable.html",
    "numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "arn:aws:s3:::bucket/2026/01/02/part-00000-550e8400-e29b-41d4-a716-446655440000-c000.snappy.parquet",
    "Fernet(key)",
    "Fernet.generate_key()",
    "Q~ is a name; 8Q~",
    "v1.0-beta.2, v1.0-rc1",
    "A3-paper, A3-landscape",
    "t1.join(t2, on='id')",
)
"""What must stay as it is."""

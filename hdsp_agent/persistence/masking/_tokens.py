"""Tokens that are known by their prefix, wherever they stand."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from ._rule_candidates import MaskingRule, SecretFound
from ._token_forms import TOKEN_HEAD, token_rule
from ._values import is_random
from ._vendor_tokens import VAULT_TOKEN, vendor_token_at

__all__ = ["TOKEN_RULES", "decoded_base64", "token_at"]


def _openai_body(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    body = match["body"].rstrip("-")
    if len(body) < 20:
        return None
    # sk- also starts the class names of scikit-learn's diagrams; only a key has digits inside a long unbroken run.
    drawn = any(len(p) >= 30 or (len(p) >= 12 and any(map(str.isdigit, p))) for p in re.split("[-_]", body))
    named = len(body) >= 40 and body.startswith(("proj-", "svcacct-", "admin-"))
    if not is_random(body, 4 if named else 12) or not (drawn or named):
        return None
    return SecretFound(match.start(), match.start("body") + len(body), "openai-key", "OPENAI_KEY")


def _webhook(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    if not is_random(match["path"], 8) or not any(map(str.isdigit, match["path"])):
        return None
    return SecretFound(match.start("path"), match.end("path"), "slack-token", "SLACK_TOKEN")


_JWT_HEADER: Final = re.compile(rb'"(?:alg|typ|enc|kid|cty)"')


def _jwt(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    parts = match[0].split(".")
    if match[0].startswith("eyJrIjoi") and len(parts[0]) >= 68:
        # No web token: Grafana's keys are a JSON object that begins with "k".
        return SecretFound(match.start(), match.start() + len(parts[0]), "assigned-secret", "API_KEY")
    if len(parts) < 2 or len(parts[1]) < 8:
        return None
    header = decoded_base64(parts[0].replace("-", "+").replace("_", "/"))
    if header is None or _JWT_HEADER.search(header) is None:
        return None
    return SecretFound(match.start(), match.start() + len(match[0].rstrip(".")), "jwt", "JWT")


def decoded_base64(text: str) -> bytes | None:
    """What the text stands for, padded or not; nothing if it is not base64."""
    stripped = text.rstrip("=")
    try:
        return base64.b64decode(stripped + "=" * (-len(stripped) % 4), validate=True)
    except binascii.Error:
        return None


TOKEN_RULES: Final = (
    token_rule("github-token", "GITHUB_TOKEN", "ghp_ gho_ ghr_", r"[A-Za-z0-9]{30,}", extra=""),
    token_rule("github-token", "GITHUB_TOKEN", "ghu_ ghs_", r"[A-Za-z0-9_.-]{30,}(?<![.-])", extra="_.-"),
    token_rule("github-token", "GITHUB_TOKEN", "github_pat_", r"[A-Za-z0-9_]{22,}", extra="_"),
    token_rule(
        "gitlab-token",
        "GITLAB_TOKEN",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt-",
        r"[A-Za-z0-9_.-]{20,}(?<![.])",
        extra="_.-",
        run=5,
    ),
    token_rule("anthropic-key", "ANTHROPIC_KEY", "sk-ant-", r"[A-Za-z0-9_-]{20,}"),
    token_rule("aws-key", "AWS_KEY", "AKIA ASIA", r"[A-Z0-9]{16}\Z", extra="", mixed=False),
    token_rule("google-key", "GOOGLE_KEY", "AIza", r"[A-Za-z0-9_-]{35,}", run=6),
    token_rule("google-key", "GOOGLE_KEY", "GOCSPX-", r"[A-Za-z0-9_-]{20,}", run=6),
    token_rule("google-key", "GOOGLE_KEY", "ya29. AQ.Ab", r"[A-Za-z0-9_.-]{20,}(?<![.])", extra="_.-", run=8),
    token_rule("slack-token", "SLACK_TOKEN", "xapp- xoxe.xoxp-", r"[A-Za-z0-9-]{20,}", extra="-", run=10),
    token_rule(
        "slack-token",
        "SLACK_TOKEN",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs-",
        r"[A-Za-z0-9%-]{14,}",
        extra="%-",
        run=8,
    ),
    token_rule("huggingface-token", "HUGGINGFACE_TOKEN", "hf_", r"[A-Za-z0-9]{30,}", extra=""),
    # Providers that speak OpenAI's protocol, and services whose keys notebooks often carry.
    token_rule("openai-key", "API_KEY", "gsk_ xai- pplx- csk- fw_", r"[A-Za-z0-9]{24,}", extra=""),
    token_rule("openai-key", "API_KEY", "nvapi- tvly- pcsk_ lsv2_ r8_", r"[A-Za-z0-9_-]{24,}"),
    token_rule("assigned-secret", "API_KEY", "npm_ dop_v1_ dapi whsec_", r"[A-Za-z0-9]{30,}", extra=""),
    token_rule("assigned-secret", "API_KEY", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{20,}", extra=""),
    token_rule(
        "assigned-secret", "API_KEY", "pypi-AgE dckr_pat_ dckr_oat_ SG.", r"[A-Za-z0-9_.-]{24,}(?<![.])", extra="_.-"
    ),
    MaskingRule(
        frozenset({"openai-key"}),
        ("sk-",),
        re.compile(r"sk-(?P<body>[A-Za-z0-9_-]*)"),
        _openai_body,
        limit=600,
        head=TOKEN_HEAD,
    ),
    MaskingRule(
        frozenset({"slack-token"}),
        ("hooks.slack.com/",),
        re.compile(r"hooks\.slack\.com/(?:[a-z]{0,16}/)?(?P<path>[A-Za-z0-9_/-]*)"),
        _webhook,
        limit=300,
    ),
    MaskingRule(
        frozenset({"jwt", "assigned-secret"}),
        ("eyJ",),
        re.compile(r"eyJ[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*){0,4}"),
        _jwt,
        limit=8192,
        head=TOKEN_HEAD,
    ),
)
# "s." is too common to be looked for everywhere.
_BY_PREFIX: Final = {trigger: rule for rule in (*TOKEN_RULES, VAULT_TOKEN) for trigger in rule.triggers}
_TOKEN_START: Final = re.compile("|".join(map(re.escape, sorted(_BY_PREFIX, key=len, reverse=True))))


def token_at(text: str, start: int) -> SecretFound | None:
    """A token with a known prefix that starts just here: it says more about itself than the name before it."""
    trigger = _TOKEN_START.match(text, start)
    found = None
    if trigger is not None:
        rule = _BY_PREFIX[trigger[0]]
        match = rule.reach.match(text, start, start + rule.limit)
        found = None if match is None else rule.check(text, match, start)
    return found or vendor_token_at(text, start)

"""Tokens of many services, known by their prefix and their form.

Which prefixes and lengths there are is what the services document, and what scanners such as gitleaks look for. There
are too many prefixes to look for each: what is looked for are separators with a long part behind them, of which there
are few, and of those words the beginning is compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ...config import MaskedKind
from ._rule_candidates import WORD, MaskingRule, SecretFound
from ._token_forms import TOKEN_HEAD, followed_by, starts_token
from ._values import is_random

__all__ = ["VAULT_TOKEN", "VENDOR_RULES", "vendor_token_at"]

_KIND: Final[MaskedKind] = "assigned-secret"
_LABEL: Final = "API_KEY"
_PLAIN: Final = "A-Za-z0-9"
_END: Final = r"(?![A-Za-z0-9])"
_LONGEST_PREFIX: Final = 64
_LEAST: Final = 16
"""What is looked for has so many letters behind it at least; no token is shorter."""
_LIMIT: Final = 400
_LONG_LIMIT: Final = 1_300


class _Form(NamedTuple):
    """How what follows some prefixes looks, and how long a part of it without a break has to be."""

    prefixes: tuple[str, ...]
    body: re.Pattern[str]
    run: int
    kind: MaskedKind
    label: str


def _vendor(prefixes: str, body: str, *, run: int = 8, kind: MaskedKind = _KIND, label: str = _LABEL) -> _Form:
    return _Form(tuple(prefixes.split()), re.compile(body), run, kind, label)


def _looked_for(
    prefixes: str, body: str, *, run: int = 8, kind: MaskedKind = _KIND, label: str = _LABEL
) -> MaskingRule:
    """A token whose prefixes end in no separator and are looked for themselves."""
    form = _vendor(prefixes, body, run=run, kind=kind, label=label)
    alternatives = "|".join(map(re.escape, form.prefixes))
    reach = re.compile(rf"(?:{alternatives})[{_PLAIN}_+/=~-]*")
    return MaskingRule(
        frozenset({form.kind}),
        form.prefixes,
        reach,
        lambda text, match, floor: _fitting(text, match.start(), match.end(), form.prefixes, form),
        limit=_LONG_LIMIT,
        head=TOKEN_HEAD,
        ahead=followed_by(r"A-Za-z0-9_+/=~\-", _LEAST),
    )


def _fitting(text: str, start: int, end: int, prefixes: Iterable[str], form: _Form) -> SecretFound | None:
    prefix = next((each for each in prefixes if text.startswith(each, start)), None)
    found = None if prefix is None else form.body.match(text, start + len(prefix))
    if found is None or found.end() > end or not is_random(found[0], form.run, mixed=False):
        return None
    return SecretFound(start, found.end(), form.kind, form.label)


def _inside(
    trigger: str,
    before: str,
    after: str,
    *,
    also: str | None,
    kind: MaskedKind = _KIND,
    label: str = _LABEL,
    behind: str = "",
) -> MaskingRule:
    """A token that is known by what stands in its middle or at its end, of letters, digits and what is ``also`` in it."""
    head, rest = re.compile(rf"(?:{before})\Z"), re.compile(after)
    letters = _PLAIN + re.escape(also or "")
    reach = re.compile(rf"{re.escape(trigger)}[{letters}]*")

    def check(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
        first = head.search(text, max(floor, match.start() - _LONGEST_PREFIX), match.start())
        last = rest.match(text, match.start() + len(trigger))
        if first is None or last is None or last.end() > match.end() or not starts_token(text, first.start()):
            return None
        return SecretFound(first.start(), last.end(), kind, label)

    ahead = "" if also is None else followed_by(letters, _LEAST)
    return MaskingRule(frozenset({kind}), (trigger,), reach, check, limit=_LIMIT, ahead=ahead, behind=behind)


def _hook(trigger: str, path: str) -> MaskingRule:
    """An address whose path is the secret: whoever knows it may post."""
    reach = re.compile(rf"{re.escape(trigger)}(?P<path>[A-Za-z0-9/@_-]*)")
    fits = re.compile(path)

    def check(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
        if fits.fullmatch(match["path"]) is None:
            return None
        return SecretFound(match.start("path"), match.end("path"), _KIND, _LABEL)

    return MaskingRule(frozenset({_KIND}), (trigger,), reach, check, limit=_LIMIT)


_SAS: Final = re.compile(r"sig=(?P<value>[A-Za-z0-9%+/_=-]*)")


def _sas(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    """The signature of an address of Azure's storage: 32 bytes in base64, mostly with its signs escaped."""
    value = match["value"]
    if text[max(0, match.start() - 1) : match.start()].isalnum() or not 40 <= len(value) <= 120:
        return None
    if not value.lower().endswith(("=", "%3d")) or not is_random(value, 6, mixed=True):
        return None
    return SecretFound(match.start("value"), match.end(), _KIND, "SECRET")


VAULT_TOKEN: Final = MaskingRule(
    frozenset({_KIND}),
    ("s.",),
    re.compile(r"s\.[A-Za-z0-9]*"),
    lambda text, match, floor: (
        SecretFound(match.start(), match.end(), _KIND, _LABEL)
        if len(match[0]) == 26 and is_random(match[0][2:], 24, mixed=True)
        else None
    ),
)
"""A token of HashiCorp Vault before 1.10, which is known only where a name says that a token follows."""

# The beginnings of a number of Discord's, written in base64.
_DISCORD: Final = " ".join(first + second for first in "MNO" for second in "DTjz")

_FORMS: Final = (
    # ---- clouds
    _vendor("bedrock-api-key-", r"[A-Za-z0-9+/=_-]{30,}", kind="aws-key", label="AWS_KEY"),
    _vendor("doo_v1_ dor_v1_", r"[0-9a-f]{64}" + _END),
    _vendor("t1.", r"[A-Za-z0-9_-]{3,500}={0,2}\.[A-Za-z0-9_-]{80,}={0,2}"),
    _vendor("HRKU-AA", r"[A-Za-z0-9_-]{50,}"),
    _vendor("fo1_", r"[A-Za-z0-9_-]{40,}"),
    _vendor("fm1r_ fm1a_ fm2_", r"[A-Za-z0-9+/]{60,}={0,3}"),
    _vendor("tk-us-", r"[A-Za-z0-9_-]{48}" + _END),
    _vendor("v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    _vendor("CLOJARS_", r"[A-Za-z0-9]{60}" + _END),
    # ---- code and its delivery
    _vendor("rubygems_", r"[0-9a-f]{48}" + _END),
    _vendor("squ_ sqp_ sqa_", r"[0-9a-f]{40}" + _END),
    _vendor("sgp_", r"(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}" + _END),
    _vendor("CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{20,24}_[0-9a-f]{40}" + _END),
    _vendor("bkua_ bkct_", r"[0-9a-f]{40}" + _END),
    _vendor("pul-", r"[0-9a-f]{40}" + _END),
    _vendor("pnu_ pnb_", r"[A-Za-z0-9]{36}" + _END),
    _vendor("API-", r"[A-Z0-9]{26}" + _END),
    _vendor("ico-", r"[A-Za-z0-9]{32}" + _END),
    _vendor("sntrys_eyJ", r"[A-Za-z0-9+/=]{20,}_[A-Za-z0-9+/]{40,}"),
    _vendor("sntryu_", r"[0-9a-f]{64}" + _END),
    _vendor("nfp_ vcp_ vci_ vca_ vcr_ vck_", r"[A-Za-z0-9]{24,}"),
    _vendor("sbp_ sbp_oauth_", r"(?:v0_)?[0-9a-f]{40}" + _END),
    _vendor("sb_secret_", r"[A-Za-z0-9_-]{20,}"),
    _vendor("rnd_", r"[A-Za-z0-9]{28,36}" + _END),
    _vendor("tskey-", r"[a-z]{2,12}-[A-Za-z0-9]{6,}(?:CNTRL)?-[A-Za-z0-9]{20,}"),
    _vendor("dckr_oat_", r"[A-Za-z0-9_-]{20,}"),
    _vendor("PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}" + _END),
    _vendor("rdme_", r"[a-z0-9]{70}" + _END),
    _vendor("shippo_live_ shippo_test_", r"[0-9a-fA-F]{40}" + _END),
    # ---- secrets of secret keepers
    _vendor("hvs. hvr.", r"[A-Za-z0-9_-]{20,}"),
    _vendor("hvb.", r"[A-Za-z0-9_-]{100,}"),
    _vendor("ops_eyJ", r"[A-Za-z0-9+/=_-]{100,}"),
    _vendor("AGE-SECRET-KEY-1", r"[A-Z0-9]{58}" + _END),
    _vendor("dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}" + _END),
    # ---- money and shops
    _vendor("sk_prod_ rk_prod_", r"[A-Za-z0-9]{20,}"),
    _vendor("EAAA", r"[A-Za-z0-9_-]{56,}"),
    _vendor("sq0atp- sq0csp- sq0idp-", r"[A-Za-z0-9_-]{22,60}"),
    _vendor("shpat_ shpca_ shppa_ shpss_ shptka_", r"[0-9a-fA-F]{32}" + _END),
    _vendor("duffel_test_ duffel_live_", r"[A-Za-z0-9_=-]{43}"),
    # ---- messages, mail, people
    _vendor("xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}" + _END),
    _vendor("key-", r"[0-9a-f]{32}" + _END),
    _vendor("tfp_", r"[A-Za-z0-9_.=-]{40,}"),
    _vendor("lin_api_ lin_oauth_", r"[A-Za-z0-9]{40,64}" + _END),
    _vendor("ntn_", r"[0-9]{11}[A-Za-z0-9]{35}" + _END),
    _vendor("secret_", r"[A-Za-z0-9]{43}" + _END),
    _vendor("figd_ figu_", r"[A-Za-z0-9_-]{36,}"),
    _vendor("fio-u-", r"[A-Za-z0-9_=-]{64}"),
    _vendor("sm_aat_ sm_pat_ sm_sat_", r"[A-Za-z0-9]{16}" + _END),
    _vendor("CFPAT-", r"[A-Za-z0-9_-]{43}" + _END),
    _vendor("dnkey-", r"[A-Za-z0-9_=-]{26}-[A-Za-z0-9_=-]{52}"),
    _vendor("authress_ scauth_", r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}"),
    _vendor("sl.", r"(?:u\.)?[A-Za-z0-9_=-]{120,}"),
    _vendor(_DISCORD, r"[A-Za-z0-9_-]{21,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}" + _END),
    _vendor("mfa.", r"[A-Za-z0-9_-]{80,}"),
    # ---- data, maps, watching
    _vendor("pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}" + _END),
    _vendor("pat. sat.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}" + _END),
    _vendor("pscale_tkn_ pscale_oauth_ pscale_pw_", r"[A-Za-z0-9_=.-]{32,64}"),
    _vendor("dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}" + _END),
    _vendor("glc_", r"[A-Za-z0-9+/]{32,400}={0,3}"),
    _vendor("glsa_", r"[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}" + _END),
    _vendor("NRAK-", r"[A-Z0-9]{27}" + _END),
    _vendor("NRJS- NRAL-", r"[0-9a-f]{19}" + _END),
    _vendor("NRII- NRRA-", r"[A-Za-z0-9_-]{32}" + _END),
    _vendor("sk.eyJ pk.eyJ", r"[A-Za-z0-9_-]{50,}\.[A-Za-z0-9_-]{20,}"),
    _vendor("phx_", r"[A-Za-z0-9]{40,}"),
    _vendor("jina_", r"[A-Za-z0-9_-]{50,}"),
    _vendor("tgp_v1_", r"[A-Za-z0-9_-]{40,}"),
    _vendor("wandb_v1_", r"[A-Za-z0-9_-]{40,}"),
    _vendor("sk-lf-", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}" + _END),
    _vendor("p8e-", r"[A-Za-z0-9_-]{32}" + _END),
    _vendor("s-s4t2ud- s-s4t2af-", r"[0-9a-f]{64}" + _END),
    _vendor("A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}" + _END, run=6),
    _vendor("FLWSECK_TEST- FLWSECK-", r"[0-9a-h]{12,32}(?:-X)?" + _END),
    _vendor("access-sandbox- access-production- access-development-", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
)  # fmt: skip

_BY_PREFIX: Final = {prefix: form for form in _FORMS for prefix in form.prefixes}
_PREFIX: Final = re.compile(
    "|".join(
        f"{re.escape(first)}(?:{'|'.join(re.escape(p[1:]) for p in sorted(_BY_PREFIX, key=len, reverse=True) if p[0] == first)})"
        for first in sorted({prefix[0] for prefix in _BY_PREFIX})
    )
)
_WORD_BACK: Final = re.compile(r"[A-Za-z0-9_.~-]{0,64}")
_PART: Final = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]")
_HEAD: Final = re.compile(r"[A-Za-z0-9_.~+/=-]{0,16}")
_REST: Final = re.compile(r"[A-Za-z0-9_.~+/=-]*")


def vendor_token_at(text: str, start: int, end: int | None = None) -> SecretFound | None:
    """A token with one of the known prefixes that starts just here."""
    prefix = _PREFIX.match(text, start)
    if prefix is None:
        return None
    # The longest: no body begins with what makes another prefix of its own.
    return _fitting(text, start, len(text) if end is None else end, (prefix[0],), _BY_PREFIX[prefix[0]])


def _starts(text: str, at: int, floor: int) -> Iterator[int]:
    """Where a token may begin that has this separator in it: where a part of the word does, or behind an escape."""
    back = _WORD_BACK.match(text[max(floor, at - _LONGEST_PREFIX) : at][::-1])
    first = at - (0 if back is None else back.end())
    for part in _PART.finditer(text, first, at):
        yield part.start()
    if text[max(0, first - 1) : first] in {"\\", "%", "[", ";"}:
        # An escape ends in letters that do not belong to the word.
        yield from (start for start in range(first + 1, min(at, first + 9)) if starts_token(text, start))


def _begins(text: str, match: re.Match[str]) -> bool:
    return any(_PREFIX.match(text, start) is not None for start in _starts(text, match.start(), 0))


def _word(text: str, match: re.Match[str], floor: int) -> SecretFound | None:
    """A token in the word that the separator stands in."""
    starts = _starts(text, match.start(), floor)
    return next((found for start in starts if (found := vendor_token_at(text, start, match.end())) is not None), None)


VENDOR_RULES: Final = (
    MaskingRule(frozenset({form.kind for form in _FORMS}), (WORD,), _REST, _word, limit=_LONG_LIMIT, head=(_HEAD, _begins)),
    _inside(
        "Q~", r"[A-Za-z0-9_~.]{3}[0-9]", r"[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])", also="_~.-", behind="[0-9]"
    ),
    MaskingRule(frozenset({_KIND}), ("sig=",), _SAS, _sas, ahead=followed_by(r"A-Za-z0-9%+/_=\-", _LEAST)),
    _looked_for("_gitlab_session=", r"[0-9a-z]{32}" + _END, kind="gitlab-token", label="GITLAB_TOKEN"),
    _inside(".atlasv1.", r"[A-Za-z0-9]{14}", r"[A-Za-z0-9_=-]{60,}", also="_=-"),
    _inside(":AA", r"(?<![0-9])[0-9]{8,11}", r"[A-Za-z0-9_-]{32,33}(?![A-Za-z0-9_-])", also="_-", behind="[0-9]"),
    _inside(":APA91b", r"[A-Za-z0-9_-]{7,30}", r"[A-Za-z0-9_-]{100,}", also="_-"),
    _inside("-us", r"(?<![0-9a-f])[0-9a-f]{32}", r"[0-9]{1,2}" + _END, also=None, behind="[0-9a-f]"),
    _inside("_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}", _END, also=None, behind="[A-Za-z0-9]"),
    _hook("api/webhooks/", r"[0-9]{15,22}/[A-Za-z0-9_-]{50,}"),
    _hook("webhook.office.com/webhookb2/", r"[0-9a-f@-]{60,}/IncomingWebhook/[0-9a-f]{32}/[0-9a-fA-Z0-9_-]{20,}(?:/[\w-]+)?"),
    _looked_for("ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])", kind="aws-key", label="AWS_KEY"),
    _looked_for("ABSK", r"[A-Za-z0-9+/]{60,}={0,2}", kind="aws-key", label="AWS_KEY"),
    _looked_for("LTAI", r"[A-Za-z0-9]{16,26}(?![A-Za-z0-9])"),
    _looked_for("AQVN", r"[A-Za-z0-9_-]{35,38}" + _END),
    _looked_for("YCA YCM YCN YCO YCP", r"[A-Za-z0-9_-]{37}" + _END),
    _looked_for("4b1d", r"(?=[0-9a-f]*[A-Zg-z])[A-Za-z0-9]{38}" + _END),
    _looked_for("ATATT3 ATCTT3 ATSTT3", r"[A-Za-z0-9_=-]{60,}"),
    _looked_for("ATBB", r"[A-Za-z0-9]{28,36}" + _END),
    _looked_for("GR1348941", r"[A-Za-z0-9_-]{20,}", kind="gitlab-token", label="GITLAB_TOKEN"),
    _looked_for("pypi-AgE", r"[A-Za-z0-9_-]{40,}"),
    _looked_for("AKCp", r"[A-Za-z0-9]{60,}"),
    _looked_for("cmVmdGtu", r"[A-Za-z0-9]{50,}"),
    _looked_for("sha256~", r"[A-Za-z0-9_-]{43}" + _END),
    _looked_for("api_org_", r"[A-Za-z]{30,}", kind="huggingface-token", label="HUGGINGFACE_TOKEN"),
    _looked_for("EZAK EZTK", r"[A-Za-z0-9]{54}" + _END),
    _looked_for("SK", r"[0-9a-f]{32}" + _END),
    _looked_for("EAAM EAAC EAAB EAAG EAAJ", r"[A-Za-z0-9]{80,}"),
)  # fmt: skip
"""By which tokens of other services are found."""

"""Secrets that the name of their service and their form tell go; what only has such a name, or such a form, stays."""

from __future__ import annotations

import json
import random
import re
import string
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as patterns  # type: ignore[attr-defined]

import pytest

from hdsp_agent.config import ALL_MASKED_KINDS
from hdsp_agent.persistence.masking._masker import Masker
from hdsp_agent.persistence.masking._service_secrets import SERVICES

_SIGNS = string.ascii_letters + string.digits


def _drawn(tree: object, chance: random.Random) -> str:
    """A text that a pattern fits, drawn by lot."""
    text = ""
    for code, value in tree:  # type: ignore[attr-defined]
        if code is codes.LITERAL:
            text += chr(value)
        elif code is codes.IN:
            fits = re.compile("[" + "".join(map(_class, value)) + "]")
            text += chance.choice([sign for sign in _SIGNS if fits.match(sign)])
        elif code is codes.BRANCH:
            text += _drawn(chance.choice(value[1]), chance)
        elif code is codes.SUBPATTERN:
            text += _drawn(value[-1], chance)
        else:
            assert code is codes.MAX_REPEAT, code
            least, most, repeated = value
            times = chance.randint(max(least, 1), min(most, max(least, 1) + 5))
            text += "".join(_drawn(repeated, chance) for _ in range(times))
    return text


def _class(part: tuple[object, object]) -> str:
    code, value = part
    if code is codes.RANGE:
        return "-".join(re.escape(chr(end)) for end in value)  # type: ignore[attr-defined]
    if code is codes.CATEGORY:
        return r"\d" if value is codes.CATEGORY_DIGIT else r"\w"
    return re.escape(chr(value))  # type: ignore[arg-type]


def secrets() -> list[tuple[str, str]]:
    """A name and a secret for each rule."""
    chance = random.Random(31)
    drawn = [(service.names[0], _drawn(patterns.parse(service.value), chance)) for service in SERVICES]
    # One of a few digits or letters alone may be a number or a word.
    return [(name, secret) for name, secret in drawn if re.search("[0-9]", secret) and re.search("[a-zA-Z]", secret)]


SECRETS = secrets()
FORMS = (
    "{name} = '{secret}'", '{{"{name}": "{secret}"}}', "{name}: {secret}\n", "export {name}_app={secret}\n",
    'client = Client({name}_account="{secret}")', "{name}_id => '{secret}'",
)  # fmt: skip
ORDINARY = (
    "linear = torch.nn.Linear(in_features=1024, out_features=4096)",
    "sentry = 'https://docs.sentry.io/platforms/python/'",
    "heroku: deployment of 2024-05-01 done",
    "twitter = load_dataset('sentiment140_tweets_2009')",
    "dropbox = 'quarterly_reports'",
    "twitter_handle = 'international_weather24'",
    "datadog-agent==7.52.1",
    "jira: ABC-12345",
    "travis: ubuntu-22.04-python3.12",
    "confluence = 'https://team.atlassian.net/wiki/spaces/DATA/pages/1234567890'",
    "discord_channel: 556134227733087254",
    "looker = {'model': 'thelook_ecommerce_2024'}",
    "okta_user = 'firstname.lastname@' + domain",
    "sonar-project.properties: sonar.sources=src",
    "snyk: found 12 issues",
    "kraken = pd.read_csv('kraken_ohlc_2023_btc_usd.csv')",
    "facebook = 'prophet-1.1.5-py3-none-manylinux_2_17_x86_64'",
)


def masked(text: str) -> str:
    return Masker(ALL_MASKED_KINDS).mask(text)


def test_there_are_many() -> None:
    assert len(SECRETS) >= 80


@pytest.mark.parametrize(("name", "secret"), SECRETS)
def test_a_secret_of_a_service_goes(name: str, secret: str) -> None:
    for form in FORMS:
        text = form.format(name=name, secret=secret)
        assert secret not in masked(text), text
        assert json.dumps(secret) not in masked(json.dumps(text)), text


@pytest.mark.parametrize(("name", "secret"), SECRETS[::4])
def test_wherever_it_is_cut_the_outcome_is_that_of_the_whole(name: str, secret: str) -> None:
    text = f"Before it. {name} = '{secret}' And after."
    whole = masked(text)
    assert secret not in whole
    for place in range(1, len(text)):
        stream = Masker(ALL_MASKED_KINDS).stream()
        assert stream.feed(text[:place]) + stream.feed(text[place:]) + stream.finish() == whole


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    assert masked(text) == text

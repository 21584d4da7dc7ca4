"""Refusals in the form that each provider's own have, so that every client shows the sentence in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from .budget_book import BudgetRefusal, BudgetUse
from .policies import GroupPolicy, HubPolicies, Language, ProviderProtocol

__all__ = ["Refusal", "budget_notice", "budget_refusal", "model_refusal"]

_HELD_SECONDS: Final = 5

_TEXTS: Final[Mapping[Language, Mapping[str, str]]] = {
    "en": {
        "user": "Your budget of {limit} a {period} is used up. It starts again on {ends}.",
        "group": "The budget of {limit} a {period} that the group {group} shares is used up. It starts again on {ends}.",
        "all": "The budget of {limit} a {period} that everybody shares is used up. It starts again on {ends}.",
        "held": "Requests under way may use up the rest of the budget of {limit} a {period}. Try again in {seconds} seconds.",
        "model": "You may not use the model {model} here. Allowed: {models}.",
        "nothing": "You may use no models here.",
        "tokens": "{amount} tokens",
        "dollars": "US${amount}",
        "day": "day",
        "week": "week",
        "month": "month",
    },
    "ko": {
        "user": "예산({period} {limit})을 모두 사용했습니다. 예산 사용량은 {ends}에 초기화됩니다.",
        "group": "{group} 그룹이 함께 쓰는 예산({period} {limit})을 모두 사용했습니다. 예산 사용량은 {ends}에 초기화됩니다.",
        "all": "모두가 함께 쓰는 예산({period} {limit})을 모두 사용했습니다. 예산 사용량은 {ends}에 초기화됩니다.",
        "held": "진행 중인 요청이 남은 예산({period} {limit})을 다 쓸 수 있습니다. {seconds}초 뒤에 다시 시도하세요.",
        "model": "여기서는 {model} 모델을 사용할 수 없습니다. 사용할 수 있는 모델: {models}.",
        "nothing": "여기서 사용할 수 있는 모델이 없습니다.",
        "tokens": "토큰 {amount}개",
        "dollars": "US${amount}",
        "day": "하루",
        "week": "한 주",
        "month": "한 달",
    },
    "ja": {
        "user": "予算（{period}あたり{limit}）を使い切りました。使用量は {ends} にリセットされます。",
        "group": "グループ {group} で共有している予算（{period}あたり{limit}）を使い切りました。使用量は {ends} にリセットされます。",
        "all": "全員で共有している予算（{period}あたり{limit}）を使い切りました。使用量は {ends} にリセットされます。",
        "held": "実行中のリクエストが残りの予算（{period}あたり{limit}）を使い切る可能性があります。{seconds}秒後にもう一度お試しください。",
        "model": "ここではモデル {model} を使用できません。使用できるモデル: {models}。",
        "nothing": "ここで使用できるモデルはありません。",
        "tokens": "{amount}トークン",
        "dollars": "US${amount}",
        "day": "1日",
        "week": "1週間",
        "month": "1か月",
    },
}


class Refusal(Exception):
    """A request that is not passed on: a status, a sentence for the person, and a code for programs."""

    def __init__(self, status: int, code: str, message: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        # Both SDKs try again otherwise.
        self.headers = {"x-should-retry": "false", **(headers or {})}

    def body(self, protocol: ProviderProtocol) -> dict[str, JsonValue]:
        """What the client is sent."""
        if protocol == "anthropic":
            return {"type": "error", "error": {"type": self.code, "message": self.message}}
        return {"error": {"message": self.message, "type": self.code, "param": None, "code": self.code}}


def budget_refusal(refused: BudgetRefusal, policies: HubPolicies, policy: GroupPolicy) -> Refusal:
    """The budget, when it starts again, and who to ask."""
    use = refused.use
    if refused.is_held:
        text = _sentence(policies, "held", use, seconds=str(_HELD_SECONDS))
        headers = {"x-should-retry": "true", "retry-after": str(_HELD_SECONDS)}
        return Refusal(429, "rate_limit_error", text, headers=headers)
    sentences = [_sentence(policies, use.budget.per, use), policies.ask if policy.ask is None else policy.ask]
    return Refusal(429, "budget_reached", " ".join(sentence for sentence in sentences if sentence))


def model_refusal(model: str, policies: HubPolicies, policy: GroupPolicy | None) -> Refusal:
    """The models one may use instead, and who to ask."""
    texts = _TEXTS[policies.language]
    allowed = list(policies.models_of(policy)) if policy is not None else []
    shown = model if len(model) <= 100 else f"{model[:100]}…"
    said = texts["model"].format(model=shown, models=", ".join(name for _, name in allowed))
    sentences = [
        said if allowed else texts["nothing"],
        policies.ask if policy is None or policy.ask is None else policy.ask,
    ]
    code = "model_not_allowed" if allowed else "permission_error"
    return Refusal(403, code, " ".join(sentence for sentence in sentences if sentence))


def budget_notice(use: BudgetUse) -> str:
    """The header that tells of a budget that is nearly used."""
    return f"{int(use.share * 100)}% of {_amount(use, 'en')} a {use.budget.period}; starts again {use.ends.isoformat()}"


def _sentence(policies: HubPolicies, name: str, use: BudgetUse, **more: str) -> str:
    texts = _TEXTS[policies.language]
    return texts[name].format(
        limit=_amount(use, policies.language),
        period=texts[use.budget.period],
        group=use.group,
        ends=f"{use.ends:%Y-%m-%d %H:%M} ({policies.time_zone})",
        **more,
    )


def _amount(use: BudgetUse, language: Language) -> str:
    number = f"{int(use.limit):,}" if use.unit == "tokens" else f"{use.limit:,.2f}"
    return _TEXTS[language][use.unit].format(amount=number)

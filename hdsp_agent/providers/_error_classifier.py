"""From a provider's refusal to its class, the numbers in it and the message at fault.

Wordings differ from provider to provider and change every month, so nothing here matches whole sentences: a class is
recognised by what must be said together. Only refusals belong here: text of a tool that quotes one is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from ._error_payload import NULL_INPUT, ErrorPayload, read_payload
from ._model_error import REFUSED, REMEDIES, ErrorClass, ModelError
from ._token_numbers import TokenNumbers, token_numbers

__all__ = ["classify", "is_silently_truncated"]


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_EMPTY: Final = _any(
    r"non-?(?:empty|whitespace|blank) (?:content|text|message|string|parts?)",
    r"(?:content|text|parts?|messages?|parameter|field|blocks?|string)\b[^.]{0,60}\b(?:must|can ?not|should|may) (?:not be|be not|be non-?)\s*(?:empty|blank)",
    r"(?:content|text|parts?)\b[^\n]{0,90}?\b(?:is|are) (?:empty|blank)\b",
    r"(?:content|text|parts?|message)\b[^.]{0,40}\b(?:is|are|was|were|has|have|had) (?:empty|blank|no content|missing|null|required)",
    r"empty (?:text|content|message|parts?|string|parameter)",
    r"(?:must have|requires?|expects?|needs?|provide) (?:either |at least one |a |some )?(?:`|')?(?:content|parts?|text)\b",
    r"(?:messages|contents?)[.\[]\d+[\w.\[\]]*\b(?:content|text|parts)\W{1,3}(?:field )?(?:is )?(?:required|missing)\b",
    r"'?content'?[^.]{0,40}(?:expected|must be) an? (?:string|array|list)[^.]{0,20}(?:got|received|found) (?:null|none|undefined|empty)",
    r"required oneof field|must have one initialized field",
    r"(?:content|text)[^.]{0,80}(?:min(?:imum)?[ _]?length|at least 1 character|at least one character|too short)",
    r"must (?:include|contain) at least one (?:parts?|content|text)",
    r"\b(?:content|text|parts?)\W{1,3}(?:\w+\W{1,2})?(?:is|are) (?:not|un) ?-?(?:set|specified|provided|initiali[sz]ed)",
    r"does not have any content|no content (?:in|for|provided)|content (?:is )?(?:none|null)\b|blank (?:text|content|message)",
)  # fmt: skip

_PAIR_SUBJECT: Final = (
    r"(?:tool[_ -]?(?:use|call|result|response|message|output)s?|tool_call_ids?|function[_ ]?(?:call|response|result|output)s?"
    r"|function_call_output|call_id|role[ '\"`:]+tool|messages? with role|toolu_\w+|call_\w+)"
)
_PAIRING: Final = _any(
    _PAIR_SUBJECT + r"[^\n]{0,160}(?:without|immediately|must (?:be followed|have|match|immediately|come)|corresponding|preceding|preceeding"
    r"|not found|no matching|unmatched|missing|did not have|does not have|do not have|unexpected|equal to the number|not the same"
    r"|mismatch|orphan|no tool output|duplicate|unique|wrong order|has no|have no|not have|invalid)",
    r"unexpected role tool|role tool[^\n]{0,40}(?:unexpected|not allowed)",
    _PAIR_SUBJECT + r"[^\n]{0,60}\b(?:in|within) the same (?:turn|message)",
    r"(?:no|missing|unexpected|without|must be a response to|not find|couldn't find|cannot find|expected|expecting|after|follow\w*|orphan\w*|unmatched"
    r"|each|every|number of|duplicate)[^\n]{0,60}" + _PAIR_SUBJECT + r"[^\n]{0,160}(?:found|follow|response|number|match|turn|result|preced|corresponding|output|tool|missing|id)",
)  # fmt: skip

_QUOTA: Final = _any(
    r"insufficient[_ ](?:quota|balance|credits?|funds)", r"exceeded your current quota", r"credit balance", r"(?:out of|no|more|enough|not enough|add) credits?\b",
    r"billing (?:details|hard limit|issue|limit)", r"payment required", r"(?:monthly|weekly|daily|spend(?:ing)?|usage|plan) (?:limit|cap|quota|budget)[^.]{0,40}(?:reach|exceed|exhaust|hit)",
    r"(?:reach|exceed|exhaust|hit)\w*[^.]{0,40}(?:monthly|weekly|spend(?:ing)?|usage|plan|budget) ?(?:limit|cap|quota|budget)?", r"quota (?:has been )?(?:exhausted|used up)",
    r"\bbudget (?:has been |was |is )?exceeded|(?:exceeded|over|crossed) (?:the |its |your )?(?:\w+ )?budget\b", r"余额不足|欠费", r"arrearage|overdue", r"free (?:tier|quota)[^.]{0,40}(?:exhaust|used|exceed)",
)  # fmt: skip
_QUOTA_CODES: Final = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance", "billing_error", "usage_not_included",
     "usage_limit_reached", "payment_required", "1113", "arrearage", "credits_exhausted"}
)  # fmt: skip
_HUB_CODES: Final[Mapping[str, ErrorClass]] = {
    "budget_reached": "budget", "model_not_allowed": "other", "provider_key_refused": "other",
}  # fmt: skip
"""What our own hub service refuses, in sentences that are for the person as they stand."""
_PER_TIME: Final = _any(
    r"per[ -]?(?:min|sec|hour|day)", r"\b(?:TPM|RPM|TPD|RPD|ITPM|OTPM)\b", r"tokens?/min", r"(?:input|output) tokens? per", r"PerMinute|PerDay",
    r"rate[ _-]?limit", r"too many requests", r"requests? (?:rate|limit)", r"slow down", r"thrott", r"try again in", r"retry (?:after|in)", r"速率限制|请求过于频繁|频率|每分钟|分钟内|分あたり|毎分|분당|レート制限|요청 (?:한도|제한)",
)  # fmt: skip
_RATE_CODES: Final = frozenset(
    {"rate_limit_exceeded", "rate_limit_error", "rate_limited", "too_many_requests", "throttlingexception", "ratelimiterror",
     "throttled", "resource_exhausted", "1302", "1303", "slow_down", "ratelimitexceeded", "limit_requests", "throttling"}
)  # fmt: skip

_OUTPUT_PARAMETER: Final = _any(
    r"max_tokens|max_new_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens|maxTokens|num_predict",
    r"max(?:imum)? (?:allowed )?(?:number of )?(?:output|completion|new|generated|response) tokens?", r"(?:output|completion) (?:tokens?|length)",
    r"max(?:imum)? tokens (?:you requested|value|parameter|requested)", r"tokens to (?:sample|generate)",
)  # fmt: skip
_OUTPUT_SUBJECT: Final = re.compile(
    r"\W*(?:\w+\W+){0,5}?max_\w*tokens\W{1,3}(?:\w+ ){0,3}?(?:must|should|cannot|can't|is too|exceeds?|has to)",
    re.IGNORECASE,
)
_INPUT_COUNTED: Final = re.compile(
    r"(?:input|prompt)[ _]tokens|in (?:the|your) (?:messages|prompt)|\binputs?\b|\bprompt", re.IGNORECASE
)
_TOO_LITTLE: Final = re.compile(
    r"must be (?:greater|more|larger|at least|positive)|at least 1\b|minimum", re.IGNORECASE
)
# A field of the request that is too long by itself: a name, or a whole conversation in one string.
_SIZED_FIELD: Final = re.compile(
    r"(?:string|array|list) (?:is )?too long[^\n]{0,60}maximum length (\d+)", re.IGNORECASE
)
_ALL_MESSAGES: Final = re.compile(r"invalid (?:messages|input|contents)\W{1,3}array", re.IGNORECASE)
_BYTES_NOT_NAMES: Final = 1_000_000
_INPUT_MENTION: Final = _any(
    r"\bprompt", r"\binputs?\b", r"input_", r"\bmessages?\b", r"context", r"conversation", r"request (?:contains|has)", r"tokens? in (?:the |your )?request",
    r"too long", r"seq_len|sequence length", r"\bhistory\b", r"model'?s? (?:max(?:imum)?|token|length)", r"max(?:imum)? (?:model |sequence )?length", r"combined|total tokens",
)  # fmt: skip
_TOO_MUCH: Final = _any(
    r"exceed", r"too (?:long|large|many|big|much)", r"longer than", r"larger than", r"greater than", r"more (?:than|tokens than)", r"overflow", r"over the (?:limit|maximum)",
    r"must be (?:less|smaller|fewer|at most|<)", r"(?:should|must|has to|can) (?:only )?be (?:in|within|between|at most|less|no more)", r"cannot be (?:more|longer|larger|greater)",
    r"not enough", r"no (?:room|space)", r"at most", r"maximum (?:context|prompt|input|sequence|model)? ?length", r"only supports", r"reduce (?:the )?(?:length|size|input|your|prompt)",
    r"shorten", r"does(?: not|n't) fit", r"outside", r"beyond", r"out of (?:range|context)", r"range of", r"\d ?>=? ?\d", r"surpass", r"greater|above|超|초과|limit is", r"(?:valid|supported|allowed|permitted) range",
    r"tokens\W{0,3}参数\W{0,2}(?:非法|不合法|无效|错误)",
    r"limited to", r"ran out of", r"reached", r"过长|太长|長すぎ|너무 (?:길|깁|많|큽)|上限|限制|제한|한도",
)  # fmt: skip
_WINDOW: Final = _any(
    r"context[ _-]?(?:length|window|size|limit|budget)", r"(?:the |model'?s? |available )context\b", r"(?:prompt|input)s? (?:is|are|was|has|tokens?|token count|length|exceeds?|too|contains|size|text)",
    r"(?:prompt|input|inputs|request|message|messages|conversation|chat history|history|text|sequence)\b[^.\n]{0,40}(?:too long|too large|too many tokens|exceeds? (?:the )?max|longer than|is over)",
    r"max(?:imum)?[ _](?:prompt|input|model|seq|sequence|context)[ _]?(?:len|length|tokens?)?", r"token (?:limit|count|length)|tokens? (?:allowed|limit)", r"number of (?:input )?tokens", r"too many (?:input )?tokens",
    r"tokens? in (?:the |your )?request", r"length of (?:the )?(?:prompt|input|messages)", r"上下文|输入长度|超长|컨텍스트|コンテキスト", r"maximum length|max length", r"model'?s? (?:limit|maximum|max)", r"tokens?\b.{0,60}\bmaximum", r"prompt_tokens|input_tokens|decoder prompt", r"\bn_ctx\b",
    r"(?:输入|提示词?|对话|消息|입력|프롬프트|대화|문맥|入力|プロンプト|会話)[^。.\n]{0,30}(?:长度|長さ|길이|토큰|トークン|token|过长|太长|長すぎ|너무)",
    r"(?:토큰|トークン|token)\s?(?:数|수|长度|길이|の数)",
)  # fmt: skip
_WINDOW_CODES: Final = frozenset(
    {"context_length_exceeded", "contextwindowexceedederror", "exceed_context_size_error", "model_max_prompt_tokens_exceeded", "context_window_exceeded", "1261", "context_too_long",
     "input_too_long", "prompt_too_long", "tokens_limit_reached", "max_context_length_exceeded", "context_overflow", "model_context_window_exceeded", "string_above_max_length_tokens"}
)  # fmt: skip
_BYTES: Final = _any(
    r"(?:request|payload|body|entity|content|image|file|document|attachment|message|media)[^.\n]{0,60}(?:too large|too big|maximum (?:allowed )?size|size limit|max(?:imum)? (?:body|content|request) (?:size|length))",
    r"(?:exceeds?|over|larger than|greater than|limit of|maximum (?:is|of|size)?)[^.\n]{0,40}\d+(?:\.\d+)? ?(?:[KMG]i?B|bytes|megabytes)\b", r"maximum (?:request |body |content |payload )?size\b", r"too many (?:images|files|attachments)",
    r"\d+ ?(?:bytes|[KMG]i?B)\b[^.\n]{0,40}(?:exceed|too large|limit|maximum)", r"content length[^.\n]{0,30}(?:too large|limit|exceed)", r"length limit exceeded", r"nginx[\s\S]*413|413[\s\S]*nginx",
    r"\bimages?\b[^\n]{0,80}\b(?:dimensions?|pixels|width|height|resolution)\b[^\n]{0,80}(?:exceed|too (?:large|big|high)|max|larger|greater|limit)",
    r"\bimages?\b[^\n]{0,60}(?:exceed|too (?:large|big)|max|larger|limit)[^\n]{0,80}\b(?:dimensions?|pixels|width|height|resolution)\b",
)  # fmt: skip
_BYTES_CODES: Final = frozenset(
    {
        "request_too_large",
        "payload_too_large",
        "request_entity_too_large",
        "string_above_max_length",
        "array_above_max_length",
        "image_too_large",
    }
)
_TOKENS: Final = re.compile(r"\btokens?\b|context|prompt|token_|_tokens", re.IGNORECASE)
_NEGATIVE_ROOM: Final = re.compile(r"(?:got|value|is|was|:|=)\s*-\d", re.IGNORECASE)
_COUNTED_TOKENS: Final = re.compile(
    r"\d\s*(?:tokens?\b|jetons?\b|토큰|トークン|令牌|токен|词元)|(?:토큰|トークン|令牌|токен\w*|词元|tokens)[^\d\n]{0,8}\d",
    re.IGNORECASE,
)
_THINKING_BUDGET: Final = re.compile(r"budget_tokens|thinking[ _]?budget", re.IGNORECASE)
_DIGIT_GROUPS: Final = re.compile(r"(?<=\d)[,. \u00a0_](?=\d{3}(?!\d))")
_BARE_NUMBER: Final = re.compile(r"(?<![\w.\-/])\d+(?![\w.\-/]*\w)")
_LEAST_WINDOW: Final = 512
_NO_BODY: Final = re.compile(r"^\s*(?:error:?\s*)?(?:400|413)\s*(?:status code)?\s*\(no body\)", re.IGNORECASE)

_SERVER_CODES: Final = frozenset(
    {"api_error", "server_error", "internal_server_error", "internalserverexception", "modelstreamerrorexception",
     "serviceunavailableexception", "service_unavailable", "unavailable"}
)  # fmt: skip
_TIMEOUT_CODES: Final = frozenset({"modeltimeoutexception", "timeout_error", "deadline_exceeded"})
_OVERLOADED: Final = _any(
    r"overloaded",
    r"over capacity|at capacity|no capacity",
    r"server (?:is )?(?:busy|overload)",
    r"temporarily unavailable|service unavailable",
    r"try again later",
    r"high demand",
    r"bad gateway|gateway time-?out|internal server error",
)
_AUTH: Final = _any(
    r"(?:invalid|incorrect|missing|no|wrong|expired|not valid)[^.\n]{0,30}(?:api[ _-]?key|x-api-key|token|credentials?|authentication)",
    r"unauthori[sz]ed|authentication(?: failed|_error)?",
    r"api key not valid|api[ _-]?key[^.\n]{0,20}(?:invalid|missing|required|expired|not (?:valid|found))",
)
_NO_MODEL: Final = _any(
    r"model[^.\n]{0,80}(?:not found|does not exist|not exist|unknown|not supported|is not available|no longer available|deprecated|decommissioned|not a valid)",
    r"(?:no such|unknown|unsupported|invalid) model",
    r"model_not_found",
    r"not a valid model",
)
_FILTERED: Final = _any(
    r"content[ _](?:filter|policy|management)",
    r"safety (?:system|setting|filter)",
    r"responsible ai",
    r"flagged|prohibited|moderation",
    r"usage polic",
)
_THINKING: Final = _any(
    r"expected `?(?:thinking|redacted_thinking)",
    r"thinking`? blocks?[^.\n]{0,60}(?:cannot be modified|must|signature)",
    r"signature",
)
# Whatever else it says, nothing is too long.
_ORDER_OF_THOUGHTS: Final = _any(
    r"(?:must|should|has to|needs to) (?:start|begin) with (?:a |an )?(?:redacted_)?thinking",
    r"expected (?:redacted_)?thinking or (?:redacted_)?thinking",
)

_MARKS: Final = re.compile(r"[`'\"*]")
_INDEX: Final = re.compile(
    r"\b(?:messages?|contents?|input|history)\s*(?:\.\s*)?(?:\[|\.|\s+at\s+(?:index|position)\s+|\s+(?:index|number|no\.?|#)\s*)\s*(\d{1,6})\b"
    r"|\b(?:index|position)\s*[:=]?\s*(\d{1,6})\b|\bmessage\s+#?(\d{1,6})\b(?!\s*tokens?)",
    re.IGNORECASE,
)
_RETRY_IN: Final = re.compile(r"(?:try again|retry|wait|retrying)[^.\n\d]{0,30}?(?:in|after|for)?\s*(?:(\d+)m(?!s)(?:in\w*)?\s*)?(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s\b|sec\w*)", re.IGNORECASE)  # fmt: skip


def refuses_thoughts(error: ModelError) -> bool:
    """Whether the provider refused how the model's thoughts stand in the conversation, or what became of them."""
    text = f"{error.raw} {error.message}"
    about = _ORDER_OF_THOUGHTS.search(text) or _THINKING.search(text)
    return error.kind == "other" and about is not None and re.search(r"think|thought", text, re.IGNORECASE) is not None


def classify(
    *,
    provider: str | None = None,
    status: int | None = None,
    body: str | Mapping[str, object] | Sequence[object] | None = None,
    code: str | None = None,
    type: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
    exception: BaseException | None = None,
) -> ModelError:
    """What a provider's refusal means. ``body`` is its text or JSON, as it came or wrapped in whatever a library adds.

    ``exception`` is what was raised where no answer came at all.
    """
    if exception is not None and status is None and not body:
        kind = _without_answer(exception)
        return ModelError(
            REMEDIES[kind], kind=kind, provider=provider, raw=f"{exception.__class__.__name__}: {exception}"
        )
    payload = read_payload(body)
    payload.codes.update(word.lower() for word in (code, type) if word)
    if param:
        payload.params.append(param)
    if status is None and payload.statuses:
        status = payload.statuses[0]
    text = payload.text
    for hub_code in payload.codes & _HUB_CODES.keys():
        return _of_hub(_HUB_CODES[hub_code], text, provider, status)
    # Marks around names mean nothing and differ most.
    kind, numbers = _judge(_MARKS.sub("", text), payload, status)
    raw = body if isinstance(body, str) else text
    return ModelError(
        _message(kind, text, status),
        kind=kind,
        provider=provider,
        http_status=status,
        retry_after=_retry_after(text, payload, headers or {}),
        current=numbers.current,
        limit=numbers.limit,
        output=numbers.output,
        index=_index(text, payload) if kind in ("empty_content", "tool_pairing") else None,
        raw=raw,
    )


def _of_hub(kind: ErrorClass, text: str, provider: str | None, status: int | None) -> ModelError:
    message = f"{REFUSED}{text}" if kind == "other" else text
    return ModelError(message or REMEDIES[kind], kind=kind, provider=provider, http_status=status, raw=text)


def is_silently_truncated(*, estimate: int, reported: int, window: int | None) -> bool:
    """Whether a provider that said nothing left out part of what was sent, by the usage it reports."""
    return (window is not None and reported > window) or (estimate >= 2_000 and reported < 0.8 * estimate)


def _without_answer(exception: BaseException) -> ErrorClass:
    """What it means that nothing came: by the names of the exception's classes, since each library has its own."""
    cause = exception.__cause__ or exception.__context__
    names = " ".join(
        kind.__name__ for each in (exception, cause) if each is not None for kind in each.__class__.__mro__
    )
    if "Timeout" in names:
        return "timeout"
    if "RemoteProtocol" in names or "IncompleteRead" in names:
        return "broken_stream"
    return "network" if re.search(r"Connect|Network|ReadError|WriteError|OSError|gaierror", names) else "other"


def _judge(text: str, payload: ErrorPayload, status: int | None) -> tuple[ErrorClass, TokenNumbers]:
    if status is not None and status < 400:
        return "other", TokenNumbers()
    if _ORDER_OF_THOUGHTS.search(text):
        return "other", TokenNumbers()
    for kind in (_about_content(text, payload), _about_quota(text, payload, status)):
        if kind is not None:
            return kind, _rate_numbers(text) if kind in ("rate_limit", "tpm_request_too_large") else TokenNumbers()
    sized = _about_size(text, payload, status)
    return sized if sized is not None else (_about_service(text, payload, status), TokenNumbers())


def _about_content(text: str, payload: ErrorPayload) -> ErrorClass | None:
    if _THINKING.search(text):
        return None
    concerns_content = any("content" in param or "messages" in param for param in payload.params)
    is_null = NULL_INPUT in payload.codes or re.search(r"\bnull\b|\bnone\b", text, re.IGNORECASE)
    if _EMPTY.search(text) or (concerns_content and is_null):
        return "empty_content"
    if _PAIRING.search(text) and not _PER_TIME.search(text) and not _mentions_window(text, payload):
        return "tool_pairing"
    return None


def _about_quota(text: str, payload: ErrorPayload, status: int | None) -> ErrorClass | None:
    limited = status == 429 or bool(_RATE_CODES & payload.codes) or bool(_PER_TIME.search(text))
    per_time = bool(_PER_TIME.search(text)) or "retry_after" in payload.numbers
    if (_QUOTA_CODES & payload.codes or _QUOTA.search(text) or status == 402) and not (
        per_time and not _QUOTA_CODES & payload.codes
    ):
        return "quota"
    if not limited:
        return None
    if _WINDOW_CODES & payload.codes or (_mentions_window(text, payload) and not per_time):
        return None
    numbers = _rate_numbers(text)
    if numbers.current is not None and numbers.limit is not None and numbers.current > numbers.limit:
        return "tpm_request_too_large"
    if (
        re.search(r"request (?:is )?too large|single request|this request (?:is|exceeds)", text, re.IGNORECASE)
        and per_time
    ):
        return "tpm_request_too_large"
    return "rate_limit"


def _about_size(text: str, payload: ErrorPayload, status: int | None) -> tuple[ErrorClass, TokenNumbers] | None:
    if _NO_BODY.search(text):
        # Some providers answer an overflow with a bare 413 or 400.
        return "overflow", TokenNumbers()
    if match := _SIZED_FIELD.search(text):
        is_conversation = int(match[1]) >= _BYTES_NOT_NAMES or _ALL_MESSAGES.search(text)
        return ("payload_too_large" if is_conversation else "other"), TokenNumbers()
    if _is_about_bytes(text, payload, status):
        return "payload_too_large", TokenNumbers()
    if _THINKING_BUDGET.search(text):
        return None
    output = bool(_OUTPUT_PARAMETER.search(text))
    too_much = bool(_TOO_MUCH.search(text)) and not _TOO_LITTLE.search(text)
    if output and too_much and not _WINDOW_CODES & payload.codes and _is_about_output(text):
        return "output_cap", token_numbers(text, about_output=True)
    numbers = _with_fields(token_numbers(text), payload)
    over = numbers.current is not None and numbers.limit is not None and numbers.current > numbers.limit
    if output and _NEGATIVE_ROOM.search(text):
        # The server reckons the answer's room as what the window leaves: there is none.
        return "overflow", TokenNumbers()
    if not (_WINDOW_CODES & payload.codes or (_WINDOW.search(text) and (too_much or over))):
        return ("overflow", _largest_first(text)) if _speaks_in_numbers(text, status, output) else None
    return ("overflow_output_budget" if _fits_without_answer(text, numbers, output) else "overflow"), numbers


def _speaks_in_numbers(text: str, status: int | None, output: bool) -> bool:
    """Whether a refusal in words we do not know names two numbers of tokens, the one of them a limit by its place."""
    if output or status not in (400, 413, 422) or not _COUNTED_TOKENS.search(text):
        return False
    sizes = [int(number) for number in _BARE_NUMBER.findall(_DIGIT_GROUPS.sub("", text))]
    return len(sizes) == 2 and min(sizes) >= _LEAST_WINDOW and sizes[0] != sizes[1]


def _largest_first(text: str) -> TokenNumbers:
    """What was sent is more than what there is room for."""
    sizes = sorted(int(number) for number in _BARE_NUMBER.findall(_DIGIT_GROUPS.sub("", text)))
    return TokenNumbers(sizes[1], sizes[0], None)


def _is_about_output(text: str) -> bool:
    if not _INPUT_MENTION.search(_OUTPUT_PARAMETER.sub(" ", text)):
        return True
    return bool(_OUTPUT_SUBJECT.match(text)) and not _INPUT_COUNTED.search(text)


def _fits_without_answer(text: str, numbers: TokenNumbers, output: bool) -> bool:
    if numbers.current is not None and numbers.limit is not None and numbers.output is not None:
        return numbers.current < numbers.limit
    both = re.search(
        r"(?:input|prompt|inputs)\W[^.\n]{0,30}(?:and|\+|plus)[^.\n]{0,20}(?:max_|output|completion|new tokens)",
        text,
        re.IGNORECASE,
    )
    return bool(output and both and numbers.current is None)


def _is_about_bytes(text: str, payload: ErrorPayload, status: int | None) -> bool:
    if _WINDOW_CODES & payload.codes:
        return False
    if _BYTES_CODES & payload.codes:
        return not re.search(r"\btokens?\b", text, re.IGNORECASE)
    if _BYTES.search(text) and not re.search(r"\btokens?\b|context", text, re.IGNORECASE):
        return True
    return status == 413 and not _TOKENS.search(text)


def _about_service(text: str, payload: ErrorPayload, status: int | None) -> ErrorClass:
    words = f"{text}\n{' '.join(payload.codes)}"
    by_status: dict[int, ErrorClass] = {401: "authentication", 403: "permission", 408: "timeout", 504: "timeout"}
    if status in (500, 502, 503, 529) or "overloaded_error" in payload.codes:
        return "overloaded"
    # An error in the middle of a stream has no status of its own.
    if status is None and _TIMEOUT_CODES & payload.codes:
        return "timeout"
    if status is None and _SERVER_CODES & payload.codes:
        return "overloaded"
    if status in by_status:
        return by_status[status]
    if status == 404 and re.search(r"model|deployment", text, re.IGNORECASE):
        return "model_not_found"
    judged: tuple[tuple[re.Pattern[str], ErrorClass], ...] = (
        (_FILTERED, "content_filter"), (_NO_MODEL, "model_not_found"), (_AUTH, "authentication"),
    )  # fmt: skip
    if status is not None or payload.codes:
        for pattern, kind in judged:
            if pattern.search(words):
                return kind
    if _OVERLOADED.search(text) and (status is None or status >= 500):
        return "overloaded"
    return "other"


def _mentions_window(text: str, payload: ErrorPayload) -> bool:
    return bool(_WINDOW_CODES & payload.codes or (_WINDOW.search(text) and _TOO_MUCH.search(text)))


def _with_fields(numbers: TokenNumbers, payload: ErrorPayload) -> TokenNumbers:
    """The numbers that stand in fields of their own are the surest."""
    current, limit = payload.numbers.get("current"), payload.numbers.get("limit")
    return TokenNumbers(
        numbers.current if current is None else int(current),
        numbers.limit if limit is None else int(limit),
        numbers.output,
    )


def _rate_numbers(text: str) -> TokenNumbers:
    def after(pattern: str) -> int | None:
        match = re.search(rf"{pattern}\W{{0,4}}(\d[\d,]*)", text, re.IGNORECASE)
        return int(match[1].replace(",", "")) if match else None

    limit = after(r"\blimit(?: is| of)?") or after(r"rate limit of")
    current = after(r"\brequested(?: about)?") or after(r"your request (?:contains|has|is)") or after(r"\bactual")
    return TokenNumbers(current, limit, None)


def _index(text: str, payload: ErrorPayload) -> int | None:
    for source in (*payload.params, text):
        if match := _INDEX.search(source):
            return int(next(group for group in match.groups() if group is not None))
    return None


def _retry_after(text: str, payload: ErrorPayload, headers: Mapping[str, str]) -> float | None:
    lowered = {name.lower(): value for name, value in headers.items()}
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if name in lowered and (seconds := _seconds(lowered[name])) is not None:
            return max(0.0, seconds * factor)
    for name, factor in (("retry_after", 1.0), ("retry_after_ms", 0.001)):
        if name in payload.numbers:
            return payload.numbers[name] * factor
    if match := _RETRY_IN.search(text):
        seconds = float(match[2]) * (0.001 if match[3].lower().startswith("m") else 1.0)
        return 60.0 * int(match[1] or 0) + seconds
    return None


def _seconds(value: str) -> float | None:
    """What a Retry-After says: a number of seconds, or the date when they are over."""
    try:
        seconds = float(value)
        return seconds if math.isfinite(seconds) else None
    except ValueError:
        pass
    try:
        return (parsedate_to_datetime(value) - datetime.now(tz=UTC)).total_seconds()
    except (ValueError, TypeError):
        # TypeError: a date without a time zone.
        return None


def _message(kind: ErrorClass, text: str, status: int | None) -> str:
    if kind == "other" and text:
        first = " ".join(text.split())
        return f"{REFUSED}{first[:500]}"
    where = f" (HTTP {status})" if status else ""
    return f"{REMEDIES[kind]}{where}"

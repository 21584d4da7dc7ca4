"""Refusals in wordings the classifier was not written from line by line, and what each must be taken for."""

from __future__ import annotations

from typing import NamedTuple


class Refusal(NamedTuple):
    """A refusal, and what it means."""

    status: int | None
    text: str
    kind: str
    current: int | None = None
    limit: int | None = None
    output: int | None = None
    index: int | None = None  # type: ignore[assignment]  # nobody looks for a place in this tuple


REFUSALS = (
    Refusal(
        400,
        "This model's maximum context length is 128000 tokens. However, you requested 150000 tokens (149000 in your prompt; 1000 for the completion). Please reduce your prompt; or completion length.",
        "overflow",
        current=149000,
        limit=128000,
        output=1000,
    ),
    Refusal(
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 8227 tokens (8000 in the messages, 227 in the functions). Please reduce the length of the messages or functions.",
        "overflow",
        current=8227,
        limit=8192,
    ),
    Refusal(
        400,
        "'max_tokens' or 'max_completion_tokens' is too large: 40000. This model's maximum context length is 32768 tokens and your request has 1000 input tokens (40000 > 32768 - 1000). None",
        "overflow_output_budget",
        current=1000,
        limit=32768,
        output=40000,
    ),
    Refusal(
        400,
        "You passed 10001 input tokens and requested 100 output tokens. However, the model's context length is only 10000 tokens, resulting in a maximum input length of 9900 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=10001)",
        "overflow",
        current=10001,
        limit=10000,
        output=100,
    ),
    Refusal(
        400,
        "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 40000 tokens: 30000 tokens from the input messages and 10000 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.",
        "overflow_output_budget",
        current=30000,
        limit=32768,
        output=10000,
    ),
    Refusal(
        400,
        '{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":131168,"n_ctx":131072}}',
        "overflow",
        current=131168,
        limit=131072,
    ),
    Refusal(
        400,
        "Unable to submit request because the input token count is 32800 but model only supports up to 32768. Reduce the input token count and try again. You can also use the CountTokens API to calculate prompt token count and billable characters.",
        "overflow",
        current=32800,
        limit=32768,
    ),
    Refusal(
        400,
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4900. Try using a shorter prompt, or enable prompt truncating.",
        "overflow",
        current=4900,
        limit=4081,
    ),
    Refusal(400, "prompt token count of 130000 exceeds the limit of 128000", "overflow", current=130000, limit=128000),
    Refusal(
        400,
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "overflow",
        current=40000,
        limit=32768,
    ),
    Refusal(
        400,
        "The prompt is too long: 140000, model maximum context length: 131071",
        "overflow",
        current=140000,
        limit=131071,
    ),
    Refusal(
        400,
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
        "overflow",
        limit=30720,
    ),
    Refusal(400, "Range of max_tokens should be [1, 8192]", "output_cap", limit=8192),
    Refusal(400, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", "output_cap", limit=8192),
    Refusal(
        400,
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
        "output_cap",
        limit=16384,
        output=100000,
    ),
    Refusal(
        400,
        "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022",
        "output_cap",
        limit=8192,
        output=64000,
    ),
    Refusal(
        400,
        "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
        "output_cap",
        limit=8192,
    ),
    Refusal(
        400,
        "Please reduce the length of the messages or completion. Current length is 41161 while limit is 32768",
        "overflow",
        current=41161,
        limit=32768,
    ),
    Refusal(400, "Please reduce the length of the messages or completion.", "overflow"),
    Refusal(400, "invalid params, context window exceeds limit (2013)", "overflow"),
    Refusal(400, "tokens in request more than max tokens allowed", "overflow"),
    Refusal(500, "prompt too long; exceeded max context length by 5 tokens", "overflow"),
    Refusal(400, "Prompt length (10000) exceeds maximum input length (8192).", "overflow", current=10000, limit=8192),
    Refusal(
        400,
        "the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model",
        "overflow",
        current=9000,
        limit=8192,
    ),
    Refusal(
        413,
        "Request too large for model `llama-3.3-70b-versatile` in organization `org_01` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 7012, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing",
        "tpm_request_too_large",
        current=7012,
        limit=6000,
    ),
    Refusal(413, "prompt is too long: 213462 tokens > 200000 maximum", "overflow", current=213462, limit=200000),
    Refusal(
        413,
        "<html><head><title>413 Request Entity Too Large</title></head><body><center><h1>413 Request Entity Too Large</h1></center><hr><center>nginx</center></body></html>",
        "payload_too_large",
    ),
    Refusal(400, "400 status code (no body)", "overflow"),
    Refusal(
        400,
        "messages.3.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
        "payload_too_large",
    ),
    Refusal(
        429,
        '{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization\'s rate limit of 40,000 input tokens per minute. For details, refer to: https://docs.anthropic.com"}}',
        "rate_limit",
        limit=40000,
    ),
    Refusal(529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "overloaded"),
    Refusal(
        400,
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        "quota",
    ),
    Refusal(402, "Insufficient Balance", "quota"),
    Refusal(
        429,
        '[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. * Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 10\nPlease retry in 28.4s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"28s"}]}}]',
        "rate_limit",
        limit=10,
    ),
    Refusal(
        400,
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_abc",
        "tool_pairing",
    ),
    Refusal(
        400,
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        "tool_pairing",
    ),
    Refusal(400, "No tool call found for function call output with call_id call_123.", "tool_pairing"),
    Refusal(400, "No tool output found for function call call_abc.", "tool_pairing"),
    Refusal(
        400,
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        "tool_pairing",
    ),
    Refusal(
        400,
        "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
        "tool_pairing",
        index=2,
    ),
    Refusal(400, "Not the same number of function calls and responses", "tool_pairing"),
    Refusal(
        400,
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        "tool_pairing",
    ),
    Refusal(400, "Unexpected role 'tool' after role 'user'", "tool_pairing"),
    Refusal(400, "messages.4: user messages must have non-empty content", "empty_content", index=4),
    Refusal(
        400, "messages.0.content.0.text: cache_control cannot be set for empty text blocks", "empty_content", index=0
    ),
    Refusal(
        400,
        "The content field in the Message object at messages.3 is empty. Add a ContentBlock object to the content field and try again.",
        "empty_content",
        index=3,
    ),
    Refusal(
        400,
        "The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field, and try again.",
        "empty_content",
        index=0,
    ),
    Refusal(
        400,
        "[{'type': 'string_type', 'loc': ('body', 'messages', 2, 'content'), 'msg': 'Input should be a valid string', 'input': None}]",
        "empty_content",
        index=2,
    ),
    Refusal(400, "* GenerateContentRequest.contents: contents is not specified", "other"),
    Refusal(
        400,
        "* GenerateContentRequest.contents[3].parts[0].data: required oneof field 'data' must have one initialized field",
        "empty_content",
        index=3,
    ),
    Refusal(400, "Message content must be a string, got undefined at index 5", "empty_content", index=5),
    Refusal(
        400,
        "Error code: 400 - {'error': {'message': \"This model's maximum context length is 131072 tokens. However, your request has 140000 input tokens. Please reduce the length of the input messages.\", 'type': 'BadRequestError', 'param': None, 'code': 400}}",
        "overflow",
        current=140000,
        limit=131072,
    ),
    Refusal(
        None,
        'event: error\ndata: {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 201000 tokens > 200000 maximum"}}\n\n',
        "overflow",
        current=201000,
        limit=200000,
    ),
    Refusal(
        None,
        'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length or `max_tokens` and try again"}}',
        "overflow_output_budget",
        current=190000,
        limit=200000,
        output=21333,
    ),
    Refusal(
        400,
        '{"error":{"message":"{\\"error\\":{\\"code\\":400,\\"message\\":\\"The input token count (1048600) exceeds the maximum number of tokens allowed (1048576).\\",\\"status\\":\\"INVALID_ARGUMENT\\"}}","code":400}}',
        "overflow",
        current=1048600,
        limit=1048576,
    ),
    Refusal(400, "ValidationException: Input is too long for requested model.", "overflow"),
    Refusal(
        400,
        "ValidationException: The model returned the following errors: input length and `max_tokens` exceed context limit: 150000 + 64000 > 200000",
        "overflow_output_budget",
        current=150000,
        limit=200000,
        output=64000,
    ),
    Refusal(
        400,
        "The maximum context length of the model is 4096, but the prompt has 5000 tokens",
        "overflow",
        current=5000,
        limit=4096,
    ),
    Refusal(
        400,
        "maximum context length exceeded: 140K tokens requested, limit 128K",
        "overflow",
        current=140000,
        limit=128000,
    ),
    Refusal(200, "ok this model's maximum context length is 5", "other"),
    Refusal(None, 'grep: tests/test_x.py:12: "prompt is too long: 5 tokens > 3 maximum"', "other"),
    Refusal(400, "temperature must be between 0 and 1", "other"),
    Refusal(
        400,
        'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
        "other",
    ),
    Refusal(
        400,
        "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 50 instead.",
        "other",
    ),
    Refusal(400, "tools.0.custom.name: String should have at most 64 characters", "other"),
    Refusal(
        400,
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 140 instead.",
        "other",
    ),
    Refusal(401, "invalid x-api-key", "authentication"),
    Refusal(404, "model: claude-9", "model_not_found"),
    Refusal(400, "max_tokens must be greater than thinking.budget_tokens", "other"),
    Refusal(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "other",
    ),
    Refusal(
        400,
        "The model's max input length is 32,768 tokens; your input is 40,123 tokens long",
        "overflow",
        current=40123,
        limit=32768,
    ),
    Refusal(
        400, "Conversation too long: 1,203,444 tokens, limit 1,000,000", "overflow", current=1203444, limit=1000000
    ),
    Refusal(429, "Rate limit reached for requests", "rate_limit"),
    Refusal(400, "Total tokens of image and text exceed max message tokens", "overflow"),
    Refusal(400, "Input token length exceeds the maximum (8192). Got 9001.", "overflow", current=9001, limit=8192),
    Refusal(
        400,
        "The requested number of tokens, 5000, exceeds the maximum of 4096 output tokens for this model",
        "output_cap",
        limit=4096,
        output=5000,
    ),
    Refusal(
        400, "max_completion_tokens (50000) exceeds the model's limit of 32768", "output_cap", limit=32768, output=50000
    ),
    # Words of languages nobody wrote a rule for: the numbers and where they stand tell.
    Refusal(400, "Die Anfrage umfasst 140.000 Token, erlaubt sind 128.000.", "overflow", current=140000, limit=128000),
    Refusal(
        400, "La requête contient 140 000 jetons, la limite est de 128 000.", "overflow", current=140000, limit=128000
    ),
    Refusal(
        400, "リクエストのトークン数(140000)が上限(128000)を超えています。", "overflow", current=140000, limit=128000
    ),
    Refusal(
        400,
        "요청 토큰 수(140,000)가 모델의 최대 컨텍스트 길이(128,000)를 초과했습니다.",
        "overflow",
        current=140000,
        limit=128000,
    ),
    Refusal(400, "입력이 너무 깁니다", "overflow"),
    Refusal(400, "プロンプトが長すぎます。", "overflow"),
    Refusal(400, "对话内容过长，请缩短后重试", "overflow"),
    Refusal(429, "요청 한도를 초과했습니다. 잠시 후 다시 시도하세요.", "rate_limit"),
    Refusal(429, "每分钟 token 数超过限制", "rate_limit"),
    Refusal(400, "unexpected token at position 140000 of 128000", "other"),
    Refusal(400, "budget_tokens 64000 exceeds max_tokens 32000", "other"),
    Refusal(400, "Function description is too long: 1025 > 1024", "other"),
    Refusal(400, "tool name too long (max 64)", "other"),
    Refusal(400, "The number of images exceeds the limit of 20", "other"),
    Refusal(400, "cache_control: a maximum of 4 blocks may be provided, found 6", "other"),
)

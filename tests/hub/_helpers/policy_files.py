"""Files of policies for tests."""

from pathlib import Path
from textwrap import dedent

KEY = "sk-the-operators-key-0123456789"
ENVIRONMENT = {"A_KEY": KEY}

SMALL = """
    ask: "Ask the course team: course@example.org."
    providers:
      anthropic:
        protocol: anthropic
        key_env: A_KEY
        models:
          claude-sonnet-5-5:
      vllm:
        protocol: openai
        url: http://vllm.example:8000/v1
        models:
          qwen3: {input_price: 0, output_price: 0, context_window: 32768}
    budgets:
      - {money: 500, period: month, per: all}
    default:
      models: ["*"]
      default_model: qwen3
      budgets:
        - {tokens: 100000, period: day, per: user}
      fixed: {autoApprovalEnabled: false}
    groups:
      teachers:
        models: ["claude-*"]
        limits: {allowed_modes: [ask, code]}
"""


def write(folder: Path, text: str) -> Path:
    """A file of policies with this text."""
    path = folder / "hub-policies.yml"
    path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return path

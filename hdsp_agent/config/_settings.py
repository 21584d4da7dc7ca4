"""The settings a person can change: one schema for the file, the panel and the wire.

Names and defaults are Roo Code's where it has the setting. Every nullable setting has the default ``None``.

Descriptions stand in ``shown`` and annotations are not postponed: reading docstrings back from the source and
evaluating strings would take most of the time this module needs at Jupyter's start.
"""

from functools import cache
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, JsonValue, SecretStr, field_validator

from ..wire import WireModel
from ._custom_modes import ModeConfig, ModePrompt, ModeSlug
from ._fields import BaseUrl, Choices, Secret, number_properties, secret_fields, shown

__all__ = [
    "ALL_MASKED_KINDS",
    "SETTING_GROUPS",
    "ApprovalPreset",
    "GlobalSettings",
    "MaskedKind",
    "PassThroughState",
    "SearchByMeaning",
    "StorageChoice",
    "setting_keys",
]

SETTING_GROUPS: Final[tuple[tuple[str, str], ...]] = (
    ("approvals", "Approvals"),
    ("commands", "Commands"),
    ("notebooks", "Notebooks and kernels"),
    ("context", "Context"),
    ("checkpoints", "Checkpoints"),
    ("memory", "Memory"),
    ("search", "Search"),
    ("modes", "Modes and prompts"),
    ("services", "Services"),
    ("ui", "Appearance and sound"),
    ("privacy", "Privacy"),
    ("storage", "Storage"),
)
"""The groups of the settings panel, in its order."""

Percent = Annotated[int, Field(ge=5, le=100)]
Days = Annotated[int, Field(ge=0, le=3650)]
ProfileId = Annotated[str, Field(min_length=1, max_length=100)]
CommandPrefix = Annotated[str, Field(min_length=1, max_length=1000)]
LongText = Annotated[str, Field(max_length=100_000)]

ApprovalPreset = Literal["ask", "edit", "editAndRun", "everything"]
ChosenPreset = Annotated[
    ApprovalPreset,
    Choices(
        (
            ("ask", "Ask"),
            ("edit", "Edit freely"),
            ("editAndRun", "Edit and run"),
            ("everything", "Everything here"),
        )
    ),
]

StorageChoice = Annotated[
    Literal["auto", "keyring", "encrypted-file", "file", "memory"],
    Choices(
        (
            ("auto", "The system keyring, else an encrypted file if a passphrase is set"),
            ("keyring", "The system keyring only"),
            ("encrypted-file", "A file encrypted with the passphrase in HDSP_AGENT_PASSPHRASE"),
            ("file", "A file only you can read, not encrypted"),
            ("memory", "Memory only, until Jupyter stops"),
        )
    ),
]
"""Where keys may be kept."""

SearchByMeaning = Annotated[
    Literal["off", "bundled", "endpoint"],
    Choices(
        (
            ("off", "No, by words only"),
            ("bundled", "With a model on this machine, from the extra “semantic”; nothing is sent anywhere"),
            ("endpoint", "With my embeddings endpoint; passages are sent to it"),
        )
    ),
]
"""What compares meanings where the past is searched."""

ContextHook = Annotated[
    Literal["context-window-monitor", "anthropic-auto-compact"],
    Choices(
        (
            ("context-window-monitor", "Notices that the context window is nearly full"),
            ("anthropic-auto-compact", "Shortening a conversation that the provider refuses as too long"),
        )
    ),
]
"""Under the names that other agents give them."""

MaskedKind = Annotated[
    Literal[
        "github-token",
        "gitlab-token",
        "openai-key",
        "anthropic-key",
        "aws-key",
        "google-key",
        "slack-token",
        "huggingface-token",
        "private-key",
        "jwt",
        "bearer-token",
        "url-password",
        "assigned-secret",
        "email",
    ],
    Choices(
        (
            ("github-token", "GitHub tokens"),
            ("gitlab-token", "GitLab tokens"),
            ("openai-key", "OpenAI keys"),
            ("anthropic-key", "Anthropic keys"),
            ("aws-key", "AWS keys"),
            ("google-key", "Google keys"),
            ("slack-token", "Slack tokens"),
            ("huggingface-token", "Hugging Face tokens"),
            ("private-key", "Private keys (PEM)"),
            ("jwt", "JSON web tokens"),
            ("bearer-token", "Bearer tokens"),
            ("url-password", "Passwords in addresses"),
            ("assigned-secret", "Values assigned to names like password or api_key"),
            ("email", "E-mail addresses"),
        )
    ),
]
"""A kind of text that is masked before it is recorded or sent."""

ALL_MASKED_KINDS: Final[tuple[MaskedKind, ...]] = (
    "github-token",
    "gitlab-token",
    "openai-key",
    "anthropic-key",
    "aws-key",
    "google-key",
    "slack-token",
    "huggingface-token",
    "private-key",
    "jwt",
    "bearer-token",
    "url-password",
    "assigned-secret",
    "email",
)


def _settings_schema_extra(schema: dict[str, JsonValue]) -> None:
    number_properties(schema)
    schema["x-groups"] = [{"id": group, "title": title} for group, title in SETTING_GROUPS]


class GlobalSettings(WireModel):
    """Everything a person can set that does not belong to one provider profile."""

    model_config = ConfigDict(json_schema_extra=_settings_schema_extra, use_attribute_docstrings=False)

    # ---- approvals
    auto_approval_enabled: Annotated[
        bool,
        shown(
            "approvals",
            "Approve actions automatically",
            "The main switch. Off: the agent asks before every action. On: it does what you allow below without asking.",
        ),
    ] = False
    ask_before_reading: Annotated[
        bool,
        shown(
            "approvals",
            "Ask before reading open files",
            "Ask even before the agent reads what you have open, or files of a folder you trust.",
            advanced=True,
        ),
    ] = False
    notebook_approvals: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=4096)], ChosenPreset],
        Field(max_length=1000),
        shown(
            "approvals",
            "Approvals by notebook",
            "What the agent may do without asking in one notebook, by the full path of its file.",
            hidden=True,
        ),
    ] = Field(default_factory=dict)
    client_approvals: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=60)], ChosenPreset],
        Field(max_length=200),
        shown(
            "approvals",
            "Approvals of other agents",
            "What another agent that is connected here may do without asking, by its name.",
            hidden=True,
        ),
    ] = Field(default_factory=dict)
    client_questions: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=60)], bool],
        Field(max_length=200),
        shown(
            "approvals",
            "Questions of other agents",
            "Which other agents may also ask in their own window, by their names. Such a program could answer itself.",
            hidden=True,
        ),
    ] = Field(default_factory=dict)
    always_allow_read_only: Annotated[
        bool, shown("approvals", "Reading", "Read files, notebooks and variables in the workspace without asking.")
    ] = False
    always_allow_read_only_outside_workspace: Annotated[
        bool,
        shown(
            "approvals",
            "Reading outside the workspace",
            "Read files outside the workspace without asking.",
            advanced=True,
        ),
    ] = False
    always_allow_write: Annotated[
        bool, shown("approvals", "Editing", "Create and edit files and notebook cells in the workspace without asking.")
    ] = False
    always_allow_write_outside_workspace: Annotated[
        bool,
        shown(
            "approvals",
            "Editing outside the workspace",
            "Create and edit files outside the workspace without asking.",
            advanced=True,
        ),
    ] = False
    always_allow_write_protected: Annotated[
        bool,
        shown(
            "approvals",
            "Editing protected files",
            "Edit files that control the agent, such as AGENTS.md and ignore files, without asking.",
            advanced=True,
        ),
    ] = False
    always_allow_run_cells: Annotated[
        bool, shown("approvals", "Running cells", "Run code in the notebook's kernel without asking.")
    ] = False
    always_allow_execute: Annotated[
        bool,
        shown(
            "approvals", "Running shell commands", "Run shell commands that match the allowed commands without asking."
        ),
    ] = False
    always_allow_install_packages: Annotated[
        bool,
        shown(
            "approvals",
            "Installing packages",
            "Install packages into the kernel's environment without asking.",
            advanced=True,
        ),
    ] = False
    always_allow_network: Annotated[
        bool, shown("approvals", "Network", "Fetch from the network without asking.", advanced=True)
    ] = False
    always_allow_mcp: Annotated[
        bool,
        shown(
            "approvals",
            "MCP tools",
            "Use the MCP tools you always allow, and read the resources MCP servers list, without asking.",
        ),
    ] = False
    always_allow_mode_switch: Annotated[
        bool, shown("approvals", "Switching modes", "Switch between modes without asking.")
    ] = False
    always_allow_subtasks: Annotated[
        bool, shown("approvals", "Subtasks", "Create and finish subtasks without asking.")
    ] = False
    always_allow_followup_questions: Annotated[
        bool,
        shown(
            "approvals", "Follow-up questions", "Take the first suggested answer to a follow-up question after a while."
        ),
    ] = False
    followup_auto_approve_timeout_ms: Annotated[
        int,
        Field(ge=0, le=600_000),
        shown(
            "approvals",
            "Wait before answering a follow-up question (ms)",
            "How long you have to answer a follow-up question yourself. At 0 the agent never answers for you.",
        ),
    ] = 60_000
    allowed_max_requests: Annotated[
        Annotated[int, Field(ge=1, le=1_000_000)] | None,
        shown(
            "approvals",
            "Maximum model requests without asking",
            "After this many requests, the agent asks before it continues. Empty means no limit.",
        ),
    ] = None
    allowed_max_cost: Annotated[
        Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)] | None,
        shown(
            "approvals",
            "Maximum cost without asking (US$)",
            "After spending this much, the agent asks before it continues. Empty means no limit.",
        ),
    ] = None

    # ---- commands
    allowed_commands: Annotated[
        tuple[CommandPrefix, ...],
        Field(max_length=1000),
        shown(
            "commands",
            "Allowed commands",
            "Shell commands beginning with these words may run without asking when running shell commands is allowed.",
        ),
    ] = ("git log", "git diff", "git show")
    denied_commands: Annotated[
        tuple[CommandPrefix, ...],
        Field(max_length=1000),
        shown(
            "commands",
            "Denied commands",
            "Shell commands beginning with these words are refused, whatever else is allowed.",
        ),
    ] = ()
    command_execution_timeout: Annotated[
        int,
        Field(ge=0, le=86_400),
        shown(
            "commands",
            "Time limit of a shell command (s)",
            "A shell command that runs longer is stopped. 0 means no limit.",
        ),
    ] = 0
    command_timeout_allowlist: Annotated[
        tuple[CommandPrefix, ...],
        Field(max_length=1000),
        shown(
            "commands",
            "Commands without time limit",
            "Shell commands beginning with these words have no time limit.",
            advanced=True,
        ),
    ] = ()
    terminal_output_preview_size: Annotated[
        Annotated[
            Literal["small", "medium", "large"],
            Choices((("small", "Small (5 KB)"), ("medium", "Medium (10 KB)"), ("large", "Large (20 KB)"))),
        ],
        shown(
            "commands",
            "Command output sent to the model",
            "How much of a long output the model sees at once; it can read the rest on demand.",
            advanced=True,
        ),
    ] = "medium"

    # ---- notebooks
    kernel_run_idle_limit_seconds: Annotated[
        Annotated[int, Field(ge=1, le=604_800)] | None,
        shown(
            "notebooks",
            "Stop a cell after no output for (s)",
            "A cell the agent runs is interrupted when it has printed nothing for this long. Empty means no limit.",
        ),
    ] = None
    kernel_run_total_limit_seconds: Annotated[
        Annotated[int, Field(ge=1, le=604_800)] | None,
        shown(
            "notebooks",
            "Stop a cell after (s)",
            "A cell the agent runs is interrupted after this long. Empty means no limit.",
        ),
    ] = None
    embed_history_in_notebook: Annotated[
        bool,
        shown(
            "notebooks",
            "Keep the conversation in the notebook file",
            "When the agent's turn is over, write the conversation into the notebook's metadata, with secrets masked. "
            "Whoever gets the notebook can then read it.",
        ),
    ] = False
    embed_history_max_kilobytes: Annotated[
        int,
        Field(ge=1, le=10_240),
        shown(
            "notebooks",
            "Largest conversation kept in a notebook (kB)",
            "Beyond this size, the oldest messages are left out of the notebook. The conversation itself keeps them.",
            advanced=True,
        ),
    ] = 256

    # ---- context
    disabled_hooks: Annotated[
        tuple[ContextHook, ...],
        Field(max_length=8),
        shown(
            "context",
            "Context features to turn off",
            "Choose what the agent no longer does on its own when a conversation gets too long for the model.",
            advanced=True,
        ),
    ] = ()
    auto_condense_context: Annotated[
        bool,
        shown(
            "context",
            "Condense long conversations",
            "Summarize the older part of a conversation before it gets too long for the model's context window.",
        ),
    ] = True
    auto_condense_context_percent: Annotated[
        Percent,
        shown(
            "context",
            "Condense when the context window is this full (%)",
            "With 100, it condenses only when the conversation would no longer fit.",
        ),
    ] = 100
    condensing_api_config_id: Annotated[
        ProfileId | None,
        shown(
            "context",
            "Profile for condensing",
            "The profile whose model writes the summary, for example a cheaper one. Empty uses the conversation's own "
            "profile, which has most of it cached.",
            advanced=True,
        ),
    ] = None
    condense_at_provider: Annotated[
        bool,
        shown(
            "context",
            "Let the provider condense",
            "Let the provider condense conversations if it can. Only the same model can read the result, so the agent keeps "
            "a text version for you and for other models. Off: the model always writes a summary.",
            advanced=True,
        ),
    ] = True
    count_cjk_characters: Annotated[
        bool,
        shown(
            "context",
            "Count Chinese, Japanese and Korean characters",
            "Estimate one token per such character, not one per four bytes. For models that need more tokens for these "
            "scripts. If the provider counts tokens itself, its count is used.",
            advanced=True,
        ),
    ] = False
    include_current_time: Annotated[
        bool,
        shown(
            "context",
            "Tell the model the time",
            "Include the date and time in the context sent to the model.",
            advanced=True,
        ),
    ] = True
    include_current_cost: Annotated[
        bool,
        shown(
            "context",
            "Tell the model the cost",
            "Include the cost so far in the context sent to the model.",
            advanced=True,
        ),
    ] = True
    max_git_status_files: Annotated[
        int,
        Field(ge=0, le=1000),
        shown(
            "context",
            "Maximum changed files listed",
            "How many changed files are listed for the model. 0 leaves out git status.",
            advanced=True,
        ),
    ] = 0
    max_open_tabs_context: Annotated[
        int,
        Field(ge=0, le=500),
        shown(
            "context",
            "Maximum open documents listed",
            "How many open documents are listed for the model.",
            advanced=True,
        ),
    ] = 20
    max_workspace_files: Annotated[
        int,
        Field(ge=0, le=500),
        shown(
            "context",
            "Maximum workspace files listed",
            "How many workspace files are listed for the model at the start.",
            advanced=True,
        ),
    ] = 200
    show_roo_ignored_files: Annotated[
        bool,
        shown(
            "context",
            "List ignored files",
            "List files that the agent may not read, marked as ignored. Off leaves them out.",
            advanced=True,
        ),
    ] = False
    enable_subfolder_rules: Annotated[
        bool,
        shown(
            "context",
            "Read rules in subfolders",
            "Also load rules files found in subfolders of the workspace.",
            advanced=True,
        ),
    ] = False
    max_image_file_size: Annotated[
        float,
        Field(ge=0, le=100, allow_inf_nan=False),
        shown("context", "Largest image (MB)", "Larger images are not sent to the model.", advanced=True),
    ] = 5
    max_total_image_size: Annotated[
        float,
        Field(ge=0, le=500, allow_inf_nan=False),
        shown(
            "context",
            "Maximum images in one request (MB)",
            "Images beyond this total are left out of one request.",
            advanced=True,
        ),
    ] = 20

    # ---- requests
    request_delay_seconds: Annotated[
        int,
        Field(ge=1, le=600),
        shown(
            "services",
            "First wait before a retry (s)",
            "How long to wait after a failed model request; the wait doubles with each further failure.",
            advanced=True,
        ),
    ] = 5
    max_auto_retries: Annotated[
        int,
        Field(ge=0, le=100),
        shown(
            "services",
            "Maximum automatic retries",
            "After this many failed attempts in a row the agent asks instead of trying again.",
            advanced=True,
        ),
    ] = 10
    rate_limit_seconds: Annotated[
        int,
        Field(ge=0, le=3600),
        shown(
            "services",
            "Minimum time between requests (s)",
            "Wait at least this long between model requests. A profile can set its own time.",
            advanced=True,
        ),
    ] = 0

    # ---- checkpoints
    enable_checkpoints: Annotated[
        bool,
        shown(
            "checkpoints",
            "Checkpoints",
            "Save the workspace before the agent changes it, so that you can restore it.",
        ),
    ] = True
    checkpoint_timeout: Annotated[
        int,
        Field(ge=10, le=60),
        shown(
            "checkpoints",
            "Longest wait for a checkpoint (s)",
            "How long the agent waits for a checkpoint at most.",
            advanced=True,
        ),
    ] = 15
    checkpoint_variables: Annotated[
        bool,
        shown(
            "checkpoints",
            "Include the kernel's variables",
            "Save variables with each checkpoint, where possible.",
        ),
    ] = True
    checkpoint_quota_megabytes: Annotated[
        int,
        Field(ge=100, le=1_000_000),
        shown(
            "checkpoints",
            "Space for checkpoints of a workspace (MB)",
            "The oldest checkpoints are deleted when a workspace needs more than this. The newest always stay.",
            advanced=True,
        ),
    ] = 2048
    checkpoint_max_count: Annotated[
        int,
        Field(ge=20, le=10_000),
        shown(
            "checkpoints",
            "Maximum checkpoints of a workspace",
            "The oldest are deleted when a workspace has more than this.",
            advanced=True,
        ),
    ] = 200
    checkpoint_max_files: Annotated[
        int,
        Field(ge=100, le=1_000_000),
        shown(
            "checkpoints",
            "Largest workspace saved in full (files)",
            "In a larger one, only the files the agent touches are saved.",
            advanced=True,
        ),
    ] = 20_000
    checkpoint_max_walk_seconds: Annotated[
        int,
        Field(ge=1, le=60),
        shown(
            "checkpoints",
            "Time limit for scanning a workspace (s)",
            "If scanning all files takes longer, only those the agent touches are saved.",
            advanced=True,
        ),
    ] = 5
    checkpoint_max_file_megabytes: Annotated[
        int,
        Field(ge=1, le=10_000),
        shown(
            "checkpoints",
            "Largest file in a checkpoint (MB)",
            "A larger file is saved only if the file system can clone it, or if the agent announces that it will change it.",
            advanced=True,
        ),
    ] = 20
    checkpoint_max_touched_file_megabytes: Annotated[
        int,
        Field(ge=1, le=10_000),
        shown(
            "checkpoints",
            "Largest file saved before a change (MB)",
            "A larger file is not copied, even if the agent announces that it will change it.",
            advanced=True,
        ),
    ] = 200
    checkpoint_max_cloned_megabytes: Annotated[
        int,
        Field(ge=0, le=1_000_000),
        shown(
            "checkpoints",
            "Large files in a checkpoint (MB)",
            "Total size of large files, if the file system can clone them, as Btrfs and XFS can. Beyond it, the largest are "
            "left out. 0 never clones.",
            advanced=True,
        ),
    ] = 1000
    checkpoint_max_total_megabytes: Annotated[
        int,
        Field(ge=10, le=100_000),
        shown(
            "checkpoints",
            "Largest checkpoint (MB)",
            "Total size of all other files in one checkpoint. Beyond it, the largest are left out.",
            advanced=True,
        ),
    ] = 200
    checkpoint_max_variable_megabytes: Annotated[
        int,
        Field(ge=1, le=100_000),
        shown(
            "checkpoints",
            "Largest variable in a checkpoint (MB)",
            "A larger variable is not saved. To restore it, its cells have to run again.",
            advanced=True,
        ),
    ] = 512
    checkpoint_max_variables_megabytes: Annotated[
        int,
        Field(ge=1, le=1_000_000),
        shown(
            "checkpoints",
            "All variables of a kernel in a checkpoint (MB)",
            "Total size of one kernel's variables. What exceeds it is not saved.",
            advanced=True,
        ),
    ] = 2000
    checkpoint_variables_quota_megabytes: Annotated[
        int,
        Field(ge=1, le=1_000_000),
        shown(
            "checkpoints",
            "Space for variables of a workspace (MB)",
            "The oldest variables are deleted when those of all checkpoints need more than this.",
            advanced=True,
        ),
    ] = 2000
    checkpoint_max_sweep_milliseconds: Annotated[
        int,
        Field(ge=10, le=10_000),
        shown(
            "checkpoints",
            "Time for saving variables after a cell (ms)",
            "How long saving variables may block the kernel after each cell. The rest is saved while it is idle.",
            advanced=True,
        ),
    ] = 300

    # ---- ghost text
    ghost_text_enabled: Annotated[
        bool,
        shown(
            "notebooks",
            "Ghost text",
            "Show suggestions in grey as you type. Alt+End accepts one. The text around the cursor, the cells above "
            "and the names of variables and columns are sent to the model that you choose below.",
        ),
    ] = False
    ghost_text_api_config_id: Annotated[
        ProfileId | None,
        shown(
            "notebooks",
            "Profile for ghost text",
            "Empty uses the embedded model on this machine. You can use a profile of Ollama, Mistral, DeepSeek, LiteLLM or an "
            "OpenAI compatible server, if its model can fill gaps, such as Codestral or Qwen2.5 Coder.",
        ),
    ] = None
    ghost_text_daily_cost: Annotated[
        float,
        Field(ge=0, le=1_000, allow_inf_nan=False),
        shown(
            "notebooks",
            "Daily limit for ghost text ($)",
            "Once it is reached, there is no ghost text until the next day. With 0, only models on this machine are asked. "
            "Models without a known price are not limited.",
        ),
    ] = 1.0

    # ---- memory
    memory_enabled: Annotated[
        bool,
        shown(
            "memory",
            "Memory",
            "Keep the notes you ask for, and learn from finished conversations what helps in later ones.",
        ),
    ] = True
    note_suggestions_enabled: Annotated[
        bool,
        shown(
            "memory",
            "Suggest notes",
            "When the agent is done, it may suggest something to remember. It is kept only if you agree.",
        ),
    ] = True
    memory_from_external_content: Annotated[
        bool,
        shown(
            "memory",
            "Learn from web content",
            "Also learn from conversations that read the web. Text written by strangers could end up in memory.",
        ),
    ] = False
    memory_daily_cost: Annotated[
        float,
        Field(ge=0, le=1_000, allow_inf_nan=False),
        shown(
            "memory",
            "Daily limit for learning ($)",
            "Counted over the last 24 hours. Once it is reached, finished conversations wait. With 0, the agent learns "
            "only when you ask. Models without a known price are not limited.",
        ),
    ] = 0.5
    memory_api_config_id: Annotated[
        ProfileId | None,
        shown(
            "memory",
            "Profile for learning",
            "The profile whose model learns from finished conversations. Empty uses the current one; the embedded model is too small.",
        ),
    ] = None

    # ---- search
    search_by_meaning: Annotated[
        SearchByMeaning,
        shown(
            "search",
            "Search by meaning too",
            "Also find passages that say the same in other words, in conversations, notes and notebooks.",
        ),
    ] = "bundled"
    search_endpoint_url: Annotated[
        BaseUrl | None,
        shown(
            "search",
            "Address of the embeddings endpoint",
            "An address that speaks the OpenAI protocol, such as https://api.openai.com/v1. If you choose it above, passages "
            "of your conversations, notes and notebooks and what you search for are sent there. Keys and passwords are "
            "masked first. Conversations with a model on this machine are not sent to another machine.",
        ),
    ] = None
    search_endpoint_model: Annotated[
        Annotated[str, Field(min_length=1, max_length=500)] | None,
        shown(
            "search",
            "Model of the embeddings endpoint",
            "The model's ID, as the endpoint calls it. After a change, every passage is sent again.",
        ),
    ] = None
    search_endpoint_api_key: Annotated[
        Annotated[SecretStr, Field(min_length=1, max_length=65_536)] | None,
        shown(
            "search",
            "Key for the embeddings endpoint",
            "Kept with your other keys. It is sent only to the address that is set when you save it.",
        ),
        Secret(env=("HDSP_AGENT_SEARCH_API_KEY",)),
    ] = None

    # ---- modes and prompts
    mode: Annotated[ModeSlug, shown("modes", "Mode", "The mode in which new conversations start.")] = "code"
    custom_instructions: Annotated[
        LongText | None, shown("modes", "Instructions for every mode", "Added to the system prompt in every mode.")
    ] = None
    custom_modes: Annotated[
        tuple[ModeConfig, ...],
        Field(max_length=200),
        shown("modes", "Custom modes", "Modes of your own: a role, instructions and tools."),
    ] = ()
    custom_mode_prompts: Annotated[
        dict[ModeSlug, ModePrompt],
        Field(max_length=200),
        shown("modes", "Changed mode prompts", "Your changes to the prompts of modes, by mode.", advanced=True),
    ] = Field(default_factory=dict)
    custom_support_prompts: Annotated[
        dict[Annotated[str, Field(max_length=100)], LongText],
        Field(max_length=100),
        shown(
            "modes",
            "Changed helper prompts",
            "Your changes to the prompts for explaining, fixing, condensing and improving, by name.",
            advanced=True,
        ),
    ] = Field(default_factory=dict)
    include_task_history_in_enhance: Annotated[
        bool,
        shown(
            "modes",
            "Use the conversation to improve prompts",
            "Let the model that improves a prompt see the conversation so far.",
            advanced=True,
        ),
    ] = True
    prevent_completion_with_open_todos: Annotated[
        bool,
        shown(
            "modes",
            "Finish only when every to-do is done",
            "Do not let the agent finish while its to-do list has open items.",
            advanced=True,
        ),
    ] = False
    disabled_tools: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=200)], ...],
        Field(max_length=500),
        shown("modes", "Disabled tools", "Names of tools the agent never gets.", advanced=True),
    ] = ()
    experiments: Annotated[
        dict[Annotated[str, Field(max_length=100)], bool],
        Field(max_length=100),
        shown("modes", "Experiments", "Unfinished features you want to try, by name.", advanced=True),
    ] = Field(default_factory=dict)

    # ---- services
    mcp_enabled: Annotated[
        bool, shown("services", "MCP servers", "Offer the agent the tools of the MCP servers you set up.")
    ] = True
    mcp_server_enabled: Annotated[
        bool,
        shown(
            "services",
            "Let other agents connect",
            "Claude Code, Codex and other programs that speak MCP may work in your notebooks, under your approvals.",
        ),
    ] = False
    mcp_server_commands: Annotated[
        bool,
        shown(
            "services",
            "Shell commands of other agents",
            "Let other agents that are connected here run shell commands. They are asked about like any other. Most have a "
            "shell of their own.",
            advanced=True,
        ),
    ] = False
    fetch_url_enabled: Annotated[
        bool,
        shown(
            "services",
            "Fetching web pages",
            "Let the agent fetch public web pages. It asks before each one unless network access is allowed without asking.",
        ),
    ] = False
    fetch_private_addresses: Annotated[
        bool,
        shown(
            "services",
            "Fetching from private addresses",
            "Also let it fetch from this machine and its local network, where servers often trust all visitors.",
            advanced=True,
        ),
    ] = False

    # ---- appearance
    language: Annotated[
        Annotated[Literal["en", "ko", "ja"], Choices((("en", "English"), ("ko", "한국어"), ("ja", "日本語")))] | None,
        shown("ui", "Language of answers", "The language the agent answers in. Empty follows JupyterLab."),
    ] = None
    enter_behavior: Annotated[
        Annotated[
            Literal["send", "newline"],
            Choices(
                (
                    ("send", "Enter sends, Shift+Enter starts a new line"),
                    ("newline", "Enter starts a new line, Ctrl+Enter sends"),
                )
            ),
        ],
        shown("ui", "Enter key", "What the Enter key does in the prompt."),
    ] = "send"
    reasoning_block_collapsed: Annotated[
        bool, shown("ui", "Collapse the model's thinking", "Show the model's thinking collapsed. You can expand it.")
    ] = True
    sound_enabled: Annotated[bool, shown("ui", "Sounds", "Play a sound when the agent needs you or is done.")] = False
    sound_volume: Annotated[
        float, Field(ge=0, le=1, allow_inf_nan=False), shown("ui", "Volume", "How loud sounds are.")
    ] = 0.5
    history_preview_collapsed: Annotated[
        bool,
        shown("ui", "Fold recent tasks", "Whether the list of recent tasks in an empty panel is folded.", hidden=True),
    ] = False
    has_opened_mode_selector: Annotated[
        bool,
        shown("ui", "Mode selector was opened", "Whether the hint at the mode selector is still needed.", hidden=True),
    ] = False
    dismissed_hints: Annotated[
        tuple[Annotated[str, Field(max_length=200)], ...],
        Field(max_length=1000),
        shown("ui", "Dismissed hints", "Hints you closed and do not want to see again.", hidden=True),
    ] = ()

    # ---- profiles
    enhancement_api_config_id: Annotated[
        ProfileId | None,
        shown(
            "modes",
            "Profile for improving prompts",
            "The profile used to improve a prompt. Empty uses the current one.",
            advanced=True,
        ),
    ] = None
    profile_thresholds: Annotated[
        dict[ProfileId, Annotated[int, Field(ge=-1, le=100)]],
        Field(max_length=500),
        shown(
            "context",
            "Condense threshold by profile (%)",
            "How full the context window may get before condensing, by profile, from 5 to 100. -1 uses the general setting.",
            advanced=True,
        ),
    ] = Field(default_factory=dict)

    # ---- privacy
    secret_storage: Annotated[
        StorageChoice, shown("privacy", "Where keys are kept", "Changing it moves the keys you saved.")
    ] = "auto"  # noqa: S105 -- names a place, holds no password
    masked_kinds: Annotated[
        tuple[MaskedKind, ...],
        Field(max_length=50),
        shown(
            "privacy",
            "Masked in conversations",
            "Text of these kinds is masked before it is recorded or sent to a model.",
        ),
    ] = ALL_MASKED_KINDS

    # ---- storage
    retention_compress_days: Annotated[
        Days,
        shown(
            "storage",
            "Compress finished conversations after (days)",
            "Finished conversations are compressed after this long and stay readable. 0 never compresses.",
        ),
    ] = 7
    retention_delete_days: Annotated[
        Days,
        shown(
            "storage",
            "Delete finished conversations after (days)",
            "Finished conversations are deleted after this long, unless pinned or marked as favorites. 0 never deletes.",
        ),
    ] = 30
    size_warning_gigabytes: Annotated[
        float,
        Field(gt=0, le=100_000, allow_inf_nan=False),
        shown(
            "storage",
            "Warn when conversations use more than (GB)",
            "A warning is shown when stored conversations use more than this.",
            advanced=True,
        ),
    ] = 10
    size_critical_gigabytes: Annotated[
        float,
        Field(gt=0, le=100_000, allow_inf_nan=False),
        shown(
            "storage",
            "Warn urgently when conversations use more than (GB)",
            "An urgent warning is shown when stored conversations use more than this.",
            advanced=True,
        ),
    ] = 50
    backup_generations: Annotated[
        int,
        Field(ge=0, le=100),
        shown(
            "storage",
            "Daily backups kept",
            "Once a day, if anything changed, conversations, settings and checkpoints are copied to the folder “backups”. "
            "Keys never are. The oldest backup is deleted first. 0 makes none.",
            advanced=True,
        ),
    ] = 7

    @field_validator("profile_thresholds")
    @classmethod
    def _thresholds_are_percentages(cls, value: dict[str, int]) -> dict[str, int]:
        for profile, percent in value.items():
            if percent != -1 and percent < 5:
                raise ValueError(f"{profile}: must be -1 or between 5 and 100")
        return value


class PassThroughState(WireModel):
    """State that lives in ``config.json`` but is neither a setting nor cached, because it can be large."""

    task_history: list[JsonValue] = Field(default_factory=list)
    """The list of past tasks as older versions kept it."""


@cache
def setting_keys() -> frozenset[str]:
    """The wire names of the settings here that are secrets. They belong to no profile."""
    return frozenset(secret_fields(GlobalSettings))

"""English conversations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .wordings import FactKind, FactWording, Language, Preference, Project

__all__ = ["ENGLISH"]

_PROJECTS: Final = (
    Project("customer churn", "subscription records", "churn", {
        "tenure_m": "how many months a customer has stayed", "plan_cd": "the code of the tariff",
        "last_login_dt": "when somebody last signed in", "ltv_eur": "what a customer will bring in over the years",
    }, ("Marta", "Devon")),
    Project("house prices", "sales listings", "housing", {
        "sqft_living": "the living area", "yr_renov": "when the house was last renovated",
        "grade": "how well the house is built", "dist_cbd": "how far it is to the city centre",
    }, ("Priya", "Tom")),
    Project("bike rentals", "docking station logs", "bikeshare", {
        "cnt": "how many bikes were rented in an hour", "atemp": "what the temperature feels like",
        "workingday": "whether people had to work that day", "hum": "how humid the air was",
    }, ("Anneke", "Luis")),
    Project("hospital readmissions", "discharge letters", "readmit", {
        "los_days": "how long a patient stayed", "icd_main": "the main diagnosis",
        "readm_30": "whether the patient came back within a month", "n_meds": "how many medicines were prescribed",
    }, ("Dr. Osei", "Hannah")),
    Project("card fraud", "payment transactions", "fraud", {
        "amt_z": "the standardised amount", "mcc": "what kind of shop it was",
        "is_cnp": "whether the card was absent", "v_24h": "how often the card was used within a day",
    }, ("Igor", "Salma")),
    Project("wind turbine power", "SCADA exports", "wind", {
        "ws_hub": "the wind speed at the height of the hub", "pitch_deg": "the angle of the blades",
        "p_act_kw": "the power that was produced", "t_gear": "how hot the gearbox is",
    }, ("Freya", "Nils")),
    Project("support tickets", "helpdesk export", "tickets", {
        "ttr_h": "the hours until a ticket was solved", "prio": "how urgent a ticket is",
        "lang_guess": "the language that was detected", "n_reopen": "how often a ticket was opened again",
    }, ("Chloe", "Raj")),
    Project("soil moisture", "probe readings", "soil", {
        "vwc": "the share of water in the ground", "ndvi": "how green the field is",
        "depth_cm": "how deep the probe sits", "rain_72h": "how much it rained in three days",
    }, ("Elena", "Omar")),
)  # fmt: skip

_TUNED: Final[Mapping[FactKind, FactWording]] = {
    "path": FactWording(
        ("The {data} for {subject} are in {path}.", "I put the {data} ({subject}) under {path}, read them from there."),
        ("Where are the {data} for {subject}?", "Which file do the {subject} {data} come from?"),
        ("We moved the {data} for {subject}: they are in {path} now.", "Don't read the old {subject} file any more, the {data} have moved to {path}."),
    ),
    "column": FactWording(
        ("For {subject}: {column} is {meaning}.", "Careful with {column} in the {data}, it holds {meaning}."),
        ("Which column says {meaning}?", "What does {column} stand for?", "In the {subject} table, where do I find {meaning}?"),
    ),
    "metric": FactWording(
        ("Let's judge the {subject} model by {metric}, because {reason}.", "We agreed to evaluate {subject} with {metric}; {reason}."),
        ("How do we evaluate the {subject} model?", "What metric are we using for {subject}?"),
        ("Change of plan: we evaluate {subject} with {metric} from now on.", "After the review, {subject} is judged by {metric} instead."),
    ),
    "model": FactWording(
        ("We'll go with {model} for {subject}.", "Decision for {subject}: {model}, nothing fancier."),
        ("Which model did we choose for {subject}?", "What are we training for {subject}?"),
        ("We switch the {subject} model to {model}.", "Forget the previous model for {subject}; we use {model} now."),
    ),
    "missing": FactWording(
        ("Missing values of {column} in {subject} should be {missing}.", "If {column} is empty, have it {missing} ({subject})."),
        ("What do we do about missing {column} values?", "How are gaps in {column} handled for {subject}?"),
    ),
    "deadline": FactWording(
        ("The {subject} report is due on {day}.", "I have to show {subject} to the board on {day}."),
        ("When is the {subject} report due?", "What's the deadline for {subject}?"),
        ("The deadline for the {subject} report was moved to {day}.", "Good news, the {subject} report is due on {day} instead."),
    ),
    "result": FactWording(
        ("The {variant} run of {subject} got {number}.", "Please note: {number} for {subject} with {variant}."),
        ("What did {subject} score with {variant}?", "How good was the {variant} run for {subject}?"),
    ),
    "split": FactWording(
        ("Split {subject} {split}.", "For {subject} I want the data split {split}."),
        ("How do we split train and test for {subject}?", "What split are we using for {subject}?"),
    ),
    "dropped": FactWording(
        ("Drop {column} from the {subject} features, {reason}.", "We leave {column} out for {subject}: {reason}."),
        ("Which feature did we drop for {subject}?", "Why isn't {column} among the features?"),
    ),
    "threshold": FactWording(
        ("For {subject} we act on predictions above {threshold}.", "Set the {subject} cut-off to {threshold}."),
        ("What threshold do we use for {subject}?", "Above which score do we act in {subject}?"),
    ),
    "person": FactWording(
        ("{person} owns the {data}, ask them about {subject} questions.", "If something is off with the {data}, {person} can help ({subject})."),
        ("Who knows about the {data}?", "Whom can I ask about problems with the {subject} data?"),
    ),
}  # fmt: skip

_HELD_OUT: Final[Mapping[FactKind, FactWording]] = {
    "path": FactWording(
        ("You can load the {subject} {data} from {path}.", "{path} has the {data} that we need for {subject}."),
        ("From where do I load the {data} of {subject}?", "I forgot where the {subject} data is stored"),
        ("The {subject} {data} have a new home, {path}.", "From today on load the {subject} {data} from {path}."),
    ),
    "column": FactWording(
        ("By the way, in {subject} the field {column} means {meaning}.", "{column} tells us {meaning}, at least in the {data}."),
        ("What is {column} in {subject}?", "I need the field that tells {meaning}", "meaning of {column}"),
    ),
    "metric": FactWording(
        ("{metric} is what counts for {subject}, since {reason}.", "My team lead wants {metric} reported for {subject}: {reason}."),
        ("What counts as good for {subject}?", "which score should I report for {subject}"),
        ("{metric} is what counts for {subject} now.", "My team lead wants {metric} reported for {subject} after all."),
    ),
    "model": FactWording(
        ("Please build {subject} on {model}.", "{model} it is for {subject}, it was the most robust."),
        ("what algorithm is behind {subject}", "Remind me what kind of model we have for {subject}."),
        ("Please rebuild {subject} on {model}.", "{model} it is for {subject}, the other one was too slow in production."),
    ),
    "missing": FactWording(
        ("Empty {column} cells in {subject}: {missing}, please.", "I'd like {column} to be {missing} where it is NaN ({subject})."),
        ("what happens to NaN in {column}", "How did I want empty {column} cells treated?"),
    ),
    "deadline": FactWording(
        ("{subject} has to be finished by {day}.", "They expect the {subject} results on {day}."),
        ("Until when do I have time for {subject}?", "when do they expect the {subject} results"),
        ("{subject} only has to be finished by {day}.", "They now expect the {subject} results on {day}."),
    ),
    "result": FactWording(
        ("{variant} gives {number} on {subject}.", "Wrote down for {subject}: {variant}, {number}."),
        ("{subject} {variant} result", "Which value did we reach on {subject} using {variant}?"),
    ),
    "split": FactWording(
        ("{subject} should be validated {split}.", "Hold-out for {subject}: {split}."),
        ("how is {subject} validated", "What was my wish for the hold-out of {subject}?"),
    ),
    "dropped": FactWording(
        ("Don't use {column} for {subject}, {reason}.", "{column} must not go into the {subject} model: {reason}."),
        ("What must not go into the {subject} model?", "may I use {column}"),
    ),
    "threshold": FactWording(
        ("{subject}: everything from {threshold} upwards gets flagged.", "Flag {subject} cases at {threshold} or more."),
        ("From which probability do we flag {subject} cases?", "{subject} threshold"),
    ),
    "person": FactWording(
        ("{person} collected the {data} for {subject}.", "Talk to {person} before you change anything in the {data}."),
        ("Who collected the {data}?", "contact for the {data}"),
    ),
}  # fmt: skip

ENGLISH: Final = Language(
    code="en",
    projects=_PROJECTS,
    tuned=_TUNED,
    held_out=_HELD_OUT,
    preferences=(
        Preference("Please always draw charts with seaborn and a colour-blind palette.", "Draws charts with seaborn and a colour-blind palette.", "Plot monthly totals for {subject}."),
        Preference("I don't want type hints in notebook cells.", "No type hints in notebook cells.", "Write a function that cleans the {data}."),
        Preference("Explain in two sentences at most, I read the code anyway.", "Explanations of two sentences at most.", "What does a confusion matrix tell me about {subject}?"),
        Preference("Never touch the cells that I marked with # keep.", "Never change cells marked # keep.", "Tidy up the {subject} notebook."),
        Preference("Use polars, not pandas, whenever you can.", "Prefers polars over pandas.", "Group the {data} by month and sum them up."),
        Preference("Numbers in tables get two decimals.", "Two decimals in tables.", "Give me a summary table for {subject}."),
    ),
    requests=(
        "Can you plot {column} over time?", "The cell fails with KeyError: '{column}', please fix it.",
        "Make a histogram of {column} for {subject}.", "Why is the {subject} notebook so slow?",
        "Add a markdown heading above the cell that reads the {data}.", "Show me the first rows of the {data}.",
        "How many rows have {column} equal to zero?", "Please rename the variable df2, it confuses me.",
        "Is there a correlation between {column} and {other}?", "Write a unit test for the cleaning step of {subject}.",
        "Train a quick baseline for {subject} so that we see something.", "What is the memory use of the {data}?",
        "Which rows of the {data} are duplicates?", "Explain the warning that pandas shows here.",
        "Put the {subject} metrics of all folds into one table.", "Save the figure as PNG in the folder figures.",
    ),
    replies=(
        "Done. The chart of {column} is below the cell; there are a few outliers.", "I changed the cell, it runs now.",
        "The {data} have 48,213 rows and 17 columns.", "I added the heading and moved the import to the top.",
        "The correlation is weak. Shall I look at {other} too?", "The slow part was a loop over rows; it is vectorised now.",
        "I trained a quick baseline for {subject}; the folds differ a lot, so take it with a grain of salt.",
        "The warning is about chained assignment. I use .loc now.", "There were 312 duplicates, I removed them.",
    ),
    confirmations=("Understood, I'll keep to that.", "Got it.", "Okay, noted for {subject}.", "Sure. Anything else for {subject}?"),
    asked_on_day=("What did we talk about on {day} in {subject}?", "What did I ask about {subject} on {day}?"),
    asked_relative=("What did we do for {subject} last week?", "last week's {subject} work"),
    titles=("Exploring {subject}", "{subject}: cleaning the data", "Model for {subject}", "{subject}, next steps"),
    values={
        "metric": ("PR AUC", "recall at 5 % false alarms", "MAPE", "log loss", "F2", "pinball loss", "Brier score"),
        "reason": ("the classes are badly unbalanced", "outliers would dominate otherwise", "it leaks the target", "the legal team asked for it", "it is what the client understands"),
        "model": ("LightGBM", "a plain logistic regression", "CatBoost", "a random forest", "XGBoost", "a small MLP", "ElasticNet"),
        "missing": ("filled with the median", "set to -1", "dropped", "carried forward from the day before", "imputed by k nearest neighbours"),
        "split": ("by time, the last quarter for testing", "by customer, so that nobody is on both sides", "with five stratified folds", "80/20 at random with seed 7"),
        "variant": ("the first baseline", "target encoding", "the lag features", "early stopping", "the log target", "monotone constraints"),
    },
    day="{name} {day}",
)  # fmt: skip

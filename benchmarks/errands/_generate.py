"""Makes errands of families, data sets and phrasings with a seed, and splits the families by a hash of their names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from random import Random
from typing import Final, Literal, TypeAlias

from benchmarks.evals import EvalTask, Text

from ._data_sets import DataSet, data_set
from ._errand import LANGUAGES, Errand, Family, Language, Scene, with_particles
from .families import FAMILIES

__all__ = ["FAMILIES", "Split", "errand_of", "errands_of", "split_of"]

Split: TypeAlias = Literal["development", "held out"]

_LOADED: Final = 0.7


def split_of(family: str) -> Split:
    """Whether a family is held out. The hash decides, not we."""
    return "held out" if hashlib.sha256(family.encode()).digest()[0] % 2 else "development"


def errands_of(split: Split, seed: int, each: int = 1) -> list[Errand]:
    """The errands of this seed: of each family ``each`` in every language."""
    families = [family for family in FAMILIES if split_of(family.name) == split]
    return [
        errand_of(family, language, seed, number)
        for family in families
        for language in LANGUAGES
        for number in range(each)
    ]


def errand_of(family: Family, language: Language, seed: int, number: int = 0) -> Errand:
    """One errand, always the same for the same seed and number."""
    rng = Random(f"{seed} {family.name} {language} {number}")
    data = data_set(language, rng)
    if family.gaps:
        data = data.with_gaps(rng)
    if family.repeats:
        data = data.with_repeats(rng)
    scene = _scene(data, language, family, rng)
    made = family.make(scene)
    phrase = rng.choice(list(family.phrases[language]))
    says = {
        "table": scene.table,
        "file": data.file,
        "rows": data.words.rows,
        **{role: scene.column(getattr(data, role)) for role in ("label", "group", "amount", "measure", "day")},
        **made.says,
    }
    prompt = phrase.format(**says, **with_particles(says))
    cells = scene.before if made.cells is None else made.cells
    task = EvalTask(
        f"{family.name}-{language}-{seed}-{number}",
        family.kind,
        prompt,
        made.judge,
        made.right,
        cells=cells,
        tables={data.file: data.csv(), **made.files},
        probes=made.probes,
        # A person is always in some cell; mostly in the one they wrote last.
        at=made.at or len(cells) or None,
        means=made.means,
        wrong=made.wrong,
        also_right=made.also_right,
    )
    return Errand(family.name, language, task, made.may_change)


def _scene(data: DataSet, language: Language, family: Family, rng: Random) -> Scene:
    loaded = rng.random() < _LOADED if family.loaded is None else family.loaded
    name = data.words.name
    variable = "df" if not name.isascii() or rng.random() < 0.5 else name
    before: list[str] = [Text(f"# {name}")] if rng.random() < 0.4 else []
    if loaded:
        before.append(f"import pandas as pd\n\n{variable} = pd.read_csv({data.file!r})")
        before += _looked(data, variable, rng)
    return Scene(data, language, rng, loaded, variable, before)


def _looked(data: DataSet, variable: str, rng: Random) -> Sequence[str]:
    """What people do first with a table, or nothing."""
    looks = ((), (f"{variable}.head()",), (f"{variable}.info()",), (f"print({variable}.columns.tolist())",))
    return rng.choice(looks)

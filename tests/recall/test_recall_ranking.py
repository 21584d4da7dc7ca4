"""What comes first: what was said about it, in any form of the words, and as it is now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from hdsp_agent.recall import Passage, RecallQuery

from ._helpers.samples import DAY, conversation, found, recall, said

pytestmark = pytest.mark.each_backend("files", "postgres")

NOON = int(datetime(2026, 6, 17, 12).astimezone().timestamp() * 1000)
"""A Wednesday."""


FORMS = [
    ("models for churning customers", "We model which customers churn."),
    ("customer_id", "The column customerId joins both tables."),
    ("customerId", "The column customer_id joins both tables."),
    ("xgboost", "XGBoost was too slow."),
    ("노트북은 어디에", "그 노트북에서 읽습니다."),
    ("전처리를 했던 파일", "전처리는 prep.py에 있습니다."),
    ("評価指標は?", "評価指標をMAPEにします。"),
    ("データの前処理", "前処理したデータを保存しました。"),
    ("df의 결측치", "df에는 결측치가 많아요."),
    ("where is raw_v2.csv", "Please read data/in/raw_v2.csv from now on."),
    ("CAFÉ", "the café dataset"),
]
"""Questions and what answers them."""


async def test_words_are_found_in_other_forms(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        for question, answer in FORMS:
            await index.put(conversation("t", question), said(answer), "1")
            others = said("Something about the weather.", "날씨 이야기", "天気の話")
            await index.put(conversation("other", question), others, "1")
        for question, answer in FORMS:
            assert (await found(index, question, question))[:1] == [answer]


ANSWERS = [
    ("When is the churn report due?", "I show churn to the board on March 5.", "The churn notebook is slow."),
    ("이탈 보고서 마감이 언제죠?", "이탈 발표는 3월 5일에 있어요.", "이탈 노트북이 느려요."),
    ("解約の締め切りはいつ?", "解約の発表は3月5日です。", "解約のノートは遅い。"),
    ("Where are the churn records?", "I put the churn records under data/a.csv.", "Plot the churn records."),
]
"""Questions, what answers each, and what only shares its words."""


async def test_what_answers_comes_before_what_only_shares_words(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        for question, answer, others in ANSWERS:
            passages = said(answer, "ok", "ok ok", "ok ok ok", others)
            await index.put(conversation("t", question), passages, "1")
        for question, answer, _ in ANSWERS:
            assert (await found(index, question, question))[0] == answer


async def test_a_phrase_in_quotation_marks_comes_first(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        await index.put(conversation("a"), said("rate the learning material"), "1")
        await index.put(conversation("b"), said("we lowered the learning rate of the second network"), "1")
        assert (await found(index, '"learning rate"'))[0].startswith("we lowered")


CHANGES = [
    ("Which metric for churn?", "The metric for churn is log loss.", "The metric for churn is PR AUC."),
    (
        "How do we evaluate churn?",
        "We evaluate churn by log loss, it is simple.",
        "Churn is judged by PR AUC instead.",
    ),
    ("이탈 평가 지표가 뭐죠?", "이탈 평가 지표는 로그 손실입니다.", "이제 이탈 평가 지표를 재현율로 바꿉니다."),
    ("解約の評価指標は?", "解約の評価指標は対数損失です。", "解約の評価指標を再現率に変更しました。"),
]
"""Questions, what answered each once, and what answers it now."""


@pytest.mark.parametrize("turned", [False, True])
async def test_what_is_outdated_never_comes_before_what_replaced_it(tmp_path: Path, turned: bool) -> None:
    async with recall(tmp_path) as index:
        for question, old, new in CHANGES:
            put = [("old", old, NOON - 30 * DAY), ("new", new, NOON - DAY)]
            for name, text, ts in reversed(put) if turned else put:
                await index.put(conversation(name, question), said(text, ts=ts), "1")
        for question, old, new in CHANGES:
            assert (await found(index, question, question))[:2] == [new, old]


async def test_a_newer_passage_about_something_else_does_not_come_first(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        await index.put(conversation("a"), said("The deadline of the churn report is March 5.", ts=NOON - 9 * DAY), "1")
        await index.put(conversation("b"), said("We switched the churn model to CatBoost now.", ts=NOON), "1")
        assert (await found(index, "deadline of the churn report"))[0].startswith("The deadline")


async def test_a_time_in_the_question_counts(tmp_path: Path) -> None:
    times = (
        "yesterday", "on June 16", "2026-06-16", "어제", "6월 16일에", "昨日", "6月16日の", "on tuesday", "화요일",
        "1 day ago", "1일 전",
    )  # fmt: skip
    await _finds_what_was_meant(tmp_path, NOON - DAY, times)


async def test_last_week_counts_from_now(tmp_path: Path) -> None:
    times = ("last week", "지난주", "先週", "a week ago", "1 week ago", "7日前")
    await _finds_what_was_meant(tmp_path, NOON - 7 * DAY, times)


async def test_months_count(tmp_path: Path) -> None:
    await _finds_what_was_meant(tmp_path, NOON - 25 * DAY, ("last month", "지난달", "先月", "in May", "5월", "5月"))


async def test_a_time_alone_finds_what_was_said_then(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        await index.put(conversation("meant"), said("gearbox temperatures", ts=NOON - DAY), "1")
        await index.put(conversation("other"), said("we did what we do, 뭐 했지, 何をした", ts=NOON - 5 * DAY), "1")
        for question in ("yesterday", "What did we do yesterday?", "어제 뭐 했지?", "昨日は何をした?"):
            hits = await index.search(RecallQuery(question, "ana", now=NOON))
            assert [hit.source.id for hit in hits][:1] == ["meant"], question


async def test_the_same_text_is_shown_once_before_others(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        for number in range(5):
            await index.put(conversation(f"s{number}"), said("Why is the churn notebook so slow?"), "1")
        await index.put(conversation("other"), said("The slow part of our churn work was a join."), "1")
        assert len(set((await found(index, "slow churn notebook"))[:2])) == 2


async def test_people_come_before_agents_that_repeat_them(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        passages = [
            Passage("noted: churn by PR AUC", "0", 1, "agent"),
            Passage("judge churn by PR AUC", "1", 2, "person"),
        ]
        await index.put(conversation("t"), passages, "1")
        hits = await index.search(RecallQuery("churn PR AUC", "ana"))
        assert hits[0].passage.author == "person"


async def test_what_stands_beside_a_match_is_found_with_it(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        await index.put(conversation("t"), said("How should I treat gaps in tenure?", "Median, please."), "1")
        assert "Median, please." in await found(index, "gaps in tenure")


async def _finds_what_was_meant(home: Path, meant: int, times: Sequence[str]) -> None:
    async with recall(home) as index:
        await index.put(conversation("meant"), said("churn churn, a longer text that matches less well", ts=meant), "1")
        await index.put(conversation("before"), said("churn", ts=NOON - 90 * DAY), "1")
        await index.put(conversation("today"), said("churn", ts=NOON - 1000), "1")
        for when in times:
            hits = await index.search(RecallQuery(f"churn {when}", "ana", now=NOON))
            assert hits[0].source.id == "meant", when

"""Whatever a person types finds what contains it, in any script, and never fails."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdsp_agent.errors import InvalidInput
from hdsp_agent.messages import HistorySort
from hdsp_agent.persistence.history import _history_schema
from hdsp_agent.persistence.history._index import HistoryRecord
from hdsp_agent.persistence.history._query import HistoryQuery
from hdsp_agent.persistence.history._text_normalization import fold, search_terms

from .._helpers.long_tests import rounds
from ._helpers.history_samples import eventually, found, history, notebook, task

TEXTS = {
    "ko": "주피터 노트북에서 판다스로 데이터프레임을 읽고 결측치를 채웠습니다. 🎉 Python3.11",
    "ja": "ノートブックで機械学習モデルを訓練し、損失のグラフを表示しました。ｺｰﾄﾞ",
    "zh": "使用笔记本分析数据，绘制图表。用户登录",
    "en": "Loaded sales.csv with pandas; fixed KeyError: 'Région' -> C++ extension, a=>b",
    "mixed": "pandas로 売上データ를 plot하고 👩‍💻 🇰🇷 저장 ❤️",
}


each_backend = pytest.mark.each_backend("files", "postgres")
each_way = pytest.mark.parametrize(
    ("storage_backend", "_way_of_searching"),
    [("files", "indexed"), ("files", "one by one"), ("postgres", "indexed")],
    indirect=True,
)


@pytest.fixture
def _way_of_searching(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if request.param == "one by one":
        monkeypatch.setattr("hdsp_agent.persistence.history._history_schema.full_text_search", lambda: False)
    else:
        assert _history_schema.full_text_search()
    yield


@each_way
@pytest.mark.usefixtures("_way_of_searching")
async def test_substrings_of_every_script_are_found(tmp_path: Path) -> None:
    expected = {
        "데이터프레임": ["ko"], "이터프": ["ko"], "결측": ["ko"], "측": ["ko"], "판다스로 데이터": ["ko"],
        "機械学習": ["ja"], "訓練": ["ja"], "損": ["ja"], "コード": ["ja"], "ノート": ["ja"],
        "笔记本": ["zh"], "用户": ["zh"], "图": ["zh"],
        "KEYERROR": ["en"], "region": ["en"], "c++": ["en"], "->": ["en"], "=>": ["en"], "ｓａｌｅｓ．ｃｓｖ": ["en"],
        "🎉": ["ko"], "👩‍💻": ["mixed"], "🇰🇷": ["mixed"], "❤": ["mixed"], "売上": ["mixed"], "로 売": ["mixed"],
        "pandas": ["en", "mixed"], "データ": ["mixed"], "plot 저장": ["mixed"], '"저장 plot"': [],
        "데이터 機械": [], "zzz": [], "3.11": ["ko"],
    }  # fmt: skip
    async with history(tmp_path) as index:
        for name, text in TEXTS.items():
            await index.upsert(task(name), text=text)
        for query, names in expected.items():
            assert sorted(await found(index, query)) == names, query


@each_way
@pytest.mark.usefixtures("_way_of_searching")
async def test_a_slip_of_the_keyboard_still_finds_the_title(tmp_path: Path) -> None:
    titles = {
        "en": "Sales analysis of 2025", "model": "Train a model", "cosine": "cosine of the angle",
        "ko": "판매 데이터를 분석하기", "chart": "매출 그래프", "ja": "売上分析レポートの作成", "kana": "コンピューターの設定",
    }  # fmt: skip
    expected = {
        "analsis": ["en"], "anaylsis": ["en"], "anlyss": ["en"], "analyssis 2025": ["en"], "slaes analysis": ["en"],
        "modle": ["model"], "moedl": ["model"], "csoine": ["cosine"], "cost": [], "anal": ["en"],
        "데이타": ["ko"], "분삭": ["ko"], "판메 데이터": ["ko"], "그레프": ["chart"], "구래프": ["chart"], "고레프": [],
        "レポト": ["ja"], "売上分折": ["ja"], "コンピュタ": ["kana"], "コンピュータの設定": ["kana"],
        '"analsis"': [], "analsis nothing": [], "2026": [], "xxxxxx": [],
    }  # fmt: skip
    async with history(tmp_path) as index:
        for name, title in titles.items():
            await index.upsert(task(name, title=title, task="first"), text="")
        for query, names in expected.items():
            assert sorted(await found(index, query)) == names, query
        (hit,) = (await index.search(HistoryQuery("analsis"))).hits
        assert hit.snippet is not None
        assert [part.text for part in hit.snippet.parts if part.found] == ["analysis"]


@each_way
@pytest.mark.usefixtures("_way_of_searching")
async def test_near_words_are_looked_for_only_where_nothing_has_the_word_itself(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        await index.upsert(task("far", ts=3, title="analsys", task="first", workspace="w"), text="")
        await index.upsert(task("near", ts=2, title="analysis", task="first", workspace="w"), text="")
        await index.upsert(task("untitled", ts=1, task="an analysis", workspace="w"), text="")
        assert await found(index, "analysis") == ["near", "untitled"]
        assert await found(index, "analysus", sort="mostRelevant") == ["near", "untitled", "far"]
        first = await index.search(HistoryQuery("analysus", sort="mostRelevant", limit=2))
        assert first.total == 3 and first.next is not None
        rest = await index.search(HistoryQuery("analysus", sort="mostRelevant", limit=2, cursor=first.next))
        assert [hit.item.id for hit in rest.hits] == ["far"]
        assert await found(index, "analysus", workspace="elsewhere") == []


@each_way
@pytest.mark.usefixtures("_way_of_searching")
async def test_the_most_relevant_have_it_in_the_title_then_in_the_task(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        for word in ("표", "회귀분석"):
            await index.upsert(task("text", ts=5), text=f"{word} 만들기")
            await index.upsert(task("task", ts=4, task=f"{word} 하나"), text="")
            await index.upsert(task("title", ts=3, title=f"나의 {word}"), text="")
            await index.upsert(task("both", ts=2, title=f"나의 {word}", task=word), text="")
            await index.upsert(task("older", ts=1), text=f"{word} 만들기")
            page = await index.search(HistoryQuery(word, sort="mostRelevant"))
            assert [(hit.item.id, hit.rank) for hit in page.hits] == [
                ("both", 3), ("title", 2), ("task", 1), ("text", 0), ("older", 0),
            ]  # fmt: skip
            assert [hit.snippet and hit.snippet.field for hit in page.hits] == [
                "title", "title", "task", "text", "text",
            ]  # fmt: skip


@each_backend
async def test_a_changed_text_is_found_by_its_new_words_only(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        await index.upsert(task("t", task="old 과제"), text="first 본문")
        await index.upsert(task("t", task="new 작업"), text="second 내용")
        assert [await found(index, q) for q in ("old", "과제", "first", "본문")] == [[]] * 4
        assert [await found(index, q) for q in ("new", "작업", "second", "내용")] == [["t"]] * 4
        await index.upsert(task("t", task="new 작업", tokens_in=99))
        assert await found(index, "second") == ["t"], "an update without text must keep the text"
        assert await index.problems() == []


@each_backend
async def test_filters_narrow_and_totals_follow(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        await index.upsert(
            task("a", ts=10, workspace="/w1", is_favorited=True, status="completed", notebook=notebook("x.ipynb")),
            text="데이터", owner="kim",
        )  # fmt: skip
        await index.upsert(task("b", ts=20, workspace="/w1", status="active"), text="데이터", owner="sato")
        await index.upsert(task("c", ts=30, workspace="/w2"), text="데이터", owner="kim")
        assert await found(index, "데이터", workspace="/w1") == ["b", "a"]
        assert await found(index, favorites=True) == ["a"]
        assert await found(index, notebook="x.ipynb") == ["a"]
        assert await found(index, place="x.ipynb") == ["a"]
        await index.upsert(task("d", ts=5, notebook=notebook("x/y_z/n.ipynb")), owner="lee")
        assert await found(index, place="x") == await found(index, place="x/y_z") == ["d"]
        assert await found(index, place="x/y%z") == []
        assert await found(index, owner="kim") == ["c", "a"]
        assert await found(index, statuses=frozenset({"active", "completed"})) == ["b", "a"]
        assert await found(index, statuses=frozenset()) == []
        assert await found(index, since=20) == ["c", "b"]
        assert await found(index, since=10, until=30) == ["b", "a"]
        page = await index.search(HistoryQuery("데이터", owner="kim", limit=1))
        assert (len(page.hits), page.total, page.hits[0].owner) == (1, 2, "kim")


@each_backend
@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("newest", ["c", "b", "a"]),
        ("oldest", ["a", "b", "c"]),
        ("mostExpensive", ["b", "a", "c"]),
        ("mostTokens", ["a", "c", "b"]),
        ("mostRelevant", ["c", "b", "a"]),
    ],
)
async def test_pages_follow_the_order_asked_for(tmp_path: Path, sort: HistorySort, expected: list[str]) -> None:
    async with history(tmp_path) as index:
        await index.upsert(task("a", ts=1, total_cost=0.1 + 0.2, cache_reads=10**6))
        await index.upsert(task("b", ts=2, total_cost=7.5))
        await index.upsert(task("c", ts=3, tokens_in=2**62))
        await index.upsert(task("a", ts=1, total_cost=0.1 + 0.2, cache_reads=2**63))  # more than a column holds
        cursor, seen = None, []
        while True:
            page = await index.search(HistoryQuery(sort=sort, limit=1, cursor=cursor))
            seen += [hit.item.id for hit in page.hits]
            assert page.total == 3
            if (cursor := page.next) is None:
                break
        assert seen == expected


@each_backend
async def test_paging_repeats_and_misses_nothing_while_tasks_come_and_go(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        for number in range(60):
            await index.upsert(task(f"t{number:03}", ts=number // 4), text="찾을 것")
        for sort in ("newest", "oldest", "mostExpensive", "mostTokens", "mostRelevant"):
            cursor, seen, fresh = None, [], 0
            while True:
                page = await index.search(HistoryQuery("찾을", sort=sort, limit=7, cursor=cursor))
                seen += [hit.item.id for hit in page.hits]
                if (cursor := page.next) is None:
                    break
                await index.upsert(task(f"{sort}-{fresh}", ts=99, total_cost=9.0, tokens_in=999), text="찾을 새것")
                fresh += 1
            old = [name for name in seen if name.startswith("t")]
            assert sorted(old) == [f"t{number:03}" for number in range(60)], sort
            assert len(seen) == len(set(seen)), sort
            for number in range(fresh):
                await index.delete(f"{sort}-{number}")


@pytest.mark.parametrize("cursor", ["", "nonsense", "WzFd", "\ud800", "W10=", "eyJhIjoxfQ==", "W" * 5000])
async def test_a_malformed_cursor_is_refused_by_name(tmp_path: Path, cursor: str) -> None:
    async with history(tmp_path) as index:
        with pytest.raises(InvalidInput, match="from its beginning") as refused:
            await index.search(HistoryQuery(cursor=cursor))
        assert refused.value.field == "cursor"


async def test_a_cursor_of_another_order_is_refused(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        for name in "abc":
            await index.upsert(task(name))
        page = await index.search(HistoryQuery(limit=1))
        with pytest.raises(InvalidInput):
            await index.search(HistoryQuery(sort="oldest", cursor=page.next))


_AWKWARD = st.sampled_from(
    ['"', "*", "^", ":", "(", ")", " AND ", " OR ", " NOT ", "NEAR(", "-", "+", "{", "\x00", "'", "%", "_"]
)
_SORTS: list[HistorySort] = ["newest", "mostRelevant"]
_ANY = st.one_of(st.text(), st.lists(st.one_of(_AWKWARD, st.text(max_size=4))).map("".join))


@each_backend
async def test_no_query_is_a_syntax_error(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    async with history(tmp_path) as index:
        await index.upsert(task("t"), text="무엇이든 anything")

        @settings(max_examples=rounds(100, 300), deadline=None)
        @given(_ANY, st.sampled_from(_SORTS))
        def any_text_can_be_searched(text: str, sort: HistorySort) -> None:
            searching = asyncio.run_coroutine_threadsafe(index.search(HistoryQuery(text, sort=sort)), loop)
            page = searching.result(30)
            assert page.total == len(page.hits)

        await asyncio.to_thread(any_text_can_be_searched)
        assert len((await index.search(HistoryQuery("a" * 10**6))).hits) == 0
        assert len((await index.search(HistoryQuery("a b " * 10**5))).hits) == 0


_PROSE = st.text(
    alphabet=st.one_of(st.characters(), st.sampled_from("가나다데이터表示ノート abc中文🎉é ")), min_size=1, max_size=60
)


@each_backend
async def test_every_substring_of_a_text_finds_it(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    async with history(tmp_path) as index:

        @settings(max_examples=rounds(70, 200), deadline=None)
        @given(_PROSE, st.data())
        def found_by_any_part(text: str, data: st.DataObject) -> None:
            folded = fold(text).strip()
            start = data.draw(st.integers(0, max(0, len(folded) - 1)))
            part = folded[start : start + data.draw(st.integers(1, 8))].strip()
            terms = search_terms(f'"{part}"')
            if terms != [part] or not folded:
                return  # quotation marks, or marks that join with what was cut off
            asyncio.run_coroutine_threadsafe(index.upsert(task("t"), text=text), loop).result(30)
            page = asyncio.run_coroutine_threadsafe(index.search(HistoryQuery(f'"{part}"')), loop).result(30)
            assert page.total == 1, (part, folded)
            assert page.hits[0].snippet is not None

        await asyncio.to_thread(found_by_any_part)
        assert await index.problems() == []


@each_way
@pytest.mark.usefixtures("_way_of_searching")
async def test_a_long_word_is_found_where_all_of_it_is_in_one_piece(tmp_path: Path) -> None:
    name, noun = "compute_" + "abcdefghijklmnopqrstuvwxyz"[:20] + "_total", "데이터베이스관리시스템도입계획서"
    async with history(tmp_path) as index:
        await index.upsert(task("whole"), text=f"call {name}({noun}, 'it''s \\n')")
        await index.upsert(
            task("parts"), text=f"{name[:24]} {name[1:25]} {name[-24:]} {noun[:8]} {noun[1:9]} {noun[5:]}"
        )
        for part in (name, name[:25], name[3:30], noun, noun[:9], noun[2:14], f'"call {name}"', "'it''s", "\\n')"):
            assert await found(index, part) == ["whole"], part
        assert sorted(await found(index, f"{name[:24]} {noun[:8]}")) == ["parts", "whole"]


async def test_a_home_used_with_and_without_full_text_search_finds_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [HistoryRecord(task("one"), "하나 alpha"), HistoryRecord(task("two"), "둘 beta")]
    async with history(tmp_path) as index:
        await index.upsert(folders[0].item, text=folders[0].text)
    with monkeypatch.context() as without:
        without.setattr("hdsp_agent.persistence.history._history_schema.full_text_search", lambda: False)
        async with history(tmp_path) as index:
            await index.upsert(folders[1].item, text=folders[1].text)
            assert await found(index, "둘") == ["two"]
            assert await found(index, "alpha") == ["one"]
    async with history(tmp_path, source=lambda: folders) as index:
        await eventually(index.is_complete)
        assert [await found(index, q) for q in ("하나", "alpha", "둘", "beta")] == [["one"], ["one"], ["two"], ["two"]]
        assert await index.problems() == []

"""Conversations as links: who may read one, when it ends, what its page makes of hostile text, and what is left of it."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hdsp_agent.hub.shared.page_making import PageMaker

from ._helpers.browsers import browser
from ._helpers.policy_files import ENVIRONMENT, SMALL, write
from ._helpers.running import RunningService, running_service

NOON = 1_775_000_000.0
DAY = 86_400
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n and the rest").decode()
EVERYBODY = {"everybody": True}


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def message(text: str, by: str = "agent", **more: object) -> dict[str, object]:
    return {"ts": 1_700_000_000_000, "by": by, "text": text, **more}


async def ask_to_share(
    running: RunningService,
    *messages: dict[str, object],
    token: str = "ada-token",
    title: str = "Sales",
    **more: object,
) -> httpx2.Response:
    conversation = {
        "title": title,
        "asOf": 1_700_000_000_000,
        "messages": list(messages) or [message("The mean is 4.")],
    }
    body = {"conversation": conversation, "audience": EVERYBODY, **more}
    headers = {"Authorization": f"token {token}"}
    return await running.http.post(f"{running.url}api/shared", headers=headers, content=json.dumps(body))


async def shared(running: RunningService, *messages: dict[str, object], **more: Any) -> Any:
    answer = await ask_to_share(running, *messages, **more)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def opened(running: RunningService, link: Any, token: str, **headers: str) -> httpx2.Response:
    """What a person sees who follows a link in a browser of their own."""
    running.hub.browser = token
    async with browser(running, **headers) as one:
        return await one.get(httpx2.URL(running.url).join(link["url"]))


def audit(folder: Path) -> list[tuple[str, str, str]]:
    lines = [json.loads(line) for line in (folder / "data/audit.jsonl").read_text().splitlines()]
    return [(line["user"], line["action"], line["via"]) for line in lines]


async def test_people_of_the_audience_read_and_others_learn_nothing(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        to_group = await shared(running, audience={"groups": ["students"]})
        to_tess = await shared(running, audience={"people": ["tess"]})
        to_all = await shared(running)
        unknown = {"url": to_all["url"].rpartition("/")[0] + "/" + "A" * 32}
        readers = {"ada-token": (1, 1, 1), "bob-token": (1, 0, 1), "tess-token": (0, 1, 1), "root-token": (0, 0, 1)}
        for token, allowed in readers.items():
            missing = await opened(running, unknown, token)
            assert missing.status_code == 404
            for link, may in zip((to_group, to_tess, to_all), allowed, strict=True):
                seen = await opened(running, link, token)
                if may:
                    assert seen.status_code == 200 and "The mean is 4." in seen.text and "<h1>Sales</h1>" in seen.text
                else:
                    assert (seen.status_code, seen.text) == (missing.status_code, missing.text)
        opens = [line for line in audit(tmp_path) if line[1] == "read"]
        assert len(opens) == sum(map(sum, readers.values()))
        assert ("bob", "read", f"hub open link {to_group['number']} of ada") in opens
        log = (tmp_path / "data/audit.jsonl").read_text()
        assert "mean" not in log and "Sales" not in log and to_all["url"].rpartition("/")[2] not in log


async def test_whoever_opens_a_link_again_and_again_fills_no_log(tmp_path: Path) -> None:
    clock = [NOON]
    async with running_service(tmp_path, SMALL, now=lambda: clock[0]) as running:
        link, other = await shared(running), await shared(running)
        for address in (link, link, other, link):
            await opened(running, address, "bob-token")
        await opened(running, link, "tess-token")
        clock[0] += 3_600
        await opened(running, link, "bob-token")
        opens = [(user, via) for user, action, via in audit(tmp_path) if action == "read"]
        numbers = [link["number"], other["number"], link["number"], link["number"]]
        people = ["bob", "bob", "tess", "bob"]
        assert opens == [(who, f"hub open link {number} of ada") for who, number in zip(people, numbers, strict=True)]


async def test_a_person_who_left_the_group_reads_no_more(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        link = await shared(running, audience={"groups": ["students"]})
        running.hub.browser = "bob-token"
        async with browser(running) as bob:
            address = httpx2.URL(running.url).join(link["url"])
            assert (await bob.get(address)).status_code == 200
            running.service.people._known.clear()
            running.hub.people["bob-token"]["groups"] = ()
            assert (await bob.get(address)).status_code == 404
            running.service.people._known.clear()
            del running.hub.people["bob-token"]
            assert (await bob.get(address, follow_redirects=False)).status_code == 302


async def test_readers_are_no_administrators(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        link = await shared(running)
        running.hub.browser = "bob-token"
        async with browser(running) as bob:
            assert (await bob.get(httpx2.URL(running.url).join(link["url"]))).status_code == 200
            for path in ("", "links", "audit"):
                assert (await bob.get(path)).status_code == 403
            assert (await bob.post("links/end", data={"link": str(link["number"])})).status_code == 403
            for headers in ({"Sec-Fetch-Mode": "cors"}, {"Sec-Fetch-Dest": "iframe"}):
                seen = await bob.get(httpx2.URL(running.url).join(link["url"]), headers=headers)
                assert seen.status_code == 403 and "mean" not in seen.text
        assert (await running.get("api/admin/shared", "ada-token")).status_code == 403


async def test_the_sharer_lists_links_and_takes_one_back(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        one, other = await shared(running), await shared(running, title="<b>Other</b>")
        told = await running.json("api/shared")
        assert [link["number"] for link in told["links"]] == [other["number"], one["number"]]
        assert told["groups"] == ["students"] and told["allowed"] is True
        assert (await running.json("api/shared", "bob-token"))["links"] == []
        url = f"{running.url}api/shared/{one['number']}"
        assert (await running.http.delete(url, headers={"Authorization": "token bob-token"})).status_code == 404
        assert (await opened(running, one, "bob-token")).status_code == 200
        assert (await running.http.delete(url, headers={"Authorization": "token ada-token"})).status_code == 200
        assert (await opened(running, one, "bob-token")).status_code == 404
        running.hub.browser = "ada-token"
        async with browser(running) as ada:
            page = (await ada.get("shared")).text
            assert "&lt;b&gt;Other&lt;/b&gt;" in page and "Sales" not in page
            form = dict(re.findall(r'name="(xsrf|link)" value="([^"]+)"', page))
            assert (await ada.post("shared/end", data={"link": form["link"]})).status_code == 403
            assert "Nobody can open that link any more." in (await ada.post("shared/end", data=form)).text
            assert "That link had already ended." in (await ada.post("shared/end", data=form)).text
        assert (await opened(running, other, "ada-token")).status_code == 404
        assert audit(tmp_path)[-1] == ("ada", "delete", f"hub end link {other['number']} of ada")


async def test_nobody_takes_back_the_link_of_somebody_else(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        link = await shared(running)
        running.hub.browser = "bob-token"
        async with browser(running) as bob:
            page = await shared(running, token="bob-token")
            [xsrf] = re.findall(r'name="xsrf" value="([^"]+)"', (await bob.get("shared")).text)
            ended = await bob.post("shared/end", data={"xsrf": xsrf, "link": str(link["number"])})
            assert "That link had already ended." in ended.text and page["number"] != link["number"]
        assert (await opened(running, link, "ada-token")).status_code == 200


async def test_an_administrator_ends_a_link_without_reading_it(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        link = await shared(running, audience={"people": ["bob"]})
        [told] = (await running.json("api/admin/shared", "root-token"))["links"]
        assert told["owner"] == "ada" and told["number"] == link["number"] and "title" not in told and "url" not in told
        running.hub.browser = "root-token"
        async with browser(running) as root:
            page = (await root.get("links")).text
            assert "ada" in page and "People: bob" in page and "Sales" not in page and "/shared/" not in page
            form = dict(re.findall(r'name="(xsrf|link)" value="([^"]+)"', page))
            assert "Nobody can open that link any more." in (await root.post("links/end", data=form)).text
        assert (await opened(running, link, "bob-token")).status_code == 404
        assert ("root", "delete", f"hub end link {link['number']} of ada") in audit(tmp_path)


async def test_a_link_ends_by_itself_and_nothing_is_left_of_it(tmp_path: Path) -> None:
    clock = [NOON]
    async with running_service(tmp_path, SMALL, now=lambda: clock[0]) as running:
        link = await shared(running, message("The secret of the pyramid."))
        assert link["ends"] == NOON + 30 * DAY
        clock[0] += 30 * DAY - 1
        assert (await opened(running, link, "bob-token")).status_code == 200
        clock[0] += 1
        assert (await opened(running, link, "bob-token")).status_code == 404
        assert (await running.json("api/shared"))["links"] == []
        await running.service.links.end_old(clock[0])
    assert b"pyramid" not in (tmp_path / "data/shared.db").read_bytes()


async def test_links_outlive_the_service(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        link = await shared(running, audience={"people": ["bob"]})
        assert b"mean" in (tmp_path / "data/shared.db").read_bytes()
    assert (tmp_path / "data/shared.db").stat().st_mode & 0o077 == 0
    async with running_service(tmp_path, SMALL) as running:
        assert "The mean is 4." in (await opened(running, link, "bob-token")).text
        assert (await opened(running, link, "tess-token")).status_code == 404


async def test_what_is_taken_back_is_not_in_the_file(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        link = await shared(running, message("The secret of the pyramid. " * 1000))
        headers = {"Authorization": "token ada-token"}
        await running.http.delete(f"{running.url}api/shared/{link['number']}", headers=headers)
        assert b"pyramid" not in (tmp_path / "data/shared.db").read_bytes()


LIMITED = SMALL + "    sharing: {links: 2, mebibytes: 1, days: 7}\n"


async def test_there_are_limits(tmp_path: Path) -> None:
    async with running_service(tmp_path, LIMITED) as running:
        large = await ask_to_share(running, message("x" * 1_200_000))
        assert large.status_code == 413
        assert "7 days at most" in (await ask_to_share(running)).text
        assert (await ask_to_share(running, days=7)).status_code == 201
        assert (await ask_to_share(running, days=7)).status_code == 201
        third = await ask_to_share(running, days=7)
        assert third.status_code == 409 and "Take one back first." in third.text
        assert (await ask_to_share(running, days=7, token="bob-token")).status_code == 201
        wrongs: tuple[dict[str, Any], ...] = (
            {"audience": {}},
            {"audience": {"everybody": True, "people": ["bob"]}},
            {"audience": {"people": [""]}},
            {"days": 0},
            {"more": 1},
            {"conversation": {"title": "", "asOf": 1, "messages": []}},
        )
        for wrong in wrongs:
            answer = await ask_to_share(running, token="tess-token", **{"days": 7, **wrong})
            assert answer.status_code == 400, wrong
        assert not running.service.sharing


async def test_who_may_not_use_models_shares_nothing(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        running.hub.add("weak-token", "ada", scopes=())
        assert (await ask_to_share(running, token="weak-token")).status_code == 403
        assert (await ask_to_share(running, token="none")).status_code == 401


async def test_sharing_is_switched_off(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        link = await shared(running)
        write(tmp_path, SMALL + "    sharing: {allowed: false}\n")
        await running.service.policies.read_again()
        assert (await opened(running, link, "bob-token")).status_code == 404
        assert (await ask_to_share(running)).status_code == 403
        assert (await running.json("api/shared"))["allowed"] is False


HOSTILE = """
# Title <script>alert(1)</script>

[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html;base64,PHNjcmlwdD4=) [d](/hub/logout)
[e](//evil.example) [https://good.example](https://evil.example/?a=1&b=2) [f](https://good.example@evil.example/)
![p](https://tracker.example/p.png) ![q](javascript:alert(1)) ![r](data:image/svg+xml;base64,PHN2Zz4=)
<svg onload=alert(1)><a xlink:href="javascript:alert(1)">x</a></svg> <img src=x onerror=alert(1)>
<iframe src="https://evil.example"></iframe> <style>*{display:none}</style> <form action=/hub/logout><input></form>
<!-- <b> --> <https://auto.example/"onmouseover="x>

| a <script> | b |
| --- | --- |
| <img src=x onerror=alert(1)> | 2 |

```html"><script>alert(1)</script>
</code></pre><script>alert(2)</script>
```
"""
TABLE = (
    '<table onclick=alert(1) style="position:fixed"><tr><th colspan=2 class="skip">Region<script>alert(3)</script></th></tr>'
    '<tr><td><a href="javascript:alert(1)">North</a><img src=x onerror=alert(1)></td><td>3</td></tr></table><form><input></form>'
)
ELEMENTS = re.compile(r"</?([a-zA-Z0-9!]+)")
ALLOWED = {
    "a", "article", "blockquote", "body", "br", "code", "del", "div", "em", "h1", "h2", "h3", "head", "header", "html",
    "img", "li", "link", "main", "meta", "ol", "p", "pre", "section", "span", "strong", "table", "tbody", "td", "th", "thead",
    "time", "title", "tr", "ul", "details", "summary", "!doctype",
}  # fmt: skip


async def test_nothing_of_hostile_text_does_anything(tmp_path: Path) -> None:
    images = [
        {"mediaType": "image/png", "data": PNG},
        {"mediaType": "image/png", "data": base64.b64encode(b"<svg onload=alert(1)>").decode()},
        {"mediaType": "image/gif", "data": 'x" onerror="alert(1)'},
    ]
    output = {"name": "0123", "text": "</pre><script>alert(4)</script>"}
    async with running_service(tmp_path, SMALL) as running:
        link = await shared(
            running, message(HOSTILE, table=TABLE, images=images, outputs=[output]), title="<script>alert(0)</script>"
        )
        seen = await opened(running, link, "bob-token")
        assert seen.status_code == 200
        html = seen.text
        assert {name.lower() for name in ELEMENTS.findall(html)} <= ALLOWED
        attributes = re.findall(r"<[a-z0-9]+((?:\s[^<>]*)?)>", html)
        assert not [one for one in attributes if re.search(r"(?:^|[\s\"])(?:on\w+|style|srcset|xlink\S*)\s*=", one)]
        for address in re.findall(r'(?:href|src|action)="([^"]*)"', html):
            assert address.startswith(
                ("https://evil.example/", "https://auto.example/", "/services/hdsp-agent/", "http")
            ) or (address in ("#main", f"data:image/png;base64,{PNG}")), address
        assert "tracker.example/p.png" not in html.replace("&#34;", "")
        # A link whose words are another address says where it leads.
        assert ">https://good.example</a> <span>(evil.example)</span>" in html
        assert "good.example@evil" not in html and 'href="/hub/logout"' not in html.replace('logout">Sign', "")
        assert html.count("<img ") == 1 and "Images that are not shown: 2." in html
        assert '<th colspan="2">Region' in html and "<td>North</td><td>3</td>" in html
        assert "&lt;/code&gt;&lt;/pre&gt;&lt;script&gt;alert(2)" in html
        policy = seen.headers["content-security-policy"]
        assert "default-src 'none'; img-src data:; style-src 'self';" in policy and "script-src" not in policy
        assert seen.headers["x-content-type-options"] == "nosniff" and seen.headers["cache-control"] == "no-store"


async def test_code_images_tables_and_long_outputs_are_shown(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        link = await shared(
            running,
            message("Plot the *sales*.", by="person"),
            message(
                "```python\nprint(1 < 2)\n```\n\n| x | y |\n|---|---|\n| 1 | 2 |",
                by="tool",
                images=[{"mediaType": "image/png", "data": PNG}],
                outputs=[{"name": "a", "text": "all 9,000 lines"}],
            ),
        )
        html = (await opened(running, link, "bob-token")).text
        for expected in (
            "Plot the <em>sales</em>.", "<pre><code>print(1 &lt; 2)\n</code></pre>", "<td>1</td>", "all 9,000 lines",
            f'<img src="data:image/png;base64,{PNG}" alt="Image 1">', "It is shown as of", "2023-11-14 22:13",
        ):  # fmt: skip
            assert expected in html


async def test_a_page_that_takes_too_long_to_make_is_given_up(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        running.service.pages = PageMaker(seconds=0.0)  # type: ignore[misc]
        answer = await ask_to_share(running)
        assert answer.status_code == 400 and "takes too long" in answer.text
        assert not running.service.sharing and (await running.json("api/shared"))["links"] == []


async def test_a_page_of_too_many_parts_is_refused(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        outputs = [{"name": "", "text": ""}] * 60_000
        answer = await ask_to_share(running, message("Much", outputs=outputs))
        assert answer.status_code == 400 and "No page can be made" in answer.text


async def test_the_list_of_everybodys_links_has_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hdsp_agent.hub.shared.link_pages.PAGE_ROWS", 2)
    monkeypatch.setattr("hdsp_agent.hub.admin.page_handler.PAGE_ROWS", 2)
    async with running_service(tmp_path, SMALL) as running:
        numbers = [(await shared(running))["number"] for _ in range(3)]
        running.hub.browser = "root-token"
        async with browser(running) as root:
            parts = [(await root.get(f"links?part={part}")).text for part in (1, 2)]
        shown = [[f"End link {number} of ada" in text for number in numbers] for text in parts]
        assert shown == [[False, True, True], [True, False, False]]


async def test_a_page_that_would_become_huge_is_refused(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        text = f"[a]: https://h.example/{'x' * 20_000}\n\n" + "[a] " * 2_000
        answer = await ask_to_share(running, message(text))
        assert answer.status_code == 400 and "No page can be made" in answer.text


@pytest.mark.parametrize("code", ["ko", "ja"])
async def test_pages_speak_the_readers_language(tmp_path: Path, code: str) -> None:
    async with running_service(tmp_path, SMALL) as running:
        link = await shared(running)
        seen = await opened(running, link, "bob-token", **{"Accept-Language": code})
        assert f'<html lang="{code}">' in seen.text


async def test_a_link_is_where_the_hub_has_its_services(tmp_path: Path) -> None:
    async with running_service(tmp_path, SMALL) as running:
        link = await shared(running)
        assert re.fullmatch(r"/services/hdsp-agent/shared/[\w-]{32}", link["url"])


async def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with sqlite3.connect(tmp_path / "data/shared.db") as connection:
        connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(Exception, match="newer version"):
        async with running_service(tmp_path, SMALL):
            pass

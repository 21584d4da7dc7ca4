"""Where a long story takes place: in a real JupyterHub, or with a small server in its stead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx2

from tests._helpers.free_port import free_port
from tests._helpers.postgres import PostgresCluster, postgres_cluster
from tests._helpers.real_hub import RealHub, running_hub
from tests.comm._helpers.jupyter_process import JupyterProcess

from .policy_files import KEY
from .running import ADMIN, USE, hub_of_tests
from .service_process import PREFIX, ServiceProcess
from .spoken_model import spoken_model
from .story import Person, Story, budgeted, environment_of

__all__ = ["browser_of", "log_in", "real_hub", "small_hub"]

_LIMIT = 15_000
_EXTENSIONS = {"hdsp_agent": True, "jupyter_lsp": False, "jupyter_server_terminals": False, "notebook_shim": False}
_PATIENT = """
from hdsp_agent.persistence.postgres import _postgres_writer

# A busy machine takes its time to start a database again.
_postgres_writer._PATIENCE_SECONDS = 600.0
"""


def _own_settings(service: ServiceProcess) -> dict[str, object]:
    """Of people's servers, which wait longer on a busy machine than people would."""
    return {"hub_service_url": service.url, "user_config_api_timeout": 60, "keyring_timeout": 30}


@asynccontextmanager
async def small_hub(tmp_path: Path) -> AsyncIterator[tuple[Story, PostgresCluster]]:
    """Each person's server is a Jupyter Server without a proxy in front."""
    async with AsyncExitStack() as stack:
        cluster = stack.enter_context(postgres_cluster())
        database = stack.enter_context(cluster.database())
        model = await stack.enter_async_context(spoken_model())
        hub = await stack.enter_async_context(hub_of_tests())
        hub.add("ada-token", "ada", "students")
        hub.add("bob-token", "bob", "teachers")
        hub.add("root-token", "root", scopes=(USE, ADMIN))
        service = ServiceProcess(tmp_path, budgeted(tmp_path, model, _LIMIT))
        hub.service = service.origin
        service.environment = {
            "A_KEY": KEY,
            "JUPYTERHUB_API_TOKEN": "service-token",
            "JUPYTERHUB_API_URL": hub.url,
            "JUPYTERHUB_HOST": hub.url.removesuffix("/hub/api"),
        }
        stack.push_async_callback(service.end)
        await service.run()
        servers, people = {}, []
        for name in ("ada", "bob"):
            config = {
                "ServerApp": {"jpserver_extensions": {**_EXTENSIONS, "jupyterlab": False}},
                "HdspAgentApp": _own_settings(service),
            }
            environment = {
                **environment_of(database, name, tmp_path / name / "home"),
                "JUPYTERHUB_API_TOKEN": f"{name}-token",
                "JUPYTERHUB_USER": name,
            }
            server = servers[name] = JupyterProcess(tmp_path / name, config=config, environment=environment)
            (tmp_path / name / "config" / "jupyter_server_config.py").write_text(_PATIENT, "utf-8")
            stack.callback(server.kill)
            people.append(Person(name, server.url, server.credentials, f"{name}-token", server.root, server.home))
        await asyncio.gather(*(server.start() for server in servers.values()))
        http = await stack.enter_async_context(httpx2.AsyncClient(trust_env=False, timeout=60))
        browser = await stack.enter_async_context(
            httpx2.AsyncClient(trust_env=False, timeout=60, follow_redirects=True, base_url=service.origin)
        )
        story = Story(
            model, service, database, tmp_path, people[0], people[1], http, browser,
            [tmp_path / "service.log", *(tmp_path / name / "server.log" for name in servers)],
        )  # fmt: skip
        for person in people:
            stack.push_async_callback(person.tab.leave)
        yield story, cluster


_SERVICE_TOKEN = "a-token-of-the-service"
_CONFIG = """
c.ConfigurableHTTPProxy.check_running_interval = 1
c.JupyterHub.custom_scopes = {{
    "{use}": {{"description": "Use models through the hub service"}},
    "{admin}": {{"description": "See what everybody used"}},
}}
c.Spawner.start_timeout = c.Spawner.http_timeout = 300
c.Spawner.server_token_scopes = ["users:activity!user", "access:servers!server", "{use}"]
c.JupyterHub.load_groups = {{"students": {{"users": ["ada"]}}, "teachers": {{"users": ["bob"]}}}}
c.JupyterHub.load_roles += [
    {{"name": "user", "scopes": ["self", "{use}"]}},
    {{"name": "usage", "users": ["root"], "scopes": ["{admin}", "access:services!service=hdsp-agent"]}},
    {{"name": "curious", "users": ["bob"], "scopes": ["access:services!service=hdsp-agent"]}},
]
c.JupyterHub.services += [{{
    "name": "hdsp-agent",
    "url": "{service}",
    "api_token": "{token}",
    "oauth_client_allowed_scopes": ["{admin}"],
    "oauth_no_confirm": True,
}}]
_environments = {environments!r}
async def add_database(spawner):
    spawner.environment = {{**spawner.environment, **_environments[spawner.user.name]}}
c.Spawner.pre_spawn_hook = add_database
"""


@asynccontextmanager
async def real_hub(tmp_path: Path) -> AsyncIterator[tuple[Story, PostgresCluster, RealHub]]:
    """JupyterHub with its proxy; the service is started beside it, as by a unit of systemd."""
    async with AsyncExitStack() as stack:
        cluster = stack.enter_context(postgres_cluster())
        database = stack.enter_context(cluster.database())
        model = await stack.enter_async_context(spoken_model())
        service = ServiceProcess(tmp_path, budgeted(tmp_path, model, _LIMIT))
        environments = {name: environment_of(database, name, tmp_path / f"home-of-{name}") for name in ("ada", "bob")}
        config = _CONFIG.format(
            use=USE, admin=ADMIN, service=service.origin, token=_SERVICE_TOKEN, environments=environments
        )
        settings = {
            "ServerApp": {"jpserver_extensions": _EXTENSIONS},
            "HdspAgentApp": _own_settings(service),
        }
        hub_port = free_port()
        service.environment = {
            "A_KEY": KEY,
            "JUPYTERHUB_API_TOKEN": _SERVICE_TOKEN,
            "JUPYTERHUB_API_URL": f"http://127.0.0.1:{hub_port}/hub/api",
            "JUPYTERHUB_SERVICE_NAME": "hdsp-agent",
        }
        stack.push_async_callback(service.end)
        # The hub waits for services that are not there yet.
        await service.run()
        (tmp_path / "jupyter_server_config.py").write_text(_PATIENT, "utf-8")
        hub = await stack.enter_async_context(running_hub(tmp_path, settings, config=config, hub_port=hub_port))
        await asyncio.gather(hub.start("ada"), hub.start("bob"))
        http = await stack.enter_async_context(httpx2.AsyncClient(trust_env=False, timeout=60))
        people = []
        for name in ("ada", "bob"):
            headers = await _logged_in(hub, name)
            token = (await hub.environment(name))["JUPYTERHUB_API_TOKEN"]
            url = f"{hub.url}/user/{name}/"
            people.append(Person(name, url, headers, token, tmp_path / name, tmp_path / f"home-of-{name}"))
        administrator = await stack.enter_async_context(browser_of(hub.url))
        await log_in(administrator, PREFIX, "root")
        story = Story(
            model, service, database, tmp_path, people[0], people[1], http, administrator,
            [tmp_path / "service.log", tmp_path / "hub.log"],
        )  # fmt: skip
        for person in people:
            stack.push_async_callback(person.tab.leave)
        yield story, cluster, hub


def browser_of(url: str) -> httpx2.AsyncClient:
    """A browser in which nobody is signed in."""
    return httpx2.AsyncClient(trust_env=False, timeout=60, follow_redirects=True, base_url=url)


async def log_in(browser: httpx2.AsyncClient, page: str, person: str) -> httpx2.Response:
    """Open a page, and log in where the hub asks for it; what is shown in the end."""
    form = await browser.get(page)
    assert "/hub/login" in str(form.url), form.url
    xsrf = browser.cookies.get("_xsrf", path="/hub/") or ""
    return await browser.post(form.url, data={"username": person, "password": "any", "_xsrf": xsrf})


async def _logged_in(hub: RealHub, person: str) -> dict[str, str]:
    """What a page of the person's server sends along once they logged in."""
    own = f"/user/{person}/"
    async with browser_of(hub.url) as browser:
        shown = await log_in(browser, own, person)
        assert shown.status_code == 200 and shown.url.path.startswith(own), (shown.url, shown.status_code)
        cookies = {cookie.name: cookie.value or "" for cookie in browser.cookies.jar if cookie.path in ("/", own)}
    return {
        "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
        "X-XSRFToken": cookies["_xsrf"],
    }

"""What the files of ``deploy`` name is there: commands, options, ports, variables, scopes, settings of charts and hubs."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from textwrap import dedent, indent
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2
import jsonschema
import pytest
from traitlets.config import Config
from traitlets.config.loader import KVArgParseConfigLoader, LazyConfigValue

from hdsp_agent.app import HdspAgentApp
from hdsp_agent.cli.commands.hub import COMMAND
from hdsp_agent.hub import HubAddresses, load_policies
from hdsp_agent.hub.people import ADMIN_SCOPE, USE_SCOPE

from ..cli._helpers.homes import Home
from ..hub._helpers.running import hub_of_tests
from ._files import DEPLOY, GUIDE, ROOT, Unit, documents, image_command, image_environment, instructions

SERVICE_GUIDE = GUIDE.with_name("hub-service.md").read_text(encoding="utf-8")
KEYS = {"ANTHROPIC_KEY": "sk-of-the-team"}
DEFAULT = HubAddresses.of({"JUPYTERHUB_API_URL": "http://127.0.0.1:8081/hub/api"})
PORT = urlsplit(DEFAULT.listen).port
HUB_UNIT = Unit("hdsp-agent-hub.service")


def hub_config(text: str) -> Config:
    """What a part of a hub's configuration sets."""
    config = Config()
    exec(text, {"get_config": lambda: config, "c": config})
    return config


def listed(value: Any) -> list[Any]:
    return list(value.get_value([])) if isinstance(value, LazyConfigValue) else list(value)


def deployment() -> tuple[dict[str, Any], dict[str, Any]]:
    """The pod of the service, and its one container."""
    [found] = [document for document in documents("kubernetes.yaml") if document["kind"] == "Deployment"]
    template = found["spec"]["template"]
    [container] = template["spec"]["containers"]
    assert found["spec"]["replicas"] == 1 and found["spec"]["strategy"] == {"type": "Recreate"}
    assert found["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    return template, container


def container_environment() -> dict[str, str]:
    return {one["name"]: one.get("value", "a-token") for one in deployment()[1]["env"]}


# ---- the service


@pytest.mark.parametrize("command", [image_command(), HUB_UNIT.command()], ids=["image", "unit"])
def test_the_commands_have_the_options_that_they_are_given(command: list[str]) -> None:
    assert command[0].rpartition("/")[2] == "hdsp-agent" and command[1] == "hub"
    parser = ArgumentParser()
    assert COMMAND.arguments is not None
    COMMAND.arguments(parser)
    given = parser.parse_args(command[2:])
    assert (given.policies, given.data) == ("/etc/hdsp-agent/hub-policies.yml", "/var/lib/hdsp-agent")


@pytest.mark.parametrize(
    "environment",
    [HUB_UNIT.environment(), {**image_environment(), **container_environment()}],
    ids=["unit", "image"],
)
async def test_the_service_runs_as_it_is_told_to(tmp_path: Path, environment: dict[str, str]) -> None:
    """With another port and other folders, for those belong to whoever deploys it."""
    home = Home(tmp_path)
    addresses = HubAddresses.of(environment)
    assert addresses.prefix == DEFAULT.prefix and urlsplit(addresses.listen).port == PORT
    environment = {**environment, "JUPYTERHUB_SERVICE_URL": "http://127.0.0.1:0"}
    async with hub_of_tests() as hub, httpx2.AsyncClient(trust_env=False) as http:
        hub.add("ada-token", "ada")
        environment["JUPYTERHUB_API_URL"] = hub.url
        process = home.start(
            "hub", "--policies", str(DEPLOY / "hub-policies.yml"), "--data", str(tmp_path / "data"),
            **environment, **KEYS,
        )  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        try:
            line = await asyncio.to_thread(process.stdout.readline)
            assert "listens on" in line, process.stderr.read()
            url = line.split()[-1]
            probe = deployment()[1]["readinessProbe"]["httpGet"]
            assert (await http.get(urljoin(url, probe["path"]))).status_code == 200
            login = {"Authorization": "Bearer ada-token"}
            answer = await http.get(f"{url}openai/v1/models", headers=login)
            assert [model["id"] for model in answer.json()["data"]] == ["qwen3"]
        finally:
            process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(process.communicate)


def test_the_policies_are_valid_and_those_of_the_guide() -> None:
    load_policies(DEPLOY / "hub-policies.yml", KEYS)
    assert (DEPLOY / "hub-policies.yml").read_text(encoding="utf-8") in SERVICE_GUIDE


# ---- variables, in whatever sets them


def test_variables_that_are_set_are_read() -> None:
    environment = {*HUB_UNIT.environment(), *image_environment(), *container_environment()}
    guide = set(re.findall(r"\b(?:HDSP_AGENT|JUPYTERHUB)_[A-Z_]+", GUIDE.read_text(encoding="utf-8")))
    read = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "hdsp_agent").rglob("*.py"))
    assert len(environment) >= 4 and len(guide) >= 3
    assert [name for name in sorted(environment | guide) if f'"{name}"' not in read] == []


# ---- Kubernetes


def test_the_pod_fits_the_image() -> None:
    template, container = deployment()
    said = dict(instructions())
    user = said["USER"]
    assert f"--uid {user} " in said["RUN"] and said["EXPOSE"] == str(PORT)
    assert template["spec"]["securityContext"]["runAsUser"] == int(user)
    assert [port["containerPort"] for port in container["ports"]] == [PORT]
    mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert set(mounted) == {volume["name"] for volume in template["spec"]["volumes"]}
    assert f"{mounted['policies']}/hub-policies.yml" in image_command() and mounted["data"] in image_command()


def test_the_chart_and_the_service_find_each_other() -> None:
    [values] = documents("z2jh-values.yaml")
    template, container = deployment()
    [service] = [document for document in documents("kubernetes.yaml") if document["kind"] == "Service"]
    address = f"http://{service['metadata']['name']}:{PORT}"
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    assert service["spec"]["ports"][0]["port"] == PORT
    [(name, registered)] = values["hub"]["services"].items()
    assert registered["url"] == address and DEFAULT.prefix == f"/services/{name}/"
    [token] = [one["valueFrom"] for one in container["env"] if "valueFrom" in one]
    assert token["secretKeyRef"] == {"name": "hub", "key": f"hub.services.{name}.apiToken"}
    [rule] = values["singleuser"]["networkPolicy"]["egress"]
    [to] = rule["to"]
    assert to["podSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    assert rule["ports"] == [{"port": PORT}]
    assert options(values["hub"]["config"]["Spawner"]["args"]) == {"hub_service_url": address + DEFAULT.prefix[:-1]}


def test_the_values_fit_the_chart() -> None:
    schema = json.loads((Path(__file__).parent / "z2jh-schema.json").read_text(encoding="utf-8"))
    [values] = documents("z2jh-values.yaml")
    jsonschema.validate(values, schema)
    values["hub"]["config"]["spawner"] = values["hub"]["config"].pop("Spawner")
    with pytest.raises(jsonschema.ValidationError, match="spawner"):
        jsonschema.validate(values, schema)


# ---- JupyterHub


def options(arguments: list[str]) -> dict[str, Any]:
    """What these arguments of a person's server set."""
    config = KVArgParseConfigLoader(arguments).load_config()
    assert set(config) == {"HdspAgentApp"}
    assert set(config.HdspAgentApp) <= set(HdspAgentApp.class_own_traits(config=True))
    return {name: getattr(HdspAgentApp(config=config), name) for name in config.HdspAgentApp}


def test_all_ways_tell_the_hub_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    told = hub_config(re.findall(r"```python\n(# jupyterhub_config.py\n.*?)```", SERVICE_GUIDE, re.DOTALL)[0])
    monkeypatch.setattr(Path, "read_text", lambda path, **how: "OTHER=1\nJUPYTERHUB_API_TOKEN=a-token\n")
    own = hub_config((DEPLOY / "jupyterhub_config.py").read_bytes().decode())
    monkeypatch.undo()
    [values] = documents("z2jh-values.yaml")
    roles = [{"name": name, **role} for name, role in values["hub"]["loadRoles"].items()]
    chart = values["hub"]["config"]
    assert told.JupyterHub.custom_scopes == own.JupyterHub.custom_scopes == chart["JupyterHub"]["custom_scopes"]
    assert set(told.JupyterHub.custom_scopes) == {USE_SCOPE, ADMIN_SCOPE}
    assert told.JupyterHub.load_roles == listed(own.JupyterHub.load_roles) == roles
    assert (
        told.Spawner.server_token_scopes == own.Spawner.server_token_scopes == chart["Spawner"]["server_token_scopes"]
    )
    [there], [here] = told.JupyterHub.services, listed(own.JupyterHub.services)
    there = {name: value for name, value in there.items() if name not in ("command", "environment")}
    assert here == {**there, "api_token": "a-token"} and here["url"] == DEFAULT.listen
    # What else the guide tells of the service, as its scopes, holds everywhere.
    [(name, service)] = values["hub"]["services"].items()
    assert {**service, "name": name, "url": here["url"]} == there
    assert options(listed(own.Spawner.args)) == {"hub_service_url": DEFAULT.listen + DEFAULT.prefix[:-1]}


def test_all_ways_let_everybody_open_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda path, **how: "JUPYTERHUB_API_TOKEN=a-token\n")
    own = hub_config((DEPLOY / "jupyterhub_config.py").read_bytes().decode())
    monkeypatch.undo()
    [values] = documents("z2jh-values.yaml")
    everybody = {role["name"]: role["scopes"] for role in listed(own.JupyterHub.load_roles)}["user"]
    for scopes, services in (
        (everybody, [service["name"] for service in listed(own.JupyterHub.services)]),
        (values["hub"]["loadRoles"]["user"]["scopes"], list(values["hub"]["services"])),
    ):
        [name] = services
        # What JupyterHub gives everybody without us, to use models, and to sign in to the service.
        assert scopes == ["self", USE_SCOPE, f"access:services!service={name}"]


# ---- systemd


def test_systemd_understands_the_units(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("There is no systemd here.")
    for unit in (DEPLOY / "systemd").iterdir():
        text = re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={sys.executable}", unit.read_text(encoding="utf-8"))
        (tmp_path / unit.name).write_text(text, encoding="utf-8")
    verified = [analyze, "verify", "--man=no", *map(str, sorted(tmp_path.iterdir()))]
    done = subprocess.run(verified, capture_output=True, text=True, check=False)
    # What it says of other units of this machine is not ours.
    told = (done.stdout + done.stderr).splitlines()
    assert [line for line in told if any(unit.name in line for unit in tmp_path.iterdir())] == []


def test_the_unit_of_backups_gives_the_script_the_services_folder() -> None:
    program, data, _ = Unit("hdsp-agent-backup.service").command()
    assert (DEPLOY / Path(program).name).stat().st_mode & 0o111
    assert data in HUB_UNIT.command()
    assert HUB_UNIT.all("StateDirectory") == [Path(data).name]


# ---- the guide


def test_the_guide_quotes_the_files_as_they_are() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    quotes = re.findall(r'```\w+ title="(deploy/[\w./-]+)"\n(.*?)\n *```', guide, re.DOTALL)
    assert len(quotes) >= 2
    for name, text in quotes:
        file = (ROOT / name).read_text(encoding="utf-8")
        assert any(indent(dedent(text), " " * more) in file for more in range(9)), name


def test_the_guide_names_every_file() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    names = [str(path.relative_to(ROOT)) for path in DEPLOY.rglob("*") if path.is_file()]
    assert len(names) > 8
    assert [name for name in names if name not in guide] == []

"""For a JupyterHub on the machine where systemd/hdsp-agent-hub.service runs the hub service.

If your hub sets custom_scopes or server_token_scopes already, put yours beside these: they are replaced here.
"""

from pathlib import Path

c = get_config()  # noqa: F821 -- JupyterHub reads this file

# The service has the same token in its environment.
lines = Path("/etc/hdsp-agent/hub.env").read_text(encoding="utf-8").splitlines()
token = next(line.partition("=")[2] for line in lines if line.startswith("JUPYTERHUB_API_TOKEN="))

c.JupyterHub.custom_scopes = {
    "custom:hdsp-agent:use": {"description": "Use models through the hub service"},
    "custom:hdsp-agent:admin": {"description": "See what everybody used"},
}
c.JupyterHub.load_roles.extend(
    [
        {
            "name": "user",
            # The last one lets people open shared links.
            "scopes": ["self", "custom:hdsp-agent:use", "access:services!service=hdsp-agent"],
        },
        {
            "name": "usage",
            "groups": ["staff"],
            "scopes": ["custom:hdsp-agent:admin", "access:services!service=hdsp-agent"],
        },
    ]
)
c.JupyterHub.services.append(
    {
        "name": "hdsp-agent",
        "url": "http://127.0.0.1:10101",
        "api_token": token,
        "oauth_client_allowed_scopes": ["custom:hdsp-agent:admin"],
        "oauth_no_confirm": True,
    }
)
c.Spawner.server_token_scopes = [
    "users:activity!user",
    "access:servers!server",
    "custom:hdsp-agent:use",
]
c.Spawner.args.append("--HdspAgentApp.hub_service_url=http://127.0.0.1:10101/services/hdsp-agent")

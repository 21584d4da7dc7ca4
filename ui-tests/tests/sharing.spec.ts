import * as path from 'path';

import { Chat, expect, test } from '../chat';
import { HubService } from '../hubservice';

test('a conversation of a hub is shared as a link, and read by others', async ({
  context,
  lab,
  model,
  startServer
}) => {
  const service = await HubService.start(model.url);
  try {
    const server = await startServer({
      args: [
        `--HdspAgentApp.hub_service_url=${service.url}`,
        // So JupyterHub's own server says that the page is one of a hub, and whose.
        "--ServerApp.tornado_settings={'hub_prefix': '/hub/', 'hub_host': '', 'user': 'ada'}",
        '--ServerApp.identity_provider_class=hub_identity.HubIdentity'
      ],
      env: {
        JUPYTERHUB_API_TOKEN: 'ada-token',
        JUPYTERHUB_USER: 'ada',
        PYTHONPATH: path.resolve(__dirname, '..')
      }
    });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const chat = new Chat(lab);
    await lab.visit(server.url);
    await lab.openPanel();
    await chat.say('Which month was best?');
    await chat.finish(model, 'February was best: **530**.');
    await chat.expectDone();

    await chat.button('Conversation actions').click();
    await lab.page.getByRole('menuitem', { name: 'Share as a Link…' }).click();
    const dialog = lab.page.getByRole('dialog');
    await expect(dialog).toContainText('as a link?');
    const share = dialog.getByRole('button', { name: 'Share and copy link' });
    await expect(share).toBeDisabled();
    await lab.picture('share-asked');
    await dialog
      .getByRole('radio', { name: 'Everybody who can sign in to the hub' })
      .check();
    await lab.picture('share-chosen');
    await share.click();
    await expect(lab.page.getByText('The link is copied.')).toBeVisible();

    const copied = await lab.page.evaluate(() =>
      navigator.clipboard.readText()
    );
    // One address has all of a hub.
    const address = new URL(new URL(copied).pathname, service.url).href;
    const others = await context.newPage();
    await others.goto(address);
    await expect(others.getByText('February was best: 530.')).toBeVisible();
  } finally {
    await service.dispose();
  }
});

import * as path from 'path';

import { expectNames } from '../accessiblenames';
import type { Chat } from '../chat';
import { expect, test } from '../chat';
import { McpServersPage } from '../mcpserverspage';
import { LONG_ONLY } from '../longtests';

const PYTHON = path.resolve(__dirname, '../../.venv/bin/python');
const SAMPLE = path.resolve(__dirname, '../sample_mcp_server.py');

/**
 * The server of the stories, in the form in which other programs keep theirs.
 */
function sample(...args: string[]): Record<string, object> {
  return { sample: { command: PYTHON, args: [SAMPLE, ...args] } };
}

/**
 * The row of a tool.
 */
function row(chat: Chat, tool: string) {
  return chat.feed
    .getByRole('article')
    .filter({ hasText: `sample: ${tool}` })
    .last();
}

test('an MCP server is added, and its tools are used as one approves', async ({
  chat,
  lab,
  model
}) => {
  test.slow();
  const servers = new McpServersPage(lab);
  await lab.visit();
  await lab.openSettings('mcpServers');
  await expect(lab.settings).toContainText('There are no servers yet.');
  await lab.settings.getByRole('button', { name: 'Add a server…' }).click();
  await lab.picture('mcp-servers-add');
  await lab.settings.getByRole('button', { name: 'Cancel' }).click();
  await servers.paste(sample());
  const server = servers.item();
  await expect(server).toContainText('Connected');
  await server.getByRole('button', { name: '4 tools of sample' }).click();
  await expect(server).toContainText('Draw a blue square.');
  await server
    .getByRole('switch', { name: 'Offer the tool wait to the agent' })
    .click();
  await expect(
    server.getByRole('switch', { name: 'Offer the tool wait to the agent' })
  ).not.toBeChecked();
  await lab.picture('mcp-servers-tools', ['light', 'dark', 'contrast']);
  await expectNames(lab.settings);

  await lab.openPanel();
  await chat.say('Add 2 and 3.');
  await model.asked();
  await test.step('it is asked, and approved', async () => {
    const call = await model.order('mcp--sample--add', { a: 2, b: 3 });
    await chat.expectAsked('Use the tool “add” of the MCP server “sample”?');
    await expect(chat.ask).toContainText('a: 2');
    await lab.picture('mcp-tool-asked', ['light', 'dark', 'contrast']);
    await chat.answer('Use the tool “add”', 'Approve');
    expect(await model.resultOf(call)).toContain('5');
    await row(chat, 'add').getByRole('button', { name: 'Output' }).click();
    await expect(row(chat, 'add')).toContainText('"total": 5');
  });

  await test.step('denied, it is not done', async () => {
    const denied = model.call('mcp--sample--picture', {});
    await chat.answer('Use the tool “picture”', 'Deny');
    expect(await denied).not.toContain('image');
    await expect(row(chat, 'picture')).toContainText('Denied');
  });

  await test.step('what it draws is shown', async () => {
    const drawn = model.call('mcp--sample--picture', {});
    await chat.answer('Use the tool “picture”', 'Approve');
    await drawn;
    await expect(
      row(chat, 'picture').getByRole('img', { name: 'Image 1 of 1' })
    ).toBeVisible();
    await lab.picture('mcp-tool-answers');
  });

  await test.step('what goes wrong is said', async () => {
    const failed = model.call('mcp--sample--fail', {});
    await chat.answer('Use the tool “fail”', 'Approve');
    expect(await failed).toContain('There is no such table.');
    await expect(row(chat, 'fail')).toContainText('There is no such table.');
  });

  await test.step('allowed for good, it is not asked again, and the others are', async () => {
    const call = await model.order('mcp--sample--add', { a: 4, b: 5 });
    await chat.expectAsked('Use the tool “add”');
    await chat.button('Approve always…').click();
    await expect(lab.panel).toContainText('This will turn on');
    await lab.picture('mcp-tool-always');
    await chat.button('Allow and approve').click();
    expect(await model.resultOf(call)).toContain('9');
    expect(await model.call('mcp--sample--add', { a: 1, b: 1 })).toContain('2');
    const other = model.call('mcp--sample--fail', {});
    await chat.answer('Use the tool “fail”', 'Deny');
    await other;
  });
  await chat.finish(model);
  await servers.remove();
});

test(
  'a call tells how far it is, and its resources and prompts can be used',
  { tag: LONG_ONLY },
  async ({ chat, lab, model, notebooks, sharedServer }) => {
    const servers = new McpServersPage(lab);
    await lab.visit();
    await servers.paste(sample());
    await expect(servers.item()).toContainText('Connected');
    await lab.openPanel();

    await test.step('mentioned, a resource goes along', async () => {
      await chat.field.fill('Look at @sales');
      await lab.panel.getByRole('option', { name: /sample:\/\/sales/ }).click();
      await expect(chat.field).toHaveValue('Look at @sample:sample://sales ');
      await chat.field.press('Enter');
      await model.asked();
      expect(model.told).toContain('heliotrope');
    });

    await test.step('while it runs, one sees how far it is', async () => {
      const call = await model.order('mcp--sample--wait', {
        signal: path.join(sharedServer.root, 'go.signal')
      });
      await chat.answer('Use the tool “wait”', 'Approve');
      await expect(row(chat, 'wait')).toContainText('Copying');
      await lab.picture('mcp-tool-running');
      await notebooks.signal('go');
      expect(await model.resultOf(call)).toContain('It is there.');
      await expect(row(chat, 'wait')).not.toContainText('Copying');
    });
    await chat.finish(model);

    await test.step('a prompt is a slash command', async () => {
      await chat.field.fill('/rev');
      await lab.panel
        .getByRole('option', { name: /mcp\.sample\.review/ })
        .click();
      await chat.field.press('End');
      await chat.field.pressSequentially('a.py');
      await chat.field.press('Enter');
      await model.asked();
      expect(model.told).toContain('Review a.py, above all its periwinkle');
    });
    await chat.finish(model);
    await servers.remove();
  }
);

test(
  'a server that does not start says why, and costs only itself',
  { tag: LONG_ONLY },
  async ({ chat, lab, model }) => {
    const servers = new McpServersPage(lab);
    await lab.visit();
    await servers.paste(sample('broken'));
    const server = servers.item();
    await expect(server).toContainText('Not connected');
    await server.getByRole('button', { name: 'Log of sample' }).click();
    await expect(server).toContainText('The key of the sample is missing.');
    await lab.picture('mcp-server-broken');
    await lab.openPanel();
    await chat.say('Hello.');
    await model.asked();
    await chat.finish(model, 'Hello to you.');
    await expect(chat.feed).toContainText('Hello to you.');
    await servers.remove();
  }
);

test(
  'everything about MCP servers works without a mouse',
  { tag: LONG_ONLY },
  async ({ lab }) => {
    const { keyboard } = lab.page;
    const servers = new McpServersPage(lab);
    await lab.visit();
    await lab.openSettings('mcpServers');
    const add = lab.settings.getByRole('button', { name: 'Add a server…' });
    await lab.tabTo(add);
    await keyboard.press('Enter');
    await lab.tabTo(
      lab.settings.getByRole('radio', { name: 'Paste a configuration' })
    );
    await keyboard.press('ArrowDown');
    await lab.tabTo(lab.settings.getByRole('textbox', { name: 'Name' }));
    await keyboard.type('sample');
    await lab.tabTo(lab.settings.getByRole('textbox', { name: 'Command' }));
    await keyboard.type(PYTHON);
    await lab.tabTo(lab.settings.getByRole('textbox', { name: 'Arguments' }));
    await keyboard.type(SAMPLE);
    await lab.tabTo(lab.settings.getByRole('button', { name: 'Save' }));
    await keyboard.press('Enter');
    await expect(servers.item()).toContainText('Connected');
    await expect(add).toBeFocused();
    await lab.tabTo(
      lab.settings.getByRole('switch', { name: 'Use the server sample' }),
      'Shift+Tab'
    );
    await keyboard.press('Space');
    await expect(servers.item()).toContainText('Off');
    await lab.tabTo(
      lab.settings.getByRole('button', { name: 'Remove… sample' })
    );
    await keyboard.press('Enter');
    await lab.tabTo(
      lab.page.getByRole('dialog').getByRole('button', { name: 'Remove' })
    );
    await keyboard.press('Enter');
    await expect(lab.settings).toContainText('There are no servers yet.');
    await expect(add).toBeFocused();
  }
);

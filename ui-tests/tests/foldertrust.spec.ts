import { mkdirSync, writeFileSync } from 'fs';
import * as path from 'path';

import { AgentApi } from '../agentapi';
import { Chat } from '../chat';
import { expect, test } from '../notebooks';

const RULE = 'End every answer with the word heliotrope.';
const MODE = JSON.stringify({
  customModes: [
    {
      slug: 'acme',
      name: 'Acme',
      roleDefinition: 'You work for Acme.',
      groups: ['read']
    }
  ]
});

test('what a folder brings is used once one trusts it, and no longer than that', async ({
  lab,
  model,
  request,
  startServer
}) => {
  const server = await startServer({
    prepare: ({ root }) => {
      writeFileSync(path.join(root, 'AGENTS.md'), RULE);
      writeFileSync(path.join(root, '.hdspmodes'), MODE);
      mkdirSync(path.join(root, '.hdsp/commands'), { recursive: true });
      writeFileSync(path.join(root, '.hdsp/commands/plot.md'), 'Plot it.');
    }
  });
  await new AgentApi(request, server.url).useProfile(model.profile);
  const chat = new Chat(lab);
  // What it is called by its role changes while commands are offered.
  const field = lab.panel.getByLabel('Message to the agent');
  const question = lab.panel.getByRole('region', {
    name: 'Trust in this folder'
  });
  const review = question.getByRole('button', { name: 'Review' });
  const trust = question.getByRole('button', {
    name: 'Trust this folder',
    exact: true
  });
  await lab.visit(server.url);
  await lab.openPanel();

  await expect(question).toContainText('Do you trust this folder?');
  await lab.picture('folder-trust-line');
  await review.click();
  await expect(question.getByRole('listitem')).toHaveText([
    '1 mode: Acme',
    '1 instructions file: AGENTS.md',
    '1 slash command: /plot'
  ]);
  await lab.picture('folder-trust-asked');

  await test.step('the conversation goes on without an answer, and without what it brings', async () => {
    await chat.say('Hello.');
    await model.asked();
    expect(model.told).not.toContain('heliotrope');
    await chat.finish(model);
    await chat.reload();
    await expect(question).toBeVisible();
    await field.fill('/');
    await expect(lab.panel.getByRole('option', { name: /fix/ })).toBeVisible();
    await expect(lab.panel.getByRole('option', { name: /^plot/ })).toHaveCount(
      0
    );
    await field.fill('');
  });

  await test.step('trusted, it counts from the next step on', async () => {
    await review.click();
    await trust.click();
    await expect(question).toBeHidden();
    await chat.say('Hello again.');
    await model.asked();
    expect(model.told).toContain('heliotrope');
    await chat.finish(model);
    await field.fill('/');
    await expect(
      lab.panel.getByRole('option', { name: /^plot/ })
    ).toBeVisible();
    await field.fill('');
  });

  await test.step('taken off the list, it is asked about again', async () => {
    await lab.execute('hdsp-agent:manage-trusted-folders');
    await lab.settings.getByRole('button', { name: /^Remove / }).click();
    await expect(lab.settings).toContainText("You haven't trusted");
    await expect(question).toBeVisible();
    await review.click();
    await question.getByRole('button', { name: "Don't use them" }).click();
    await expect(question).toBeHidden();
    await expect(lab.settings).toContainText('Not trusted');
    await lab.picture('folder-trust-settings');
  });
  model.forget();
});

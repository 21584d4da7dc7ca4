import type { APIRequestContext, Page } from '@playwright/test';
import { randomBytes } from 'crypto';
import { existsSync, readdirSync, readFileSync } from 'fs';
import * as path from 'path';

import { AgentApi } from '../agentapi';
import { expect, test } from '../lab';
import { freePort } from '../server';
import { LONG_ONLY } from '../longtests';

// No part of it but the last four characters may be found anywhere.
const KEY = `sk-ant-${randomBytes(24).toString('hex')}`;
const ENDING = KEY.slice(-4);

test('a key that was saved cannot be read again, anywhere', async ({
  lab,
  request,
  startServer
}) => {
  const server = await startServer({ args: ['--Application.log_level=DEBUG'] });
  const api = new AgentApi(request, server.url);
  // The list of models is asked for with the key, of nobody.
  await api.useProfile({
    anthropicBaseUrl: `http://127.0.0.1:${await freePort()}`
  });
  const seen = watch(lab.page as unknown as Page);
  await lab.visit(server.url);
  await lab.openPanel();
  await lab.openSettings('models');
  await lab.settings
    .getByRole('combobox', { name: 'Provider' })
    .selectOption('Anthropic');

  const key = lab.settings.getByRole('textbox', {
    name: 'Anthropic API key'
  });
  await expect(key).toHaveAttribute('type', 'password');
  await key.fill(KEY);
  await lab.settings.getByRole('button', { name: 'Save key' }).click();

  await expect(key).toHaveValue('');
  await expect(key).toHaveAccessibleDescription(
    `Saved, ends in …${ENDING}, kept in an encrypted file`
  );
  await expect(lab.greeting).toContainText('Anthropic');
  await lab.picture('key-saved');

  await test.step('replace it, and have it used by nobody', async () => {
    await key.fill(`${KEY.slice(0, -4)}wxyz`);
    await key.press('Enter');
    await expect(key).toHaveAccessibleDescription(/…wxyz/);
  });

  const places = new Map(await everyAnswer(request, api));
  expect(places.size).toBeGreaterThanOrEqual(9);
  places.set('the page', await lab.page.content());
  places.set('inputs', await inputsOf(lab.page as unknown as Page));
  places.set('storage of the browser', await storageOf(lab.page as never));
  expect(seen.frames.length).toBeGreaterThan(3);
  places.set('frames', seen.frames.join('\n'));
  places.set('console', seen.console.join('\n'));
  places.set('answers', (await Promise.all(seen.answers)).join('\n'));
  for (const file of filesBelow(server.folder)) {
    // The server may have put it in another's place since it was listed.
    if (existsSync(file)) {
      places.set(file, readFileSync(file, 'latin1'));
    }
  }
  expect([...places.keys()]).toContain(path.join(server.home, 'config.json'));
  expect(places.get(server.log)).toContain('HDSP Agent');
  for (const [place, text] of places) {
    for (const trace of tracesOf(KEY)) {
      expect(text.includes(trace), `${place} holds ${trace}`).toBe(false);
    }
  }

  await test.step('it is there after a restart, and can be removed', async () => {
    await server.stop();
    await server.start();
    await lab.reload();
    await expect(key).toHaveAccessibleDescription(/…wxyz/);
    await lab.settings
      .getByRole('button', { name: 'Remove Anthropic API key' })
      .click();
    await lab.page
      .getByRole('dialog')
      .getByRole('button', { name: 'Remove key' })
      .click();
    await expect(key).toHaveAccessibleDescription('No key');
  });
});

test(
  'without a keyring the panel says so at once, and a file is opt-in',
  { tag: LONG_ONLY },
  async ({ lab, request, startServer }) => {
    const server = await startServer({ env: { HDSP_AGENT_PASSPHRASE: '' } });
    const api = new AgentApi(request, server.url);
    await lab.visit(server.url);
    await lab.openPanel();

    await expect(
      lab.panel.getByRole('list', { name: 'Notices' })
    ).toContainText('No system keyring found.');
    await lab.picture('no-keyring');

    await lab.panel.getByRole('button', { name: 'Key storage' }).click();
    const plain = lab.settings.getByRole('radio', {
      name: 'A file that is not encrypted'
    });
    const dialog = lab.page.getByRole('dialog');
    await plain.click();
    await expect(dialog).toContainText('Keep keys unencrypted?');
    await lab.page.keyboard.press('Enter');
    await expect(dialog).toBeHidden();
    await expect(plain).not.toBeChecked();
    expect(await api.setting('secretStorage')).toBe('auto');

    await plain.click();
    await dialog.getByRole('button', { name: 'Keep them unencrypted' }).click();
    await expect(plain).toBeChecked();
    await expect(lab.settings).toContainText('Keys are kept unencrypted');
    await expect(lab.panel.getByText('No system keyring found.')).toBeHidden();
    await lab.picture('key-storage');
  }
);

interface ISeen {
  readonly frames: string[];
  readonly console: string[];
  readonly answers: Promise<string>[];
}

/**
 * Note whatever reaches a page.
 */
function watch(page: Page): ISeen {
  const seen: ISeen = { frames: [], console: [], answers: [] };
  page.on('websocket', socket => {
    socket.on('framereceived', ({ payload }) =>
      seen.frames.push(String(payload))
    );
    socket.on('framesent', ({ payload }) => seen.frames.push(String(payload)));
  });
  page.on('console', message => seen.console.push(message.text()));
  page.on('pageerror', error => seen.console.push(String(error.stack)));
  page.on('response', response => {
    if (response.url().includes('/hdsp-agent/')) {
      seen.answers.push(
        response.text().catch(() => {
          // A page that is left takes the bodies of its answers with it.
          return '';
        })
      );
    }
  });
  return seen;
}

/**
 * Whatever can be asked for, by what the server's own description names.
 */
async function everyAnswer(
  request: APIRequestContext,
  api: AgentApi
): Promise<[string, string][]> {
  const { paths } = await api.get<{
    paths: Record<
      string,
      { get?: { parameters: { in: string; required?: boolean }[] } }
    >;
  }>('openapi.json');
  const answers: [string, string][] = [];
  for (const [template, verbs] of Object.entries(paths)) {
    if (verbs.get === undefined) {
      continue;
    }
    // There is no task, checkpoint, run, verification or MCP server here: what is asked of one is refused, and the refusal is
    // looked at too.
    const refused =
      /\{(task|checkpoint|run|server|verification)\}/.test(template) ||
      verbs.get.parameters.some(one => one.in === 'query' && one.required);
    const route = template
      .replace('{name}', 'default')
      .replace('{task}', '00000000-0000-4000-8000-000000000000')
      .replace('{log}', 'messages')
      .replace('{model}', 'qwen2.5-coder-0.5b-instruct')
      .replace('{checkpoint}', '0123456789abcdef')
      .replace('{run}', '0123456789abcdef')
      .replace('{server}', 'none')
      .replace('{verification}', '0123456789abcdef')
      .replace('{artifact}', '0'.repeat(64));
    expect(route, 'a path this test knows how to fill in').not.toContain('{');
    const url = `${api.url}/hdsp-agent/api${route}`;
    const response = await request.get(url);
    expect(refused ? [400, 404] : [200], url).toContain(response.status());
    answers.push([`GET ${route}`, await response.text()]);
  }
  return answers;
}

async function inputsOf(page: Page): Promise<string> {
  const values = await page
    .locator('input, textarea')
    .evaluateAll(inputs =>
      inputs.map(input => (input as HTMLInputElement).value)
    );
  return values.join('\n');
}

async function storageOf(page: Page): Promise<string> {
  return page.evaluate(() =>
    JSON.stringify([
      { ...localStorage },
      { ...sessionStorage },
      document.cookie
    ])
  );
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.join(entry.parentPath, entry.name));
}

/**
 * Forms in which a part of a key would be found.
 */
function tracesOf(key: string): string[] {
  const secret = key.slice('sk-ant-'.length, -4);
  const part = secret.slice(8, 24);
  const base64 = Buffer.from(key).toString('base64');
  return [
    part,
    [...part].reverse().join(''),
    base64.slice(8, 40),
    Buffer.from(key).toString('hex').slice(20, 60)
  ];
}

import { spawn } from 'child_process';
import { once } from 'events';
import { connect } from 'net';
import * as path from 'path';
import { setTimeout as sleep } from 'timers/promises';

import type { Page } from '@playwright/test';

import { expectNames } from '../accessiblenames';
import { expect, test as labTest } from '../lab';
import { McpServersPage } from '../mcpserverspage';
import { freePort } from '../server';
import { LONG_ONLY } from '../longtests';

const ROOT = path.resolve(__dirname, '../..');
const PYTHON = path.join(ROOT, '.venv/bin/python');
const SERVER = 'tests.mcp.client._helpers.login_server';
const NAME = 'tickets';

interface IFixtures {
  /**
   * Where an MCP server is that wants one to log in; whoever opens its own
   * log-in page is logged in at once.
   */
  loginServer: string;
}

const test = labTest.extend<IFixtures>({
  // eslint-disable-next-line no-empty-pattern -- Playwright reads from the pattern what a fixture needs.
  loginServer: async ({}, use) => {
    const port = await freePort();
    const server = spawn(PYTHON, ['-m', SERVER, 'http', String(port)], {
      cwd: ROOT,
      stdio: 'ignore'
    });
    const ended = once(server, 'exit');
    while (!(await listens(port))) {
      expect(server.exitCode, 'the MCP server runs').toBeNull();
      await sleep(50);
    }
    await use(`http://127.0.0.1:${port}/mcp`);
    server.kill('SIGKILL');
    await ended;
  }
});

function listens(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/**
 * What one reads where a sign-in ends, in the colours of the system.
 */
async function expectEnd(page: Page, text: string): Promise<void> {
  await expect(page.getByRole('main')).toContainText(text);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({
      path: test.info().outputPath(`end-${colorScheme}.png`)
    });
  }
  await page.close();
}

test(
  'one signs in to an MCP server, stays so, signs out, and may refuse',
  { tag: LONG_ONLY },
  async ({ lab, loginServer }) => {
    const servers = new McpServersPage(lab);
    const server = servers.item(NAME);
    const signIn = server.getByRole('button', { name: `Sign in… ${NAME}` });
    const link = server.getByRole('link', {
      name: `Open the sign-in page of ${NAME}`
    });
    await lab.visit();
    await servers.paste({ [NAME]: { url: loginServer } });
    await expect(server).toContainText('Sign-in needed');
    await lab.picture('mcp-sign-in-needed', ['light', 'dark', 'contrast']);

    await test.step('signed in, it is connected', async () => {
      await signIn.click();
      await expect(link).toBeFocused();
      await expect(server).toContainText('Waiting for you to sign in');
      await lab.picture('mcp-sign-in', ['light', 'dark', 'contrast']);
      await expectNames(lab.settings);
      const opened = lab.page.waitForEvent('popup');
      await lab.page.keyboard.press('Enter');
      await expectEnd(await opened, 'You are signed in.');
      await expect(server).toContainText('Connected');
      await expect(
        server.getByRole('button', { name: `1 tool of ${NAME}` })
      ).toBeVisible();
      await lab.picture('mcp-signed-in');
    });

    await test.step('started again, it is still so', async () => {
      await server.getByRole('button', { name: `Restart ${NAME}` }).click();
      await expect(
        server.getByRole('button', { name: `Sign out of ${NAME}` })
      ).toBeVisible();
      await expect(server).toContainText('Connected');
    });

    await test.step('signed out, it wants one to sign in again', async () => {
      await server.getByRole('button', { name: `Sign out of ${NAME}` }).click();
      await expect(server).toContainText('Sign-in needed');
      await expect(signIn).toBeVisible();
    });

    await test.step('refused, it says so', async () => {
      await signIn.click();
      const page = new URL((await link.getAttribute('href')) ?? '');
      const end = new URL(page.searchParams.get('redirect_uri') ?? '');
      end.searchParams.set('state', page.searchParams.get('state') ?? '');
      end.searchParams.set('error', 'access_denied');
      const refusing = await lab.page.context().newPage();
      await refusing.goto(end.href);
      await expectEnd(refusing, 'You are not signed in.');
      await expect(server).toContainText('The log-in was refused');
      await expect(signIn).toBeVisible();
      await lab.picture('mcp-sign-in-refused');
    });
    await servers.remove(NAME);
  }
);

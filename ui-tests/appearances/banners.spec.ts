import { mkdirSync, writeFileSync } from 'fs';
import * as path from 'path';

import { AgentApi } from '../agentapi';
import type { Walk } from './walk';
import { expect, inEveryLanguage } from './walk';

const CHANNEL = /hdsp-agent\/comm/;

inEveryLanguage('a page of another version', async walk => {
  const { lab, model, page } = walk;
  await lab.api.useProfile(model.profile);
  await page.routeWebSocket(CHANNEL, socket => {
    const server = socket.connectToServer();
    socket.onMessage(message => {
      const frame = JSON.parse(String(message));
      if (frame.op === 'open') {
        frame.data.version = '0.0.7';
      }
      server.send(JSON.stringify(frame));
    });
  });
  await lab.visit();
  await lab.showPanel();
  await page.sidebar.setWidth(380, 'left');
  await expectBanner(walk, 'version_mismatch');
  await walk.take('banner-version');
});

inEveryLanguage('a login that has ended', async walk => {
  const { lab, model, page } = walk;
  await lab.api.useProfile(model.profile);
  // Nothing else of the page is to be without an answer.
  await page.addInitScript(() => {
    const { fetch } = window;
    window.fetch = (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      return url.includes('/hdsp-agent/api/health')
        ? Promise.resolve(new Response('', { status: 403 }))
        : fetch(input, init);
    };
  });
  const line = await lab.holdTheLine();
  await walk.open();
  await line.cut();
  await expectBanner(walk, 'login_expired');
  await walk.take('banner-login');
  await walk.part('notice-unfold').first().click();
  await walk.take('banner-login-open');
});

async function expectBanner(walk: Walk, reason: string): Promise<void> {
  await expect(walk.panel.locator(`[data-reason="${reason}"]`)).toBeVisible();
}

inEveryLanguage(
  'a folder that brings something',
  async (walk, { request, startServer }) => {
    const { model } = walk;
    const server = await startServer({
      prepare: ({ root }) => {
        writeFileSync(path.join(root, 'AGENTS.md'), 'Be brief.');
        mkdirSync(path.join(root, '.hdsp/commands'), { recursive: true });
        writeFileSync(path.join(root, '.hdsp/commands/plot.md'), 'Plot it.');
      }
    });
    await new AgentApi(request, server.url).useProfile(model.profile);
    await walk.open(server.url);
    const question = walk.part('folderTrust');
    await expect(question).toBeVisible();
    await walk.take('folder-trust');
    await question.locator('.jp-hdspAgent-notice-unfold').click();
    await expect(question.locator('li').first()).toBeVisible();
    await walk.take('folder-trust-open');
  }
);

inEveryLanguage('the menu', async walk => {
  const { lab, model, page } = walk;
  await lab.api.useProfile(model.profile);
  await walk.open();
  const label = await page.evaluate(() => {
    interface IMenus {
      menus?: readonly { id: string; title: { label: string } }[];
    }
    return [...window.galata.app.shell.widgets('menu')]
      .flatMap(bar => (bar as unknown as IMenus).menus ?? [])
      .find(({ id }) => id === 'jp-mainmenu-hdsp-agent')?.title.label;
  });
  await page
    .locator('#jp-MainMenu .lm-MenuBar-item')
    .filter({ hasText: new RegExp(`^${label}$`) })
    .click();
  const submenus = page.locator('.lm-Menu [data-type="submenu"]');
  await expect(submenus.first()).toBeVisible();
  await walk.take('agent-menu', walk.window, true);
  for (let index = 0; index < (await submenus.count()); index++) {
    // Pointed at, it would open a moment later, and the one before would stay until then.
    await submenus.nth(index).click();
    await expect(page.locator('.lm-Menu')).toHaveCount(2);
    await walk.take(`agent-menu-${index + 1}`, walk.window, true);
  }
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
});

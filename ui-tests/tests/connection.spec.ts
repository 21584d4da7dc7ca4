import { said, TASK_ID } from '../agentapi';
import { expect, test } from '../lab';
import { CuttableLine } from '../proxy';
import { BASE_PATH } from '../server';
import { LONG_ONLY } from '../longtests';

const OURS = /hdsp-agent\/comm/;

test.describe('over a line that breaks', () => {
  let line: CuttableLine;

  test.beforeEach(async ({ baseURL }) => {
    line = await CuttableLine.to(Number(new URL(baseURL ?? '').port));
  });

  test.afterEach(async () => {
    await line.dispose();
  });

  test('every message arrives, once and in order', async ({ lab }) => {
    await lab.visit(`http://127.0.0.1:${line.port}${BASE_PATH}`);
    await lab.openPanel();
    const first = Date.now();
    const streaming = first + 1_000_000;
    const texts: string[] = [];
    const pieces: string[] = [];
    const publish = async (count: number) => {
      for (let made = 0; made < count; made++) {
        const number = texts.length;
        texts.push(`message ${number}`);
        pieces.push(`${number};`);
        await lab.api.publish(said(first + number, texts[number]));
        await lab.api.append(streaming, pieces[number]);
      }
    };
    await lab.api.publish({
      type: 'messageCreated',
      taskId: TASK_ID,
      message: {
        ts: streaming,
        type: 'say',
        say: 'text',
        text: '',
        partial: true
      }
    });

    await publish(20);
    for (let drop = 0; drop < 3; drop++) {
      line.drop();
      await publish(30);
      await lab.expectConnected();
    }

    line.refuse();
    await publish(30);
    await expect(lab.banner).toContainText(
      /Connection lost|The server cannot be reached/
    );
    await expect(lab.banner).toContainText('Retrying in');
    await expect(lab.announced).toContainText(/Reconnecting|Offline/);
    await lab.picture('connection-lost');
    await publish(30);
    line.accept();

    await lab.expectConnected();
    await expect(lab.banner).toBeHidden();
    await expect(lab.announced).toHaveText('HDSP Agent: Connected');
    await publish(10);
    await expect.poll(() => lab.texts()).toEqual([...texts, pieces.join('')]);
  });
});

test(
  'a line that falls silent is noticed',
  { tag: LONG_ONLY },
  async ({ lab, startServer }) => {
    const server = await startServer({
      args: ['--HdspAgentApp.heartbeat_seconds=0.5']
    });
    const line = await CuttableLine.to(server.port);
    try {
      await lab.visit(`http://127.0.0.1:${line.port}${BASE_PATH}`);
      await lab.openPanel();
      const again = lab.page.waitForEvent('websocket', {
        predicate: socket => OURS.test(socket.url())
      });

      line.silence();

      await again;
      await lab.expectConnected();
    } finally {
      await line.dispose();
    }
  }
);

test('a page of another version says so once and stops trying', async ({
  lab
}) => {
  // The page names 0.1.0 and the server knows 0.1.0; in between, each hears of another.
  const [oldVersion, newVersion] = ['0.0.7', '7.0.0'];
  let skewed = true;
  let connections = 0;
  let pageVersion = '';
  await lab.page.routeWebSocket(OURS, socket => {
    connections += 1;
    const server = socket.connectToServer();
    socket.onMessage(message => {
      const frame = JSON.parse(String(message));
      if (skewed && frame.op === 'open') {
        pageVersion = frame.data.version;
        frame.data.version = oldVersion;
      }
      server.send(JSON.stringify(frame));
    });
    server.onMessage(message => {
      const text = String(message);
      socket.send(
        skewed ? text.replaceAll(`"${pageVersion}"`, `"${newVersion}"`) : text
      );
    });
  });
  await lab.page.clock.install();
  await lab.visit();
  await lab.showPanel();

  const message = lab.page
    .getByRole('paragraph')
    .filter({ hasText: 'HDSP Agent was updated' });
  await expect(message).toHaveCount(1);
  await expect(message).toContainText(
    `this page is ${pageVersion}, the server ${newVersion}`
  );
  await expect(
    lab.panel.getByText('Not connected', { exact: true })
  ).toBeVisible();
  await lab.page.clock.fastForward('10:00');
  await expect(message).toHaveCount(1);
  expect(connections).toBe(1);
  await expect(lab.page.getByRole('dialog')).toHaveCount(0);
  await lab.picture('version-mismatch');

  skewed = false;
  await lab.banner.getByRole('button', { name: 'Reload' }).click();
  await lab.expectConnected();
});

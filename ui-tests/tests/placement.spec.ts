import type { Lab } from '../lab';
import { expect, test } from '../lab';
import { LONG_ONLY } from '../longtests';

const AREA = 'hdsp-agent:panel-area';
const WIDENED = 'hdsp-agent:panel-widened';
const FIRST_WIDTH = 380;

// The edge that one drags has a width too.
const CLOSE = 6;

test('the panel moves to a tab and to the other side, and is there again after a reload', async ({
  lab
}) => {
  await lab.visit();
  await lab.openPanel();
  const main = lab.page.locator('#jp-main-dock-panel');
  const right = lab.page.locator('#jp-right-stack');

  await test.step('a tab', async () => {
    await lab.execute('hdsp-agent:move-panel', { area: 'main' });
    await expect(main.locator('#hdsp-agent-panel')).toBeVisible();
    await expect(main.locator('#hdsp-agent-panel :focus')).toBeVisible();
    await expect(main.getByRole('tab', { name: 'HDSP Agent' })).toBeVisible();
    await lab.picture('panel-in-a-tab');
  });

  await test.step('the right, where it stays', async () => {
    const saved = saving(lab, data => data[AREA] === 'right');
    await lab.execute('hdsp-agent:move-panel', { area: 'right' });
    await expect(right.locator('#hdsp-agent-panel')).toBeVisible();
    await saved;
    await lab.page.goto(`${lab.api.url}/lab`);
    await expect(right.locator('#hdsp-agent-panel')).toBeAttached();
    await lab.execute('hdsp-agent:open');
    await expect(right.locator('#hdsp-agent-panel')).toBeVisible();
  });

  await lab.execute('hdsp-agent:move-panel', { area: 'left' });
  await expect(
    lab.page.locator('#jp-left-stack #hdsp-agent-panel')
  ).toBeVisible();
});

test(
  'the panel is made wide once, when it is first opened or found open, and then is as wide as one wants it',
  { tag: LONG_ONLY },
  async ({ lab }) => {
    await lab.visit();
    await test.step('opened for the first time', async () => {
      await lab.openPanel();
      await expectWidth(lab, FIRST_WIDTH);
      await lab.picture('panel-first-width');
    });

    await test.step('what one chose then stays', async () => {
      await dragTo(lab, 300);
      const closed = saving(lab, data => isLeftClosed(data) === true);
      await lab.page.sidebar.close('left');
      await closed;
      const opened = saving(lab, data => isLeftClosed(data) === false);
      await lab.showPanel();
      await expectWidth(lab, 300);
      await opened;
      await lab.reload();
      await lab.expectConnected();
      await expectWidth(lab, 300);
    });

    await test.step('found open at a start that does not know of it', async () => {
      const saved = saving(lab, data => data[WIDENED] === false);
      await lab.page.evaluate(async key => {
        // Galata lists the plugins that it gives, and has all.
        const galata = window.galata as unknown as {
          getPlugin(id: string): Promise<{
            save(key: string, value: boolean): Promise<unknown>;
          }>;
        };
        const memory = await galata.getPlugin(
          '@jupyterlab/apputils-extension:state'
        );
        await memory.save(key, false);
      }, WIDENED);
      await saved;
      await lab.reload();
      await lab.expectConnected();
      await expectWidth(lab, FIRST_WIDTH);
      await dragTo(lab, 300);
      await lab.reload();
      await lab.expectConnected();
      await expectWidth(lab, 300);
    });
  }
);

/**
 * Drag the panel's edge until it is so wide, and wait until that is kept.
 */
async function dragTo(lab: Lab, width: number): Promise<void> {
  const whole = await lab.page
    .locator('#jp-main-split-panel')
    .evaluate(node => node.clientWidth);
  const saved = saving(lab, data => {
    const layout = data['layout-restorer:data'] as
      { relativeSizes?: number[] } | undefined;
    const [share = 0] = layout?.relativeSizes ?? [];
    return Math.abs(share * whole - width) < CLOSE;
  });
  const { x = 0, width: before = 0 } = (await lab.panel.boundingBox()) ?? {};
  const { mouse } = lab.page;
  await mouse.move(x + before + 2, 400);
  await mouse.down();
  await mouse.move(x + width + 2, 400, { steps: 4 });
  await mouse.up();
  await expectWidth(lab, width);
  await saved;
}

async function expectWidth(lab: Lab, width: number): Promise<void> {
  const off = async () =>
    Math.abs(((await lab.panel.boundingBox())?.width ?? 0) - width);
  await expect.poll(off).toBeLessThan(CLOSE);
}

/**
 * Whether the left side is closed in what Lab keeps, or nothing where it does
 * not say so.
 */
function isLeftClosed(data: Record<string, unknown>): boolean | undefined {
  const layout = data['layout-restorer:data'] as
    { left?: { collapsed?: boolean } } | undefined;
  return layout?.left?.collapsed;
}

/**
 * The next time that Lab keeps how it is, and it is as told.
 */
function saving(
  lab: Lab,
  isMeant: (data: Record<string, unknown>) => boolean
): Promise<unknown> {
  return lab.page.waitForResponse(response => {
    const request = response.request();
    const { data } = (request.method() === 'PUT' &&
      request.url().includes('/api/workspaces') &&
      request.postDataJSON()) || { data: {} };
    return isMeant(data);
  });
}

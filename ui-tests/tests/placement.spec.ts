import { expect, test } from '../lab';

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
    const saved = lab.page.waitForResponse(
      response =>
        response.request().method() === 'PUT' &&
        (response.request().postData() ?? '').includes('"right"')
    );
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

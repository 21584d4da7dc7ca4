import { expect, test } from '../chat';
import type { Lab } from '../lab';
import { LONG_ONLY } from '../longtests';

test('somebody on another browser tab sees and hears that the agent is done, and is asked about notifications when back', async ({
  chat,
  lab,
  model
}) => {
  await lab.api.change({ soundEnabled: true, dismissedHints: [] });
  await lab.page.addInitScript(() => {
    // Without a screen nobody could be asked for permission.
    Object.defineProperty(Notification, 'permission', { get: () => 'default' });
    const pitches: number[] = [];
    const { start } = OscillatorNode.prototype;
    OscillatorNode.prototype.start = function (when) {
      pitches.push(this.frequency.value);
      start.call(this, when);
    };
    Object.assign(window, { pitches });
  });
  const icon = lab.page.locator('head link[rel="icon"][href^="data:"]');
  const offer = lab.page
    .getByRole('alert')
    .filter({ hasText: 'while you were away' });

  await chat.begin('Take your time.');
  await model.asked();
  await look(lab, false);
  await model.finish();
  await expect(lab.page).toHaveTitle(/^\(1\) /);
  await expect(icon).toHaveCount(1);
  await expect
    .poll(() =>
      lab.page.evaluate(() =>
        (window as unknown as IHeard).pitches.map(Math.round)
      )
    )
    .toEqual([880, 660]);
  // It is the last one that browsers show.
  expect(
    await icon.evaluate(
      node =>
        [...document.querySelectorAll('link[rel~="icon"]')].at(-1) === node
    )
  ).toBe(true);
  await expect(offer).toHaveCount(0);

  await look(lab, true);
  await expect(lab.page).not.toHaveTitle(/^\(/);
  await expect(icon).toHaveCount(0);
  await expect(offer).toContainText('Get system notifications next time?');
  await lab.picture('notifications-offered');
  await offer.getByRole('button', { name: 'No, Thanks' }).click();
  await expect
    .poll(() => lab.api.setting('dismissedHints'))
    .toContain('systemNotifications');
});

test(
  'Lab’s Settings Editor leads to the agent’s settings',
  { tag: LONG_ONLY },
  async ({ lab }) => {
    await lab.visit();
    await lab.execute('settingeditor:open', { query: 'HDSP Agent' });
    const link = lab.page.getByRole('button', {
      name: 'Open the Settings of HDSP Agent'
    });
    await expect(link).toBeVisible();
    // What cannot be clicked does not look like a link.
    await expect(
      lab.page.getByText('Models, keys and what the agent may do')
    ).not.toHaveCSS('cursor', 'pointer');
    await lab.picture('settings-editor');
    await link.click();
    await expect(
      lab.settings.getByRole('heading', { name: 'Models and keys' })
    ).toBeVisible();
  }
);

interface IHeard {
  readonly pitches: readonly number[];
}

/**
 * Go to another browser tab, or come back.
 */
async function look(lab: Lab, isHere: boolean): Promise<void> {
  await lab.page.evaluate(isHere => {
    // Playwright's own tabs are all in sight.
    Object.defineProperty(document, 'hidden', {
      configurable: true,
      get: () => !isHere
    });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHere);
}

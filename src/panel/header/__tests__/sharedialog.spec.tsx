import { Clipboard, Notification } from '@jupyterlab/apputils';
import { PageConfig } from '@jupyterlab/coreutils';

import type { ShareBody, ShareOffer } from '../../../generated/rest';
import { CommandIDs } from '../../../ui/commandids';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { RestServer } from '../../history/__tests__/restserver';
import { addHeaderCommands } from '../headercommands';
import { anItem, showing } from './conversations';

const OFFER: ShareOffer = {
  available: true,
  messages: 2,
  images: 1,
  outputs: 0,
  imagesLeftOut: 1,
  outputsLeftOut: 0,
  groups: ['students'],
  mostDays: 90,
  links: 3,
  mostLinks: 20,
  page: '/services/hdsp-agent/shared'
};

describe('shareConversation', () => {
  let page: OpenedPanel;
  let rest: RestServer;
  let sent: ShareBody[];

  beforeEach(() => {
    page = new OpenedPanel();
    rest = new RestServer();
    sent = [];
    rest.answers.set('GET tasks/a/share', () => OFFER);
    rest.answers.set('POST tasks/a/share', ({ body }) => {
      sent.push(body as ShareBody);
      return { url: '/services/hdsp-agent/shared/xyz', ends: 1 };
    });
    addHeaderCommands(page.panel.services);
    page.begin(showing(anItem({ id: 'a' })));
  });

  afterEach(() => {
    rest.dispose();
    page.dispose();
    document.body.innerHTML = '';
    jest.restoreAllMocks();
  });

  function dialog(): HTMLElement {
    return document.querySelector('.jp-Dialog') as HTMLElement;
  }

  function accept(): HTMLButtonElement {
    return dialog().querySelector('.jp-mod-accept') as HTMLButtonElement;
  }

  function input(label: string): HTMLInputElement {
    const found = [...dialog().querySelectorAll('label')].find(one =>
      one.textContent?.includes(label)
    );
    return found?.querySelector('input') as HTMLInputElement;
  }

  async function ask(): Promise<void> {
    void page.commands.execute(CommandIDs.shareConversation);
    for (let turn = 0; turn < 20 && dialog() === null; turn++) {
      await page.settle();
    }
  }

  it('should be there on a hub alone', () => {
    const option = jest.spyOn(PageConfig, 'getOption');
    option.mockImplementation(() => '');
    expect(page.commands.isVisible(CommandIDs.shareConversation)).toBe(false);
    option.mockImplementation(name => (name === 'hubPrefix' ? '/hub/' : ''));
    expect(page.commands.isVisible(CommandIDs.shareConversation)).toBe(true);
  });

  it('should say what goes, and share it with whom one chooses', async () => {
    const copied = jest
      .spyOn(Clipboard, 'copyToSystem')
      .mockImplementation(() => undefined);
    jest.spyOn(Notification, 'info').mockImplementation(() => '');
    await ask();
    expect(dialog().textContent).toContain('2 messages');
    expect(dialog().textContent).toContain('Left out for size or kind: 1');
    // What is for nobody cannot be shared.
    expect(accept().disabled).toBe(true);
    await page.settle(() => input('Group students').click());
    expect(accept().disabled).toBe(false);
    await page.settle(() => accept().click());
    await page.settle();
    expect(sent).toEqual([
      { everybody: false, groups: ['students'], people: [], days: 30 }
    ]);
    expect(copied).toHaveBeenCalledWith(
      `${window.location.origin}/services/hdsp-agent/shared/xyz`
    );
  });

  it('should name nobody where it is for everybody', async () => {
    jest.spyOn(Clipboard, 'copyToSystem').mockImplementation(() => undefined);
    jest.spyOn(Notification, 'info').mockImplementation(() => '');
    await ask();
    await page.settle(() => input('Group students').click());
    await page.settle(() => input('Everybody').click());
    await page.settle(() => accept().click());
    await page.settle();
    expect(sent).toEqual([{ everybody: true, days: 30 }]);
  });

  it('should share nothing where one says no, or there is no service', async () => {
    await ask();
    await page.settle(() =>
      (dialog().querySelector('.jp-mod-reject') as HTMLElement).click()
    );
    const told = jest.spyOn(Notification, 'warning').mockReturnValue('');
    rest.answers.set('GET tasks/a/share', () => ({
      ...OFFER,
      available: false
    }));
    await page.during(() =>
      page.commands.execute(CommandIDs.shareConversation)
    );
    expect(told).toHaveBeenCalledTimes(1);
    expect(sent).toEqual([]);
  });
});

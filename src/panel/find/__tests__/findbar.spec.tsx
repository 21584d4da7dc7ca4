import { ServerConnection } from '@jupyterlab/services';

import type { ClineMessage } from '../../../generated/wire';
import { CommandIDs } from '../../../ui/commandids';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { PageLayout } from '../../__tests__/pagelayout';
import { addChatCommands } from '../../chat/chatcommands';

function say(ts: number): ClineMessage {
  return { ts, type: 'say', say: 'text', text: `Message ${ts}` };
}

describe('finding in the conversation', () => {
  let page: OpenedPanel;
  let found: number[];
  let more: boolean;
  let asked: (string | null)[];

  beforeEach(() => {
    found = [1, 3];
    more = false;
    asked = [];
    page = new OpenedPanel({
      layout: new PageLayout({ box: 600 }),
      serverSettings: ServerConnection.makeSettings({
        fetch: request => {
          const url = new URL((request as Request).url);
          if (!url.pathname.endsWith('/tasks/t/find')) {
            return Promise.resolve(new Response('', { status: 404 }));
          }
          asked.push(url.searchParams.get('text'));
          return Promise.resolve(
            new Response(JSON.stringify({ found, more }), { status: 200 })
          );
        }
      })
    });
    addChatCommands(page.panel.services);
    page.commands.addCommand(CommandIDs.open, {
      execute: () => page.panel.activate()
    });
  });

  afterEach(() => {
    page.dispose();
  });

  const bar = () => page.find('.jp-hdspAgent-find');
  const field = () => bar()?.querySelector('input') as HTMLInputElement;
  const count = () => page.find('.jp-hdspAgent-find-count')?.textContent;
  const wanted = () => page.panel.services.state.wantedMessage;

  async function open(...messages: ClineMessage[]): Promise<void> {
    page.begin({ currentTaskId: 't', clineMessages: messages });
    await page.settle();
    await page.settle(() => void page.commands.execute(CommandIDs.find));
  }

  function type(text: string, wait = 500): Promise<void> {
    return page.during(async () => {
      Object.getOwnPropertyDescriptor(
        HTMLInputElement.prototype,
        'value'
      )?.set?.call(field(), text);
      field().dispatchEvent(new Event('input', { bubbles: true }));
      await jest.advanceTimersByTimeAsync(wait);
    });
  }

  function press(key: string, init: KeyboardEventInit = {}): Promise<void> {
    return page.settle(() =>
      field().dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true, ...init })
      )
    );
  }

  it('should ask the server, which knows all of it, and say how many there are', async () => {
    await open(say(1), say(2), say(3));
    expect(document.activeElement).toBe(field());
    await type(' ages ');
    expect(asked).toEqual(['ages']);
    expect(count()).toBe('1 of 2 messages');
    expect(document.activeElement).toBe(field());
  });

  it('should go on with Enter, back with Shift, and around the ends', async () => {
    await open(say(1), say(2), say(3));
    await type('ages');
    await press('Enter');
    expect(count()).toBe('2 of 2 messages');
    await press('Enter');
    expect(count()).toBe('1 of 2 messages');
    await press('Enter', { shiftKey: true });
    expect(count()).toBe('2 of 2 messages');
    await page.settle(() => page.button('Next result').click());
    expect(count()).toBe('1 of 2 messages');
    await page.settle(() => page.button('Previous result').click());
    expect(count()).toBe('2 of 2 messages');
  });

  it('should go on from what was typed last, however soon Enter comes', async () => {
    found = [1, 2, 3];
    await open(say(1), say(2), say(3));
    await type('age');
    await type('ages', 10);
    await press('Enter');
    await press('Enter');
    await press('Enter', { shiftKey: true });
    await page.during(async () => {
      await jest.advanceTimersByTimeAsync(500);
    });
    expect(asked).toEqual(['age', 'ages']);
    expect(count()).toBe('2 of 3 messages');
    await type('age', 10);
    await press('Enter');
    await type('ages.');
    expect(count()).toBe('1 of 3 messages');
  });

  it('should load the messages before what is far away', async () => {
    found = [1];
    page.begin({
      currentTaskId: 't',
      clineMessages: [say(50), say(51)],
      hasOlderMessages: true
    });
    await page.settle();
    await page.settle(() => void page.commands.execute(CommandIDs.find));
    await type('ages');
    expect(wanted()).toMatchObject({ ts: 1 });
    expect(page.sent('loadMessages')).toMatchObject([{ beforeTs: 50 }]);
    page.publish({
      type: 'messagesPage',
      taskId: 't',
      clineMessages: [say(1), say(2)],
      hasOlderMessages: false
    });
    await page.settle(() => page.answer('loadMessages'));
    await page.settle();
    expect(wanted()).toBeNull();
    expect(page.find('[data-ts="1"]')?.dataset.found).toBe('true');
    expect(document.activeElement).toBe(field());
  });

  it('should say that there is nothing, and that there is too much', async () => {
    found = [];
    await open(say(1));
    await type('nowhere');
    expect(count()).toBe('No results');
    await press('Enter');
    found = [1];
    more = true;
    await type('everywhere');
    expect(count()).toBe('1 of 1+ message');
    await type('');
    expect(count()).toBe('');
  });

  it('should go back to where one was with Escape, if nothing was found', async () => {
    found = [];
    page.begin({ currentTaskId: 't', clineMessages: [say(1)] });
    await page.settle();
    const before = page.button('Past conversations');
    before.focus();
    await page.settle(() => void page.commands.execute(CommandIDs.find));
    expect(document.activeElement).toBe(field());
    await type('nowhere');
    // Asked for from the bar itself, one was still where one was.
    await page.settle(() => void page.commands.execute(CommandIDs.find));
    await press('Escape');
    expect(document.activeElement).toBe(before);
  });

  it('should not take the focus when it is only drawn again', async () => {
    await open(say(1));
    const { state } = page.panel.services;
    await page.settle(() => (state.page = 'history'));
    page.button('Past conversations').focus();
    await page.settle(() => (state.page = 'chat'));
    expect(bar()).not.toBeNull();
    expect(document.activeElement).not.toBe(field());
  });

  it('should close with Escape, and leave the focus on what was found', async () => {
    await open(say(1), say(3));
    await type('ages');
    await press('Escape');
    expect(bar()).toBeNull();
    expect(page.find('[data-found]')).toBeNull();
    expect(document.activeElement).toBe(page.find('[data-ts="1"]'));
    await page.settle(() => void page.commands.execute(CommandIDs.find));
    expect(field().value).toBe('ages');
  });

  it('should find anew when something is said', async () => {
    await open(say(1), say(3));
    await type('ages');
    found = [1, 3, 4];
    page.publish({ type: 'messageCreated', taskId: 't', message: say(4) });
    await page.during(async () => {
      await jest.advanceTimersByTimeAsync(500);
    });
    expect(count()).toBe('1 of 3 messages');
  });

  it('should not be offered where there is no conversation', async () => {
    page.begin({});
    await page.settle();
    expect(page.commands.isEnabled(CommandIDs.find)).toBe(false);
  });
});

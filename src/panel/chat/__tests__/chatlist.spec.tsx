import { CommandIDs } from '../../../ui/commandids';
import type { ClineMessage } from '../../../generated/wire';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { PageLayout } from '../../__tests__/pagelayout';
import { addChatCommands } from '../chatcommands';

function say(ts: number, text = `Message ${ts}`): ClineMessage {
  return { ts, type: 'say', say: 'text', text };
}

function many(first: number, last: number): ClineMessage[] {
  return Array.from({ length: last - first + 1 }, (_, at) => say(first + at));
}

describe('the list of a conversation', () => {
  let page: OpenedPanel;

  beforeEach(() => {
    page = new OpenedPanel({ layout: new PageLayout({ box: 600 }) });
  });

  afterEach(() => {
    page.dispose();
  });

  function box(): HTMLElement {
    const found = page.find('[role="feed"]');
    if (!found) {
      throw new Error('There is no list.');
    }
    return found;
  }

  function shown(): number[] {
    return page.findAll('[data-ts]').map(({ dataset }) => Number(dataset.ts));
  }

  function scroll(top: number): void {
    box().scrollTop = top;
    box().dispatchEvent(new Event('scroll'));
  }

  async function scrollTo(top: number): Promise<void> {
    await page.settle(() => scroll(top));
  }

  it('should hold only what is in sight, however many there are', async () => {
    page.begin({ currentTaskId: 't', clineMessages: many(1, 2_000) });
    await page.settle();
    expect(shown().length).toBeGreaterThan(5);
    expect(shown().length).toBeLessThan(60);
  });

  it('should be a feed whose articles know their places', async () => {
    page.begin({ currentTaskId: 't', clineMessages: many(1, 3) });
    await page.settle();
    expect(box().getAttribute('aria-label')).toBe('Conversation');
    const articles = page.findAll('article');
    expect(articles.map(row => row.getAttribute('aria-posinset'))).toEqual([
      '1',
      '2',
      '3'
    ]);
    expect(articles[0].getAttribute('aria-setsize')).toBe('3');
  });

  it('should not know how many there are while older ones are elsewhere', async () => {
    page.begin({
      currentTaskId: 't',
      clineMessages: many(5, 7),
      hasOlderMessages: true
    });
    await page.settle();
    expect(page.find('article')?.getAttribute('aria-setsize')).toBe('-1');
    // The first one here is not what the conversation began with.
    expect(page.find('article')?.getAttribute('aria-label')).toBe('Agent');
  });

  describe('clicks', () => {
    const takes = async () => {
      page.begin({ currentTaskId: 't', clineMessages: many(1, 100) });
      await page.settle();
      Object.defineProperty(box(), 'scrollHeight', { value: 4_000 });
      return (place = 900) => {
        // At once: a while after the last of it Virtua takes it to be over.
        page.act(() => scroll(place));
        const found = [];
        let node = page.find('article');
        for (; node && node !== box(); node = node.parentElement) {
          found.push(getComputedStyle(node).pointerEvents);
        }
        expect(found.length).toBeGreaterThan(1);
        return !found.includes('none');
      };
    };

    it('should be taken while it scrolls', async () => {
      const afterScrolling = await takes();
      expect(afterScrolling()).toBe(true);
    });

    it('should wait while the wheel turns, whose turns a row would swallow', async () => {
      const afterScrolling = await takes();
      // However long the page takes to render.
      const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000);
      page.act(() =>
        box().dispatchEvent(
          new WheelEvent('wheel', { deltaY: 100, bubbles: true })
        )
      );
      expect(afterScrolling()).toBe(false);
      clock.mockReturnValue(10_000);
      expect(afterScrolling(800)).toBe(true);
      clock.mockRestore();
    });
  });

  it('should load older messages when one comes near the beginning', async () => {
    page.begin({
      currentTaskId: 't',
      clineMessages: many(51, 100),
      hasOlderMessages: true
    });
    await page.settle();
    expect(page.sent('loadMessages')).toEqual([]);
    await scrollTo(900);
    Object.defineProperty(box(), 'scrollHeight', { value: 2_000 });
    await page.settle(() =>
      box().dispatchEvent(new WheelEvent('wheel', { deltaY: -10 }))
    );
    await scrollTo(100);
    expect(page.sent('loadMessages')).toEqual([
      expect.objectContaining({ taskId: 't', beforeTs: 51 })
    ]);
    expect(page.find('.jp-hdspAgent-chat-older')?.textContent).toContain(
      'Loading older messages'
    );
    page.publish({
      type: 'messagesPage',
      taskId: 't',
      clineMessages: many(1, 50),
      hasOlderMessages: false
    });
    await page.settle(() => page.answer('loadMessages'));
    expect(page.store.order).toHaveLength(100);
    expect(page.find('.jp-hdspAgent-chat-older')).toBeNull();
  });

  describe('a message that is looked for', () => {
    it('should be brought into sight once its conversation is here, with the focus on it', async () => {
      page.panel.services.state.wantedMessage = { taskId: 't', ts: 20 };
      page.begin({ currentTaskId: 'other', clineMessages: many(500, 600) });
      await page.settle();
      expect(page.panel.services.state.wantedMessage).not.toBeNull();
      page.publish({
        type: 'state',
        state: { currentTaskId: 't', clineMessages: many(1, 100) }
      });
      await scrollTo(760);
      expect(document.activeElement?.getAttribute('data-ts')).toBe('20');
      expect(page.panel.services.state.wantedMessage).toBeNull();
      const row = document.activeElement as HTMLElement;
      expect(row.dataset.wanted).toBe('true');
      page.act(() => row.blur());
      expect(row.dataset.wanted).toBeUndefined();
    });

    it('should be fetched with what is older than what is here', async () => {
      page.begin({
        currentTaskId: 't',
        clineMessages: many(51, 100),
        hasOlderMessages: true
      });
      await page.settle();
      await page.settle(() => {
        page.panel.services.state.wantedMessage = { taskId: 't', ts: 3 };
      });
      expect(page.sent('loadMessages')).toHaveLength(1);
      page.publish({
        type: 'messagesPage',
        taskId: 't',
        clineMessages: many(1, 50),
        hasOlderMessages: false
      });
      await page.settle(() => page.answer('loadMessages'));
      await scrollTo(80);
      expect(document.activeElement?.getAttribute('data-ts')).toBe('3');
    });

    it('should not keep older messages of another conversation away', async () => {
      page.begin({
        currentTaskId: 't',
        clineMessages: many(51, 100),
        hasOlderMessages: true
      });
      await page.settle();
      await page.settle(() => {
        page.panel.services.state.wantedMessage = { taskId: 'gone', ts: 3 };
      });
      await scrollTo(900);
      Object.defineProperty(box(), 'scrollHeight', { value: 2_000 });
      await page.settle(() =>
        box().dispatchEvent(new WheelEvent('wheel', { deltaY: -10 }))
      );
      await scrollTo(100);
      expect(page.sent('loadMessages')).toHaveLength(1);
    });

    const wantWhatDoesNotCome = async () => {
      const { state } = page.panel.services;
      page.begin({
        currentTaskId: 't',
        clineMessages: many(51, 100),
        hasOlderMessages: true
      });
      await page.settle();
      await page.settle(() => {
        state.wantedMessage = { taskId: 't', ts: 3 };
      });
      await page.settle(() =>
        page.answer('loadMessages', {
          code: 'a_code_without_translation',
          message: 'The disk is gone.',
          params: {}
        })
      );
      expect(state.wantedMessage).not.toBeNull();
      return state;
    };

    it('should be forgotten when another conversation is shown', async () => {
      const state = await wantWhatDoesNotCome();
      page.publish({
        type: 'state',
        state: { currentTaskId: 'other', clineMessages: many(500, 600) }
      });
      await page.settle();
      expect(state.wantedMessage).toBeNull();
    });

    it('should be forgotten when the conversation is left for the list', async () => {
      const state = await wantWhatDoesNotCome();
      await page.settle(() => {
        state.page = 'history';
      });
      expect(state.wantedMessage).toBeNull();
    });

    it('should be forgotten when a third conversation comes in its place', async () => {
      const { state } = page.panel.services;
      page.begin({ currentTaskId: 'other', clineMessages: many(1, 3) });
      await page.settle();
      await page.settle(() => {
        state.wantedMessage = { taskId: 't', ts: 3 };
      });
      page.publish({
        type: 'state',
        state: { currentTaskId: 'third', clineMessages: many(4, 6) }
      });
      await page.settle();
      expect(state.wantedMessage).toBeNull();
    });

    it('should be what came after it, if it was taken back', async () => {
      page.begin({
        currentTaskId: 't',
        clineMessages: [...many(1, 3), ...many(7, 9)]
      });
      await page.settle(() => {
        page.panel.services.state.wantedMessage = { taskId: 't', ts: 5 };
      });
      await page.settle();
      expect(document.activeElement?.getAttribute('data-ts')).toBe('7');
    });
  });

  it('should say why older messages do not come, and try again', async () => {
    page.begin({
      currentTaskId: 't',
      clineMessages: many(51, 100),
      hasOlderMessages: true
    });
    await page.settle();
    Object.defineProperty(box(), 'scrollHeight', { value: 2_000 });
    await scrollTo(900);
    await page.settle(() =>
      box().dispatchEvent(new WheelEvent('wheel', { deltaY: -10 }))
    );
    await scrollTo(100);
    await page.settle(() =>
      page.answer('loadMessages', {
        code: 'a_code_without_translation',
        message: 'The disk is gone.',
        params: {}
      })
    );
    expect(page.find('.jp-hdspAgent-chat-older')?.textContent).toContain(
      'The disk is gone.'
    );
    await page.settle(() => page.button('Try again').click());
    expect(page.sent('loadMessages')).toHaveLength(2);
    await page.settle(() => page.answer('loadMessages'));
  });

  it('should lead to the newest, and tell when there is something new', async () => {
    page.begin({ currentTaskId: 't', clineMessages: many(1, 100) });
    await page.settle();
    expect(page.find('.jp-hdspAgent-chat-newest')).toBeNull();
    Object.defineProperty(box(), 'scrollHeight', { value: 4_000 });
    Object.defineProperty(box(), 'clientHeight', { value: 600 });
    await scrollTo(3_400);
    await scrollTo(500);
    const button = () => page.find('.jp-hdspAgent-chat-newest');
    expect(button()?.textContent).toBe('To the newest message');
    page.publish({ type: 'messageCreated', taskId: 't', message: say(101) });
    await page.settle();
    expect(button()?.textContent).toBe('New messages below');
    await page.settle(() => button()?.click());
    expect(box().scrollTop).toBe(4_000);
    expect(document.activeElement).toBe(box());
  });

  it('should lead to the newest by a command, with the focus where it is', async () => {
    page.begin({ currentTaskId: 't', clineMessages: many(1, 100) });
    await page.settle();
    const added = addChatCommands(page.panel.services);
    expect(page.commands.isEnabled(CommandIDs.showNewest)).toBe(true);
    Object.defineProperty(box(), 'scrollHeight', { value: 4_000 });
    Object.defineProperty(box(), 'clientHeight', { value: 600 });
    await scrollTo(3_400);
    await scrollTo(500);
    const focused = document.activeElement;
    await page.settle(() => void page.commands.execute(CommandIDs.showNewest));
    expect(box().scrollTop).toBe(4_000);
    expect(document.activeElement).toBe(focused);
    added.dispose();
  });

  it('should keep the row the focus is in, wherever one scrolls', async () => {
    page.begin({ currentTaskId: 't', clineMessages: many(1, 1_000) });
    await page.settle();
    await page.settle(() => page.find('[data-ts="2"]')?.focus());
    Object.defineProperty(box(), 'clientHeight', { value: 600 });
    await scrollTo(20_000);
    expect(shown()).toContain(505);
    expect(shown()).not.toContain(3);
    expect((document.activeElement as HTMLElement).dataset.ts).toBe('2');
  });

  it('should begin another conversation anew', async () => {
    page.begin({ currentTaskId: 't', clineMessages: many(1, 3) });
    await page.settle();
    const before = box();
    page.publish({
      type: 'state',
      state: { currentTaskId: 'u', clineMessages: [say(9)] }
    });
    await page.settle();
    expect(box()).not.toBe(before);
    expect(shown()).toEqual([9]);
  });

  it('should move the focus from row to row, past what asking the model took', async () => {
    const [first, ...others] = many(1, 5);
    const took = {
      ...say(3, '{"tokensIn":9,"tokensOut":2}'),
      say: 'api_req_started' as const
    };
    page.begin({
      currentTaskId: 't',
      clineMessages: [first, ...others.map(one => (one.ts === 3 ? took : one))]
    });
    await page.settle();
    const press = (key: string, altKey = false) =>
      page.settle(() =>
        (document.activeElement ?? box()).dispatchEvent(
          new KeyboardEvent('keydown', { key, altKey, bubbles: true })
        )
      );
    const focused = () => (document.activeElement as HTMLElement).dataset.ts;
    box().focus();
    await press('ArrowUp', true);
    expect(focused()).toBe('5');
    await press('PageUp');
    expect(focused()).toBe('4');
    await press('PageUp');
    expect(focused()).toBe('2');
    await press('PageDown');
    expect(focused()).toBe('4');
    await press('PageDown');
    expect(focused()).toBe('5');
    await press('PageDown');
    expect(focused()).toBe('5');
    await page.settle(() =>
      document.activeElement?.dispatchEvent(
        new KeyboardEvent('keydown', {
          key: 'Home',
          ctrlKey: true,
          bubbles: true
        })
      )
    );
    expect(document.activeElement?.compareDocumentPosition(box())).toBe(
      Node.DOCUMENT_POSITION_FOLLOWING
    );
  });

  describe('to screen readers', () => {
    function told(role: string): string | undefined {
      const all = page.findAll(`.jp-hdspAgent-announcement[role="${role}"]`);
      return all
        .map(({ textContent }) => textContent ?? '')
        .find(text => text.includes('answer') || text.includes('Error'));
    }

    it('should tell answers once they are whole', async () => {
      page.begin({ currentTaskId: 't', clineMessages: [say(1)] });
      await page.settle();
      const message = { ...say(2, 'An answ'), partial: true };
      page.publish({ type: 'messageCreated', taskId: 't', message });
      await page.settle();
      expect(told('status')).toBeUndefined();
      page.publish({
        type: 'messageUpdated',
        taskId: 't',
        clineMessage: { ...say(2, 'An answer.'), partial: false }
      });
      await page.settle();
      expect(told('status')).toBe('An answer.');
    });

    it('should tell errors at once, and nothing of what was there before', async () => {
      page.begin({
        currentTaskId: 't',
        clineMessages: [
          say(1),
          { ts: 2, type: 'say', say: 'error', text: 'Old' }
        ]
      });
      await page.settle();
      expect(told('alert')).toBeUndefined();
      page.publish({
        type: 'messageCreated',
        taskId: 't',
        message: { ts: 3, type: 'say', say: 'error', text: 'New' }
      });
      await page.settle();
      expect(told('alert')).toBe('Error: New');
    });
  });
});

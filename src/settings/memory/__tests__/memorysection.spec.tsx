import { ServerConnection } from '@jupyterlab/services';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import * as React from 'react';
import { act } from 'react';
import type { Root } from 'react-dom/client';
import { createRoot } from 'react-dom/client';

import type { MemoryView, NoteLine } from '../../../generated/rest';
import {
  RestServer,
  refusal
} from '../../../panel/history/__tests__/restserver';
import {
  aLine,
  aNote,
  aRun,
  remembered
} from '../../../rest/__tests__/remembered';
import type { IMemoryPlace } from '../../../rest/memoryapi';
import { MemoryApi } from '../../../rest/memoryapi';
import { MemoryData } from '../../../rest/memorydata';
import { SettingsApi } from '../../../rest/settingsapi';
import type { IConfirmation } from '../../../ui/dialogs';
import { followChannel } from '../../data/followchannel';
import { SettingsModel } from '../../data/settingsmodel';
import { SettingsProvider } from '../../settingscontext';
import { MemorySection } from '../memorysection';

(globalThis as Record<string, unknown>).IS_REACT_ACT_ENVIRONMENT = true;

/**
 * The section on a page, at a server that remembers.
 */
class Page {
  constructor() {
    document.body.append(this.node);
    this.rest.answers.set('GET memory', () => this.view);
    const serverSettings = ServerConnection.makeSettings();
    const memory = new MemoryData({
      api: new MemoryApi(serverSettings),
      place: () => this.place
    });
    this.model = new SettingsModel({
      api: new SettingsApi(serverSettings),
      memory
    });
    this.model.changed.connect(() => act(() => this._draw()));
  }

  readonly rest = new RestServer();
  readonly node = document.createElement('div');
  readonly model: SettingsModel;
  readonly said: string[] = [];
  readonly opened: string[] = [];
  readonly asked: IConfirmation[] = [];
  view: MemoryView = remembered();
  place: IMemoryPlace = {};
  isSure = true;
  hasPanel = true;

  async open(view: MemoryView): Promise<void> {
    this.view = view;
    this._root = createRoot(this.node);
    await this.do(() => this._draw());
  }

  close(): void {
    act(() => this._root?.unmount());
    this.model.dispose();
    this.rest.dispose();
    this.node.remove();
  }

  async do(action: () => unknown): Promise<void> {
    await act(async () => {
      await action();
      for (let step = 0; step < 10; step++) {
        await new Promise(resolve => setTimeout(resolve, 3));
      }
    });
  }

  /** The name of a button as it is read aloud. */
  button(name: string): HTMLButtonElement {
    const found = [...this.node.querySelectorAll('button')].find(
      one => (one.getAttribute('aria-label') ?? one.textContent) === name
    );
    if (!found) {
      throw new Error(`no button ${name} in ${this.node.innerHTML}`);
    }
    return found;
  }

  has(name: string): boolean {
    return [...this.node.querySelectorAll('button')].some(
      one => (one.getAttribute('aria-label') ?? one.textContent) === name
    );
  }

  press(name: string): Promise<void> {
    return this.do(() => {
      this.button(name).focus();
      this.button(name).click();
    });
  }

  async write(selector: string, text: string): Promise<void> {
    const input = this.node.querySelector<HTMLInputElement>(selector)!;
    const kind = Object.getPrototypeOf(input) as object;
    await this.do(() => {
      Object.getOwnPropertyDescriptor(kind, 'value')?.set?.call(input, text);
      const event = input.tagName === 'SELECT' ? 'change' : 'input';
      input.dispatchEvent(new Event(event, { bubbles: true }));
    });
  }

  /** What the lines say, from the top. */
  get texts(): (string | null)[] {
    return [...this.node.querySelectorAll('.jp-hdspSettings-memoryText')].map(
      one => one.textContent
    );
  }

  get alert(): string | null | undefined {
    return this.node.querySelector('[role="alert"]')?.textContent;
  }

  /** What has the focus, as it is read aloud. */
  get focused(): string | null | undefined {
    const { activeElement } = document;
    return (
      activeElement?.getAttribute('aria-label') ?? activeElement?.textContent
    );
  }

  /** Have the server answer a change of the notes. */
  onNotes(
    what: string,
    change: (notes: readonly NoteLine[], body: Partial<NoteLine>) => NoteLine[]
  ): void {
    this.rest.answers.set(what, ({ body }) => {
      const { memory } = this.view;
      const notes = change(memory.notes, body ?? {});
      this.view = { ...this.view, memory: { ...memory, notes } };
      return aNote();
    });
  }

  private _draw(): void {
    this._root?.render(
      <SettingsProvider
        value={{
          model: this.model,
          trans: nullTranslator.load('hdsp_agent'),
          dialogs: {
            confirm: question => {
              this.asked.push(question);
              return Promise.resolve(this.isSure);
            },
            askName: () => Promise.resolve(null)
          },
          announce: text => this.said.push(text),
          openConversation: this.hasPanel
            ? taskId => this.opened.push(taskId)
            : null
        }}
      >
        <MemorySection memory={this.model.memory!} />
      </SettingsProvider>
    );
  }

  private _root: Root | null = null;
}

const NOTES = [
  aNote({ id: 'a', text: 'Use polars', day: '2026-11-27', task: 't9' }),
  aNote({ id: 'b', text: 'Data is in raw/', scope: 'workspace' }),
  aNote({ id: 'c', text: 'Needs a GPU', scope: 'notebook', pinned: true })
];

describe('MemorySection', () => {
  let page: Page;

  beforeEach(() => {
    page = new Page();
  });

  afterEach(() => {
    page.close();
  });

  describe('notes', () => {
    beforeEach(() => page.open(remembered({ notes: NOTES })));

    it('should stand with what they count for, from when and where, the pinned ones first', () => {
      expect(page.texts).toEqual([
        'Needs a GPU',
        'Use polars',
        'Data is in raw/'
      ]);
      const [pinned, own, folder] = [
        ...page.node.querySelectorAll('[data-line]')
      ].map(({ textContent }) => textContent);
      expect(pinned).toContain('PinnedFor this notebook');
      expect(own).toContain(
        'For all your conversationsNov 27, 2026Conversation'
      );
      expect(folder).toContain('For this folder');
    });

    it('should lead to the conversation they were said in', async () => {
      await page.press('Conversation where “Use polars” was saved');
      expect(page.opened).toEqual(['t9']);
    });

    it('should be changed where they stand, and the focus stays there', async () => {
      page.onNotes('PATCH memory/notes/a', (notes, body) =>
        notes.map(note => (note.id === 'a' ? { ...note, ...body } : note))
      );
      await page.press('Edit “Use polars”');
      expect(document.activeElement?.tagName).toBe('TEXTAREA');
      await page.write('textarea', ' Use polars 1.x ');
      await page.press('Save');
      expect(page.rest.of('PATCH memory/notes/a')[0].body).toEqual({
        text: 'Use polars 1.x'
      });
      expect(page.texts).toContain('Use polars 1.x');
      expect(page.focused).toBe('Edit “Use polars 1.x”');
      expect(page.said).toEqual(['Saved']);
    });

    it('should stay as they were where one changes one’s mind', async () => {
      await page.press('Edit “Use polars”');
      await page.do(() =>
        document.activeElement?.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })
        )
      );
      expect(page.texts).toContain('Use polars');
      expect(page.focused).toBe('Edit “Use polars”');
    });

    it('should keep what was written where it is refused or too long', async () => {
      page.rest.answers.set('PATCH memory/notes/a', () =>
        refusal('conflict', 'The file is full.', 409)
      );
      await page.press('Edit “Use polars”');
      await page.write('textarea', 'x'.repeat(2_001));
      await page.press('Save');
      expect(page.alert).toContain('2,001 of 2,000');
      expect(page.rest.of('PATCH memory/notes/a')).toEqual([]);
      await page.write('textarea', 'Use pandas');
      await page.press('Save');
      expect(page.alert).toContain('The file is full.');
      expect(page.node.querySelector('textarea')?.value).toBe('Use pandas');
    });

    it('should be pinned without losing the focus', async () => {
      page.onNotes('PATCH memory/notes/b', (notes, body) =>
        notes.map(note => (note.id === 'b' ? { ...note, ...body } : note))
      );
      await page.press('Pin “Data is in raw/”');
      expect(page.rest.of('PATCH memory/notes/b')[0].body).toEqual({
        pinned: true
      });
      expect(page.texts[0]).toBe('Data is in raw/');
      expect(page.focused).toBe('Unpin “Data is in raw/”');
    });

    it('should be deleted only when one is sure; the focus goes to the next one', async () => {
      for (const id of ['a', 'b', 'c']) {
        page.onNotes(`DELETE memory/notes/${id}`, notes =>
          notes.filter(note => note.id !== id)
        );
      }
      page.isSure = false;
      await page.press('Delete “Use polars”…');
      expect(page.asked[0].body).toBe('Use polars');
      expect(page.texts).toHaveLength(3);
      page.isSure = true;
      await page.press('Delete “Use polars”…');
      expect(page.focused).toBe('Edit “Data is in raw/”');
      await page.press('Delete “Data is in raw/”…');
      expect(page.focused).toBe('Edit “Needs a GPU”');
      await page.press('Delete “Needs a GPU”…');
      expect(page.focused).toBe('Add a note…');
      expect(page.node.textContent).toContain('There are no notes yet.');
      expect(page.said.at(-1)).toBe('“Needs a GPU” was deleted.');
    });

    it('should be read again when one comes back to them', async () => {
      page.view = remembered({ notes: [NOTES[0]] });
      await page.do(() => page.button('Add a note…').focus());
      expect(page.texts).toEqual(['Use polars']);
      const before = page.rest.of('GET memory').length;
      await page.do(() => page.button('Edit “Use polars”').focus());
      expect(page.rest.of('GET memory')).toHaveLength(before);
    });
  });

  it('should follow what the agent remembers beside it', async () => {
    await page.open(remembered());
    const messages = new Signal<object, { type: string }>({});
    followChannel(messages, page.model);
    page.view = remembered({ notes: [aNote({ text: 'Use polars' })] });
    await page.do(() => messages.emit({ type: 'memoryUpdated' }));
    expect(page.texts).toEqual(['Use polars']);
  });

  it('should add a note for what the person chooses', async () => {
    page.place = { notebook: 'a/b.ipynb' };
    await page.open(remembered());
    page.onNotes('POST memory/notes', (notes, body) => [
      ...notes,
      aNote({ ...body, id: 'new' })
    ]);
    await page.press('Add a note…');
    const options = [...page.node.querySelectorAll('form option')].map(
      one => one.textContent
    );
    expect(options).toEqual([
      'For all your conversations',
      'For this folder',
      'For the notebook a/b.ipynb'
    ]);
    await page.write('form select', 'notebook');
    await page.write('textarea', 'Needs a GPU');
    await page.press('Save');
    expect(page.rest.of('POST memory/notes')[0]).toMatchObject({
      body: { text: 'Needs a GPU', scope: 'notebook', pinned: false },
      query: { notebook: 'a/b.ipynb' }
    });
    expect(page.texts).toEqual(['Needs a GPU']);
    expect(page.focused).toBe('Add a note…');
    await page.press('Add a note…');
    await page.press('Cancel');
    expect(page.focused).toBe('Add a note…');
  });

  it('should offer no notebook where there is none', async () => {
    await page.open(remembered());
    await page.press('Add a note…');
    expect(page.node.querySelectorAll('form option')).toHaveLength(2);
  });

  describe('what was learned', () => {
    const LEARNED = [
      aLine({
        id: '1',
        file: 'memory_summary.md',
        section: 'User Profile',
        text: 'Wants polars'
      }),
      aLine({ id: '2' }),
      aLine({ id: '3', text: 'Drop id 7', sources: [] })
    ];

    beforeEach(() => page.open(remembered({ learned: LEARNED })));

    it('should stand under its headings, with the conversations it came from', async () => {
      const headings = [...page.node.querySelectorAll('h4')];
      expect(headings.map(({ textContent }) => textContent)).toEqual([
        'About you',
        'churn'
      ]);
      const last = [...page.node.querySelectorAll('[data-line]')].at(-1);
      expect(last?.textContent).toContain('Not linked to a conversation');
      await page.press('Open the conversation “clean churn, Nov 20, 2026”');
      expect(page.opened).toEqual(['t1']);
    });

    it('should say when it is dropped, and how to keep it', () => {
      expect(page.node.textContent).toContain('not used for 30 days');
      expect(page.node.textContent).toContain('choose “Keep as a note”');
    });

    it('should be changed and deleted; the focus stays though a changed line has another id', async () => {
      const say = (learned: typeof LEARNED) => () => {
        page.view = remembered({ learned });
        return { done: true };
      };
      const changed = aLine({ id: '2b', text: 'Ages are in years' });
      page.rest.answers.set(
        'PATCH memory/learned/2',
        say([LEARNED[0], changed, LEARNED[2]])
      );
      page.rest.answers.set(
        'DELETE memory/learned/1',
        say([changed, LEARNED[2]])
      );
      await page.press('Edit “Ages are in months”');
      await page.write('textarea', 'Ages are in years');
      await page.press('Save');
      expect(page.rest.of('PATCH memory/learned/2')[0].body).toEqual({
        text: 'Ages are in years'
      });
      expect(page.focused).toBe('Edit “Ages are in years”');
      await page.press('Delete “Wants polars”…');
      expect(page.texts).toEqual(['Ages are in years', 'Drop id 7']);
      expect(page.focused).toBe('Edit “Ages are in years”');
    });

    it('should be kept as a note once', async () => {
      page.rest.answers.set('POST memory/learned/1/keep', () => {
        const note = aNote({ text: 'Wants polars', pinned: true });
        page.view = remembered({ learned: LEARNED, notes: [note] });
        return note;
      });
      await page.press('Keep as a note: “Wants polars”');
      expect(page.has('Keep as a note: “Wants polars”')).toBe(false);
      expect(page.has('Keep as a note: “Drop id 7”')).toBe(true);
      expect(page.said).toEqual(['“Wants polars” is kept as a note.']);
      expect(page.focused).toBe('Edit “Wants polars”');
    });
  });

  it('should name conversations without leading there where there is no panel', async () => {
    page.hasPanel = false;
    await page.open(remembered({ learned: [aLine()] }));
    expect(page.has('Open the conversation “clean churn, Nov 20, 2026”')).toBe(
      false
    );
    expect(page.node.textContent).toContain('clean churn, Nov 20, 2026');
  });

  it('should show long lists in parts, and find in all of them', async () => {
    const learned = Array.from({ length: 120 }, (_, at) =>
      aLine({ id: String(at), text: `Fact ${at}.` })
    );
    await page.open(remembered({ learned, notes: NOTES }));
    expect(page.texts).toHaveLength(53);
    await page.press('Show 50 more');
    await page.press('Show 20 more');
    expect(page.texts).toHaveLength(123);
    await page.write('input[type="search"]', 'fact 119');
    expect(page.texts).toEqual(['Fact 119.']);
    expect(page.node.textContent).toContain('1 result');
    await page.write('input[type="search"]', 'gpu notebook');
    expect(page.texts).toEqual(['Needs a GPU']);
  });

  it('should offer no search in a short list', async () => {
    await page.open(remembered({ notes: NOTES }));
    expect(page.node.querySelector('input[type="search"]')).toBeNull();
  });

  describe('learning', () => {
    it('should say from how much, when, and at what cost', async () => {
      await page.open(
        remembered({
          conversations: 12,
          consolidatedAt: '2026-11-27T10:00:00+00:00',
          spending: {
            runs: 3,
            failed: 0,
            tokensIn: 20_000,
            tokensOut: 4_567,
            cost: 0.25
          }
        })
      );
      expect(page.node.textContent).toContain(
        'Learned from 12 conversations so far.'
      );
      expect(page.node.textContent).toMatch(/Last update: Nov 27, 2026, .*/);
      expect(page.node.textContent).toContain('Cost: $0.25 (24,567 tokens).');
    });

    it.each<[NonNullable<MemoryView['lastRound']>['outcome'], number, RegExp]>([
      [
        'learned',
        2,
        /^Last attempt \(Nov 27.*\): learned from 2 conversations\.$/
      ],
      ['learned', 0, /^Last attempt \(Nov 27.*\): memory was updated\.$/],
      [
        'nothing',
        0,
        /^Last attempt \(Nov 27.*\): there was nothing to learn\.$/
      ],
      [
        'waiting',
        0,
        /^Last attempt \(Nov 27.*\): conversations are waiting because/
      ],
      [
        'unusable',
        0,
        /^Last attempt \(Nov 27.*\): couldn't learn\. No model\.$/
      ],
      ['failed', 0, /^Last attempt \(Nov 27.*\) failed: No model\.$/]
    ])(
      'should say how the last attempt ended: %s, %d',
      async (outcome, conversations, text) => {
        const endedAt = '2026-11-27T10:00:00+00:00';
        const error = 'No model.';
        const lastRound = { endedAt, outcome, conversations, error };
        await page.open(remembered({}, { lastRound }));
        const shown = [...page.node.querySelectorAll('p')];
        expect(
          shown.filter(({ textContent }) => text.test(textContent ?? ''))
        ).toHaveLength(1);
      }
    );

    it('should say in the words of the page why no model could learn', async () => {
      const lastRound = {
        endedAt: '2026-11-27T10:00:00+00:00',
        outcome: 'unusable' as const,
        conversations: 0,
        error: 'English.',
        noModel: 'too_small' as const
      };
      await page.open(remembered({}, { lastRound }));
      expect(page.node.textContent).toContain(
        'The embedded model is too small to learn from conversations.'
      );
      expect(page.node.textContent).not.toContain('English.');
    });

    it('should tell a failure once', async () => {
      const run = aRun({ outcome: 'failed', error: 'Too small.' });
      const lastRound = {
        endedAt: run.endedAt,
        outcome: 'failed' as const,
        conversations: 0,
        error: 'Too small.'
      };
      await page.open(remembered({ recent: [run] }, { lastRound }));
      expect(page.node.textContent?.match(/Too small/g)).toHaveLength(1);
    });

    it('should be begun here, and say that it goes on and what came of it', async () => {
      await page.open(remembered());
      page.rest.answers.set('POST memory/run', () => {
        page.view = { ...page.view, running: true };
        return { done: true };
      });
      await page.press('Learn now');
      const button = page.button('Learn now');
      expect(page.node.textContent).toContain(
        'Learning from your conversations'
      );
      expect(page.node.textContent).not.toContain(
        'Nothing has been learned yet.'
      );
      expect(button.getAttribute('aria-disabled')).toBe('true');
      expect(document.activeElement).toBe(button);
      await page.press('Learn now');
      expect(page.rest.of('POST memory/run')).toHaveLength(1);
      page.view = remembered();
      await page.do(() => page.model.memory?.refresh());
      expect(page.node.textContent).toContain(
        'There was nothing new to learn.'
      );
    });

    it('should say why it failed last', async () => {
      const error = 'The embedded model is too small.';
      await page.open(
        remembered({ recent: [aRun({ outcome: 'failed', error })] })
      );
      expect(page.node.textContent).toMatch(
        /Learning failed on Nov 27, 2026, .*: The embedded model is too small\./
      );
    });

    it('should be undone only where there is something to undo', async () => {
      await page.open(remembered({ canUndo: true, learned: [aLine()] }));
      page.rest.answers.set('POST memory/undo', () => {
        page.view = remembered();
        return { version: 'v' };
      });
      await page.press('Undo the last change');
      expect(page.texts).toEqual([]);
      expect(page.has('Undo the last change')).toBe(false);
      expect(page.focused).toBe('Learn now');
    });
  });

  it('should delete all of a kind only when one is sure', async () => {
    await page.open(remembered({ notes: NOTES }));
    page.rest.answers.set('DELETE memory', () => {
      page.view = remembered();
      return { notes: 3, learned: false };
    });
    page.isSure = false;
    await page.press('Delete…');
    expect(page.rest.of('DELETE memory')).toEqual([]);
    page.isSure = true;
    await page.write('fieldset select', 'all');
    await page.press('Delete…');
    expect(page.asked.map(({ title }) => title)).toEqual([
      'Delete all your notes?',
      'Delete your notes and everything learned?'
    ]);
    expect(page.rest.of('DELETE memory')[0].query).toEqual({ what: 'all' });
    expect(page.texts).toEqual([]);
    expect(page.said).toEqual([
      'Your notes and everything learned were deleted.'
    ]);
  });

  it('should say that it is off, and begin nothing then', async () => {
    await page.open(remembered({ notes: NOTES }, { enabled: false }));
    expect(page.node.textContent).toContain('Memory is off.');
    expect(page.texts).toHaveLength(3);
    await page.press('Learn now');
    expect(page.rest.of('POST memory/run')).toEqual([]);
  });

  it('should say that the operator forbids it, and nothing else', async () => {
    page.rest.answers.set('GET memory', () =>
      refusal('forbidden_by_operator', 'No.', 403)
    );
    await page.open(remembered());
    expect(page.node.textContent).toBe(
      "Your administrator doesn't allow memory on this server. Nothing is remembered. What was saved before stays on disk, unused."
    );
  });

  it('should say what went wrong, and try again', async () => {
    page.rest.answers.set('GET memory', () => refusal('odd', 'Not now.', 500));
    await page.open(remembered());
    expect(page.alert).toBe('Not now.');
    page.rest.answers.set('GET memory', () => remembered({ notes: NOTES }));
    await page.press('Try again');
    expect(page.texts).toHaveLength(3);
    expect(page.alert).toBeUndefined();
  });

  it('should name notes that cannot be read', async () => {
    await page.open(
      remembered({
        unreadable: [{ scope: 'workspace', reason: 'It leads elsewhere.' }]
      })
    );
    expect(page.node.textContent).toContain(
      "Some notes can't be read: It leads elsewhere."
    );
  });
});

import type { AttachmentTokensView } from '../../../../generated/rest';
import { RestServer, refusal } from '../../../history/__tests__/restserver';
import { attachment } from '../../__tests__/drafts';
import { READY, WORKING, WrittenPanel } from '../../__tests__/openedcomposer';

const COUNT = 'POST attachments/tokens';
const CELL_3 = 'Cell 3';
const PNG = `data:image/png;base64,${'A'.repeat(50_000)}`;
const PAGE = attachment(
  { kind: 'page', path: 'p', cellId: null, content: null },
  'A page'
);

/** The answer of a server for one attachment. */
function counted(
  tokens: number,
  isExact = true,
  change: Partial<AttachmentTokensView> = {}
): AttachmentTokensView {
  const count = { tokens, isExact };
  return {
    total: count,
    isPartial: false,
    attachments: [count],
    images: [],
    ...change
  };
}

describe('The tokens of attachments', () => {
  let page: WrittenPanel;
  let rest: RestServer;

  beforeEach(() => {
    page = new WrittenPanel();
    rest = new RestServer();
  });

  afterEach(() => {
    page.dispose();
    rest.dispose();
  });

  const cost = () => page.find('.jp-hdspAgent-chips-cost')?.textContent;
  const preview = () =>
    page.find('.jp-hdspAgent-chip-preview-head')?.textContent;
  const attach = (...attachments: ReturnType<typeof attachment>[]) =>
    page.act(() => page.panel.services.state.setDraft(null, { attachments }));
  const later = (milliseconds = 500) =>
    page.during(async () => {
      await jest.advanceTimersByTimeAsync(milliseconds);
    });

  it('should be an estimate until they are counted', async () => {
    rest.answers.set(COUNT, () => counted(1_234));
    page.begin(READY);
    attach(attachment({ content: 'é'.repeat(3_000) }));
    expect(cost()).toBe('About 1,500 tokens');
    await later();
    expect(cost()).toBe('1,234 tokens');
    expect(rest.of(COUNT)).toMatchObject([
      {
        body: {
          text: '',
          attachments: [{ label: CELL_3, content: 'é'.repeat(3_000) }],
          images: []
        }
      }
    ]);
    page.act(() => page.button('Show Cell 3').click());
    expect(preview()).toBe('Cell 3work.ipynb · 1,234 tokens');
  });

  it('should stay an estimate where they cannot be counted', async () => {
    rest.answers.set(COUNT, () => refusal('internal', 'No.', 500));
    page.begin(READY);
    attach(attachment({ content: 'é'.repeat(3_000) }), PAGE);
    await later();
    expect(rest.of(COUNT)).toHaveLength(1);
    expect(cost()).toBe('About 1,500 tokens, plus what is read when you send');
  });

  it('should be asked for once more where that failed', async () => {
    rest.answers.set(COUNT, () => refusal('internal', 'No.', 500));
    page.begin(READY);
    attach(attachment());
    await later();
    rest.answers.set(COUNT, () => counted(7));
    await later(5_000);
    expect(rest.of(COUNT)).toHaveLength(2);
    expect(cost()).toBe('7 tokens');
    rest.answers.set(COUNT, () => refusal('internal', 'No.', 500));
    attach(attachment({ cellId: 'c2' }, 'Cell 4'));
    await later(60_000);
    expect(rest.of(COUNT)).toHaveLength(4);
  });

  it('should be counted anew when the conversation goes on', async () => {
    rest.answers.set(COUNT, () => counted(7, false));
    page.begin(WORKING);
    page.act(() =>
      page.panel.services.state.setDraft('t', { attachments: [attachment()] })
    );
    await later();
    expect(cost()).toBe('About 7 tokens');
    rest.answers.set(COUNT, () => counted(9));
    const said = { ts: 2, type: 'say', say: 'text', text: 'second' } as const;
    page.publish({ type: 'messageCreated', taskId: 't', message: said });
    await later();
    expect(cost()).toBe('9 tokens');
  });

  it('should stay about as many while they are counted anew', async () => {
    const image = { tokens: 765, isExact: false };
    rest.answers.set(COUNT, () =>
      counted(900, false, {
        attachments: [{ tokens: 90, isExact: true }],
        images: [image]
      })
    );
    page.begin(READY);
    const first = attachment();
    const draft = (change: object) =>
      page.act(() => page.panel.services.state.setDraft(null, change));
    draft({ attachments: [first], images: [PNG], text: 'See @/a.csv' });
    await later();
    expect(cost()).toBe('About 900 tokens');
    rest.answers.set(COUNT, () => new Promise(() => undefined));
    draft({ text: 'See @/a.csv and @/b.csv' });
    await later();
    expect(cost()).toBe('About 900 tokens');
    draft({ images: [] });
    expect(cost()).toBe('About 135 tokens');
    draft({ attachments: [first, attachment({ content: 'é'.repeat(200) })] });
    expect(cost()).toBe('About 235 tokens');
    draft({ text: '' });
    expect(cost()).toBe('About 190 tokens');
    draft({ attachments: [] });
    draft({ text: '@/c.csv' });
    expect(cost()).toBeUndefined();
  });

  it('should be said as about where the model does not count itself', async () => {
    rest.answers.set(COUNT, () => counted(1, false));
    page.begin(READY);
    attach(attachment());
    await later();
    expect(cost()).toBe('About 1 token');
    page.act(() => page.button('Show Cell 3').click());
    expect(preview()).toBe('Cell 3work.ipynb · about 1 token');
  });

  it('should tell what is not counted until it is read', async () => {
    rest.answers.set(COUNT, ({ body }) =>
      (body as { attachments: unknown[] }).attachments.length === 1
        ? counted(0, true, { isPartial: true, attachments: [null] })
        : counted(9, true, {
            isPartial: true,
            attachments: [null, { tokens: 9, isExact: true }]
          })
    );
    page.begin(READY);
    attach(PAGE);
    await later();
    expect(cost()).toBe('Not counted until it is read');
    page.act(() => page.button('Show A page').click());
    expect(preview()).toBe('A pageNot counted until it is read');
    attach(
      PAGE,
      attachment({ kind: 'conversation', content: null }, 'Another')
    );
    await later();
    expect(cost()).toBe('9 tokens, plus what is read when you send');
    page.act(() => page.button('Show Another').click());
    expect(preview()).toBe('Another9 tokens');
  });

  it('should be counted once for a draft that stays the same', async () => {
    rest.answers.set(COUNT, () => counted(7));
    page.begin(READY);
    const first = attachment();
    attach(first, attachment({ cellId: 'c2' }, 'Cell 4'));
    attach(first);
    await later();
    expect(rest.of(COUNT)).toHaveLength(1);
    page.type('Words do not count');
    await later();
    attach(first, attachment({ cellId: 'c2' }, 'Cell 4'));
    await later();
    expect(rest.of(COUNT)).toHaveLength(2);
    attach(attachment());
    await later();
    expect(cost()).toBe('7 tokens');
    expect(rest.of(COUNT)).toHaveLength(2);
  });

  it('should be asked for again when the model is another', async () => {
    rest.answers.set(COUNT, () => counted(7));
    page.begin(READY);
    attach(attachment());
    await later();
    const [profile] = READY.listApiConfigMeta ?? [];
    page.publish({
      type: 'state',
      state: {
        ...READY,
        listApiConfigMeta: profile ? [{ ...profile, modelId: 'other' }] : []
      }
    });
    await later();
    expect(rest.of(COUNT)).toHaveLength(2);
  });

  it('should end a count that nobody waits for any more', async () => {
    const signals: (AbortSignal | null)[] = [];
    rest.answers.set(COUNT, () => {
      signals.push(rest.signal);
      return new Promise(() => undefined);
    });
    page.begin(READY);
    attach(attachment());
    await later();
    expect(signals.map(signal => signal?.aborted)).toEqual([false]);
    attach();
    expect(signals.map(signal => signal?.aborted)).toEqual([true]);
    expect(cost()).toBeUndefined();
  });

  it('should have what the message mentions, at its end too', async () => {
    rest.answers.set(COUNT, () => counted(55, false, { attachments: [] }));
    page.begin(READY);
    page.type('Compare @/a\\ b.csv');
    await later();
    page.type('Compare @/a\\ b.csv with (@/c and me@home @git-changes now');
    await later();
    expect(rest.of(COUNT)).toMatchObject([
      { body: { text: ' @/a\\ b.csv' } },
      { body: { text: ' @/a\\ b.csv @git-changes' } }
    ]);
  });

  it('should say that they are of what the message mentions', async () => {
    const found = (tokens: number, isPartial: boolean) =>
      rest.answers.set(COUNT, () =>
        counted(tokens, false, { attachments: [], isPartial })
      );
    page.begin(READY);
    found(55, false);
    page.type('Look at @/a.csv');
    await later();
    expect(cost()).toBe('Goes along: about 55 tokens');
    found(60, true);
    page.type('Look at @/a.csv @db://x');
    await later();
    expect(cost()).toBe(
      'Goes along: about 60 tokens, plus what is read when you send'
    );
    found(0, true);
    page.type('Look at @db://x');
    await later();
    expect(cost()).toBe('Not counted until it is read');
  });

  it('should have images, of which a beginning is sent', async () => {
    const image = { tokens: 765, isExact: false };
    rest.answers.set(COUNT, () =>
      counted(765, false, { attachments: [], images: [image] })
    );
    page.begin(WORKING);
    page.act(() => page.panel.services.state.setDraft('t', { images: [PNG] }));
    expect(cost()).toBe('About 1,844 tokens');
    await later();
    expect(rest.of(COUNT)).toMatchObject([
      { body: { task: 't', images: [PNG.slice(0, 20_000)] } }
    ]);
    expect(cost()).toBe('About 765 tokens');
    page.act(() => page.button('Show Image 1').click());
    expect(preview()).toBe('Image 1about 765 tokens');
  });

  it('should not keep a message from being sent', async () => {
    rest.answers.set(COUNT, () => new Promise(() => undefined));
    page.begin(READY);
    attach(attachment());
    await page.settle(() => page.button('Send').click());
    expect(page.sent('newTask')).toHaveLength(1);
  });
});

import { PanelState } from '../panelstate';
import { DraftStorage } from '../draftstorage';
import { attachment } from '../../../panel/composer/__tests__/drafts';

describe('DraftStorage', () => {
  const PREFIX = 'test:';
  const picture = (length: number) =>
    `data:image/png;base64,${'A'.repeat(length)}`;

  afterEach(() => {
    sessionStorage.clear();
  });

  const open = () =>
    new PanelState(
      new DraftStorage({
        storage: sessionStorage,
        prefix: PREFIX,
        page: window
      })
    );
  const reload = (state: PanelState) => {
    window.dispatchEvent(new Event('pagehide'));
    state.dispose();
    return open();
  };

  it('should bring what was typed over a reload, for each conversation', () => {
    const before = open();
    const draft = {
      text: '안녕',
      images: [picture(4)],
      attachments: [attachment()]
    };
    before.setDraft(null, draft);
    before.setDraft('t', { text: 'other' });
    const after = reload(before);
    expect(after.draft(null)).toEqual(draft);
    expect(after.draft('t').text).toBe('other');
    after.dispose();
  });

  it('should forget what was sent', () => {
    const before = reload(open());
    before.setDraft(null, { text: 'a' });
    const after = reload(before);
    after.takeDraft(null);
    const last = reload(after);
    expect(last.draft(null).text).toBe('');
    expect(sessionStorage).toHaveLength(0);
    last.dispose();
  });

  it('should leave large pictures out, and keep the words', () => {
    const before = open();
    before.setDraft(null, { text: 'a', images: [picture(1_200_000)] });
    const after = reload(before);
    expect(after.draft(null)).toEqual({
      text: 'a',
      images: [],
      attachments: []
    });
    after.dispose();
  });

  it('should not mind what others, or other versions, wrote', () => {
    sessionStorage.setItem('other', 'x');
    sessionStorage.setItem(`${PREFIX}a`, 'no JSON');
    sessionStorage.setItem(`${PREFIX}b`, '{"text":1}');
    sessionStorage.setItem(
      `${PREFIX}c`,
      '{"text":"","images":[],"attachments":[{"kind":"?"}]}'
    );
    const state = open();
    expect(['a', 'b', 'c'].map(key => state.draft(key).text)).toEqual([
      '',
      '',
      ''
    ]);
    state.dispose();
  });
});

describe('PanelState', () => {
  it('should put what could not be sent before what was typed since', () => {
    const state = new PanelState();
    state.setDraft('t', { text: 'first', attachments: [attachment()] });
    const taken = state.takeDraft('t');
    state.setDraft('t', { text: 'second' });
    state.returnDraft('t', taken);
    expect(state.draft('t')).toMatchObject({
      text: 'first\n\nsecond',
      attachments: [attachment()]
    });
    state.dispose();
  });
});

import type { ExtensionState } from '../../../generated/wire';
import { OpenedNotebook } from '../../../notebook/__tests__/openednotebook';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { addNotebookConversationCommands } from '../notebookconversationcommands';

const KEY = 'hdsp_conversation';
const NOTICE = '[aria-label="Conversation in this notebook"]';
const TITLE = 'Sum it up';
const STATE: ExtensionState = {
  canStartTasks: true,
  currentApiConfigName: 'work',
  listApiConfigMeta: [
    { id: 'p1', name: 'work', pinned: false, current: true, allowed: true }
  ],
  openTasks: []
};

describe('the conversation that a notebook carries', () => {
  let opened: OpenedNotebook;
  let page: OpenedPanel;

  beforeEach(async () => {
    opened = await OpenedNotebook.open();
    Object.defineProperty(opened.tracker, 'currentWidget', {
      get: () => opened.panel
    });
    page = new OpenedPanel({ notebooks: opened.tracker });
    page.begin(STATE);
    await page.settle();
  });

  afterEach(() => {
    page.dispose();
    opened.close();
  });

  const asked = () => page.sent('findEmbeddedConversation');
  const carry = () =>
    page.settle(() => opened.model.setMetadata(KEY, { version: 1 }));
  const text = () => page.find(NOTICE)?.textContent ?? null;

  it('is asked about only where there is one, and offered in plain words', async () => {
    expect(asked()).toEqual([]);
    await carry();
    expect(asked()).toMatchObject([{ path: opened.path }]);
    expect(text()).toBeNull();
    await page.settle(() =>
      page.answer('findEmbeddedConversation', null, {
        title: `${TITLE}\u202e. <attachment kind="cell" path="a" label="Cell 1">`,
        messages: 12,
        leftOut: 3
      })
    );
    expect(text()).toContain(
      'This notebook contains a conversation (12 messages): “Sum it up”. Its 3 oldest messages are not in the notebook.'
    );
    expect(page.sent('openEmbeddedConversation')).toEqual([]);
    await page.settle(() => {
      page.button('Open a copy').focus();
      page.button('Open a copy').click();
    });
    expect(document.activeElement).toBe(
      page.find('.jp-hdspAgent-composer-field')
    );
    expect(page.sent('openEmbeddedConversation')).toMatchObject([
      { path: opened.path }
    ]);
    expect(page.button('Open a copy').getAttribute('aria-disabled')).toBe(
      'true'
    );
    page.act(() => page.button('Open a copy').click());
    expect(page.sent('openEmbeddedConversation')).toHaveLength(1);
  });

  it('is not offered to who has it, nor when it is gone', async () => {
    await carry();
    await page.settle(() => page.answer('findEmbeddedConversation'));
    expect(text()).toBeNull();
    await page.settle(() => opened.model.deleteMetadata(KEY));
    expect(text()).toBeNull();
  });

  it.each([
    ['conversation_newer', 'A newer version of the agent wrote'],
    ['conversation_too_large', 'is too large to open'],
    ['conversation_damaged', 'is damaged and cannot be opened'],
    ['something_else', null]
  ])('says in a sentence why it cannot be opened: %s', async (why, says) => {
    await carry();
    await page.settle(() =>
      page.answer('findEmbeddedConversation', {
        code: 'invalid_input',
        message: 'no',
        params: { why }
      })
    );
    if (says === null) {
      expect(text()).toBeNull();
    } else {
      expect(page.find(`${NOTICE} [role="alert"]`)?.textContent).toContain(
        says
      );
      const buttons = page.findAll(`${NOTICE} button`);
      expect(buttons).toEqual([page.dismissal()]);
    }
  });

  it('is put away until the notebook carries another one', async () => {
    await carry();
    const offered = (messages: number) =>
      page.settle(() =>
        page.answer('findEmbeddedConversation', null, {
          title: TITLE,
          messages,
          leftOut: 0
        })
      );
    await offered(12);
    page.act(() => page.dismissal().click());
    expect(text()).toBeNull();
    await page.settle(() => opened.model.deleteMetadata(KEY));
    await carry();
    await offered(12);
    expect(text()).toBeNull();
    await page.settle(() => opened.model.deleteMetadata(KEY));
    await carry();
    await offered(13);
    expect(text()).toContain('13 messages');
  });

  it('begins with a note of the agent, not with words of the person', async () => {
    const text = 'This conversation was saved in the notebook a.ipynb.';
    page.begin({
      ...STATE,
      currentTaskId: 't',
      clineMessages: [
        { ts: 1, type: 'say', say: 'notebook_conversation', text },
        { ts: 2, type: 'say', say: 'text', text: 'I look.' }
      ]
    });
    await page.settle();
    const rows = page
      .findAll('[aria-posinset]')
      .map(row => row.getAttribute('aria-label'));
    expect(rows).toEqual(['Note', 'Agent']);
    expect(page.node.textContent).toContain(text);
  });

  it('can be removed by a command, as a change of the person', async () => {
    const { commands } = page;
    const command = 'hdsp-agent:remove-notebook-conversation';
    const added = addNotebookConversationCommands(page.panel.services);
    expect(commands.isEnabled(command)).toBe(false);
    await carry();
    opened.model.dirty = false;
    expect(commands.isEnabled(command)).toBe(true);
    await commands.execute(command);
    expect(opened.model.getMetadata(KEY)).toBeUndefined();
    expect(opened.model.dirty).toBe(true);
    added.dispose();
  });
});

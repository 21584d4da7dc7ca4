import * as React from 'react';
import type { Root } from 'react-dom/client';
import { createRoot } from 'react-dom/client';

import type {
  ClineMessage,
  ConversationMarks,
  ConversationPreview,
  ExtensionState
} from '../../../generated/wire';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { PanelContext } from '../../../ui/services';
import { MessageActions } from '../messageactions';

const FIRST: ClineMessage = { ts: 1, type: 'say', say: 'text', text: 'Do it' };
const SECOND: ClineMessage = {
  ts: 5,
  type: 'say',
  say: 'user_feedback',
  text: 'Now this',
  images: ['data:image/png;base64,AA']
};

function preview(change: Partial<ConversationPreview>): ConversationPreview {
  return {
    operation: 'delete',
    removed: 3,
    restored: 0,
    toolCalls: 0,
    effects: [],
    moreEffects: 0,
    canBeUndone: true,
    goneOn: false,
    stopsTask: false,
    ...change
  };
}

describe('changes of a conversation', () => {
  let page: OpenedPanel;

  beforeEach(() => {
    page = new OpenedPanel();
  });

  afterEach(() => {
    page.dispose();
    document.body.replaceChildren();
  });

  /** The server says what a change would do, and then that it has. */
  const foresee = (change: Partial<ConversationPreview>) =>
    page.settle(() => {
      page.server.socket.say({
        op: 'msg',
        data: {
          type: 'conversationPreview',
          requestId: 'r',
          taskId: 't',
          preview: preview(change)
        }
      });
      page.answer('previewConversation');
    });
  const dialog = () => document.querySelector<HTMLElement>('.jp-Dialog');
  const press = (label: string) =>
    page.settle(() => {
      const found = [...(dialog()?.querySelectorAll('button') ?? [])].find(
        button => button.textContent === label
      );
      if (!found) {
        throw new Error(`No button “${label}” in the dialog`);
      }
      found.click();
    });

  describe('MessageActions', () => {
    let root: Root;
    let row: HTMLElement;

    const show = (message: ClineMessage, state: ExtensionState = {}) => {
      page.begin({
        currentTaskId: 't',
        currentTaskStatus: 'idle',
        clineMessages: [FIRST, SECOND],
        ...state
      });
      row = document.createElement('div');
      document.body.append(row);
      root = createRoot(row);
      page.act(() =>
        root.render(
          <PanelContext.Provider value={page.panel.services}>
            <MessageActions message={message} />
          </PanelContext.Provider>
        )
      );
    };
    const button = (label: string) =>
      [...row.querySelectorAll('button')].find(
        button =>
          (button.getAttribute('aria-label') ?? button.textContent) === label
      );
    const click = (label: string) => page.settle(() => button(label)?.click());

    afterEach(() => {
      page.act(() => root.unmount());
    });

    it('should delete a message once one has seen what goes and what stays done', async () => {
      show(SECOND);
      await click('Delete this message…');
      expect(page.sent('previewConversation')[0]).toMatchObject({
        taskId: 't',
        change: { operation: 'delete', messageTs: 5 }
      });
      await foresee({
        toolCalls: 2,
        effects: [
          { kind: 'file', name: 'a.py', count: 2 },
          { kind: 'command', name: 'make', count: 1 }
        ],
        moreEffects: 1,
        stopsTask: true
      });
      const text = dialog()?.textContent ?? '';
      expect(text).toContain('3 messages are removed.');
      expect(text).toContain('Changed: a.py (2 times)');
      expect(text).toContain('Command: make');
      expect(text).toContain('and 1 more');
      expect(text).toContain('It will be stopped first.');
      expect(text).toContain('You can undo this.');
      expect(text).not.toContain('Also restore files');
      expect(page.sent('deleteMessageConfirm')).toEqual([]);
      await press('Delete');
      expect(page.sent('deleteMessageConfirm')[0]).toMatchObject({
        taskId: 't',
        messageTs: 5
      });
      expect(page.sent('deleteMessageConfirm')[0]).not.toHaveProperty(
        'restoreCheckpoint'
      );
    });

    it('should change nothing when one thinks better of it', async () => {
      show(SECOND);
      await click('Delete this message…');
      await foresee({});
      await press('Cancel');
      expect(page.sent('deleteMessageConfirm')).toEqual([]);
    });

    it('should say why a message cannot be taken back', async () => {
      show(SECOND);
      await click('Delete this message…');
      await page.settle(() =>
        page.answer('previewConversation', {
          code: 'unavailable',
          message: 'A subtask works on it.',
          params: {}
        })
      );
      expect(dialog()).toBeNull();
      expect(row.querySelector('[role="alert"]')?.textContent).toContain(
        'A subtask works on it.'
      );
    });

    it('should not offer to delete the message the conversation begins with', () => {
      show(FIRST);
      expect(button('Delete this message…')).toBeUndefined();
      expect(button('Edit and send again')).toBeDefined();
    });

    it('should go back with or without the message itself', async () => {
      show(SECOND);
      await click('Restore to here…');
      await foresee({ operation: 'rewind', removed: 2 });
      const keep = dialog()?.querySelector<HTMLInputElement>(
        'input[type="checkbox"]'
      );
      expect(keep?.checked).toBe(true);
      await page.settle(() => keep?.click());
      expect(page.sent('previewConversation')[1]).toMatchObject({
        change: { operation: 'rewind', messageTs: 5, keep: false }
      });
      await foresee({ operation: 'rewind', removed: 3 });
      expect(dialog()?.textContent).toContain('3 messages are removed.');
      await press('Restore');
      expect(page.sent('rewindTask')[0]).toMatchObject({
        messageTs: 5,
        keep: false
      });
    });

    it('should bring files back where the server can', async () => {
      show(FIRST, { canRestoreFiles: true });
      await click('Restore to here…');
      expect(page.sent('previewConversation')[0]).toMatchObject({
        restoreFiles: true
      });
      await foresee({
        operation: 'rewind',
        effects: [{ kind: 'file', name: 'a.py', count: 1 }],
        files: {
          changes: [{ path: 'a.py', action: 'overwrite' }],
          moreChanges: 0,
          kept: ['mine.py'],
          openNotebooks: ['b.ipynb'],
          incomplete: true
        }
      });
      expect(dialog()?.textContent).toContain('Changed: a.py');
      const files = dialog()?.querySelector<HTMLInputElement>(
        'input[type="checkbox"]'
      );
      expect(files?.parentElement?.textContent).toContain('Also restore files');
      await page.settle(() => files?.click());
      const text = dialog()?.textContent ?? '';
      expect(text).not.toContain('Changed: a.py');
      expect(text).toContain('a.py returns to its earlier state');
      expect(text).toContain('mine.py stays as it is: you changed it since');
      expect(text).toContain('Changes from before the oldest checkpoint');
      expect(text).toContain('b.ipynb stays as it is: it is open in a tab');
      await press('Restore');
      expect(page.sent('rewindTask')[0]).toMatchObject({
        keep: true,
        restoreFiles: true
      });
    });

    it('should go on in a copy without a question, which changes nothing here', async () => {
      show(SECOND);
      await click('Branch from here');
      await click('Branch from here');
      expect(page.sent('forkTask')).toHaveLength(1);
      expect(page.sent('forkTask')[0]).toMatchObject({
        taskId: 't',
        messageTs: 5
      });
    });

    it('should send what is written in place, with what went along before', async () => {
      show(SECOND);
      await click('Edit and send again');
      const field = row.querySelector('textarea');
      expect(field?.value).toBe('Now this');
      expect(document.activeElement?.getAttribute('aria-label')).toBe(
        field?.getAttribute('aria-label')
      );
      await page.settle(() => {
        const set = Object.getOwnPropertyDescriptor(
          HTMLTextAreaElement.prototype,
          'value'
        )?.set;
        set?.call(field, 'Rather that');
        field?.dispatchEvent(new Event('input', { bubbles: true }));
      });
      await click('Send again…');
      await foresee({ operation: 'edit' });
      await press('Send');
      expect(page.sent('editMessageConfirm')[0]).toMatchObject({
        taskId: 't',
        messageTs: 5,
        text: 'Rather that',
        images: ['data:image/png;base64,AA']
      });
      await page.settle(() => page.answer('editMessageConfirm'));
      expect(row.querySelector('textarea')).toBeNull();
    });

    it('should keep what is written when the row goes, and let it go on Escape', async () => {
      show(SECOND);
      await click('Edit and send again');
      page.act(() => root.unmount());
      root = createRoot(row);
      page.act(() =>
        root.render(
          <PanelContext.Provider value={page.panel.services}>
            <MessageActions message={SECOND} />
          </PanelContext.Provider>
        )
      );
      const field = row.querySelector('textarea');
      expect(field).not.toBeNull();
      page.act(() => {
        field?.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })
        );
      });
      expect(row.querySelector('textarea')).toBeNull();
      expect(document.activeElement).toBe(button('Edit and send again'));
    });

    it.each([
      ['while a word is being composed', { isComposing: true }],
      ['by the key that ends one in Safari', { keyCode: 229 }]
    ])('should not send %s', async (_, init) => {
      show(SECOND);
      await click('Edit and send again');
      page.act(() => {
        row.querySelector('textarea')?.dispatchEvent(
          new KeyboardEvent('keydown', {
            key: 'Enter',
            bubbles: true,
            ...init
          })
        );
      });
      expect(page.sent('previewConversation')).toEqual([]);
    });
  });

  describe('UndoBar', () => {
    const bar = () => page.find('.jp-hdspAgent-notice[role="group"]');
    const begin = (
      currentTaskMarks: ConversationMarks,
      clineMessages: ClineMessage[] = [FIRST]
    ) =>
      page.begin({
        currentTaskId: 't',
        currentTaskStatus: 'idle',
        currentTaskMarks,
        clineMessages
      });
    const undoable = { id: 'm', kind: 'rewind', ts: 7, messageTs: 5 } as const;

    it('should say how many messages went, and bring them back', async () => {
      begin({ undoable });
      expect(bar()?.textContent).toContain('Messages were removed.');
      await foresee({ operation: 'undo', removed: 0, restored: 4 });
      expect(bar()?.textContent).toContain('4 messages were removed.');
      page.act(() => page.button('Undo').click());
      await foresee({ operation: 'undo', removed: 0, restored: 4 });
      expect(dialog()).toBeNull();
      expect(page.sent('undoConversation')[0]).toMatchObject({
        taskId: 't',
        markId: 'm'
      });
      expect(page.sent('undoConversation')[0]).not.toHaveProperty('newer');
    });

    it('should ask before it sets aside what is newer', async () => {
      begin({ undoable });
      await foresee({ operation: 'undo', removed: 0, restored: 4 });
      page.act(() => page.button('Undo').click());
      await foresee({
        operation: 'undo',
        removed: 2,
        restored: 4,
        goneOn: true
      });
      expect(dialog()?.textContent).toContain('Remove the newer messages?');
      expect(dialog()?.textContent).toContain('2 messages are removed.');
      expect(dialog()?.textContent).toContain('4 messages are restored.');
      await press('Undo');
      expect(page.sent('undoConversation')[0]).toMatchObject({
        newer: 'set_aside'
      });
    });

    it('should ask before files change, which go with the messages', async () => {
      begin({ undoable });
      await foresee({ operation: 'undo', removed: 0, restored: 4 });
      page.act(() => page.button('Undo').click());
      await foresee({
        operation: 'undo',
        removed: 0,
        restored: 4,
        files: {
          changes: [
            { path: 'a.py', action: 'create' },
            { path: 'b.py', action: 'overwrite' },
            { path: 'c.py', action: 'delete' }
          ],
          moreChanges: 2,
          kept: ['d.py'],
          openNotebooks: []
        }
      });
      const lines = [...(dialog()?.querySelectorAll('li') ?? [])];
      expect(dialog()?.textContent).toContain('5 files also change:');
      expect(lines.map(({ textContent }) => textContent)).toEqual([
        'a.py is restored',
        'b.py returns to its state before the restore',
        'c.py is deleted',
        'and 2 more files',
        'd.py stays as it is: you changed it since'
      ]);
      expect(dialog()?.querySelector('input')).toBeNull();
      await press('Undo');
      expect(page.sent('undoConversation')).toHaveLength(1);
    });

    it('should count nothing where no words went', async () => {
      begin({ undoable });
      await foresee({ operation: 'undo', removed: 0, restored: 0 });
      expect(bar()?.textContent).toContain('Messages were removed.');
    });

    it('should ask where no words, but what was done since is set aside', async () => {
      begin({ undoable });
      await foresee({ operation: 'undo', removed: 0, restored: 4 });
      page.act(() => page.button('Undo').click());
      await foresee({
        operation: 'undo',
        removed: 0,
        restored: 4,
        toolCalls: 1,
        effects: [{ kind: 'file', name: 'a.py', count: 1 }]
      });
      expect(dialog()?.textContent).toContain('Changed: a.py');
      expect(page.sent('undoConversation')).toEqual([]);
      await press('Cancel');
    });

    it('should offer to redo what was undone', async () => {
      begin({ redoable: { id: 'u', kind: 'rewind', ts: 9 } });
      expect(bar()?.textContent).toContain('The change was undone.');
      page.act(() => page.button('Redo').click());
      await foresee({ operation: 'redo', removed: 0, restored: 0 });
      expect(page.sent('redoConversation')[0]).toMatchObject({ markId: 'u' });
    });

    it('should say why it cannot be undone', async () => {
      begin({ redoable: { id: 'u', kind: 'rewind', ts: 9 } });
      page.act(() => page.button('Redo').click());
      await page.settle(() =>
        page.answer('previewConversation', {
          code: 'unavailable',
          message: 'Somebody else works on it.',
          params: {}
        })
      );
      expect(bar()?.querySelector('[role="alert"]')?.textContent).toContain(
        'Somebody else works on it.'
      );
    });

    it('should stay after the words of an edit, and go when one says more', () => {
      const edit = { ...SECOND, ts: 8 };
      begin({ undoable }, [FIRST, edit]);
      expect(bar()).not.toBeNull();
      page.publish({
        type: 'messageCreated',
        taskId: 't',
        message: { ...SECOND, ts: 12 }
      });
      expect(bar()).toBeNull();
    });

    it('should not offer to undo what the agent did by itself', () => {
      begin({ undoable: { id: 'c', kind: 'condense', ts: 7 } });
      expect(bar()).toBeNull();
    });

    it('should go when it is closed, and not come back with the page it is on', () => {
      begin({ undoable });
      page.act(() => page.dismissal().focus());
      page.act(() => page.dismissal().click());
      expect(bar()).toBeNull();
      expect(document.activeElement).not.toBe(document.body);
      page.act(() => {
        page.panel.services.state.page = 'history';
      });
      page.act(() => {
        page.panel.services.state.page = 'chat';
      });
      expect(bar()).toBeNull();
    });
  });
});

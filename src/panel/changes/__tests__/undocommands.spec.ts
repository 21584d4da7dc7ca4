import type { IDisposable } from '@lumino/disposable';

import { OpenedPanel } from '../../__tests__/openedpanel';
import { addUndoCommands } from '../undocommands';

describe('addChangesCommands', () => {
  let page: OpenedPanel;
  let added: IDisposable;

  beforeEach(() => {
    page = new OpenedPanel();
    added = addUndoCommands(page.panel.services);
  });

  afterEach(() => {
    added.dispose();
    page.dispose();
  });

  it('should undo the newest change, whatever made it', async () => {
    page.begin({
      currentTaskId: 't',
      currentTaskMarks: { undoable: { id: 'c', kind: 'condense', ts: 3 } }
    });
    expect(page.commands.isEnabled('hdsp-agent:undo-change')).toBe(true);
    expect(page.commands.isEnabled('hdsp-agent:redo-change')).toBe(false);
    await page.settle(
      () => void page.commands.execute('hdsp-agent:undo-change')
    );
    expect(page.sent('previewConversation')[0]).toMatchObject({
      taskId: 't',
      change: { operation: 'undo', markId: 'c' }
    });
    await page.settle(() => {
      page.server.socket.say({
        op: 'msg',
        data: {
          type: 'conversationPreview',
          requestId: 'r',
          taskId: 't',
          preview: {
            operation: 'undo',
            removed: 0,
            restored: 2,
            toolCalls: 0,
            effects: [],
            moreEffects: 0,
            canBeUndone: true,
            goneOn: false,
            stopsTask: false
          }
        }
      });
      page.answer('previewConversation');
    });
    expect(page.sent('undoConversation')[0]).toMatchObject({ markId: 'c' });
    await page.settle(() => page.answer('undoConversation'));
  });
});

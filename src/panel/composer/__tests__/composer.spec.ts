import { settings } from '../../asks/__tests__/openedask';
import { ServerConnection } from '@jupyterlab/services';

import type { ExtensionState } from '../../../generated/wire';
import { RestServer } from '../../history/__tests__/restserver';
import { VARIABLE_MIME } from '../attachments/draggedvariable';
import { attachment } from './drafts';
import { READY, WORKING, WrittenPanel } from './openedcomposer';

const CELL_3 = 'Cell 3';
const DF = 'df';
const CELL_1 = 'Cell 1';

describe('Composer', () => {
  let page: WrittenPanel;

  beforeEach(() => {
    page = new WrittenPanel();
  });

  afterEach(() => {
    page.dispose();
  });

  const field = () => page.field;
  const type = (text: string) => page.type(text);
  const press = (key: string, init?: KeyboardEventInit) =>
    page.press(key, init);
  const alert = () => page.trouble;

  it('should be there where conversations can be begun', () => {
    page.begin({ canStartTasks: false });
    expect(field()).toBeNull();
    page.publish({ type: 'state', state: READY });
    expect(field()).not.toBeNull();
  });

  describe('sending', () => {
    it('should begin a conversation where none is on screen', async () => {
      page.begin(READY);
      type('Plot it');
      await page.settle(() => press('Enter'));
      expect(page.sent('newTask')).toMatchObject([{ text: 'Plot it' }]);
      expect(field().value).toBe('');
    });

    it('should send what goes along, even without words', async () => {
      page.begin(READY);
      page.act(() =>
        page.panel.services.state.setDraft(null, {
          images: ['data:image/png;base64,AA=='],
          attachments: [attachment()]
        })
      );
      expect(page.findAll('.jp-hdspAgent-chip')).toHaveLength(2);
      await page.settle(() => page.button('Send').click());
      expect(page.sent('newTask')).toMatchObject([
        {
          text: '',
          attachments: [{ kind: 'cell', label: CELL_3, content: 'x = 1' }],
          images: ['data:image/png;base64,AA==']
        }
      ]);
      expect(page.findAll('.jp-hdspAgent-chip')).toHaveLength(0);
    });

    it('should show what goes along to whoever presses it, and what it costs', () => {
      page.begin(READY);
      page.act(() =>
        page.panel.services.state.setDraft(null, {
          attachments: [
            attachment({ content: 'é'.repeat(3_000) }),
            attachment({ kind: 'page', path: 'p', content: null }, 'A page')
          ]
        })
      );
      const preview = () => page.find('.jp-hdspAgent-chip-preview');
      expect(page.find('.jp-hdspAgent-chips-cost')?.textContent).toBe(
        'About 1,500 tokens, plus what is read when you send'
      );
      page.act(() => page.button('Show Cell 3').click());
      expect(preview()?.textContent).toContain('work.ipynb');
      expect(preview()?.textContent).toContain('é'.repeat(3_000));
      page.act(() => page.button('Show A page').click());
      expect(preview()?.textContent).toContain(
        'The agent reads this when you send the message.'
      );
      page.act(() =>
        page
          .button('Show A page')
          .dispatchEvent(
            new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })
          )
      );
      expect(preview()).toBeNull();
      page.act(() => page.button('Show Cell 3').click());
      page.publish({ type: 'state', state: WORKING });
      expect(preview()).toBeNull();
      page.publish({ type: 'state', state: READY });
      expect(preview()).toBeNull();
      const chip = page.findAll('.jp-hdspAgent-chip')[0];
      page.act(() =>
        chip.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }))
      );
      expect(preview()).toBeNull();
      page.wait(400);
      expect(preview()).not.toBeNull();
      page.act(() =>
        chip.dispatchEvent(new MouseEvent('mouseout', { bubbles: true }))
      );
      page.wait(400);
      expect(preview()).toBeNull();
    });

    it('should take a variable and a picture that are dropped', async () => {
      const rest = new RestServer();
      rest.answers.set('POST variables/table', () => ({
        variable: {
          name: 'df',
          type: 'pandas.DataFrame',
          columns: [],
          head: '…',
          hasTextColumns: true
        },
        start: 0,
        index: [],
        rows: []
      }));
      page.begin(READY);
      const drop = (data: Record<string, string>) => {
        const event = new Event('drop', { bubbles: true, cancelable: true });
        Object.assign(event, {
          dataTransfer: {
            files: [],
            types: Object.keys(data),
            getData: (type: string) => data[type] ?? ''
          }
        });
        page.act(() => field().dispatchEvent(event));
        return event;
      };
      const taken = drop({
        [VARIABLE_MIME]: '{"path":"a.ipynb","name":"df"}',
        'text/plain': 'df'
      });
      expect(taken.defaultPrevented).toBe(true);
      await page.settle();
      const png = 'data:image/png;base64,AA==';
      drop({ 'text/html': `<meta charset="utf-8"><img src="${png}">` });
      await page.settle();
      const { attachments, images } = page.panel.services.state.draft(null);
      expect(attachments).toMatchObject([
        { kind: 'variable', path: 'a.ipynb', label: DF }
      ]);
      expect(images).toEqual([png]);
      const left = drop({ 'text/html': `<p>text</p><img src="${png}">` });
      expect(left.defaultPrevented).toBe(false);
      rest.dispose();
    });

    it('should answer a question that words answer', async () => {
      page.begin({
        ...WORKING,
        currentTaskStatus: 'interactive',
        clineMessages: [
          { ts: 5, type: 'ask', ask: 'followup', text: '{"question":"?"}' }
        ]
      });
      type('Yes, both');
      await page.settle(() => press('Enter'));
      expect(page.sent('askResponse')).toMatchObject([
        {
          taskId: 't',
          messageTs: 5,
          askResponse: 'messageResponse',
          text: 'Yes, both'
        }
      ]);
    });

    it.each([
      ['api_req_failed', 'Try again with a message'],
      ['mistake_limit_reached', 'Say what it should do differently'],
      ['completion_result', "What's next?"],
      ['resume_task', 'Say how to continue']
    ] as const)('should say what sending does beside %s', async (ask, says) => {
      page.begin({
        ...WORKING,
        currentTaskStatus: 'idle',
        clineMessages: [{ ts: 5, type: 'ask', ask }]
      });
      expect(field().placeholder).toBe(says);
      type('Shorter, please');
      await page.settle(() => page.button('Send').click());
      expect(page.sent('askResponse')).toMatchObject([
        { messageTs: 5, askResponse: 'messageResponse' }
      ]);
    });

    it('should never answer a question that asks for an approval', async () => {
      page.begin({
        ...WORKING,
        currentTaskStatus: 'interactive',
        clineMessages: [{ ts: 5, type: 'ask', ask: 'command', text: 'rm -r x' }]
      });
      expect(field().placeholder).toContain("doesn't approve");
      type('yes');
      await page.settle(() => press('Enter'));
      expect(page.sent('askResponse')).toEqual([]);
      expect(page.sent('queueMessage')).toMatchObject([
        { taskId: 't', text: 'yes' }
      ]);
    });

    it('should put the text back, and say why, when it fails', async () => {
      page.begin(READY);
      type('Plot it');
      await page.settle(() => press('Enter'));
      type('And more');
      await page.settle(() =>
        page.answer('newTask', { code: 'nothing_known', message: 'Disk full.' })
      );
      expect(field().value).toBe('Plot it\n\nAnd more');
      expect(alert()).toBe('Disk full.');
      type('Plot it again');
      expect(alert()).toBeUndefined();
    });

    it('should take what is typed meanwhile along into the conversation that began', async () => {
      page.begin(READY);
      type('Plot it');
      await page.settle(() => press('Enter'));
      type('And more');
      page.publish({ type: 'state', state: WORKING });
      await page.settle(() => page.answer('newTask', null, 't'));
      expect(field().value).toBe('And more');
    });

    it('should not send twice, nor blanks', async () => {
      page.begin(READY);
      type('  \n');
      await page.settle(() => press('Enter'));
      expect(page.sent('newTask')).toHaveLength(0);
      type('one');
      await page.settle(() => press('Enter'));
      type('two');
      await page.settle(() => press('Enter'));
      expect(page.sent('newTask')).toHaveLength(1);
      expect(page.button('Sending…').disabled).toBe(true);
    });

    it('should send what Enter was pressed for while the message before was on its way', async () => {
      page.begin(WORKING);
      type('one');
      await page.settle(() => press('Enter'));
      type('two');
      await page.settle(() => press('Enter'));
      expect(page.sent('queueMessage')).toHaveLength(1);
      expect(field().value).toBe('two');
      await page.settle(() => page.answer('queueMessage', null));
      expect(page.sent('queueMessage')).toMatchObject([
        { text: 'one' },
        { text: 'two' }
      ]);
      expect(field().value).toBe('');
    });

    it('should not send what was changed after Enter was pressed too early', async () => {
      page.begin(WORKING);
      type('one');
      await page.settle(() => press('Enter'));
      type('two');
      await page.settle(() => press('Enter'));
      type('two and a h');
      await page.settle(() => page.answer('queueMessage', null));
      expect(page.sent('queueMessage')).toHaveLength(1);
      expect(field().value).toBe('two and a h');
    });

    it('should not send by itself what Enter was pressed for while offline', async () => {
      page.begin(WORKING);
      type('one');
      await page.settle(() => press('Enter'));
      page.act(() => page.server.socket.drop());
      type('two');
      await page.settle(() => press('Enter'));
      page.wait(510);
      page.act(() => page.server.accept({ resumed: true }, 1));
      await page.settle(() => page.answer('queueMessage', null));
      expect(page.sent('queueMessage')).toMatchObject([{ text: 'one' }]);
      expect(field().value).toBe('two');
    });

    it('should send what Enter was pressed for into the conversation that began', async () => {
      page.begin(READY);
      type('one');
      await page.settle(() => press('Enter'));
      type('two');
      await page.settle(() => press('Enter'));
      page.publish({ type: 'state', state: WORKING });
      await page.settle(() => page.answer('newTask', null, 't'));
      expect(page.sent('queueMessage')).toMatchObject([
        { taskId: 't', text: 'two' }
      ]);
    });

    it('should send nothing by itself after Enter in the empty field', async () => {
      page.begin(WORKING);
      type('one');
      await page.settle(() => press('Enter'));
      await page.settle(() => press('Enter'));
      await page.settle(() => page.answer('queueMessage', null));
      const { state } = page.panel.services;
      await page.settle(() =>
        state.setDraft('t', { attachments: [attachment()] })
      );
      page.publish({
        type: 'state',
        state: { ...WORKING, currentTaskId: 'other' }
      });
      await page.settle(() =>
        state.setDraft('other', { attachments: [attachment()] })
      );
      expect(page.sent('queueMessage')).toMatchObject([{ text: 'one' }]);
      expect(page.findAll('.jp-hdspAgent-chip')).toHaveLength(1);
    });

    it('should not send what got an attachment after Enter was pressed too early', async () => {
      page.begin(WORKING);
      type('one');
      await page.settle(() => press('Enter'));
      type('two');
      await page.settle(() => press('Enter'));
      page.act(() =>
        page.panel.services.state.setDraft('t', { attachments: [attachment()] })
      );
      await page.settle(() => page.answer('queueMessage', null));
      expect(page.sent('queueMessage')).toHaveLength(1);
      expect(field().value).toBe('two');
    });

    it('should not send in a conversation what Enter was pressed for in another', async () => {
      page.begin(WORKING);
      type('one');
      await page.settle(() => press('Enter'));
      type('two');
      await page.settle(() => press('Enter'));
      page.publish({
        type: 'state',
        state: { ...WORKING, currentTaskId: 'other' }
      });
      type('two');
      await page.settle(() => page.answer('queueMessage', null));
      page.publish({ type: 'state', state: WORKING });
      await page.settle();
      expect(page.sent('queueMessage')).toMatchObject([{ text: 'one' }]);
      expect(field().value).toBe('two');
    });

    it('should tell of a failure where it belongs, and let others be sent', async () => {
      page.begin(READY);
      type('Plot it');
      await page.settle(() => press('Enter'));
      page.publish({ type: 'state', state: WORKING });
      type('More');
      await page.settle(() =>
        page.answer('newTask', { code: 'nothing_known', message: 'Disk full.' })
      );
      expect(alert()).toBeUndefined();
      expect(field().value).toBe('More');
      await page.settle(() => press('Enter'));
      expect(page.sent('queueMessage')).toHaveLength(1);
      page.publish({ type: 'state', state: READY });
      expect(field().value).toBe('Plot it');
      expect(alert()).toBe('Disk full.');
    });

    it('should keep the text and say so while there is no connection', async () => {
      page.begin(READY);
      type('Plot it');
      page.act(() => page.server.socket.drop());
      expect(page.find('#jp-hdspAgent-composer-note')?.textContent).toContain(
        'What you type stays here'
      );
      await page.settle(() => press('Enter'));
      expect(page.sent('newTask')).toEqual([]);
      expect(field().value).toBe('Plot it');
      expect(page.button('Send').disabled).toBe(true);
    });

    it('should say once that there is no connection, and at what needs one why it is off', () => {
      page.begin({ ...READY, settings: settings({}) });
      type('Plot it');
      const needing = ['.jp-hdspAgent-picker', '.jp-hdspAgent-composer-send'];
      const off = () =>
        page
          .findAll(needing.join(', '))
          .filter(button => (button as HTMLButtonElement).disabled);
      expect(off()).toEqual([]);
      page.act(() => page.server.socket.drop());
      page.wait(1_000);
      expect(page.findAll('.jp-hdspAgent-notice')).toEqual([
        page.find('[data-reason]')
      ]);
      expect(off()).toHaveLength(4);
      expect(off().every(({ title }) => title.includes('offline'))).toBe(true);
    });

    it('should lead to the settings when no model is chosen', () => {
      page.begin({
        ...WORKING,
        currentTaskStatus: 'idle',
        listApiConfigMeta: []
      });
      type('Plot it');
      press('Enter');
      expect(page.sent('askResponse')).toEqual([]);
      page.act(() => page.button('Choose a model').click());
      expect(page.openedSettings).toEqual(['models']);
    });
  });

  describe('the Enter key', () => {
    it('should begin a line with Shift, and send without', () => {
      page.begin(READY);
      type('a');
      expect(press('Enter', { shiftKey: true }).defaultPrevented).toBe(false);
      expect(press('Enter').defaultPrevented).toBe(true);
    });

    it('should begin a line, and send with Ctrl, where that is set', async () => {
      page.begin(READY);
      page.publish({
        type: 'settingsUpdated',
        settings: {
          enterBehavior: 'newline'
        } as NonNullable<ExtensionState['settings']>,
        fixed: []
      });
      type('a');
      expect(press('Enter').defaultPrevented).toBe(false);
      await page.settle(() => press('Enter', { ctrlKey: true }));
      expect(page.sent('newTask')).toHaveLength(1);
    });

    it.each([
      ['while a syllable is composed', { isComposing: true }],
      ['that ends one in Safari', { keyCode: 229 }]
    ])('should belong to the input method %s', async (_, init) => {
      page.begin(READY);
      type('안녕');
      await page.settle(() => press('Enter', init));
      expect(page.sent('newTask')).toEqual([]);
      await page.settle(() => press('Enter', { keyCode: 13 }));
      expect(page.sent('newTask')).toMatchObject([{ text: '안녕' }]);
    });
  });

  describe('what was said before', () => {
    const up = () => {
      field().setSelectionRange(0, 0);
      press('ArrowUp');
      return field().value;
    };
    const down = () => {
      field().setSelectionRange(field().value.length, field().value.length);
      press('ArrowDown');
      return field().value;
    };

    it('should come with the arrows, and what was typed afterwards', () => {
      page.begin({
        ...WORKING,
        clineMessages: [
          { ts: 1, type: 'say', say: 'text', text: 'first' },
          { ts: 2, type: 'say', say: 'text', text: 'I am the agent' },
          { ts: 3, type: 'say', say: 'user_feedback', text: 'second' }
        ]
      });
      type('typing');
      expect(up()).toBe('second');
      expect(up()).toBe('first');
      expect(up()).toBe('first');
      expect(down()).toBe('second');
      expect(down()).toBe('typing');
      expect(down()).toBe('typing');
    });

    it('should leave what is typed in another conversation alone', () => {
      page.begin(WORKING);
      type('typing');
      expect(up()).toBe('first');
      page.publish({
        type: 'state',
        state: { ...WORKING, currentTaskId: 'other' }
      });
      type('a long question');
      expect(down()).toBe('a long question');
      page.publish({ type: 'state', state: WORKING });
      expect(field().value).toBe('first');
      expect(down()).toBe('typing');
    });

    it('should not lose what was typed when the text found is changed', () => {
      page.begin(WORKING);
      type('typing');
      expect(up()).toBe('first');
      type('first, but better');
      expect(down()).toBe('typing');
      expect(up()).toBe('first, but better');
    });

    it('should begin anew after a message was sent', async () => {
      page.begin(WORKING);
      type('typing');
      expect(up()).toBe('first');
      await page.settle(() =>
        page.find('.jp-hdspAgent-composer-send')?.click()
      );
      expect(down()).toBe('');
    });

    it('should come from other conversations, though the page is new', async () => {
      page.dispose();
      const requests: string[] = [];
      const begun = [
        { id: 'o', task: 'Plot the sales' },
        { id: 's', task: "the agent's own words", parentTaskId: 'o' },
        { id: 'n', task: 'Clean the names' }
      ];
      page = new WrittenPanel({
        serverSettings: ServerConnection.makeSettings({
          fetch: input => {
            const { url } = input as Request;
            requests.push(url);
            return Promise.resolve(
              url.includes('/history')
                ? new Response(JSON.stringify({ taskHistory: begun, total: 3 }))
                : new Response('', { status: 404 })
            );
          }
        })
      });
      page.begin(WORKING);
      await page.settle(() => field().focus());
      await page.settle(() => field().blur());
      await page.settle(() => field().focus());
      type('typing');
      expect([up(), up(), up(), up()]).toEqual([
        'first',
        'Plot the sales',
        'Clean the names',
        'Clean the names'
      ]);
      expect(requests.filter(url => url.includes('/history'))).toHaveLength(1);
    });

    it('should not come while the caret is elsewhere', () => {
      page.begin(WORKING);
      type('typing');
      field().setSelectionRange(3, 3);
      expect(press('ArrowUp').defaultPrevented).toBe(false);
      expect(field().value).toBe('typing');
    });
  });

  describe('stopping', () => {
    it('should be offered as long as the task works, and answer at once', async () => {
      page.begin(WORKING);
      page.act(() => page.button('Stop').click());
      expect(page.sent('cancelTask')).toMatchObject([{ taskId: 't' }]);
      expect(page.button('Stopping…').disabled).toBe(true);
      page.wait(3_100);
      expect(page.node.textContent).toContain("hasn't confirmed yet");
      page.publish({
        type: 'state',
        state: { ...WORKING, currentTaskStatus: 'idle' }
      });
      expect(() => page.button('Stop')).toThrow();
      await page.settle(() => page.answer('cancelTask'));
    });

    it('should say why it failed, and can be tried again', async () => {
      page.begin(WORKING);
      page.act(() => page.button('Stop').click());
      await page.settle(() =>
        page.answer('cancelTask', { code: 'nothing_known', message: 'No.' })
      );
      expect(alert()).toBe('No.');
      expect(page.button('Stop').disabled).toBe(false);
    });
  });

  describe('the queue', () => {
    const queued = (text: string, id = 'q1'): ExtensionState => ({
      ...WORKING,
      messageQueue: [{ id, timestamp: 1, text }]
    });

    it('should say that what waits approves nothing', () => {
      page.begin(queued('then plot'));
      expect(page.find('.jp-hdspAgent-queue')?.textContent).toContain(
        "doesn't approve"
      );
    });

    it('should let a message be removed', () => {
      page.begin(queued('then plot'));
      page.act(() => page.button('Remove the queued message').click());
      expect(page.sent('removeQueuedMessage')).toMatchObject([
        { taskId: 't', text: 'q1' }
      ]);
    });

    it('should let a message be changed, with what goes along', async () => {
      page.begin(
        queued(
          'plot\n\n<attachment kind="cell" path="p" label="Cell 1">\nx\n</attachment>'
        )
      );
      page.act(() => page.button('Edit the queued message').click());
      const editor = page.find(
        '.jp-hdspAgent-queue-field'
      ) as HTMLTextAreaElement;
      expect(editor.value).toBe('plot');
      page.act(() => page.button('Save').click());
      expect(page.sent('editQueuedMessage')).toMatchObject([
        {
          payload: {
            id: 'q1',
            text: 'plot',
            attachments: [
              { kind: 'cell', path: 'p', label: CELL_1, content: 'x' }
            ]
          }
        }
      ]);
      await page.settle(() => page.answer('editQueuedMessage'));
      expect(page.find('.jp-hdspAgent-queue-field')).toBeNull();
    });

    it('should take the focus to the field when a change is saved', async () => {
      page.begin(queued('plot'));
      page.act(() => page.button('Edit the queued message').click());
      const editor = page.find(
        '.jp-hdspAgent-queue-field'
      ) as HTMLTextAreaElement;
      const save = page.button('Save');
      page.act(() => {
        save.focus();
        save.click();
      });
      // A disabled button loses the focus, and what is typed now would be lost.
      expect(save.disabled).toBe(false);
      expect(save.getAttribute('aria-disabled')).toBe('true');
      expect(editor.readOnly).toBe(true);
      page.act(() => save.click());
      expect(page.sent('editQueuedMessage')).toHaveLength(1);
      await page.settle(() => page.answer('editQueuedMessage'));
      expect(document.activeElement).toBe(field());
    });

    it.each([
      ['Edit the queued message', 'Cancel'],
      ['Remove the queued message', null]
    ])('should leave the focus where one writes after “%s”', (begin, end) => {
      page.begin(queued('plot'));
      for (const label of [begin, end]) {
        const button = label === null ? null : page.button(label);
        page.act(() => {
          button?.focus();
          button?.click();
        });
      }
      expect(document.activeElement).toBe(field());
    });

    it('should let an input method have Escape', () => {
      page.begin(queued('plot'));
      page.act(() => page.button('Edit the queued message').click());
      page.act(() =>
        page.find('.jp-hdspAgent-queue-field')?.dispatchEvent(
          new KeyboardEvent('keydown', {
            key: 'Escape',
            keyCode: 229,
            bubbles: true
          })
        )
      );
      expect(page.find('.jp-hdspAgent-queue-field')).not.toBeNull();
    });

    it('should show what people write in the direction of its language', () => {
      page.begin(queued('שלום'));
      const texts = ['queue-text', 'composer-field', 'user-text'];
      for (const name of texts) {
        expect(page.find(`.jp-hdspAgent-${name}`)?.dir).toBe('auto');
      }
      page.act(() => page.button('Edit the queued message').click());
      expect(page.find('.jp-hdspAgent-queue-field')?.dir).toBe('auto');
    });

    it('should keep the change of one message while another is removed', async () => {
      page.begin({
        ...WORKING,
        messageQueue: [
          { id: 'q1', timestamp: 1, text: 'plot' },
          { id: 'q2', timestamp: 2, text: 'save' }
        ]
      });
      const editor = () =>
        page.find('.jp-hdspAgent-queue-field') as HTMLTextAreaElement;
      page.act(() => page.button('Edit the queued message').click());
      page.type('plot in red', editor());
      page.act(() => page.button('Remove the queued message').click());
      expect(page.sent('removeQueuedMessage')).toMatchObject([{ text: 'q2' }]);
      await page.settle(() => page.answer('removeQueuedMessage'));
      page.publish({ type: 'state', state: queued('plot') });
      expect(editor().value).toBe('plot in red');
      expect(field().value).toBe('');
    });

    it('should not lose what was being written when the agent takes the message', () => {
      page.begin(queued('plot'));
      page.act(() => page.button('Edit the queued message').click());
      const editor = page.find(
        '.jp-hdspAgent-queue-field'
      ) as HTMLTextAreaElement;
      page.type('plot in red', editor);
      page.publish({ type: 'state', state: WORKING });
      expect(field().value).toBe('plot in red');
    });
  });
});

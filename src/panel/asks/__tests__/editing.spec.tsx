import { OpenedPanel } from '../../__tests__/openedpanel';
import { ask, toolAsk, waiting } from './openedask';

describe('editing a proposal', () => {
  let page: OpenedPanel;

  beforeEach(() => {
    page = new OpenedPanel();
  });

  afterEach(() => {
    page.dispose();
  });

  const field = () =>
    page.node.querySelector<HTMLTextAreaElement>(
      '.jp-hdspAgent-ask-edit textarea'
    );

  const propose = (texts: { name: string; text: string }[]) =>
    page.settle(() => {
      page.server.socket.say({
        op: 'msg',
        data: {
          type: 'proposal',
          requestId: 'r',
          taskId: 't',
          messageTs: 1,
          texts
        }
      });
      page.answer('requestProposal');
    });

  const open = async (question = ask(1, 'command', 'ls')) => {
    page.begin(waiting([question]));
    await page.settle(() => page.button('Edit…').click());
    await page.settle();
  };

  const type = (text: string) =>
    page.settle(() => {
      const textarea = field();
      Object.getOwnPropertyDescriptor(
        HTMLTextAreaElement.prototype,
        'value'
      )?.set?.call(textarea, text);
      textarea?.dispatchEvent(new Event('input', { bubbles: true }));
    });

  it('should approve what the person made of it', async () => {
    await open();
    expect(page.sent('requestProposal')[0]).toMatchObject({
      taskId: 't',
      messageTs: 1
    });
    await propose([{ name: 'command', text: 'ls' }]);
    expect(field()?.value).toBe('ls');
    await type('ls -l');
    await page.settle(() => page.button('Approve as edited').click());
    expect(page.sent('askResponse')).toMatchObject([
      { askResponse: 'yesButtonClicked', messageTs: 1, edited: ['ls -l'] }
    ]);
  });

  it('should leave everything as it was when cancelled', async () => {
    await open();
    await propose([{ name: 'command', text: 'ls' }]);
    await type('rm');
    await page.settle(() => page.button('Cancel').click());
    expect(field()).toBeNull();
    expect(page.sent('askResponse')).toEqual([]);
    await page.settle(() => page.button('Run').click());
    expect(page.sent('askResponse')[0]).not.toHaveProperty('edited');
  });

  it('should say why there is nothing to edit', async () => {
    await open();
    await page.settle(() =>
      page.answer('requestProposal', {
        code: 'nothing_known',
        message: 'Not here.'
      })
    );
    expect(page.node.textContent).toContain('Not here.');
  });

  it('should be offered where texts are proposed', () => {
    page.begin(waiting([toolAsk(1, { tool: 'readFile', path: 'a.txt' })]));
    expect(page.node.textContent).not.toContain('Edit…');
  });
});

import { Notification } from '@jupyterlab/apputils';
import type { IDisposable } from '@lumino/disposable';

import type { ContextNoticeMessage } from '../../../generated/wire';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { anItem, showing } from '../../header/__tests__/conversations';
import { watchContext } from '../contextnotices';

describe('watchContext', () => {
  let page: OpenedPanel;
  let watch: IDisposable;
  let shown: unknown[];

  beforeEach(() => {
    page = new OpenedPanel();
    shown = [];
    page.commands.addCommand('hdsp-agent:show-context', {
      execute: ({ taskId }) => shown.push(taskId)
    });
    watch = watchContext(page.panel.services);
    page.begin(showing(anItem()));
  });

  afterEach(() => {
    watch.dispose();
    page.dispose();
    Notification.dismiss();
  });

  const hear = (change: Partial<ContextNoticeMessage>) =>
    page.publish({
      type: 'contextNotice',
      taskId: 'a',
      kind: 'advice',
      percent: 82,
      ...change
    });
  const told = () => Notification.manager.notifications;

  it('should say that there is enough room, for a while', () => {
    hear({ kind: 'reassurance', percent: 71 });
    expect(told()).toMatchObject([{ type: 'info', options: { actions: [] } }]);
    expect(told()[0].message).toContain('“Plot the sales” uses 71%');
    expect(told()[0].options.autoClose).toBe(5_000);
  });

  it('should advise to condense, and do so', () => {
    hear({});
    expect(told()[0].message).toContain('82%');
    expect(told()[0].options.autoClose).toBe(false);
    const [condense, look] = told()[0].options.actions ?? [];
    condense.callback(new MouseEvent('click'));
    expect(page.sent('condenseTaskContextRequest')).toMatchObject([
      { taskId: 'a' }
    ]);
    look.callback(new MouseEvent('click'));
    expect(shown).toEqual(['a']);
  });

  it('should say why it could not be condensed', async () => {
    hear({});
    told()[0].options.actions?.[0].callback(new MouseEvent('click'));
    await page.settle(() =>
      page.answer('condenseTaskContextRequest', {
        code: 'conflict',
        message: 'The conversation is too short for that.',
        params: {}
      })
    );
    expect(told().at(0)).toMatchObject({ type: 'error' });
  });

  it('should say nothing when it is over', () => {
    watch.dispose();
    hear({});
    expect(told()).toEqual([]);
  });
});

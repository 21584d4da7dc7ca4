import { Notification } from '@jupyterlab/apputils';
import type { IDisposable } from '@lumino/disposable';

import { OpenedPanel } from '../../__tests__/openedpanel';
import { addAskCommands } from '../askcommands';
import { AskAnswers } from '../../../state/panel/askanswers';
import { ask, settings, waiting } from './openedask';

describe('addAsksCommands', () => {
  let page: OpenedPanel;
  let added: IDisposable;

  beforeEach(() => {
    page = new OpenedPanel();
    added = addAskCommands(page.panel.services);
  });

  afterEach(() => {
    added.dispose();
    page.dispose();
  });

  it('should say what would be approved, and approve it once', async () => {
    page.begin(waiting([ask(1, 'command', 'ls')]));
    expect(page.commands.label('hdsp-agent:approve')).toBe(
      'Run: Run this command?'
    );
    await page.settle(() => {
      void page.commands.execute('hdsp-agent:approve');
      void page.commands.execute('hdsp-agent:deny');
    });
    expect(page.sent('askResponse')).toHaveLength(1);
    expect(page.sent('askResponse')[0]).toMatchObject({
      askResponse: 'yesButtonClicked'
    });
  });

  it('should be of no use while nothing is asked that it answers', () => {
    page.begin(waiting([ask(1, 'followup', { question: '?' })]));
    expect(page.commands.isEnabled('hdsp-agent:approve')).toBe(false);
    expect(page.commands.isEnabled('hdsp-agent:deny')).toBe(false);
    page.publish({
      type: 'state',
      state: waiting([ask(2, 'resume_task')], {
        currentTaskStatus: 'resumable'
      })
    });
    page.wait(AskAnswers.PAUSE);
    expect(page.commands.isEnabled('hdsp-agent:approve')).toBe(true);
    expect(page.commands.isEnabled('hdsp-agent:deny')).toBe(false);
    expect(page.commands.isEnabled('hdsp-agent:stop')).toBe(false);
  });

  it('should switch automatic approval, unless the operator did', async () => {
    const on = settings({ autoApprovalEnabled: true });
    page.begin({ settings: on });
    expect(page.commands.isToggled('hdsp-agent:toggle-auto-approval')).toBe(
      true
    );
    await page.settle(
      () => void page.commands.execute('hdsp-agent:toggle-auto-approval')
    );
    expect(page.sent('updateSettings')[0]).toMatchObject({
      updatedSettings: { autoApprovalEnabled: false }
    });
    await page.settle(() => page.answer('updateSettings'));
    page.publish({
      type: 'settingsUpdated',
      settings: on,
      fixed: ['autoApprovalEnabled']
    });
    expect(page.commands.isEnabled('hdsp-agent:toggle-auto-approval')).toBe(
      false
    );
  });

  it('should say what went wrong where one sees it', async () => {
    page.begin(waiting([], { currentTaskStatus: 'running' }));
    await page.settle(() => void page.commands.execute('hdsp-agent:stop'));
    await page.settle(() =>
      page.answer('cancelTask', {
        code: 'unavailable',
        message: 'Not now.',
        params: {}
      })
    );
    expect(Notification.manager.notifications[0]?.message).toContain(
      'Not now.'
    );
    Notification.dismiss();
  });

  it('should stop what works, and leave the registry as it was', async () => {
    page.begin(waiting([], { currentTaskStatus: 'running' }));
    await page.settle(() => void page.commands.execute('hdsp-agent:stop'));
    expect(page.sent('cancelTask')[0]).toMatchObject({ taskId: 't' });
    await page.settle(() => page.answer('cancelTask'));
    added.dispose();
    expect(page.commands.hasCommand('hdsp-agent:stop')).toBe(false);
  });
});

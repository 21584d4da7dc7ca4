import * as React from 'react';
import { createRoot } from 'react-dom/client';

import type { RuleSuggestion } from '../../../generated/wire';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { PanelContext } from '../../../ui/services';
import AutoApproveBody from '../autoapproval/autoapprovebody';
import { ask, settings, waiting } from './openedask';

describe('rules', () => {
  let page: OpenedPanel;

  beforeEach(() => {
    page = new OpenedPanel();
  });

  afterEach(() => {
    page.dispose();
  });

  const popup = () => page.find('.jp-hdspAgent-ask-popover');

  describe('Never allow', () => {
    const open = async (command: string) => {
      page.begin(
        waiting([ask(1, 'command', command)], {
          settings: settings({ deniedCommands: ['rm'] })
        })
      );
      await page.settle(() => page.button('Never allow…').click());
      await page.settle();
    };

    it('should show the rule it would add, then add it and deny', async () => {
      await open('# in data\ngit push --force && ls');
      expect(popup()?.querySelector('input')?.value).toBe('git push --force');
      expect(popup()?.textContent).toContain(
        'This refuses every command that begins with “git push --force”'
      );
      await page.settle(() => page.button('Add and deny').click());
      expect(page.sent('updateSettings')[0]).toMatchObject({
        updatedSettings: { deniedCommands: ['rm', 'git push --force'] }
      });
      expect(page.sent('askResponse')).toEqual([]);
      await page.settle(() => page.answer('updateSettings'));
      expect(page.sent('askResponse')).toMatchObject([
        { askResponse: 'noButtonClicked', messageTs: 1 }
      ]);
      expect(popup()).toBeNull();
    });

    it('should not deny where the rule could not be added', async () => {
      await open('git push');
      await page.settle(() => page.button('Add and deny').click());
      await page.settle(() =>
        page.answer('updateSettings', {
          code: 'nothing_known',
          message: 'Not here.'
        })
      );
      expect(popup()?.textContent).toContain('Not here.');
      expect(page.sent('askResponse')).toEqual([]);
    });

    it('should be offered for commands alone', () => {
      page.begin(waiting([ask(1, 'followup', { question: 'Which?' })]));
      expect(page.node.textContent).not.toContain('Never');
    });
  });

  describe('Approve always', () => {
    const open = async (change: Parameters<typeof settings>[0] = {}) => {
      page.begin(
        waiting([ask(1, 'command', 'git log -3')], {
          settings: settings({ allowedCommands: ['ls'], ...change })
        })
      );
      await page.settle(() => page.button('Approve always…').click());
      await page.settle();
    };
    const suggest = (rules: RuleSuggestion[], reason?: string) =>
      page.settle(() => {
        page.server.socket.say({
          op: 'msg',
          data: {
            type: 'ruleSuggestions',
            requestId: 'r',
            taskId: 't',
            messageTs: 1,
            rules,
            ...(reason
              ? { reason: { code: reason, message: 'English', params: {} } }
              : {})
          }
        });
        page.answer('suggestRules');
      });

    it('should show the rule it would add, then add it and approve', async () => {
      await open();
      expect(page.sent('suggestRules')[0]).toMatchObject({
        taskId: 't',
        messageTs: 1
      });
      await suggest([
        { kind: 'class', value: 'alwaysAllowExecute' },
        { kind: 'command', value: 'git log -3', command: 'git log -3' },
        { kind: 'command', value: 'git log', command: 'git log -3' }
      ]);
      expect(popup()?.textContent).toContain('Running shell commands');
      const radios = [...(popup()?.querySelectorAll('input') ?? [])];
      expect(radios.map(({ checked }) => checked)).toEqual([true, false]);
      expect(popup()?.textContent).toContain(
        'This allows every command that begins with “git log -3” without asking'
      );
      await page.settle(() => radios[1]?.click());
      expect(popup()?.textContent).toContain(
        'This allows every command that begins with “git log” without asking'
      );
      await page.settle(() => page.button('Allow and approve').click());
      expect(page.sent('updateSettings')[0]).toMatchObject({
        updatedSettings: {
          alwaysAllowExecute: true,
          allowedCommands: ['ls', 'git log']
        }
      });
      expect(page.sent('askResponse')).toEqual([]);
      await page.settle(() => page.answer('updateSettings'));
      expect(page.sent('askResponse')[0]).toMatchObject({
        messageTs: 1,
        askResponse: 'yesButtonClicked'
      });
      expect(popup()).toBeNull();
    });

    it('should take the rule that allows least from who does not choose', async () => {
      await open();
      await suggest([
        { kind: 'command', value: 'git log -3', command: 'git log -3' },
        { kind: 'command', value: 'git log', command: 'git log -3' }
      ]);
      await page.settle(() => page.button('Allow and approve').click());
      expect(page.sent('updateSettings')[0]).toMatchObject({
        updatedSettings: { allowedCommands: ['ls', 'git log -3'] }
      });
      await page.settle(() => page.answer('updateSettings'));
    });

    it('should say what a switch allows besides', async () => {
      await open({ alwaysAllowExecute: true, alwaysAllowReadOnly: true });
      await suggest([{ kind: 'class', value: 'autoApprovalEnabled' }]);
      expect(popup()?.textContent).toContain(
        'These are on already, so they will no longer be asked about either: Reading, Running shell commands'
      );
      expect(popup()?.textContent).toContain(
        'These commands are allowed already, so they will run without asking, too: ls'
      );
    });

    it('should approve nothing when the rule was not added', async () => {
      await open();
      await suggest([{ kind: 'class', value: 'alwaysAllowExecute' }]);
      await page.settle(() => page.button('Allow and approve').click());
      await page.settle(() =>
        page.answer('updateSettings', {
          code: 'forbidden_by_operator',
          message: '',
          params: {}
        })
      );
      expect(popup()?.textContent).toContain('administrator');
      expect(page.sent('askResponse')).toEqual([]);
    });

    it('should say why there is no rule', async () => {
      await open();
      await suggest([], 'rule_any_command');
      expect(popup()?.textContent).toContain(
        'This command can do anything, so no rule can allow it.'
      );
      expect(popup()?.textContent).not.toContain('English');
    });

    it('should lead to the rules there are', async () => {
      await open();
      page.act(() => page.button('Manage rules').click());
      expect(page.openedSettings).toEqual(['commands']);
      expect(popup()).toBeNull();
    });

    it('should close on Escape, with the focus at its button', async () => {
      await open();
      expect(popup()?.contains(document.activeElement)).toBe(true);
      page.act(() => {
        document.activeElement?.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })
        );
      });
      expect(popup()).toBeNull();
      expect(document.activeElement).toBe(page.button('Approve always…'));
    });
  });

  describe('AutoApproveBody', () => {
    const open = (
      change: Parameters<typeof settings>[0],
      fixed: string[] = []
    ) => {
      page.begin({ settings: settings(change), fixed });
      const place = document.createElement('div');
      page.node.append(place);
      const root = createRoot(place);
      page.act(() =>
        root.render(
          <PanelContext.Provider value={page.panel.services}>
            <AutoApproveBody />
          </PanelContext.Provider>
        )
      );
      return () => {
        page.act(() => root.unmount());
        place.remove();
      };
    };
    const body = () => page.find('.jp-hdspAgent-autoApprove-body');
    const box = (title: string) =>
      page
        .findAll('.jp-hdspAgent-autoApprove-body label')
        .find(label => label.textContent?.startsWith(title))
        ?.querySelector('input');

    it('should say what is done without asking, and what was pressed until the server says it', async () => {
      const end = open({
        autoApprovalEnabled: true,
        alwaysAllowReadOnly: true,
        alwaysAllowWrite: false
      });
      expect(box('Reading')?.checked).toBe(true);
      expect(box('Editing')?.checked).toBe(false);
      await page.settle(() => box('Editing')?.click());
      expect(page.sent('updateSettings')[0]).toMatchObject({
        updatedSettings: { alwaysAllowWrite: true }
      });
      expect(box('Editing')?.checked).toBe(true);
      page.publish({
        type: 'settingsUpdated',
        settings: settings({
          autoApprovalEnabled: true,
          alwaysAllowReadOnly: true,
          alwaysAllowWrite: true
        }),
        fixed: []
      });
      await page.settle(() => page.answer('updateSettings'));
      expect(box('Editing')?.checked).toBe(true);
      end();
    });

    it('should leave alone what the operator fixed', async () => {
      const end = open({ autoApprovalEnabled: true }, ['alwaysAllowExecute']);
      expect(box('Running shell commands')?.disabled).toBe(true);
      expect(body()?.textContent).toContain('Set by your administrator');
      await page.settle(() => page.button('None').click());
      const change = page.sent('updateSettings')[0]?.updatedSettings;
      expect(change).toMatchObject({ alwaysAllowWriteProtected: false });
      expect(change).not.toHaveProperty('alwaysAllowExecute');
      end();
    });

    it('should take a limit when one leaves its field, and none for an empty one', async () => {
      const end = open({ autoApprovalEnabled: true, allowedMaxCost: 2 });
      const field = box('Maximum cost');
      expect(field?.value).toBe('2');
      await page.settle(() => {
        field?.focus();
        Object.getOwnPropertyDescriptor(
          HTMLInputElement.prototype,
          'value'
        )?.set?.call(field, '');
        field?.dispatchEvent(new Event('input', { bubbles: true }));
      });
      await page.settle(() => field?.blur());
      expect(page.sent('updateSettings')[0]).toMatchObject({
        updatedSettings: { allowedMaxCost: null }
      });
      end();
    });
  });
});

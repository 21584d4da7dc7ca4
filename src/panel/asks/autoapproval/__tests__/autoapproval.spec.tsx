import { Dialog } from '@jupyterlab/apputils';
import type { IDisposable } from '@lumino/disposable';
import * as React from 'react';
import { createRoot } from 'react-dom/client';

import type { GlobalSettings } from '../../../../generated/wire';
import { OpenedPanel } from '../../../__tests__/openedpanel';
import { PanelContext } from '../../../../ui/services';
import { APPROVED_CLASSES } from '../approvedclasses';
import AutoApproveBody from '../autoapprovebody';
import { addAskCommands } from '../../askcommands';
import { settings } from '../../__tests__/openedask';

const TOGGLE = 'hdsp-agent:toggle-auto-approval';
const AGREED_TO_ALL = APPROVED_CLASSES.map(name => `autoApproval.${name}`);

describe('switching on what is done without asking', () => {
  let page: OpenedPanel;
  let commands: IDisposable;
  let closeMenu: (() => void) | null;

  beforeEach(() => {
    page = new OpenedPanel();
    commands = addAskCommands(page.panel.services);
    closeMenu = null;
  });

  afterEach(() => {
    Dialog.flush();
    closeMenu?.();
    commands.dispose();
    page.dispose();
  });

  const begin = (change: Partial<GlobalSettings>, fixed: string[] = []) =>
    page.begin({ settings: settings(change), fixed });
  const dialog = () => document.querySelector<HTMLElement>('.jp-Dialog');
  const listed = () =>
    [...(dialog()?.querySelectorAll('li') ?? [])].map(
      ({ textContent }) => textContent ?? ''
    );
  const press = (kind: 'accept' | 'reject') =>
    page.settle(() =>
      dialog()
        ?.querySelector<HTMLElement>(
          `.jp-Dialog-footer .jp-mod-${kind === 'accept' ? 'warn' : 'reject'}`
        )
        ?.click()
    );
  const saved = () =>
    page.sent('updateSettings').map(({ updatedSettings }) => updatedSettings);
  const toggle = async () => {
    await page.settle(() => void page.commands.execute(TOGGLE));
    await page.settle();
  };
  const openMenu = () => {
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
    closeMenu = () => {
      page.act(() => root.unmount());
      place.remove();
    };
  };
  const click = async (label: string) => {
    await page.settle(() => page.button(label).click());
    await page.settle();
  };
  const box = (title: string) =>
    page
      .findAll('.jp-hdspAgent-autoApprove-body label')
      .find(({ textContent }) => textContent?.startsWith(title))
      ?.querySelector('input');
  const check = async (title: string) => {
    await page.settle(() => box(title)?.click());
    await page.settle();
  };

  describe('All', () => {
    it('should say in sentences what becomes possible, before it is', async () => {
      begin({
        autoApprovalEnabled: true,
        allowedCommands: ['ls', 'git log'],
        followupAutoApproveTimeoutMs: 60_000
      });
      openMenu();
      await click('All');
      expect(saved()).toEqual([]);
      const lines = listed();
      expect(lines).toHaveLength(APPROVED_CLASSES.length + 1);
      expect(lines.every(line => line.endsWith('.'))).toBe(true);
      const text = lines.join('\n');
      expect(text).toContain('commands that begin with: ls, git log.');
      expect(text).toContain('runs any code in your kernels');
      expect(text).toContain('installs any package');
      expect(text).toContain('fetches any web address');
      expect(text).toContain('can change any file that you can change');
      expect(text).toContain('within 60 seconds');
      expect(text).toContain('restarts and interrupts kernels');
      await press('accept');
      expect(saved()).toEqual([
        {
          ...Object.fromEntries(APPROVED_CLASSES.map(name => [name, true])),
          dismissedHints: AGREED_TO_ALL
        }
      ]);
    });

    it('should change nothing without a yes, and leave the menu where it was', async () => {
      begin({ autoApprovalEnabled: true });
      openMenu();
      page.button('All').focus();
      await click('All');
      expect(document.activeElement?.textContent).toBe('Cancel');
      await press('reject');
      expect(dialog()).toBeNull();
      expect(saved()).toEqual([]);
      expect(document.activeElement).toBe(page.button('All'));
      await click('All');
      expect(dialog()).not.toBeNull();
    });

    it('should ask once, and never to switch off', async () => {
      begin({ autoApprovalEnabled: true, dismissedHints: AGREED_TO_ALL });
      openMenu();
      await click('All');
      expect(dialog()).toBeNull();
      expect(saved()[0]).toMatchObject({ alwaysAllowExecute: true });
      expect(saved()[0]).not.toHaveProperty('dismissedHints');
      await page.settle(() => page.answer('updateSettings'));
      page.publish({
        type: 'settingsUpdated',
        settings: settings({ autoApprovalEnabled: true }),
        fixed: []
      });
      await click('None');
      expect(dialog()).toBeNull();
      expect(saved()[1]).toMatchObject({ alwaysAllowExecute: false });
    });

    it('should ask anew about a kind nobody has agreed to', async () => {
      begin({
        autoApprovalEnabled: true,
        dismissedHints: ['other', ...AGREED_TO_ALL.slice(1)]
      });
      openMenu();
      await click('All');
      await press('accept');
      expect(saved()[0]).toMatchObject({
        dismissedHints: ['other', ...AGREED_TO_ALL.slice(1), AGREED_TO_ALL[0]]
      });
    });

    it('should not promise what the operator does not allow', async () => {
      begin({ autoApprovalEnabled: true }, [
        'alwaysAllowExecute',
        'dismissedHints'
      ]);
      openMenu();
      await click('All');
      expect(listed().join('\n')).not.toContain('shell commands');
      await press('accept');
      expect(saved()[0]).not.toHaveProperty('alwaysAllowExecute');
      expect(saved()[0]).not.toHaveProperty('dismissedHints');
    });

    it.each([
      [[], "You haven't allowed any yet"],
      [['git log', '*'], 'any command'],
      [Array.from({ length: 10 }, (_, at) => `c${at}`), 'c7, and 2 more.'],
      [['ls\u202e'], 'ls⟨U+202E']
    ])('should say what the allowed commands %j mean', async (rules, words) => {
      begin({ autoApprovalEnabled: true, allowedCommands: rules });
      openMenu();
      await click('All');
      expect(listed().join('\n')).toContain(words);
    });
  });

  describe('the command and its keys', () => {
    it('should say what the chosen kinds make possible, and ask once', async () => {
      begin({ alwaysAllowReadOnly: true, alwaysAllowRunCells: true });
      await toggle();
      expect(saved()).toEqual([]);
      // What reaches farther comes first.
      expect(listed()).toEqual([
        expect.stringContaining('runs any code'),
        expect.stringContaining('reads any file')
      ]);
      await press('accept');
      expect(saved()).toEqual([
        {
          autoApprovalEnabled: true,
          dismissedHints: [
            'autoApproval.alwaysAllowReadOnly',
            'autoApproval.alwaysAllowRunCells'
          ]
        }
      ]);
      await page.settle(() => page.answer('updateSettings'));
    });

    it('should change nothing without a yes', async () => {
      begin({ alwaysAllowReadOnly: true });
      await toggle();
      await press('reject');
      expect(saved()).toEqual([]);
    });

    it('should just switch on what allows nothing, or was agreed to', async () => {
      begin({});
      await toggle();
      expect(dialog()).toBeNull();
      expect(saved()).toEqual([{ autoApprovalEnabled: true }]);
      await page.settle(() => page.answer('updateSettings'));
      page.publish({
        type: 'settingsUpdated',
        settings: settings({
          alwaysAllowReadOnly: true,
          dismissedHints: AGREED_TO_ALL
        }),
        fixed: []
      });
      await toggle();
      expect(dialog()).toBeNull();
      expect(saved()[1]).toEqual({ autoApprovalEnabled: true });
      await page.settle(() => page.answer('updateSettings'));
    });

    it('should never ask to switch off', async () => {
      begin({ autoApprovalEnabled: true, alwaysAllowExecute: true });
      await toggle();
      expect(dialog()).toBeNull();
      expect(saved()).toEqual([{ autoApprovalEnabled: false }]);
      await page.settle(() => page.answer('updateSettings'));
    });
  });

  describe('a box', () => {
    const COMMANDS = 'Running shell commands';
    const off = Object.fromEntries(APPROVED_CLASSES.map(name => [name, false]));

    it('should look off while everything is asked about', () => {
      begin({ ...off, autoApprovalEnabled: false, alwaysAllowExecute: true });
      openMenu();
      expect(box(COMMANDS)?.checked).toBe(false);
      page.publish({
        type: 'settingsUpdated',
        settings: settings({
          ...off,
          autoApprovalEnabled: true,
          alwaysAllowExecute: true
        }),
        fixed: []
      });
      expect(box(COMMANDS)?.checked).toBe(true);
    });

    it('should let nothing else be done when it is the first, and ask', async () => {
      begin({
        alwaysAllowExecute: true,
        alwaysAllowNetwork: true,
        allowedCommands: ['ls']
      });
      openMenu();
      await check(COMMANDS);
      expect(listed()).toEqual([expect.stringContaining('begin with: ls')]);
      expect(saved()).toEqual([]);
      await press('accept');
      expect(saved()).toEqual([
        {
          ...off,
          autoApprovalEnabled: true,
          alwaysAllowExecute: true,
          dismissedHints: ['autoApproval.alwaysAllowExecute']
        }
      ]);
    });

    it('should change nothing without a yes', async () => {
      begin({ autoApprovalEnabled: true });
      openMenu();
      await check(COMMANDS);
      await press('reject');
      expect(saved()).toEqual([]);
    });

    it('should leave the others as they are while something is allowed', async () => {
      begin({
        autoApprovalEnabled: true,
        alwaysAllowReadOnly: true,
        dismissedHints: AGREED_TO_ALL
      });
      openMenu();
      await check(COMMANDS);
      expect(dialog()).toBeNull();
      expect(saved()).toEqual([{ alwaysAllowExecute: true }]);
    });

    it('should not ask about what can be taken back', async () => {
      begin({});
      openMenu();
      await check('Editing');
      expect(dialog()).toBeNull();
      expect(saved()).toEqual([
        { ...off, autoApprovalEnabled: true, alwaysAllowWrite: true }
      ]);
    });

    it('should never ask to switch off', async () => {
      begin({ autoApprovalEnabled: true, alwaysAllowExecute: true });
      openMenu();
      await check(COMMANDS);
      expect(dialog()).toBeNull();
      expect(saved()).toEqual([{ alwaysAllowExecute: false }]);
    });

    it('should take every press while another is saved, and the last one wins', async () => {
      begin({ autoApprovalEnabled: true, dismissedHints: AGREED_TO_ALL });
      openMenu();
      await check(COMMANDS);
      await check('Editing');
      await check(COMMANDS);
      expect(saved()).toEqual([{ alwaysAllowExecute: true }]);
      expect(box(COMMANDS)?.checked).toBe(false);
      expect(box('Editing')?.checked).toBe(true);
      for (let press = 0; press < 3; press++) {
        await page.settle(() => page.answer('updateSettings'));
      }
      expect(saved()).toEqual([
        { alwaysAllowExecute: true },
        { alwaysAllowWrite: true },
        { alwaysAllowExecute: false }
      ]);
    });

    it('should be as it was saved where a press is refused, and save the next', async () => {
      begin({ autoApprovalEnabled: true, dismissedHints: AGREED_TO_ALL });
      openMenu();
      await check(COMMANDS);
      await check('Editing');
      await page.settle(() =>
        page.answer('updateSettings', { code: 'x', message: 'No room.' })
      );
      expect(box(COMMANDS)?.checked).toBe(false);
      expect(box('Editing')?.checked).toBe(true);
      expect(saved()[1]).toEqual({ alwaysAllowWrite: true });
      expect(
        page.find('.jp-hdspAgent-autoApprove-body [role="alert"]')?.textContent
      ).toBe('No room.');
    });

    it('should leave alone what the administrator has set', async () => {
      begin({ dismissedHints: AGREED_TO_ALL }, [
        'autoApprovalEnabled',
        'alwaysAllowNetwork'
      ]);
      openMenu();
      await check(COMMANDS);
      const [change] = saved();
      expect(change).toMatchObject({
        alwaysAllowExecute: true,
        alwaysAllowMcp: false
      });
      expect(change).not.toHaveProperty('autoApprovalEnabled');
      expect(change).not.toHaveProperty('alwaysAllowNetwork');
    });
  });

  it('should let everything be done by All though nothing was', async () => {
    begin({ dismissedHints: AGREED_TO_ALL });
    openMenu();
    await click('All');
    expect(saved()).toEqual([
      {
        ...Object.fromEntries(APPROVED_CLASSES.map(name => [name, true])),
        autoApprovalEnabled: true
      }
    ]);
  });
});

import { Dialog } from '@jupyterlab/apputils';

import { APPROVAL_PRESETS } from '../../../../generated/wire';
import type {
  ExtensionState,
  GlobalSettings,
  HistoryItem
} from '../../../../generated/wire';
import { anItem } from '../../../header/__tests__/conversations';
import {
  READY,
  WrittenPanel
} from '../../../composer/__tests__/openedcomposer';
import { settings } from '../../__tests__/openedask';
import { APPROVED_CLASSES } from '../../autoapproval/approvedclasses';
import type { ApprovalPreset } from '../approvals';
import { approvalsOf, PRESETS, presetOf } from '../approvals';

const KINDS = APPROVED_CLASSES.filter(
  name => name !== 'alwaysAllowFollowupQuestions'
);
const AGREED = APPROVED_CLASSES.map(name => `autoApproval.${name}`);

/** What the settings are when a preset always holds. */
function valuesOf(preset: ApprovalPreset): Partial<GlobalSettings> {
  const allowed: readonly string[] = APPROVAL_PRESETS[preset];
  return {
    autoApprovalEnabled: preset !== 'ask',
    ...Object.fromEntries(KINDS.map(name => [name, allowed.includes(name)]))
  };
}

/** Settings like those of a server, on which nothing is done without asking. */
function saved(change: Partial<GlobalSettings> = {}): GlobalSettings {
  return settings({
    ...valuesOf('ask'),
    alwaysAllowFollowupQuestions: false,
    ...change
  });
}

describe('approvalsOf', () => {
  const state = (
    item: Partial<HistoryItem> | null,
    change: Partial<GlobalSettings> = {}
  ): ExtensionState => ({
    settings: saved(change),
    ...(item ? { currentTaskItem: anItem(item) } : {})
  });
  const notebook = { path: 'a.ipynb' };
  const byNotebook = {
    ...valuesOf('editAndRun'),
    notebookApprovals: { 'a.ipynb': 'edit' as const }
  };

  it('should not be known before the settings are', () => {
    expect(approvalsOf({}, null, null)).toBeNull();
  });

  it('should take the conversation before its notebook, and that before the settings', () => {
    expect(
      approvalsOf(
        state({ notebook, approvalPreset: 'everything' }, byNotebook),
        null,
        null
      )
    ).toEqual({
      preset: 'everything',
      scope: 'conversation',
      notebook: 'a.ipynb'
    });
    expect(approvalsOf(state({ notebook }, byNotebook), null, null)).toEqual({
      preset: 'edit',
      scope: 'notebook',
      notebook: 'a.ipynb'
    });
    expect(
      approvalsOf(
        state({ notebook: { path: 'b.ipynb' } }, byNotebook),
        null,
        null
      )
    ).toEqual({ preset: 'editAndRun', scope: 'always', notebook: 'b.ipynb' });
    expect(approvalsOf(state({}, byNotebook), null, null)).toEqual({
      preset: 'editAndRun',
      scope: 'always',
      notebook: null
    });
  });

  it('should know a notebook by its whole path', () => {
    const notebookApprovals = {
      '/home/ada/a.ipynb': 'edit',
      'a.ipynb': 'everything',
      '/a.ipynb': 'editAndRun'
    } as const;
    const at = (notebookRoot: string) =>
      approvalsOf(
        { ...state({ notebook }, { notebookApprovals }), notebookRoot },
        null,
        null
      )?.preset;
    expect(at('/home/ada')).toBe('edit');
    expect(at('/')).toBe('editAndRun');
    expect(at('/home/bob')).toBe('ask');
  });

  it('should take the choice and the notebook of a conversation that is yet to begin', () => {
    expect(approvalsOf(state(null, byNotebook), 'ask', 'a.ipynb')).toEqual({
      preset: 'ask',
      scope: 'conversation',
      notebook: 'a.ipynb'
    });
    expect(approvalsOf(state(null, byNotebook), null, 'a.ipynb')).toEqual({
      preset: 'edit',
      scope: 'notebook',
      notebook: 'a.ipynb'
    });
  });

  it('should not take for a conversation what was chosen for the next one', () => {
    expect(approvalsOf(state({}), 'everything', 'a.ipynb')).toEqual({
      preset: 'ask',
      scope: 'always',
      notebook: null
    });
  });
});

describe('presetOf', () => {
  it.each(PRESETS)('should find %s in the settings', preset => {
    expect(presetOf(saved(valuesOf(preset)))).toBe(preset);
  });

  it('should ask while nothing is done without asking, whatever is set', () => {
    expect(
      presetOf(saved({ ...valuesOf('everything'), autoApprovalEnabled: false }))
    ).toBe('ask');
  });

  it('should not mind whether questions are answered', () => {
    expect(
      presetOf(
        saved({ ...valuesOf('edit'), alwaysAllowFollowupQuestions: true })
      )
    ).toBe('edit');
  });

  it.each([
    [{ ...valuesOf('edit'), alwaysAllowNetwork: true }],
    [{ ...valuesOf('editAndRun'), alwaysAllowWrite: false }]
  ])('should call anything else custom: %j', change => {
    expect(presetOf(saved(change))).toBe('custom');
  });
});

describe('ApprovalMenu', () => {
  let page: WrittenPanel;

  beforeEach(() => {
    page = new WrittenPanel();
  });

  afterEach(() => {
    Dialog.flush();
    page.dispose();
  });

  const show = (
    item: Partial<HistoryItem> | null,
    change: Partial<GlobalSettings> = {},
    fixed: string[] = []
  ) =>
    page.begin({
      ...READY,
      settings: saved(change),
      fixed,
      ...(item
        ? {
            currentTaskId: 't',
            currentTaskStatus: 'idle',
            currentTaskItem: anItem({ id: 't', ...item })
          }
        : {})
    });
  const menu = () => page.find('.jp-hdspAgent-approvals');
  const open = async () => {
    await page.settle(() => menu()?.click());
    await page.settle();
  };
  const popup = () => page.find('.jp-hdspAgent-ask-popover');
  const radio = (name: string) =>
    page
      .findAll('.jp-hdspAgent-approvals-preset')
      .find(label => label.querySelector('strong')?.textContent === name)
      ?.querySelector('input');
  const chosen = () =>
    page
      .findAll('.jp-hdspAgent-approvals-preset')
      .filter(label => label.querySelector('input')?.checked)
      .map(label => label.querySelector('strong')?.textContent);
  const choose = async (name: string) => {
    await page.settle(() => radio(name)?.click());
    await page.settle();
  };
  const select = () =>
    popup()?.querySelector<HTMLSelectElement>('.jp-hdspAgent-select');
  const holdFor = async (scope: string) => {
    await page.settle(() => {
      const field = select();
      if (field) {
        field.value = scope;
        field.dispatchEvent(new Event('change', { bubbles: true }));
      }
    });
    await page.settle();
  };
  const dialog = () => document.querySelector<HTMLElement>('.jp-Dialog');
  const press = async (kind: 'warn' | 'reject') => {
    await page.settle(() =>
      dialog()
        ?.querySelector<HTMLElement>(`.jp-Dialog-footer .jp-mod-${kind}`)
        ?.click()
    );
    await page.settle();
  };
  const changes = () =>
    page.sent('updateSettings').map(({ updatedSettings }) => updatedSettings);
  const ofNotebook = () =>
    page.sent('updateSettings').map(({ notebookApproval }) => notebookApproval);
  const presets = () =>
    page
      .sent('setTaskApprovals')
      .map(({ taskId, approvalPreset }) => [taskId, approvalPreset]);
  const answer = (type: string) => page.settle(() => page.answer(type));

  it('should be gone through with the arrows, and choose nothing on the way', async () => {
    show({ approvalPreset: 'ask' });
    await open();
    const at = () =>
      (document.activeElement as HTMLElement)
        .closest('label')
        ?.querySelector('strong')?.textContent;
    const key = (name: string) =>
      page.settle(() =>
        document.activeElement?.dispatchEvent(
          new KeyboardEvent('keydown', {
            key: name,
            bubbles: true,
            cancelable: true
          })
        )
      );
    radio('Ask')?.focus();
    for (const name of ['Edit freely', 'Edit and run', 'Everything here']) {
      await key('ArrowDown');
      expect(at()).toBe(name);
    }
    await key('ArrowUp');
    await key('ArrowUp');
    expect(at()).toBe('Edit freely');
    expect(chosen()).toEqual(['Ask']);
    expect(dialog()).toBeNull();
    expect(presets()).toEqual([]);
    await key('Enter');
    expect(presets()).toEqual([['t', 'edit']]);
  });

  it('should not be there before the settings are known', () => {
    page.begin(READY);
    expect(menu()).toBeNull();
  });

  it('should say what holds, and follow it', () => {
    show({ notebook: { path: 'a.ipynb' } }, valuesOf('edit'));
    expect(menu()?.textContent).toBe('Edit freely');
    expect(menu()?.getAttribute('aria-label')).toBe('Edit freely (approvals)');
    expect(menu()?.title).toBe(
      'Approvals: Edit freely. Edits cells and files. Asks before it runs code.'
    );
    page.publish({
      type: 'taskHistoryItemUpdated',
      taskHistoryItem: anItem({ id: 't', approvalPreset: 'everything' })
    });
    expect(menu()?.textContent).toBe('Everything here');
    page.publish({
      type: 'taskHistoryItemUpdated',
      taskHistoryItem: anItem({ id: 't' })
    });
    page.publish({
      type: 'settingsUpdated',
      settings: saved({ ...valuesOf('edit'), alwaysAllowNetwork: true }),
      fixed: []
    });
    expect(menu()?.textContent).toBe('Custom');
  });

  it('should offer the presets with their meaning, and say where the one that holds does', async () => {
    show(
      { notebook: { path: 'work/a.ipynb' } },
      {
        notebookApprovals: { 'work/a.ipynb': 'editAndRun' }
      }
    );
    await open();
    expect(
      page
        .findAll('.jp-hdspAgent-approvals-preset strong')
        .map(({ textContent }) => textContent)
    ).toEqual([
      'Ask',
      'Edit freely',
      'Edit and run',
      'Everything here',
      'Custom'
    ]);
    expect(popup()?.textContent).toContain('Asks before shell commands.');
    expect(chosen()).toEqual(['Edit and run']);
    expect([...(select()?.options ?? [])].map(({ text }) => text)).toEqual([
      'This conversation',
      'Notebook a.ipynb',
      'All conversations'
    ]);
    expect(select()?.value).toBe('notebook');
  });

  it('should not offer a notebook where there is none', async () => {
    show({});
    await open();
    expect([...(select()?.options ?? [])].map(({ value }) => value)).toEqual([
      'conversation',
      'always'
    ]);
  });

  describe('for a conversation', () => {
    it('should set it there alone, and confirm no edits', async () => {
      show({ approvalPreset: 'ask' });
      await open();
      await choose('Edit freely');
      expect(dialog()).toBeNull();
      expect(presets()).toEqual([['t', 'edit']]);
      await answer('setTaskApprovals');
      expect(changes()).toEqual([]);
    });

    it('should confirm what runs code, once', async () => {
      show({ approvalPreset: 'ask' });
      await open();
      await choose('Edit and run');
      expect(dialog()?.textContent).toContain('runs any code');
      expect(dialog()?.textContent).toContain('In this conversation:');
      expect(presets()).toEqual([]);
      await press('warn');
      expect(presets()).toEqual([['t', 'editAndRun']]);
      await answer('setTaskApprovals');
      expect(changes()).toEqual([
        { dismissedHints: ['autoApproval.alwaysAllowRunCells'] }
      ]);
      await answer('updateSettings');
      page.publish({
        type: 'settingsUpdated',
        settings: saved({
          dismissedHints: ['autoApproval.alwaysAllowRunCells']
        }),
        fixed: []
      });
      await choose('Edit and run');
      expect(dialog()).toBeNull();
      expect(presets()).toHaveLength(2);
      await answer('setTaskApprovals');
      expect(changes()).toHaveLength(1);
    });

    it('should change nothing without a yes', async () => {
      show({ approvalPreset: 'ask' });
      await open();
      await choose('Everything here');
      expect(dialog()?.textContent).toContain('Running shell commands');
      await press('reject');
      expect(presets()).toEqual([]);
      expect(changes()).toEqual([]);
      expect(chosen()).toEqual(['Ask']);
    });

    it('should say why it was refused', async () => {
      show({ approvalPreset: 'ask' });
      await open();
      await choose('Edit freely');
      await page.settle(() =>
        page.answer('setTaskApprovals', {
          code: 'some_code_without_translation',
          message: 'Not here.',
          params: {}
        })
      );
      expect(popup()?.querySelector('[role="alert"]')?.textContent).toBe(
        'Not here.'
      );
      expect(chosen()).toEqual(['Ask']);
    });
  });

  describe('for a conversation that is yet to begin', () => {
    it('should be kept until it begins, and go along then', async () => {
      show(null);
      page.act(() => {
        page.panel.services.state.approvalChoice = 'ask';
      });
      await open();
      await choose('Edit freely');
      expect(page.panel.services.state.approvalChoice).toBe('edit');
      expect(menu()?.textContent).toBe('Edit freely');
      expect(presets()).toEqual([]);
      expect(changes()).toEqual([]);
      page.type('Plot it');
      await page.settle(() => page.press('Enter'));
      expect(page.sent('newTask')).toMatchObject([
        { text: 'Plot it', approvalPreset: 'edit' }
      ]);
      await page.settle(() => page.answer('newTask', null, 't'));
      expect(page.panel.services.state.approvalChoice).toBeNull();
    });

    it('should be kept for another try where it could not begin', async () => {
      show(null);
      page.act(() => {
        page.panel.services.state.approvalChoice = 'edit';
      });
      page.type('Plot it');
      await page.settle(() => page.press('Enter'));
      await page.settle(() =>
        page.answer('newTask', { code: 'nothing_known', message: 'Disk full.' })
      );
      expect(page.panel.services.state.approvalChoice).toBe('edit');
    });

    it('should say nothing of approvals when nothing was chosen', async () => {
      show(null);
      page.type('Plot it');
      await page.settle(() => page.press('Enter'));
      expect(page.sent('newTask')).toHaveLength(1);
      expect(page.sent('newTask')[0]).not.toHaveProperty('approvalPreset');
    });

    it('should hold for the notebook that was chosen for it', async () => {
      show(null);
      page.act(() => {
        page.panel.services.state.notebookChoice = {
          kind: 'chosen',
          path: 'a.ipynb'
        };
      });
      await open();
      await holdFor('notebook');
      await choose('Edit freely');
      expect(changes()).toEqual([{}]);
      expect(ofNotebook()).toEqual([
        { path: 'a.ipynb', approvalPreset: 'edit' }
      ]);
    });
  });

  describe('for a notebook', () => {
    it('should be saved alone, whatever holds for others', async () => {
      show(
        { notebook: { path: 'a.ipynb' } },
        {
          notebookApprovals: { 'a.ipynb': 'ask', 'b.ipynb': 'everything' }
        }
      );
      await open();
      await choose('Edit freely');
      expect(changes()).toEqual([{}]);
      expect(ofNotebook()).toEqual([
        { path: 'a.ipynb', approvalPreset: 'edit' }
      ]);
      expect(presets()).toEqual([]);
    });

    it('should be confirmed and saved at once where it runs code', async () => {
      show(
        { notebook: { path: 'a.ipynb' } },
        {
          notebookApprovals: { 'a.ipynb': 'ask' }
        }
      );
      await open();
      await choose('Edit and run');
      expect(dialog()?.textContent).toContain('about this notebook');
      await press('warn');
      expect(changes()).toEqual([
        { dismissedHints: ['autoApproval.alwaysAllowRunCells'] }
      ]);
      expect(ofNotebook()).toEqual([
        { path: 'a.ipynb', approvalPreset: 'editAndRun' }
      ]);
    });
  });

  describe('for always', () => {
    it('should set each kind, but for answers to questions', async () => {
      show({}, { dismissedHints: AGREED });
      await open();
      await holdFor('always');
      await choose('Everything here');
      expect(changes()).toEqual([valuesOf('everything')]);
      expect(presets()).toEqual([]);
    });

    it('should ask again by setting all of it off', async () => {
      show({}, valuesOf('edit'));
      await open();
      await holdFor('always');
      await choose('Ask');
      expect(dialog()).toBeNull();
      expect(changes()).toEqual([valuesOf('ask')]);
    });

    it('should leave out what the administrator has set', async () => {
      show({}, { dismissedHints: AGREED }, [
        'alwaysAllowExecute',
        'alwaysAllowMcp'
      ]);
      await open();
      await holdFor('always');
      await choose('Everything here');
      const { alwaysAllowExecute, alwaysAllowMcp, ...others } =
        valuesOf('everything');
      expect([alwaysAllowExecute, alwaysAllowMcp]).toEqual([true, true]);
      expect(changes()).toEqual([others]);
    });

    it('should be confirmed for all conversations', async () => {
      show({});
      await open();
      await holdFor('always');
      await choose('Edit and run');
      expect(dialog()?.textContent).toContain('In all your conversations');
      await press('reject');
      expect(changes()).toEqual([]);
    });
  });

  describe('moved to where it is to hold', () => {
    it('should leave the conversation for its notebook', async () => {
      show({ notebook: { path: 'a.ipynb' }, approvalPreset: 'edit' });
      await open();
      expect(select()?.value).toBe('conversation');
      await holdFor('notebook');
      expect(presets()).toEqual([['t', undefined]]);
      await answer('setTaskApprovals');
      expect(changes()).toEqual([{}]);
      expect(ofNotebook()).toEqual([
        { path: 'a.ipynb', approvalPreset: 'edit' }
      ]);
    });

    it('should leave the conversation and the notebook for always', async () => {
      show(
        { notebook: { path: 'a.ipynb' }, approvalPreset: 'edit' },
        {
          notebookApprovals: { 'a.ipynb': 'ask', 'b.ipynb': 'everything' }
        }
      );
      await open();
      await holdFor('always');
      expect(presets()).toEqual([['t', undefined]]);
      await answer('setTaskApprovals');
      expect(changes()).toEqual([valuesOf('edit')]);
      expect(ofNotebook()).toEqual([{ path: 'a.ipynb' }]);
    });

    it('should change what always holds for none but who says so', async () => {
      show({}, valuesOf('edit'));
      await open();
      expect(select()?.value).toBe('conversation');
      await holdFor('always');
      await holdFor('conversation');
      expect(changes()).toEqual([]);
      expect(presets()).toEqual([]);
      await choose('Ask');
      expect(presets()).toEqual([['t', 'ask']]);
      await answer('setTaskApprovals');
      expect(changes()).toEqual([]);
    });

    it('should say in a sentence what holds and where', async () => {
      const notebookApprovals = { 'a.ipynb': 'editAndRun' } as const;
      show({ notebook: { path: 'a.ipynb' } }, { notebookApprovals });
      await open();
      expect(popup()?.textContent).toContain(
        'In conversations about a.ipynb: Edit and run.'
      );
      page.publish({
        type: 'settingsUpdated',
        settings: saved({}),
        fixed: []
      });
      expect(popup()?.textContent).toContain('In all conversations: Ask.');
      expect(popup()?.textContent).not.toContain('Use my default');
    });

    it('should be taken back in the same place', async () => {
      show({ approvalPreset: 'edit' });
      await open();
      expect(popup()?.textContent).toContain(
        'In this conversation: Edit freely.'
      );
      await page.settle(() => page.button('Use my default').click());
      expect(presets()).toEqual([['t', undefined]]);
    });
  });

  describe('Custom', () => {
    it('should show the boxes, and let the settings decide', async () => {
      show(
        { notebook: { path: 'a.ipynb' }, approvalPreset: 'edit' },
        {
          notebookApprovals: { 'a.ipynb': 'ask' }
        }
      );
      await open();
      expect(popup()?.querySelector('[type="checkbox"]')).toBeNull();
      await choose('Custom');
      expect(chosen()).toEqual(['Custom']);
      expect(popup()?.querySelectorAll('[type="checkbox"]')).toHaveLength(
        APPROVED_CLASSES.length
      );
      expect(select()).toBeNull();
      expect(presets()).toEqual([['t', undefined]]);
      await answer('setTaskApprovals');
      expect(changes()).toEqual([{}]);
      expect(ofNotebook()).toEqual([{ path: 'a.ipynb' }]);
    });

    it('should be what it shows where the settings are no preset', async () => {
      show({}, { ...valuesOf('edit'), alwaysAllowNetwork: true });
      await open();
      expect(chosen()).toEqual(['Custom']);
      expect(popup()?.querySelector('[type="checkbox"]')).not.toBeNull();
    });

    it('should not be written over by a preset', async () => {
      show({}, { ...valuesOf('edit'), alwaysAllowNetwork: true });
      await open();
      await choose('Edit freely');
      expect(presets()).toEqual([['t', 'edit']]);
      await answer('setTaskApprovals');
      expect(changes()).toEqual([]);
    });

    it('should keep its boxes when another choice is not confirmed', async () => {
      show({}, { ...valuesOf('edit'), alwaysAllowNetwork: true });
      await open();
      await choose('Edit and run');
      await press('reject');
      expect(chosen()).toEqual(['Custom']);
      expect(popup()?.querySelector('[type="checkbox"]')).not.toBeNull();
    });

    it('should forget what was chosen for the conversation that is yet to begin', async () => {
      show(null);
      page.act(() => {
        page.panel.services.state.approvalChoice = 'edit';
      });
      await open();
      await choose('Custom');
      expect(page.panel.services.state.approvalChoice).toBeNull();
      expect(changes()).toEqual([]);
    });
  });

  it('should say that the administrator has set it, and change nothing', async () => {
    show({}, {}, ['autoApprovalEnabled']);
    await open();
    expect(popup()?.textContent).toContain('Set by your administrator.');
    expect(popup()?.querySelector('fieldset')?.disabled).toBe(true);
    expect(select()).toBeNull();
    await choose('Edit freely');
    expect(presets()).toEqual([]);
    expect(changes()).toEqual([]);
  });
});

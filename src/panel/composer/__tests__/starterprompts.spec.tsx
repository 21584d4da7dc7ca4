import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { MessageLoop } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import * as React from 'react';
import { createRoot } from 'react-dom/client';

import { CommandIDs } from '../../../ui/commandids';
import { PanelContext } from '../../../ui/services';
import { addComposerCommands } from '../composercommands';
import { StarterPrompts } from '../starterprompts';
import { READY, WORKING, WrittenPanel } from './openedcomposer';

/** A tracker with these notebooks, the first in front; null for none. */
class Front {
  constructor(paths: readonly string[]) {
    this._panels = paths.map(
      path =>
        ({
          isDisposed: false,
          context: {
            path,
            localPath: path.replace(/^\w+:/, ''),
            pathChanged: new Signal({}),
            isReady: true,
            ready: Promise.resolve(),
            model: {
              metadataChanged: new Signal({}),
              getMetadata: () => undefined
            }
          },
          content: { activeCell: { model: { id: 'c1' } } }
        }) as unknown as NotebookPanel
    );
  }

  readonly currentChanged = new Signal<this, NotebookPanel | null>(this);
  readonly activeCellChanged = new Signal<this, null>(this);
  readonly widgetAdded = new Signal<this, NotebookPanel>(this);

  get currentWidget(): NotebookPanel | null {
    return this._panels[0] ?? null;
  }

  forEach(visit: (panel: NotebookPanel) => void): void {
    this._panels.forEach(visit);
  }

  find(wanted: (panel: NotebookPanel) => boolean): NotebookPanel | undefined {
    return this._panels.find(wanted);
  }

  close(): void {
    this._panels.shift();
    this.currentChanged.emit(this.currentWidget);
  }

  private readonly _panels: NotebookPanel[];
}

describe('a conversation that is yet to begin', () => {
  let page: WrittenPanel;
  let front: Front;

  beforeEach(() => {
    page = new WrittenPanel();
    front = new Front(['RTC:data/work.ipynb', 'b.ipynb', 'Other:c.ipynb']);
    Object.assign(page.panel.services, {
      notebooks: front as unknown as INotebookTracker
    });
  });

  afterEach(() => {
    document.querySelectorAll('.lm-Menu').forEach(node => node.remove());
    page.dispose();
  });

  const row = () => page.find('.jp-hdspAgent-binding button');
  const entries = () =>
    [...document.querySelectorAll('.lm-Menu-itemLabel')].map(
      node => node.textContent
    );
  const send = async () => {
    page.type('Go');
    await page.settle(() => page.press('Enter'));
    return page.sent('newTask').at(-1)?.notebook;
  };

  it('should say what it works on, and do so', async () => {
    page.begin(READY);
    expect(row()?.textContent).toBe('Works on work.ipynb');
    expect(await send()).toEqual({ path: 'data/work.ipynb', cellId: 'c1' });
  });

  it('should follow the notebook in front', () => {
    page.begin(READY);
    page.act(() => front.close());
    expect(row()?.textContent).toBe('Works on b.ipynb');
    page.act(() => front.close());
    expect(row()).toBeNull();
  });

  it('should work on another notebook, or none, where that is chosen', async () => {
    page.begin(READY);
    page.act(() => row()?.click());
    expect(entries()).toEqual([
      'Current Notebook',
      'data/work.ipynb',
      'b.ipynb',
      '',
      'No Notebook'
    ]);
    page.act(() => {
      page.panel.services.state.notebookChoice = {
        kind: 'chosen',
        path: 'b.ipynb'
      };
    });
    expect(row()?.textContent).toBe('Works on b.ipynb');
    page.act(() => {
      page.panel.services.state.notebookChoice = { kind: 'none' };
    });
    expect(row()?.textContent).toBe('Works on no notebook');
    expect(await send()).toBeUndefined();
    await page.settle(() => page.answer('newTask', null, 't'));
    expect(page.panel.services.state.notebookChoice).toEqual({ kind: 'front' });
  });

  it('should have said so once it has begun', () => {
    page.begin(WORKING);
    expect(row()).toBeNull();
  });

  it('should have prompts to begin with, which are put into the field', () => {
    page.begin(READY);
    const host = document.createElement('div');
    page.node.append(host);
    const root = createRoot(host);
    page.act(() =>
      root.render(
        <PanelContext.Provider value={page.panel.services}>
          <StarterPrompts />
        </PanelContext.Provider>
      )
    );
    page.act(() => page.button('Check the data').click());
    expect(page.field.value).toContain('missing values');
    expect(document.activeElement).toBe(page.field);
    expect(page.sent('newTask')).toEqual([]);
    page.act(() => page.button('Explain this notebook').click());
    expect(page.field.value).toMatch(/^Explain what this notebook does/);
    expect(page.field.value).not.toContain('missing values');
    page.type('Only rows of May');
    page.act(() => page.button('Check the data').click());
    expect(page.field.value).toMatch(/^Only rows of May\n\nCheck the data/);
    page.act(() => {
      front.close();
      front.close();
      front.close();
    });
    expect(page.button('Explore a data file')).toBeTruthy();
    page.act(() => root.unmount());
  });

  it('should begin from elsewhere with a text, which is not sent', async () => {
    page.begin(WORKING);
    const ran: string[] = [];
    const added = addComposerCommands(page.panel.services);
    for (const id of [CommandIDs.open, CommandIDs.newConversation]) {
      page.commands.addCommand(id, { execute: () => ran.push(id) });
    }
    await page.settle(
      () => void page.commands.execute(CommandIDs.ask, { text: 'Hello' })
    );
    expect(ran).toEqual([CommandIDs.open, CommandIDs.newConversation]);
    const { state } = page.panel.services;
    expect(state.draft(null).text).toBe('Hello');
    state.setDraft(null, { text: 'What I typed' });
    await page.settle(
      () => void page.commands.execute(CommandIDs.ask, { text: 'Hello' })
    );
    expect(state.draft(null).text).toBe('What I typed\n\nHello');
    added.dispose();
  });

  it('should tell only once that there is no model', () => {
    const note = () => page.find('#jp-hdspAgent-composer-note');
    page.begin({ canStartTasks: true });
    expect(page.find('.jp-hdspAgent-firstRun')).not.toBeNull();
    expect(note()).toBeNull();
    page.publish({
      type: 'state',
      state: { ...WORKING, listApiConfigMeta: [] }
    });
    expect(note()?.textContent).toContain('Choose a model before you send.');
  });

  it('should be ready to be asked from the history, with the field in focus', async () => {
    page.begin(READY);
    const { panel } = page;
    const added = addComposerCommands(panel.services);
    page.commands.addCommand(CommandIDs.open, {
      execute: () => MessageLoop.sendMessage(panel, Widget.Msg.ActivateRequest)
    });
    await page.settle(() => {
      panel.services.state.page = 'history';
    });
    expect(page.field).toBeNull();
    // Not within act(), which would put off what React does at once in a page.
    await page.commands.execute(CommandIDs.ask);
    expect(document.activeElement).toBe(page.field);
    expect(page.commands.label(CommandIDs.ask, { isLauncher: true })).toBe(
      'Agent'
    );
    added.dispose();
  });
});

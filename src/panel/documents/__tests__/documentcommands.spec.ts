import type { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { Widget } from '@lumino/widgets';

import { CommandIDs } from '../../../ui/commandids';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { addComposerCommands } from '../../composer/composercommands';
import { addDocumentCommands } from '../documentcommands';

const TERMINAL = 'Terminal 1';
const CONSOLE = 'Console 1';

/**
 * A tab whose content is a terminal, as far as anybody asks it.
 */
function terminal(selection: string, ...lines: readonly string[]): Widget {
  const widget = new Widget();
  widget.title.label = TERMINAL;
  const getLine = (index: number) => {
    const line = lines[index];
    return line === undefined
      ? undefined
      : {
          // One that goes on the line before begins with this here.
          isWrapped: line.startsWith('…'),
          translateToString: (trimRight: boolean) =>
            (trimRight ? line.trimEnd() : line).replace('…', '')
        };
  };
  return Object.assign(widget, {
    content: {
      hasSelection: () => selection !== '',
      getSelection: () => selection,
      _term: { buffer: { active: { length: lines.length, getLine } } }
    }
  });
}

/**
 * A tab with a console that ran these cells.
 */
function withConsole(...sources: readonly string[]): Widget {
  const widget = new Widget();
  widget.title.label = CONSOLE;
  const cells = sources.map(source => ({
    model: {
      type: 'code',
      sharedModel: { getSource: () => source },
      outputs: {
        toJSON: () => [
          { output_type: 'stream', name: 'stdout', text: `out of ${source}\n` }
        ]
      }
    }
  }));
  return Object.assign(widget, { console: { cells } });
}

describe('adding documents to a message', () => {
  let page: OpenedPanel;
  let front: Widget | null;
  let selected: { path: string; type: string }[];

  beforeEach(() => {
    page = new OpenedPanel();
    front = null;
    selected = [];
    const { services } = page.panel;
    page.commands.addCommand(CommandIDs.open, { execute: () => undefined });
    addComposerCommands(services);
    addDocumentCommands({
      services,
      front: () => front,
      browsers: {
        tracker: { currentWidget: { selectedItems: () => selected.values() } }
      } as unknown as IFileBrowserFactory
    });
  });

  afterEach(() => {
    front?.dispose();
    page.dispose();
  });

  const draft = () => page.panel.services.state.draft(null);
  const isEnabled = (args = {}) =>
    page.commands.isEnabled(CommandIDs.attachDocument, args);
  const attach = (args = {}) =>
    page.commands.execute(CommandIDs.attachDocument, args);

  it('should name the files that are selected in the file browser', async () => {
    const args = { from: 'browser' };
    expect(isEnabled(args)).toBe(false);
    selected = [
      { path: 'data/a b.csv', type: 'file' },
      { path: 'plots', type: 'directory' }
    ];
    expect(isEnabled(args)).toBe(true);
    await attach(args);
    expect(draft().text).toBe('@/data/a\\ b.csv @/plots/ ');
  });

  it('should take what is selected in a terminal', async () => {
    front = terminal('make: *** [all] Error 2');
    expect(isEnabled()).toBe(true);
    await attach();
    expect(draft().attachments).toEqual([
      {
        kind: 'terminal',
        path: 'Terminal 1',
        cellId: null,
        label: TERMINAL,
        content: 'make: *** [all] Error 2'
      }
    ]);
  });

  it('should take the last lines of a terminal where nothing is selected', async () => {
    const many = Array.from({ length: 250 }, (_, index) => `line ${index}  `);
    front = terminal('', ...many, 'a long ', '…one', '$ ', '', '');
    await attach();
    const [{ content }] = draft().attachments;
    const lines = content?.split('\n') ?? [];
    expect(lines).toHaveLength(200);
    expect(lines.slice(-3)).toEqual(['line 249', 'a long one', '$']);
  });

  it('should take what a console ran last', async () => {
    front = withConsole('first', 'second');
    await attach();
    expect(draft().attachments).toMatchObject([
      { label: CONSOLE, content: 'second\n\nout of second\n' }
    ]);
  });

  it('should add nothing where there is nothing', async () => {
    expect(isEnabled()).toBe(false);
    front = terminal('');
    await attach();
    expect(draft().attachments).toEqual([]);
    front.dispose();
    front = new Widget();
    expect(isEnabled()).toBe(false);
  });

  it('should begin a conversation about it, and leave what one writes', async () => {
    front = withConsole('first');
    page.panel.services.state.setDraft(null, { text: 'I wrote' });
    await page.commands.execute(CommandIDs.askAboutDocument);
    expect(draft().text).toBe('I wrote');
    expect(draft().attachments).toHaveLength(1);
  });
});

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { StateDB } from '@jupyterlab/statedb';
import { CommandRegistry } from '@lumino/commands';
import { Panel, Widget } from '@lumino/widgets';

import { CommandIDs } from '../../ui/commandids';
import type { IAgentPanel } from '../../tokens';
import { placementPlugin } from '../placement';

/** A shell that has nothing but areas. */
class Areas {
  readonly left = new Panel();
  readonly right = new Panel();
  readonly main = new Panel();

  add = (widget: Widget, area: 'left' | 'right' | 'main'): void => {
    this[area].addWidget(widget);
  };

  activateById = (): void => undefined;

  /** Where a widget is; `null` if it is nowhere. */
  of(widget: Widget): string | null {
    const areas = ['left', 'right', 'main'] as const;
    return areas.find(area => this[area].widgets.includes(widget)) ?? null;
  }
}

describe('the place of the panel', () => {
  let areas: Areas;
  let commands: CommandRegistry;
  let memory: StateDB;
  let widget: Widget;

  const begin = async () => {
    areas = new Areas();
    commands = new CommandRegistry();
    widget = new Widget();
    areas.add(widget, 'left');
    const app = { commands, shell: areas, restored: Promise.resolve() };
    const panel = { widget, open: () => undefined } as IAgentPanel;
    await placementPlugin.activate(
      app as unknown as JupyterFrontEnd,
      panel,
      memory,
      null,
      null
    );
    await new Promise(resolve => setTimeout(resolve));
  };
  const move = (area: string) =>
    commands.execute(CommandIDs.movePanel, { area });

  beforeEach(async () => {
    memory = new StateDB();
    await begin();
  });

  it('should be what it was last', async () => {
    await move('right');
    expect(areas.of(widget)).toBe('right');
    await begin();
    expect(areas.of(widget)).toBe('right');
  });

  it('should be the side bar again when its tab is closed', async () => {
    await move('main');
    expect(widget.title.label).toBe('HDSP Agent');
    widget.close();
    expect(areas.of(widget)).toBe('left');
    expect(widget.title.label).toBe('');
    expect(commands.isToggled(CommandIDs.movePanel, { area: 'left' })).toBe(
      true
    );
    await begin();
    expect(areas.of(widget)).toBe('left');
  });
});

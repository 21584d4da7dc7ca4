import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IStateDB } from '@jupyterlab/statedb';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { MessageLoop } from '@lumino/messaging';
import type { Widget } from '@lumino/widgets';

import { CommandIDs } from '../ui/commandids';
import { addToPalette, commandLabel } from '../ui/commandlabel';
import { IAgentPanel } from '../tokens';
import { loadTexts } from '../ui/texts/loadtexts';
import { widenOnce } from './firstwidth';

/**
 * Where the panel can be.
 */
type Area = 'left' | 'right' | 'main';

const AREAS: readonly Area[] = ['left', 'right', 'main'];
const REMEMBERED = 'hdsp-agent:panel-area';

// In a side bar, where the panel is when nobody moved it.
const RANK = 350;

/**
 * Moves the panel to the other side or into the main area, and has it there
 * again the next time.
 */
export const placementPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:placement',
  description: 'Moves the panel of HDSP Agent between the side bars and tabs.',
  autoStart: true,
  requires: [IAgentPanel],
  optional: [IStateDB, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    panel: IAgentPanel,
    memory: IStateDB | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTexts(translator ?? nullTranslator);
    const { commands, shell } = app;
    const { widget } = panel;
    let current: Area = 'left';
    const move = (area: Area): void => {
      current = area;
      name(widget, area, trans);
      shell.add(
        widget,
        area,
        area === 'main' ? { mode: 'split-right' } : { rank: RANK }
      );
      commands.notifyCommandChanged(CommandIDs.movePanel);
    };
    const put = async (area: Area): Promise<void> => {
      move(area);
      await memory?.save(REMEMBERED, area);
    };
    MessageLoop.installMessageHook(widget, (_: unknown, message: Message) => {
      if (message.type !== 'close-request' || current !== 'main') {
        return true;
      }
      // Closed as a tab, it would be nowhere, and could not be opened again.
      void put('left');
      return false;
    });
    commands.addCommand(CommandIDs.movePanel, {
      label: commandLabel(trans, ({ area }) => label(area, trans)),
      caption: trans.__("Move the agent's panel"),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            area: {
              type: 'string',
              enum: [...AREAS],
              description: trans.__('Where to put the panel')
            }
          },
          required: ['area']
        }
      },
      isToggled: ({ area }) => area === current,
      execute: async ({ area }) => {
        if (!isArea(area)) {
          throw new Error('The panel can be moved left, right and main.');
        }
        const remembered = put(area);
        shell.activateById(widget.id);
        await remembered;
      }
    });
    for (const area of AREAS) {
      addToPalette(palette, trans, CommandIDs.movePanel, { area });
    }
    if (memory !== null) {
      void app.restored.then(() => widenOnce(widget, memory));
    }
    // Lab puts everything where it was last; that must be over.
    void Promise.all([memory?.fetch(REMEMBERED), app.restored]).then(
      ([area]) => {
        if (isArea(area) && area !== current) {
          move(area);
        }
      }
    );
  }
};

function isArea(area: unknown): area is Area {
  return AREAS.some(known => known === area);
}

function label(area: unknown, trans: TranslationBundle): string {
  switch (area) {
    case 'main':
      return trans.__('Move Panel to a Tab');
    case 'right':
      return trans.__('Move Panel to the Right');
    default:
      return trans.__('Move Panel to the Left');
  }
}

/**
 * In a side bar its icon says what it is, at a tab also its name does.
 */
function name({ title }: Widget, area: Area, trans: TranslationBundle): void {
  title.label = area === 'main' ? trans.__('HDSP Agent') : '';
}

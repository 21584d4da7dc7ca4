import * as React from 'react';

import { CommandIDs } from '../../../ui/commandids';
import { ProblemNote } from '../../../ui/controls/problemnote';
import { TransientNote } from '../../../ui/controls/transientnote';
import { usePanel } from '../../../ui/services';
import { fullCount } from '../../../ui/texts/formats';
import { useAction } from '../../../ui/useaction';
import { useChangedFiles } from './usechangedfiles';

/**
 * Keeps or undoes all changes of the agent that wait in open notebooks; nothing
 * where none wait.
 */
export function ReviewActions(): JSX.Element | null {
  const { commands, trans } = usePanel();
  const files = useChangedFiles();
  const paths = React.useMemo(
    () => files.map(({ path }) => path).filter(path => path.endsWith('.ipynb')),
    [files]
  );
  const waiting = useWaiting(paths);
  const { isBusy, error, run } = useAction();
  const count = waiting.reduce((sum, { count }) => sum + count, 0);
  if (count === 0) {
    return null;
  }
  const all = (command: string) =>
    void run(() =>
      Promise.all(
        waiting.map(({ path }) => commands.execute(command, { path }))
      )
    );
  return (
    <TransientNote className="jp-hdspAgent-reviewActions">
      <button
        type="button"
        className="jp-hdspAgent-button"
        aria-disabled={isBusy}
        title={trans.__('Keep all changes in the notebook')}
        onClick={() => all(CommandIDs.keepAll)}
      >
        {trans.__('Keep all (%1)', fullCount(count))}
      </button>
      <button
        type="button"
        className="jp-hdspAgent-button"
        aria-disabled={isBusy}
        title={trans.__('Undo all changes in the notebook')}
        onClick={() => all(CommandIDs.undoAll)}
      >
        {trans.__('Undo all')}
      </button>
      <ProblemNote error={error} />
    </TransientNote>
  );
}

interface IWaiting {
  readonly path: string;
  readonly count: number;
}

/**
 * How many changes wait in which of these notebooks.
 */
function useWaiting(paths: readonly string[]): readonly IWaiting[] {
  const { commands } = usePanel();
  const [, update] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => {
    const listen = (_: unknown, { id }: { readonly id?: string }) => {
      if (id === CommandIDs.keepAll) {
        update();
      }
    };
    commands.commandChanged.connect(listen);
    return () => {
      commands.commandChanged.disconnect(listen);
    };
  }, [commands]);
  if (!commands.hasCommand(CommandIDs.keepAll)) {
    return [];
  }
  return paths
    .map(path => ({
      path,
      count: Number(commands.dataset(CommandIDs.keepAll, { path }).count ?? 0)
    }))
    .filter(({ count }) => count > 0);
}

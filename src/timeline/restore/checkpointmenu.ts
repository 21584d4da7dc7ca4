import type { CheckpointView } from '../../generated/rest';
import type { IMenuEntry } from '../../ui/controls/popupmenu';
import { showConversation } from '../../ui/conversations/conversationactions';
import type { IPanelServices } from '../../ui/services';
import { plainName } from '../../ui/texts/visibletext';
import { CommandIDs } from '../../ui/commandids';
import type { Comparison, Part } from '../../rest/timelineapi';
import type { ITimeline } from '../timelinecontext';
import { partsOf } from './restoreactions';

/**
 * What can be done with a checkpoint: bring it or parts of it back, compare it,
 * save it elsewhere.
 *
 * @param before - Of a step of the agent, the checkpoint before it.
 */
export function checkpointEntries(
  services: IPanelServices,
  { model, restoreActions }: ITimeline,
  operation: string,
  checkpoint: CheckpointView,
  before?: CheckpointView
): readonly (IMenuEntry | null)[] {
  const { trans } = services;
  const { place } = model.filter;
  const parts = partsOf(checkpoint);
  const restore = (wanted: readonly Part[]) => () =>
    void restoreActions.restore(place, checkpoint.id, wanted);
  const compare = (against: Comparison) => () =>
    model.unfold(operation, against);
  const labels: Readonly<Record<Part, string>> = {
    files: trans.__('Restore the files…'),
    notebooks: trans._n(
      'Restore the notebook…',
      'Restore the notebooks…',
      checkpoint.notebooks.length || 1
    ),
    variables: trans.__('Restore the variables…'),
    conversation: trans.__('Restore the conversation…')
  };
  const save = (kind: 'zip' | 'git') => () =>
    saveAs(restoreActions.api.exportUrl(place, checkpoint.id, kind));
  const { taskId } = checkpoint;
  return [
    ...(before === undefined
      ? []
      : [
          {
            label: trans.__('Restore to before this step…'),
            run: () =>
              void restoreActions.restore(place, before.id, partsOf(before))
          }
        ]),
    {
      label:
        before === undefined
          ? trans.__('Restore everything…')
          : trans.__('Restore to after this step…'),
      run: restore(parts)
    },
    ...(parts.length > 1
      ? parts.map(part => ({ label: labels[part], run: restore([part]) }))
      : []),
    ...checkpoint.notebooks.map(path => ({
      label:
        checkpoint.notebooks.length === 1
          ? trans.__('Restart and re-run to here…')
          : trans.__('Restart %1 and re-run to here…', plainName(path)),
      run: () =>
        void restoreActions.restart({
          path,
          checkpoint: checkpoint.id,
          ...(place.task !== undefined && { task: place.task })
        })
    })),
    null,
    {
      label: trans.__('Compare with the previous one'),
      run: compare('previous')
    },
    {
      label: trans.__('Compare with the beginning'),
      run: compare('beginning')
    },
    { label: trans.__('Compare with now'), run: compare('now') },
    null,
    ...(taskId === undefined
      ? []
      : [
          {
            label: trans.__('Show the conversation'),
            run: () => {
              void services.commands.execute(CommandIDs.open);
              void showConversation(services, taskId);
            }
          }
        ]),
    { label: trans.__('Save as a zip file'), run: save('zip') },
    { label: trans.__('Save as a git repository'), run: save('git') }
  ];
}

/**
 * Save a file where the browser puts downloads.
 */
function saveAs(url: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = '';
  document.body.appendChild(link);
  link.click();
  link.remove();
}

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { useCallback, useSyncExternalStore } from 'react';

import { CONVERSATION_KEY } from '../../notebook/pendingmetadata';
import { documentPath } from '../../ui/notebookchoice';

/**
 * Whether an open notebook has a conversation in its metadata, whoever wrote it.
 */
export function hasConversation({
  context,
  isDisposed
}: NotebookPanel): boolean {
  const isThere = !isDisposed && context.isReady;
  return isThere && context.model.getMetadata(CONVERSATION_KEY) !== undefined;
}

/**
 * The same of the notebook of this path; the component is rendered again when
 * that changes.
 */
export function useHasConversation(
  tracker: INotebookTracker | null,
  path: string | null
): boolean {
  const find = useCallback(
    () =>
      (path !== null &&
        tracker?.find(
          panel => !panel.isDisposed && documentPath(panel) === path
        )) ||
      null,
    [tracker, path]
  );
  const subscribe = useCallback(
    (listener: () => void) => {
      const panel = find();
      panel?.context.model.metadataChanged.connect(listener);
      void panel?.context.ready.then(listener);
      tracker?.widgetAdded.connect(listener);
      return () => {
        panel?.context.model.metadataChanged.disconnect(listener);
        tracker?.widgetAdded.disconnect(listener);
      };
    },
    [tracker, find]
  );
  return useSyncExternalStore(subscribe, () => {
    const panel = find();
    return panel !== null && hasConversation(panel);
  });
}

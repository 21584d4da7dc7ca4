import * as React from 'react';

import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { useRowParts } from '../rows/rowparts';
import type { IChangedFile } from './changedfiles';
import { changedFiles, isToolUse } from './changedfiles';

/**
 * The files that the agent changed in the conversation on screen.
 */
export function useChangedFiles(): readonly IChangedFile[] {
  const { store } = usePanel();
  const order = useStore(store, ({ order }) => order);
  const renames = useStore(
    store,
    ({ state }) => state?.currentTaskItem?.renames
  );
  const uses = React.useMemo(
    () => order.filter(ts => isToolUse(store.message(ts))),
    [store, order]
  );
  const messages = useRowParts(uses);
  return React.useMemo(
    () => changedFiles(messages, renames),
    [messages, renames]
  );
}

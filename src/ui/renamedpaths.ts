import * as React from 'react';

import type { Rename } from '../generated/wire';
import { useStore } from './hooks';
import { usePanel } from './services';

/**
 * When the message was written that is shown here. Outside of messages, names
 * are those of now.
 */
export const MessageTime = React.createContext(Infinity);

/**
 * What a file is called now that a message of that time names.
 */
export function presentPath(
  path: string,
  ts: number,
  renames: readonly Rename[] | undefined
): string {
  return (renames ?? [])
    .filter(rename => rename.ts >= ts)
    .reduce(
      (path, { old, new: now }) =>
        path === old || path.startsWith(`${old}/`)
          ? now + path.slice(old.length)
          : path,
      path
    );
}

/**
 * Gives the present name of what the message around this component names.
 */
export function usePresentPath(): (path: string) => string {
  const { store } = usePanel();
  const ts = React.useContext(MessageTime);
  const renames = useStore(
    store,
    ({ state }) => state?.currentTaskItem?.renames
  );
  return path => presentPath(path, ts, renames);
}

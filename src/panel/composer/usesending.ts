import * as React from 'react';

import { asErrorBody } from '../../errors';
import type { ErrorBody } from '../../generated/wire';
import { usePanel } from '../services';
import { chosenNotebook } from './binding';
import { sendDraft } from './sending';

/**
 * Sends what is typed in a conversation, one message after the other.
 *
 * @returns Whether one is under way, and a function that sends.
 */
export function useSending(
  taskId: string | null,
  onFailed: (error: ErrorBody) => void
): [boolean, () => Promise<void>] {
  const services = usePanel();
  const [busy, setBusy] = React.useState<ReadonlySet<string | null>>(new Set());
  const send = async () => {
    setBusy(before => new Set(before).add(taskId));
    try {
      const { notebooks, state } = services;
      await sendDraft(
        services,
        chosenNotebook(state.notebookChoice, notebooks)
      );
    } catch (reason) {
      onFailed(asErrorBody(reason));
    }
    setBusy(before => new Set([...before].filter(other => other !== taskId)));
  };
  return [busy.has(taskId), send];
}

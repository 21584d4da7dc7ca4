import { JSONExt } from '@lumino/coreutils';
import * as React from 'react';

import { asErrorBody } from '../../errors';
import type { ErrorBody } from '../../generated/wire';
import type { IDraft } from '../../state/panel/panelstate';
import { plainDraft } from '../../state/panel/panelstate';
import { usePanel } from '../../ui/services';
import { chosenNotebook } from '../../ui/notebookchoice';
import { keepUnasked } from '../asks/approval/keepunasked';
import { isBlank, sendDraft } from '../../state/panel/senddraft';

/**
 * Sends what is typed in a conversation, one message after the other.
 */
export interface ISending {
  /**
   * Whether a message of the conversation on screen is on its way.
   */
  readonly isBusy: boolean;

  /**
   * Send what is typed, if it can be sent. While the message before is on its
   * way it is sent after that one, provided that it is still the same then.
   */
  readonly send: () => void;
}

/**
 * Sends what is typed in the conversation on screen.
 */
export function useSending(options: {
  /**
   * The conversation on screen; `null` is one that is yet to begin.
   */
  readonly taskId: string | null;

  /**
   * Whether nothing but a message on its way keeps from sending.
   */
  readonly isReady: boolean;

  readonly onBegun: () => void;
  readonly onFailed: (error: ErrorBody) => void;
}): ISending {
  const services = usePanel();
  const { state } = services;
  const { taskId } = options;
  const [busy, setBusy] = React.useState<ReadonlySet<string | null>>(new Set());
  const requested = React.useRef(new Map<string | null, IDraft>());
  const latest = React.useRef(options);
  latest.current = options;
  const isBusy = busy.has(taskId);

  const sendNow = async (from: string | null): Promise<void> => {
    const { onBegun, onFailed } = latest.current;
    onBegun();
    setBusy(before => new Set(before).add(from));
    let into: string | null | undefined;
    try {
      const notebook = chosenNotebook(state.notebookChoice, services.notebooks);
      into = await sendDraft(services, notebook);
      void keepUnasked(services);
    } catch (reason) {
      onFailed(asErrorBody(reason));
    }
    setBusy(before => new Set([...before].filter(other => other !== from)));
    const request = requested.current.get(from);
    requested.current.delete(from);
    if (request && into !== undefined && isStillRequested(request, into)) {
      await sendNow(into);
    }
  };

  const isStillRequested = (request: IDraft, into: string | null) =>
    latest.current.taskId === into &&
    latest.current.isReady &&
    JSONExt.deepEqual(plainDraft(request), plainDraft(state.draft(into)));

  const send = () => {
    if (!options.isReady) {
      // Who is told that nothing can be sent does not expect that it goes later.
      return;
    }
    const draft = state.draft(taskId);
    if (!isBusy) {
      if (!isBlank(draft)) {
        void sendNow(taskId);
      }
    } else if (isBlank(draft)) {
      requested.current.delete(taskId);
    } else {
      requested.current.set(taskId, draft);
    }
  };
  return { isBusy, send };
}

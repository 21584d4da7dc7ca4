import { undoIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { asErrorBody } from '../../errors';
import type { ErrorBody } from '../../generated/wire';
import { IconButton } from '../../ui/controls/iconbutton';
import { usePanel } from '../../ui/services';
import { enhanceIcon } from './composericons';
import { requestMessage } from '../../comm/requestmessage';

/**
 * How a model puts what is typed more clearly.
 */
export interface IEnhancing {
  /**
   * Whether the model is at it.
   */
  readonly isBusy: boolean;

  /**
   * Whether what it wrote is in the field, unchanged.
   */
  readonly canUndo: boolean;

  readonly begin: () => void;

  /**
   * Leave what is typed as it is, whatever the model says.
   */
  readonly cancel: () => void;

  readonly undo: () => void;
}

/**
 * Lets a model put what is typed more clearly, and takes it back.
 */
export function useEnhancing({
  taskId,
  text,
  onText,
  onFailed
}: {
  readonly taskId: string | null;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onFailed: (error: ErrorBody) => void;
}): IEnhancing {
  const { client } = usePanel();
  const [isBusy, setBusy] = React.useState(false);
  const [done, setDone] = React.useState<IDone | null>(null);
  const turn = React.useRef(0);
  const latest = React.useRef({ taskId, text });
  latest.current = { taskId, text };
  const begin = async () => {
    const mine = ++turn.current;
    const isWanted = () =>
      turn.current === mine &&
      latest.current.taskId === taskId &&
      latest.current.text === text;
    setBusy(true);
    try {
      const enhanced = await requestMessage(
        client,
        { type: 'enhancePrompt', text, ...(taskId ? { taskId } : {}) },
        'enhancedPrompt'
      );
      if (isWanted() && enhanced.text) {
        setDone({ before: text, after: enhanced.text });
        onText(enhanced.text);
      }
    } catch (reason) {
      if (isWanted()) {
        onFailed(asErrorBody(reason));
      }
    }
    if (turn.current === mine) {
      setBusy(false);
    }
  };
  return {
    isBusy,
    canUndo: done !== null && done.after === text,
    begin: () => void begin(),
    cancel: () => {
      turn.current++;
      setBusy(false);
    },
    undo: () => {
      if (done) {
        onText(done.before);
        setDone(null);
      }
    }
  };
}

/**
 * What was typed, and what the model made of it.
 */
interface IDone {
  readonly before: string;
  readonly after: string;
}

/**
 * Begins, ends and undoes it.
 */
export function EnhanceButton({
  enhancing,
  isDisabled,
  blockedReason
}: {
  readonly enhancing: IEnhancing;
  readonly isDisabled: boolean;

  /**
   * Why the model cannot be asked; none if it can.
   */
  readonly blockedReason: string | undefined;
}): JSX.Element {
  const { trans } = usePanel();
  if (enhancing.isBusy) {
    return (
      <button
        type="button"
        className="jp-hdspAgent-button"
        onClick={enhancing.cancel}
      >
        {trans.__('Cancel')}
      </button>
    );
  }
  return enhancing.canUndo ? (
    <IconButton
      icon={undoIcon}
      label={trans.__('Undo improvement')}
      onClick={enhancing.undo}
    />
  ) : (
    <IconButton
      icon={enhanceIcon}
      label={trans.__('Improve prompt')}
      title={blockedReason}
      disabled={isDisabled}
      onClick={enhancing.begin}
    />
  );
}

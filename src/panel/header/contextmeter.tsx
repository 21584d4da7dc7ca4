import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { CommandIDs } from '../../ui/commandids';
import type { ChannelClient } from '../../comm/client';
import { RequestError } from '../../comm/requesterror';
import type { ExtensionMessage } from '../../generated/wire';
import { usePanel } from '../../ui/services';
import { fullCount, percentText, shortCount } from '../../ui/texts/formats';
import type { IContextWindow } from './contextwindow';
import { ProblemNote } from '../../ui/controls/problemnote';
import { useAction } from '../../ui/useaction';

/**
 * How full the model's window is.
 */
export interface IContextUse extends IContextWindow {
  /**
   * The tokens the conversation takes.
   */
  readonly used: number;
}

/**
 * A bar with the used, the reserved and the free part of the window.
 */
export function ContextBar({ use }: { use: IContextUse }): JSX.Element | null {
  const { trans } = usePanel();
  const { used, window, condenseAt } = use;
  if (window === null || window <= 0) {
    return null;
  }
  const reserved = Math.min(use.reserved ?? 0, Math.max(0, window - used));
  const width = (tokens: number) =>
    `${Math.min(100, (100 * tokens) / window)}%`;
  return (
    <div
      className="jp-hdspAgent-context-bar"
      role="meter"
      aria-label={trans.__('Context')}
      aria-valuemin={0}
      aria-valuemax={window}
      aria-valuenow={Math.min(used, window)}
      aria-valuetext={contextSentence(use, trans)}
      title={contextSentence(use, trans)}
    >
      <span className="jp-mod-used" style={{ width: width(used) }} />
      <span className="jp-mod-reserved" style={{ width: width(reserved) }} />
      {condenseAt !== null && condenseAt < window && (
        <span
          className="jp-mod-limit"
          style={{ insetInlineStart: width(condenseAt) }}
        />
      )}
    </div>
  );
}

/**
 * How full the window is, in as few characters as there is room for.
 */
export function ContextShare({
  use
}: {
  use: IContextUse;
}): JSX.Element | null {
  const { trans } = usePanel();
  const { used, window } = use;
  if (used <= 0) {
    return null;
  }
  return (
    <span
      className="jp-hdspAgent-context-share"
      title={contextSentence(use, trans)}
    >
      {window === null || window <= 0
        ? trans.__('%1 tokens', shortCount(used))
        : percentText(Math.min(1, used / window))}
    </span>
  );
}

/**
 * The bar with its numbers, and a way to make room.
 */
export function ContextMeter({
  taskId,
  use
}: {
  taskId: string;
  use: IContextUse;
}): JSX.Element {
  const { commands, trans } = usePanel();
  const { used, reserved, window, condenseAt } = use;
  return (
    <div className="jp-hdspAgent-context">
      <ContextBar use={use} />
      <dl className="jp-hdspAgent-context-parts">
        <dt data-part="used">{trans.__('Used')}</dt>
        <dd>{fullCount(used)}</dd>
        {reserved !== null && (
          <>
            <dt data-part="reserved">{trans.__('Reserved for the answer')}</dt>
            <dd>{fullCount(reserved)}</dd>
          </>
        )}
        {window !== null && (
          <>
            <dt data-part="free">{trans.__('Free')}</dt>
            <dd>{fullCount(freeOf(use))}</dd>
          </>
        )}
        {condenseAt !== null && (
          <>
            <dt data-part="limit">{trans.__('Condensed at')}</dt>
            <dd>{fullCount(condenseAt)}</dd>
          </>
        )}
      </dl>
      {window === null && (
        <p>
          {trans.__('Context size unknown. You can set it in the profile.')}
        </p>
      )}
      <div className="jp-hdspAgent-context-actions">
        <Condense taskId={taskId} />
        {commands.hasCommand(CommandIDs.showContext) && (
          <button
            type="button"
            className="jp-hdspAgent-button"
            title={trans.__(
              'Show the exact next request to the model, with the tokens of each part'
            )}
            onClick={() =>
              void commands.execute(CommandIDs.showContext, { taskId })
            }
          >
            {trans.__('What the model sees')}
          </button>
        )}
      </div>
    </div>
  );
}

// Servers that said they cannot condense; what they cannot do is not offered again.
const unable = new WeakSet<ChannelClient>();

/**
 * Has the agent summarise the older part of the conversation.
 */
function Condense({ taskId }: { taskId: string }): JSX.Element | null {
  const { client, trans } = usePanel();
  const action = useAction();
  const isUnderWay = useCondensing(taskId);
  const isBusy = action.isBusy || isUnderWay;
  const condense = () =>
    action.run(async () => {
      try {
        await client.request({ type: 'condenseTaskContextRequest', taskId });
      } catch (reason) {
        if (reason instanceof RequestError && reason.code === 'unsupported') {
          unable.add(client);
        }
        throw reason;
      }
    });
  return (
    <>
      {!unable.has(client) && (
        <button
          type="button"
          className="jp-hdspAgent-button"
          disabled={isBusy}
          title={trans.__(
            'Summarize the older part of the conversation to make room'
          )}
          onClick={() => void condense()}
        >
          {isBusy ? trans.__('Condensing…') : trans.__('Condense')}
        </button>
      )}
      <ProblemNote error={action.error} />
    </>
  );
}

/**
 * Whether the context of a conversation is being condensed.
 */
function useCondensing(taskId: string): boolean {
  const { client } = usePanel();
  const [isUnderWay, setUnderWay] = React.useState(false);
  React.useEffect(() => {
    setUnderWay(false);
    const hear = (_: ChannelClient, message: ExtensionMessage) => {
      if (
        (message.type === 'condenseTaskContextStarted' ||
          message.type === 'condenseTaskContextResponse') &&
        message.text === taskId
      ) {
        setUnderWay(message.type === 'condenseTaskContextStarted');
      }
    };
    client.messageReceived.connect(hear);
    return () => {
      client.messageReceived.disconnect(hear);
    };
  }, [client, taskId]);
  return isUnderWay;
}

function freeOf({ used, reserved, window }: IContextUse): number {
  return Math.max(0, (window ?? 0) - used - (reserved ?? 0));
}

/**
 * The whole of it in one or two sentences.
 */
function contextSentence(use: IContextUse, trans: TranslationBundle): string {
  const sentence = windowText(use, trans);
  return use.condenseAt === null || use.window === null
    ? sentence
    : trans.__(
        '%1. At %2 the conversation is condensed.',
        sentence,
        fullCount(use.condenseAt)
      );
}

function windowText(use: IContextUse, trans: TranslationBundle): string {
  const { used, reserved, window } = use;
  if (window === null) {
    return trans.__('The conversation uses %1 tokens.', fullCount(used));
  }
  if (reserved === null) {
    return trans.__(
      '%1 of %2 tokens used, %3 free',
      fullCount(used),
      fullCount(window),
      fullCount(freeOf(use))
    );
  }
  return trans.__(
    '%1 of %2 tokens used, %3 reserved for the answer, %4 free',
    fullCount(used),
    fullCount(window),
    fullCount(reserved),
    fullCount(freeOf(use))
  );
}

import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../../comm/client';
import type { ExtensionMessage } from '../../generated/wire';
import type { AskMessage } from '../../state/pendingask';
import type { AgentStore } from '../../state/store';
import { followUpOf } from './texts';

/**
 * Knows when the server takes the first suggested answer to a question.
 *
 * #### Notes
 * The server tells of no such moment; it waits from when it asks. For a
 * question that this page saw coming that is its own time. Of one that was
 * there before the page, the server's time is all there is: where that cannot
 * be, the two clocks differ and nothing is said.
 */
export class AutoAnswerClock {
  constructor({
    client,
    store
  }: {
    client: Pick<ChannelClient, 'messageReceived'>;
    store: AgentStore;
  }) {
    this._store = store;
    client.messageReceived.connect(this._onMessage, this);
  }

  /**
   * Stop listening.
   */
  dispose(): void {
    Signal.disconnectReceiver(this);
  }

  /**
   * When a question is answered by itself, in milliseconds; `null` if it is not.
   */
  at(ask: AskMessage): number | null {
    const settings = this._store.state?.settings;
    const wait = settings?.followupAutoApproveTimeoutMs ?? 0;
    const isWanted =
      settings?.autoApprovalEnabled && settings.alwaysAllowFollowupQuestions;
    if (
      !isWanted ||
      wait <= 0 ||
      ask.ask !== 'followup' ||
      !followUpOf(ask).suggest?.length ||
      this._cancelled === ask.ts
    ) {
      return null;
    }
    const asked = this._seen?.ts === ask.ts ? this._seen.at : ask.ts;
    const now = Date.now();
    return asked <= now && now < asked + wait ? asked + wait : null;
  }

  /**
   * The person answers in their own time.
   */
  cancelled(ask: AskMessage): void {
    this._cancelled = ask.ts;
  }

  private _onMessage(_: unknown, message: ExtensionMessage): void {
    const told =
      message.type === 'messageCreated'
        ? message.message
        : message.type === 'messageUpdated'
          ? message.clineMessage
          : null;
    if (
      told?.ask === 'followup' &&
      told.partial !== true &&
      this._seen?.ts !== told.ts
    ) {
      this._seen = { ts: told.ts, at: Date.now() };
    }
  }

  private readonly _store: AgentStore;
  private _seen: { readonly ts: number; readonly at: number } | null = null;
  private _cancelled: number | null = null;
}

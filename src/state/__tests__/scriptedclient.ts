import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../../comm/client';
import type { IConnectionStatus } from '../../comm/status';
import type { ClineMessage, ExtensionMessage } from '../../generated/wire';

/**
 * A connection that is there.
 */
export const CONNECTED: IConnectionStatus = {
  phase: 'open',
  reason: null,
  retryAt: null,
  attempt: 0,
  pageVersion: '0.1.0',
  serverVersion: '0.1.0',
  refusal: null
};

/**
 * A client whose server is the test.
 */
export class ScriptedClient {
  status = CONNECTED;
  readonly messageReceived = new Signal<never, ExtensionMessage>(this as never);
  readonly statusChanged = new Signal<never, IConnectionStatus>(this as never);
  readonly requests: ChannelClient.Request[] = [];
  answer: (request: ChannelClient.Request) => Promise<undefined> = () =>
    Promise.resolve(undefined);
  resyncs = 0;

  request = (request: ChannelClient.Request): Promise<undefined> => {
    this.requests.push(request);
    return this.answer(request);
  };

  resync = (): void => {
    this.resyncs += 1;
  };

  /** The requests of one type. */
  asked(type: string): ChannelClient.Request[] {
    return this.requests.filter(request => request.type === type);
  }
}

/**
 * Something the agent says.
 */
export function say(ts: number, text: string): ClineMessage {
  return { ts, type: 'say', say: 'text', text };
}

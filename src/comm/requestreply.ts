import type { ChannelClient } from './client';
import { RequestError } from './requesterror';
import type { ExtensionMessage } from '../generated/wire';

/**
 * Ask for something that comes as a message to this tab alone, before the answer.
 *
 * @param isReply - Recognises the message.
 */
export async function requestReply<T extends ExtensionMessage>(
  client: Pick<ChannelClient, 'request' | 'messageReceived'>,
  request: ChannelClient.Request,
  isReply: (message: ExtensionMessage) => message is T
): Promise<T> {
  const replies: T[] = [];
  const hear = (_: unknown, message: ExtensionMessage) => {
    if (isReply(message)) {
      replies.push(message);
    }
  };
  client.messageReceived.connect(hear);
  try {
    await client.request(request);
  } finally {
    client.messageReceived.disconnect(hear);
  }
  const reply = replies.at(-1);
  if (reply === undefined) {
    // The connection broke between the two, and the answer alone was repeated.
    throw new RequestError({
      code: 'unavailable',
      message: 'The connection broke in between. Try again.'
    });
  }
  return reply;
}

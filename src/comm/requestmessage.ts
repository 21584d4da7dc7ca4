import type { ChannelClient } from './client';
import { RequestError } from './requesterror';
import type { ExtensionMessage } from '../generated/wire';

/**
 * Ask for something that comes as a message of its own, before the answer.
 *
 * @returns The message.
 *
 * #### Notes
 * Two requests for the same type of message must not be under way at once:
 * which message belongs to which cannot be told.
 */
export async function requestMessage<T extends ExtensionMessage['type']>(
  client: Pick<ChannelClient, 'messageReceived' | 'request'>,
  request: ChannelClient.Request,
  type: T
): Promise<Extract<ExtensionMessage, { type: T }>> {
  let found: Extract<ExtensionMessage, { type: T }> | null = null;
  const listen = (_: unknown, message: ExtensionMessage) => {
    if (Private.isOf(message, type)) {
      found = message;
    }
  };
  client.messageReceived.connect(listen);
  try {
    await client.request(request);
  } finally {
    client.messageReceived.disconnect(listen);
  }
  if (found === null) {
    throw new RequestError({
      code: 'internal',
      message: `The server answered “${request.type}” without saying what was asked for. Try again.`
    });
  }
  return found;
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function isOf<T extends ExtensionMessage['type']>(
    message: ExtensionMessage,
    type: T
  ): message is Extract<ExtensionMessage, { type: T }> {
    return message.type === type;
  }
}

import type {
  ConversationPreview,
  ConversationPreviewMessage,
  ExtensionMessage,
  PreviewConversationRequest
} from '../../generated/wire';
import { requestReply } from '../../comm/requestreply';
import type { IPanelServices } from '../../ui/services';

/**
 * A change of a conversation that can be looked at before it is made.
 */
export type Change = PreviewConversationRequest['change'];

/**
 * What a change would do, also to files where the server can bring them back.
 * Nothing is changed by looking.
 */
export async function previewChange(
  { client, store }: Pick<IPanelServices, 'client' | 'store'>,
  taskId: string,
  change: Change
): Promise<ConversationPreview> {
  const isReply = (
    message: ExtensionMessage
  ): message is ConversationPreviewMessage =>
    message.type === 'conversationPreview' &&
    message.taskId === taskId &&
    message.preview.operation === change.operation;
  const reply = await requestReply(
    client,
    {
      type: 'previewConversation',
      taskId,
      change,
      ...(store.state?.canRestoreFiles ? { restoreFiles: true } : {})
    },
    isReply
  );
  return reply.preview;
}

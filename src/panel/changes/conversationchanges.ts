import { alongWith } from '../../state/panel/attachments';
import type { IDraft } from '../../state/panel/panelstate';
import type { IPanelServices } from '../../ui/services';
import { previewChange } from './previewchange';

type Services = Pick<IPanelServices, 'client' | 'store' | 'trans'>;

/**
 * Take a message back with all that followed, once the person has seen what that is.
 */
export async function deleteMessage(
  services: Services,
  taskId: string,
  messageTs: number
): Promise<void> {
  const { client, trans } = services;
  const chosen = await ask(services, taskId, {
    change: { operation: 'delete', messageTs },
    title: trans.__('Delete this message and what followed?'),
    accept: trans.__('Delete')
  });
  if (chosen) {
    await client.request({
      type: 'deleteMessageConfirm',
      taskId,
      messageTs,
      ...(chosen.withFiles ? { restoreCheckpoint: true } : {})
    });
  }
}

/**
 * Say something else in place of a message, once the person has seen what that takes back.
 *
 * @returns Whether it was said.
 */
export async function editMessage(
  services: Services,
  taskId: string,
  messageTs: number,
  { text, images, attachments }: IDraft
): Promise<boolean> {
  const { client, trans } = services;
  const chosen = await ask(services, taskId, {
    change: { operation: 'edit', messageTs },
    title: trans.__('Send this instead of the message?'),
    accept: trans.__('Send')
  });
  if (chosen) {
    await client.request({
      type: 'editMessageConfirm',
      taskId,
      messageTs,
      text,
      ...(images.length > 0 ? { images: [...images] } : {}),
      ...alongWith(attachments),
      ...(chosen.withFiles ? { restoreCheckpoint: true } : {})
    });
  }
  return chosen !== null;
}

/**
 * Have the model answer anew. The person is asked only if the answer, or what
 * followed it, has done something.
 *
 * @param messageTs - A message of the answer.
 */
export async function retryAnswer(
  services: Services & Pick<IPanelServices, 'state'>,
  taskId: string,
  messageTs: number
): Promise<void> {
  const { client, state, trans } = services;
  const change = { operation: 'retry', messageTs } as const;
  const preview = await previewChange(services, taskId, change);
  const isGrave =
    preview.effects.length > 0 ||
    preview.moreEffects > 0 ||
    preview.files !== undefined ||
    preview.stopsTask ||
    !preview.canBeUndone;
  let withFiles = false;
  if (isGrave) {
    const { confirmChange } = await import('./confirmchange');
    const chosen = await confirmChange({
      trans,
      title: trans.__('Discard this answer and try again?'),
      accept: trans.__('Try again'),
      preview,
      offersFiles: true
    });
    if (chosen === null) {
      return;
    }
    withFiles = chosen.withFiles;
  }
  await client.request({
    type: 'retryAnswer',
    taskId,
    messageTs,
    ...(withFiles ? { restoreFiles: true } : {})
  });
  state.showNewest();
}

/**
 * Go back to a message, once the person has seen what that takes back.
 *
 * @param isFirst - Whether the conversation begins with it, and it cannot go.
 */
export async function goBack(
  services: Services,
  taskId: string,
  messageTs: number,
  isFirst: boolean
): Promise<void> {
  const { client, trans } = services;
  const chosen = await ask(services, taskId, {
    change: { operation: 'rewind', messageTs, keep: true },
    title: trans.__('Restore to this message?'),
    accept: trans.__('Restore'),
    mayKeep: !isFirst
  });
  if (chosen) {
    await client.request({
      type: 'rewindTask',
      taskId,
      messageTs,
      keep: chosen.keep,
      ...(chosen.withFiles ? { restoreFiles: true } : {})
    });
  }
}

/**
 * Undo a change of a conversation, or redo it. The person is asked only if
 * there is something to lose.
 */
export async function undoOrRedo(
  services: Services,
  taskId: string,
  operation: 'undo' | 'redo',
  markId: string
): Promise<void> {
  const { client, trans } = services;
  const change = { operation, markId };
  const preview = await previewChange(services, taskId, change);
  const isGrave =
    preview.goneOn ||
    preview.removed > 0 ||
    preview.toolCalls > 0 ||
    preview.stopsTask ||
    preview.files !== undefined;
  if (isGrave) {
    const { confirmChange } = await import('./confirmchange');
    const chosen = await confirmChange({
      trans,
      title: preview.goneOn
        ? trans.__('The conversation has continued. Remove the newer messages?')
        : operation === 'undo'
          ? trans.__('Undo this?')
          : trans.__('Redo this?'),
      accept: operation === 'undo' ? trans.__('Undo') : trans.__('Redo'),
      preview,
      offersFiles: false
    });
    if (!chosen) {
      return;
    }
  }
  await client.request({
    type: operation === 'undo' ? 'undoConversation' : 'redoConversation',
    taskId,
    markId,
    // Said only by who was shown that there is something newer.
    ...(preview.goneOn ? { newer: 'set_aside' as const } : {})
  });
}

async function ask(
  services: Services,
  taskId: string,
  {
    change,
    title,
    accept,
    mayKeep
  }: {
    change: Parameters<typeof previewChange>[2];
    title: string;
    accept: string;
    mayKeep?: boolean;
  }
): Promise<{ readonly keep: boolean; readonly withFiles: boolean } | null> {
  const preview = await previewChange(services, taskId, change);
  const { confirmChange } = await import('./confirmchange');
  return confirmChange({
    trans: services.trans,
    title,
    accept,
    preview,
    offersFiles: true,
    ...(mayKeep && change.operation === 'rewind'
      ? {
          look: (keep: boolean) =>
            previewChange(services, taskId, { ...change, keep })
        }
      : {})
  });
}

import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';

import { CommandIDs } from '../../ui/commandids';
import type { ChannelClient } from '../../comm/client';
import type {
  ContextNoticeMessage,
  ExtensionMessage
} from '../../generated/wire';
import { attempt, showNote } from '../../ui/notifications';
import { percentText } from '../../ui/texts/formats';
import { openTasks, plainTitle } from '../../ui/conversations/opentasks';
import type { IPanelServices } from '../../ui/services';

/**
 * Tell the person when a conversation has come to fill much of what its model
 * takes in. The server says so once in the life of a conversation.
 *
 * @returns A disposable that ends it.
 */
export function watchContext(services: IPanelServices): IDisposable {
  const { client } = services;
  const hear = (_: ChannelClient, message: ExtensionMessage) => {
    if (message.type === 'contextNotice') {
      Private.tell(services, message);
    }
  };
  client.messageReceived.connect(hear);
  return new DisposableDelegate(() => {
    client.messageReceived.disconnect(hear);
  });
}

/**
 * A namespace for private data.
 */
namespace Private {
  // Of a notification Lab shows no more than 140 characters.
  const LONGEST_TITLE = 50;

  export function tell(
    services: IPanelServices,
    { kind, percent, taskId }: ContextNoticeMessage
  ): void {
    const { client, commands, trans } = services;
    const title = titleOf(services, taskId);
    const share = percentText(percent / 100);
    if (kind === 'reassurance') {
      showNote(
        trans.__(
          "“%1” uses %2 of the model's context window. There is still enough room.",
          title,
          share
        )
      );
      return;
    }
    showNote(
      trans.__(
        "“%1” uses %2 of the model's context window. Consider condensing it.",
        title,
        share
      ),
      [
        {
          label: trans.__('Condense'),
          caption: trans.__(
            'Summarize the older part of the conversation to make room'
          ),
          callback: () =>
            void attempt(trans, () =>
              client.request({ type: 'condenseTaskContextRequest', taskId })
            )
        },
        {
          label: trans.__('What the model sees'),
          caption: trans.__('Show what takes up space'),
          callback: () =>
            void commands.execute(CommandIDs.showContext, { taskId })
        }
      ]
    );
  }

  function titleOf({ store, trans }: IPanelServices, taskId: string): string {
    const item = store.state?.currentTaskItem;
    const open = openTasks(store).find(task => task.taskId === taskId);
    const known = item?.id === taskId ? (item.title ?? item.task) : open?.title;
    const title = plainTitle(known ?? '', trans);
    return title.length > LONGEST_TITLE
      ? `${title.slice(0, LONGEST_TITLE - 1)}…`
      : title;
  }
}

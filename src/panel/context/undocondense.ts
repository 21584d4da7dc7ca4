import type { AgentStore } from '../../state/store';
import { LabDialogs } from '../../ui/dialogs';
import { previewChange } from '../changes/previewchange';
import { fullCount } from '../../ui/texts/formats';
import type { IPanelServices } from '../../ui/services';

/**
 * Let the model see again what it was not shown any more, once the person has
 * seen what that costs.
 *
 * @param tokens - How many tokens longer each request is then.
 */
export async function undoCondense(
  services: IPanelServices,
  taskId: string,
  markId: string,
  tokens: number
): Promise<void> {
  const { client, store, trans } = services;
  const preview = await previewChange(services, taskId, {
    operation: 'undo',
    markId
  });
  const { condenseAt } = store.state?.modelRoom ?? {};
  const used = store.state?.tokenUsage?.contextTokens ?? 0;
  const sentences = [
    trans.__(
      'The model will see the original messages again. Each request will be about %1 tokens longer, which costs more.',
      fullCount(tokens)
    ),
    condenseAt !== undefined && used + tokens >= condenseAt
      ? trans.__(
          'That is more than its context window, so the conversation will be condensed again before the next answer.'
        )
      : '',
    preview.stopsTask
      ? trans.__('The agent is working on this. It will be stopped first.')
      : '',
    trans.__('You can redo it afterwards.')
  ];
  const isSure = await new LabDialogs(trans).confirm({
    title: trans.__('Undo this?'),
    body: sentences.filter(sentence => sentence !== '').join(' '),
    accept: trans.__('Undo')
  });
  if (isSure) {
    await client.request({
      type: 'undoConversation',
      taskId,
      markId,
      ...(preview.goneOn ? { newer: 'set_aside' as const } : {})
    });
  }
}

/**
 * The newest message that tells of something the model is not shown any more
 * and that can be undone: only then does undoing it change what the model sees.
 */
export function newestCondense(store: AgentStore): number | null {
  for (let index = store.order.length - 1; index >= 0; index--) {
    const ts = store.order[index];
    const message = store.message(ts);
    if (
      message?.contextCondense?.markId !== undefined ||
      message?.contextTruncation?.markId !== undefined
    ) {
      return ts;
    }
  }
  return null;
}

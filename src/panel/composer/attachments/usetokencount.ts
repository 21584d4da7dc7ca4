import * as React from 'react';

import type {
  AttachmentTokensAsked,
  AttachmentTokensView
} from '../../../generated/rest';
import { currentProfile } from '../../../state/currentmode';
import { externalAgent } from '../../../state/externalagent';
import { alongWith } from '../../../state/panel/attachments';
import type { IDraft } from '../../../state/panel/panelstate';
import { useStore } from '../../../ui/hooks';
import { chosenNotebook } from '../../../ui/notebookchoice';
import { usePanel } from '../../../ui/services';
import type { ICountedDraft } from './tokens';
import { estimatedTokens } from './tokens';

/**
 * How long, in milliseconds, a draft stays as it is before its tokens are
 * counted.
 */
const WAITS = 400;

/**
 * How long, in milliseconds, after a count that failed it is tried once more.
 */
const RETRIES_AFTER = 5_000;

/**
 * How many drafts' counts are kept.
 */
const MOST_KEPT = 10;

/**
 * How much of an image is sent to be counted: enough to tell how large it is.
 */
const IMAGE_START = 20_000;

/**
 * How many tokens go along with a message: as the server counts them, which
 * reads what it would read; until it has, an estimate.
 *
 * #### Notes
 * It is counted anew when the conversation goes on: files may have changed
 * since, and its model may have been loaded.
 */
export function useTokenCount(draft: IDraft): AttachmentTokensView {
  const { notebooks, serverSettings, state, store } = usePanel();
  const isOurs = useStore(store, store => externalAgent(store) === null);
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const model = useStore(store, ({ state }) => {
    const profile = currentProfile(state);
    const known = state?.listApiConfigMeta?.find(
      ({ name }) => name === profile
    );
    return `${profile} ${known?.modelId}`;
  });
  const lastMessage = useStore(store, ({ order }) => order.at(-1) ?? 0);
  const { attachments, images } = draft;
  const text = Private.mentionsIn(draft.text);
  const notebook =
    taskId === null
      ? (chosenNotebook(state.notebookChoice, notebooks)?.path ?? null)
      : null;
  const [known, setKnown] = React.useState<
    ReadonlyMap<string, AttachmentTokensView>
  >(new Map());
  const [last, setLast] = React.useState<ICountedDraft | null>(null);
  const [key, body] = React.useMemo(() => {
    const body: AttachmentTokensAsked = {
      ...(taskId === null ? {} : { task: taskId }),
      ...(notebook === null ? {} : { notebook }),
      text,
      ...alongWith(attachments),
      images: images.map(image => image.slice(0, IMAGE_START))
    };
    return [JSON.stringify([model, lastMessage, body]), body];
  }, [model, lastMessage, taskId, notebook, text, attachments, images]);
  const isWanted =
    isOurs && attachments.length + images.length + text.length > 0;
  const isKnown = known.has(key);
  React.useEffect(() => {
    if (!isWanted) {
      // The next message mentions something else.
      setLast(null);
    }
    if (!isWanted || isKnown) {
      return;
    }
    const controller = new AbortController();
    const count = async () => {
      const { AttachmentsApi } = await import('../../../rest/attachmentsapi');
      const api = new AttachmentsApi(serverSettings);
      const counted = await api.countTokens(body, controller.signal);
      setKnown(
        before => new Map([...[...before].slice(1 - MOST_KEPT), [key, counted]])
      );
      setLast({ taskId, attachments, images, counted });
    };
    let timer = setTimeout(() => {
      count().catch(() => {
        if (!controller.signal.aborted) {
          // Where the server cannot count, the estimate stays.
          timer = setTimeout(
            () => void count().catch(() => undefined),
            RETRIES_AFTER
          );
        }
      });
    }, WAITS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [
    isWanted,
    isKnown,
    key,
    body,
    taskId,
    attachments,
    images,
    serverSettings
  ]);
  return (
    (isWanted && known.get(key)) ||
    estimatedTokens(
      { attachments, images, text },
      last?.taskId === taskId ? last : null
    )
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * What a text mentions, without the rest.
   */
  export function mentionsIn(text: string): string {
    return (
      text.match(/(?:^|\s)@(?:\\ |\\(?! )|[^\s\\])+(?=\s|$)/g) ?? []
    ).join('');
  }
}

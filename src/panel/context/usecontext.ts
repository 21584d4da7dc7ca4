import * as React from 'react';

import { asErrorBody } from '../../errors';
import type { SeenContext } from '../../generated/rest';
import type { ErrorBody } from '../../generated/wire';
import { usePanel } from '../../ui/services';
import type { IContextPart } from '../../rest/contextapi';
import { ContextApi } from '../../rest/contextapi';

/**
 * So many messages are on a page.
 */
export const PAGE = 50;

/**
 * What the model sees, as far as it is on the page.
 */
export interface IContextPages {
  /**
   * The request, with one page of its messages; `null` before it is there.
   */
  readonly request: SeenContext | null;

  /**
   * The messages that have the text that was looked for; `null` if none was.
   */
  readonly found: readonly number[] | null;
  readonly isBusy: boolean;

  /**
   * Why it could not be had the last time.
   */
  readonly error: ErrorBody | null;

  /**
   * Show the page that begins with a message.
   */
  readonly goTo: (first: number) => Promise<void>;

  /**
   * Look for a text, and show the page with the first message that has it.
   *
   * @returns The messages that have it; `null` if it could not be looked for.
   */
  readonly find: (text: string) => Promise<readonly number[] | null>;

  /**
   * Get all of it anew, as it would be sent by now.
   */
  readonly refresh: () => Promise<void>;

  /**
   * The whole request, with all its messages.
   */
  readonly whole: () => Promise<SeenContext>;
}

/**
 * What the model sees of a conversation, a page at a time.
 */
export function useContextPages(taskId: string): IContextPages {
  const { serverSettings } = usePanel();
  const api = React.useMemo(
    () => new ContextApi(serverSettings),
    [serverSettings]
  );
  const [request, setRequest] = React.useState<SeenContext | null>(null);
  const [found, setFound] = React.useState<readonly number[] | null>(null);
  const [isBusy, setBusy] = React.useState(false);
  const [error, setError] = React.useState<ErrorBody | null>(null);
  // An answer to an older question must not take the place of a newer one's.
  const asked = React.useRef(0);
  const load = React.useCallback(
    async (part: IContextPart): Promise<SeenContext | null> => {
      const number = ++asked.current;
      setBusy(true);
      setError(null);
      try {
        const seen = await api.seen(taskId, { limit: PAGE, ...part });
        if (number !== asked.current) {
          return null;
        }
        setRequest(before =>
          part.onlyMessages && before !== null
            ? { ...seen, system: before.system, tools: before.tools }
            : seen
        );
        return seen;
      } catch (reason) {
        if (number === asked.current) {
          setError(asErrorBody(reason));
        }
        return null;
      } finally {
        if (number === asked.current) {
          setBusy(false);
        }
      }
    },
    [api, taskId]
  );
  const refresh = React.useCallback(async () => {
    setFound(null);
    await load({});
  }, [load]);
  React.useEffect(() => {
    void refresh();
    return () => {
      asked.current++;
    };
  }, [refresh]);
  const goTo = React.useCallback(
    async (first: number) => {
      await load({ first, onlyMessages: true });
    },
    [load]
  );
  const find = React.useCallback(
    async (text: string) => {
      if (text === '') {
        setFound(null);
        return null;
      }
      const seen = await load({ find: text, onlyMessages: true });
      const places = seen?.found ?? null;
      setFound(places);
      if (places?.length && pageOf(places[0]) > 0) {
        await load({ first: pageOf(places[0]), onlyMessages: true });
      }
      return places;
    },
    [load]
  );
  const whole = React.useCallback(() => api.whole(taskId), [api, taskId]);
  return { request, found, isBusy, error, goTo, find, refresh, whole };
}

/**
 * The first message of the page that a message is on.
 */
export function pageOf(index: number): number {
  return index - (index % PAGE);
}

import * as React from 'react';

import type { SeenContext } from '../../generated/rest';
import { fullCount } from '../../ui/texts/formats';
import { usePanel } from '../../ui/services';
import { ContextMessageView } from './messageview';
import type { IContextPages } from './usecontext';
import { PAGE, pageOf } from './usecontext';

/**
 * The messages of the request, a page of them at a time.
 */
export function MessagePages({
  request,
  seen,
  wanted,
  aim
}: {
  request: SeenContext;
  seen: IContextPages;
  wanted: string;

  /**
   * The message that was gone to.
   */
  aim: number | null;
}): JSX.Element {
  const { trans } = usePanel();
  const { messages, first, count, marks, tokens } = request;
  const box = React.useRef<HTMLElement>(null);
  React.useEffect(() => {
    const message =
      aim === null
        ? null
        : box.current?.querySelector<HTMLElement>(`[data-index="${aim}"]`);
    if (message) {
      message.scrollIntoView({ block: 'start' });
      message.focus({ preventScroll: true });
    }
  }, [aim, first]);
  return (
    <section ref={box} aria-label={trans.__('Messages')}>
      <Pages request={request} seen={seen} />
      {messages.map((message, offset) => (
        <ContextMessageView
          key={first + offset}
          index={first + offset}
          message={message}
          tokens={tokens.eachMessage[first + offset] ?? 0}
          isMarked={marks?.includes(first + offset) ?? false}
          wanted={wanted}
        />
      ))}
      {messages.length > 5 && count > PAGE && (
        <Pages request={request} seen={seen} />
      )}
    </section>
  );
}

function Pages({
  request: { first, count, messages },
  seen
}: {
  request: SeenContext;
  seen: IContextPages;
}): JSX.Element {
  const { trans } = usePanel();
  const last = pageOf(Math.max(0, count - 1));
  const go = (name: string, to: number, isThere: boolean) => (
    <button
      type="button"
      className="jp-hdspAgent-button"
      aria-disabled={seen.isBusy || !isThere}
      onClick={() => {
        if (isThere && !seen.isBusy) {
          void seen.goTo(to);
        }
      }}
    >
      {name}
    </button>
  );
  return (
    <nav
      className="jp-hdspAgent-context-pages"
      aria-label={trans.__('Pages of messages')}
    >
      <span role="status">
        {count === 0
          ? trans.__('There is no message yet.')
          : trans.__(
              'Messages %1 to %2 of %3',
              fullCount(first + 1),
              fullCount(first + messages.length),
              fullCount(count)
            )}
      </span>
      {count > PAGE && (
        <span>
          {go(trans.__('First'), 0, first > 0)}
          {go(trans.__('Earlier'), Math.max(0, first - PAGE), first > 0)}
          {go(trans.__('Later'), first + PAGE, first < last)}
          {go(trans.__('Last'), last, first < last)}
        </span>
      )}
    </nav>
  );
}

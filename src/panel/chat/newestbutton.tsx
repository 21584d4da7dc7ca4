import { downloadIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { ClineMessage } from '../../generated/wire';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import type { FollowBottom } from './followbottom';

/**
 * Leads to the newest message when it is out of sight, and tells whether there
 * is something new.
 */
export function NewestButton({
  follow,
  box
}: {
  follow: React.RefObject<FollowBottom | null>;
  box: React.RefObject<HTMLElement>;
}): JSX.Element | null {
  const { store, trans } = usePanel();
  const [isAway, setAway] = React.useState(false);
  const seen = React.useRef<ClineMessage | null>(null);
  React.useEffect(() => {
    const following = follow.current;
    const look = () => {
      const isAway =
        !!following && !following.isAtEnd && !following.isFollowing;
      setAway(isAway);
      if (following?.isAtEnd || following?.isFollowing) {
        seen.current = null;
      }
      seen.current ??= store.message(store.order.at(-1) ?? 0) ?? null;
    };
    look();
    following?.changed.connect(look);
    return () => void following?.changed.disconnect(look);
  }, [follow, store]);
  const newest = useStore(store, ({ order }) => order.at(-1) ?? 0);
  const hasNew = React.useSyncExternalStore(
    React.useCallback(
      (listener: () => void) => store.subscribe(newest, listener),
      [store, newest]
    ),
    () =>
      isAway &&
      newest >= (seen.current?.ts ?? 0) &&
      store.message(newest) !== seen.current
  );
  if (!isAway) {
    return null;
  }
  const label = hasNew
    ? trans.__('New messages below')
    : trans.__('To the newest message');
  return (
    <button
      className="jp-hdspAgent-chat-newest"
      data-new={hasNew}
      onClick={() => {
        box.current?.focus({ preventScroll: true });
        follow.current?.follow();
      }}
    >
      <downloadIcon.react tag="span" aria-hidden="true" />
      <span>{label}</span>
    </button>
  );
}

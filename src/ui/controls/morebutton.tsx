import * as React from 'react';

import { usePanel } from '../services';

/**
 * What has more to show than it has fetched.
 */
export interface IPages {
  more(): Promise<void>;
}

/**
 * Fetches what follows when it comes into sight, or is pressed.
 *
 * @param pages - The same object each time: another is observed anew, and what
 * is in sight then is fetched again.
 *
 * @param isAutomatic - Whether it does so without being pressed.
 */
export function MoreButton({
  pages,
  isAutomatic = true
}: {
  pages: IPages;
  isAutomatic?: boolean;
}): JSX.Element {
  const { trans } = usePanel();
  const button = React.useRef<HTMLButtonElement>(null);
  React.useEffect(() => {
    if (
      !isAutomatic ||
      button.current === null ||
      typeof IntersectionObserver !== 'function'
    ) {
      return;
    }
    const observer = new IntersectionObserver(entries => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) {
        void pages.more();
      }
    });
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [pages, isAutomatic]);
  return (
    <button
      ref={button}
      type="button"
      className="jp-hdspAgent-button"
      onClick={() => void pages.more()}
    >
      {trans.__('Show more')}
    </button>
  );
}

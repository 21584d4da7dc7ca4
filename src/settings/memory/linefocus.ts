import * as React from 'react';

/**
 * Keeps the focus in the list when a line goes, or is drawn anew.
 */
export interface ILineFocus {
  /**
   * What the lines are in.
   */
  readonly container: React.RefObject<HTMLDivElement>;

  readonly afterChange: LineFocus;
}

/**
 * Do something with the line that an element is in; then the focus is where
 * the line was: on it, on the next one, or else on what adds one.
 */
export type LineFocus = (
  element: HTMLElement | null,
  change: () => Promise<unknown>
) => Promise<void>;

const Context = React.createContext<LineFocus>(async (_, change) => {
  await change();
});

/**
 * Lets the lines below it keep the focus.
 */
export const LineFocusProvider = Context.Provider;

/**
 * What keeps the focus when a line is changed.
 */
export function useAfterChange(): LineFocus {
  return React.useContext(Context);
}

/**
 * Keep the focus among the lines of a container.
 */
export function useLineFocus(): ILineFocus {
  const container = React.useRef<HTMLDivElement>(null);
  const [place, setPlace] = React.useState<{ at: number } | null>(null);
  React.useLayoutEffect(() => {
    if (place !== null && container.current) {
      const lines = linesIn(container.current);
      const next = lines[Math.min(place.at, lines.length - 1)];
      const button = (next ?? container.current).querySelector<HTMLElement>(
        next ? '[role="group"] button' : '[data-adds-line]'
      );
      button?.focus();
    }
  }, [place]);
  const afterChange = React.useCallback<LineFocus>(async (element, change) => {
    const line = element?.closest<HTMLElement>('[data-line]') ?? null;
    const at =
      container.current && line ? linesIn(container.current).indexOf(line) : -1;
    await change();
    if (at >= 0) {
      // After what the change brought is drawn.
      setPlace({ at });
    }
  }, []);
  return { container, afterChange };
}

function linesIn(container: HTMLElement): HTMLElement[] {
  return [...container.querySelectorAll<HTMLElement>('[data-line]')];
}

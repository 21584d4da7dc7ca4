import * as React from 'react';

import { focusNext } from '../nextfocus';
import { usePanel } from '../services';

/**
 * A part of the panel that goes when what it is about is done. The focus, if
 * it is within, goes on where one writes and not to the top of the page.
 */
export function TransientNote({
  goesOnAt,
  ...props
}: React.HTMLAttributes<HTMLDivElement> & {
  'data-ask'?: string;
  goesOnAt?: NextFocus;
}): JSX.Element {
  const part = React.useRef<HTMLDivElement>(null);
  useFocusGoesOn(part, goesOnAt);
  return <div ref={part} {...props} />;
}

/**
 * Where the focus goes on instead when a part of a panel goes; `null` for where
 * one writes.
 */
export type NextFocus = (
  part: HTMLElement,
  panel: HTMLElement
) => HTMLElement | null;

/**
 * Have the focus, if it is within a part that goes, go on where one writes, or
 * somewhere nearer.
 */
export function useFocusGoesOn(
  part: React.RefObject<HTMLElement>,
  goesOnAt?: NextFocus
): void {
  const { node } = usePanel();
  React.useLayoutEffect(() => {
    const element = part.current;
    return () => {
      if (!element?.contains(document.activeElement)) {
        return;
      }
      const next = goesOnAt?.(element, node);
      if (next) {
        next.focus();
      } else {
        focusNext(node);
      }
    };
  }, [node, part, goesOnAt]);
}

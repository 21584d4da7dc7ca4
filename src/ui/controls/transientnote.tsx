import * as React from 'react';

import { focusNext } from '../nextfocus';
import { usePanel } from '../services';

/**
 * A part of the panel that goes when what it is about is done. The focus, if
 * it is within, goes on where one writes and not to the top of the page.
 */
export function TransientNote(
  props: React.HTMLAttributes<HTMLDivElement> & { 'data-ask'?: string }
): JSX.Element {
  const part = React.useRef<HTMLDivElement>(null);
  useFocusGoesOn(part);
  return <div ref={part} {...props} />;
}

/**
 * Have the focus, if it is within a part that goes, go on where one writes.
 */
export function useFocusGoesOn(part: React.RefObject<HTMLElement>): void {
  const { node } = usePanel();
  React.useLayoutEffect(() => {
    const element = part.current;
    return () => {
      if (element?.contains(document.activeElement)) {
        focusNext(node);
      }
    };
  }, [node, part]);
}

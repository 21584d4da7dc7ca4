import type * as React from 'react';

/**
 * The handlers of an entry of a list that is chosen as soon as the mouse button
 * goes down on it.
 *
 * #### Notes
 * What comes late moves the entries of a list. An entry that is somewhere else
 * when the button comes up gets no click. The focus stays where it is.
 */
export function onPress(
  choose: () => void
): Pick<React.DOMAttributes<HTMLElement>, 'onMouseDown' | 'onClick'> {
  return {
    onMouseDown: event => {
      event.preventDefault();
      if (event.button === 0 && !event.ctrlKey) {
        choose();
      }
    },
    onClick: event => {
      // Screen readers click without a mouse.
      if (event.detail === 0) {
        choose();
      }
    }
  };
}

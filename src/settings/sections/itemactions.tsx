import * as React from 'react';

import { useSettings } from '../settingscontext';

/**
 * What can be done with an item of a list.
 */
export function ItemActions({
  name,
  children
}: {
  name: string;
  children: React.ReactNode;
}): JSX.Element {
  const { trans } = useSettings();
  return (
    <div
      className="jp-hdspSettings-actions"
      role="group"
      aria-label={trans.__('Actions for “%1”', name)}
    >
      {children}
    </div>
  );
}

/**
 * One of them.
 *
 * @param about - What is read aloud of it; it contains the label.
 */
export function ItemAction(props: {
  label: string;
  about?: string;
  isExpanded?: boolean;
  disabled?: boolean;
  onClick: () => unknown;
}): JSX.Element {
  return (
    <button
      type="button"
      className="jp-hdspSettings-link"
      aria-label={props.about}
      aria-expanded={props.isExpanded}
      disabled={props.disabled}
      onClick={() => void props.onClick()}
    >
      {props.label}
    </button>
  );
}

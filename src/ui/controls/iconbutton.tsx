import type { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

/**
 * A button that shows an icon alone; its name is read aloud and shown when one points at it.
 */
export const IconButton = React.forwardRef<
  HTMLButtonElement,
  IconButton.IProps
>(function IconButton({ icon: Icon, label, className, ...others }, ref) {
  return (
    <button
      {...others}
      ref={ref}
      type="button"
      className={`jp-hdspAgent-iconButton${className ? ` ${className}` : ''}`}
      aria-label={label}
      title={label}
    >
      <Icon.react tag="span" aria-hidden="true" width="16px" height="16px" />
    </button>
  );
});

/**
 * The namespace for `IconButton` statics.
 */
export namespace IconButton {
  /**
   * The properties of a button.
   */
  export interface IProps extends Omit<
    React.ButtonHTMLAttributes<HTMLButtonElement>,
    'type' | 'aria-label' | 'title'
  > {
    readonly icon: LabIcon;
    readonly label: string;
  }
}

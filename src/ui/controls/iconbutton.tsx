import type { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

/**
 * A button that shows an icon alone; its name is read aloud, and
 * shown when one points at it unless there is a title.
 */
export const IconButton = React.forwardRef<
  HTMLButtonElement,
  IconButton.IProps
>(function IconButton(
  { icon: Icon, label, title = label, className, ...others },
  ref
) {
  return (
    <button
      {...others}
      ref={ref}
      type="button"
      className={`jp-hdspAgent-iconButton${className ? ` ${className}` : ''}`}
      aria-label={label}
      title={title}
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
    'type' | 'aria-label'
  > {
    readonly icon: LabIcon;
    readonly label: string;
  }
}

import * as React from 'react';

import { useSettings } from '../settingscontext';

/**
 * The buttons below a form: save it, leave it, and what else there is.
 */
export function FormButtons({
  isBusy,
  onCancel,
  children
}: {
  isBusy: boolean;
  onCancel: () => void;
  children?: React.ReactNode;
}): JSX.Element {
  const { trans } = useSettings();
  return (
    <div className="jp-hdspSettings-actions">
      <button
        type="submit"
        className="jp-hdspSettings-button"
        disabled={isBusy}
      >
        {trans.__('Save')}
      </button>
      <button
        type="button"
        className="jp-hdspSettings-button"
        onClick={onCancel}
      >
        {trans.__('Cancel')}
      </button>
      {children}
    </div>
  );
}

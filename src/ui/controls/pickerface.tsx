import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { ErrorBody } from '../../generated/wire';

/**
 * The properties of a picker of the composer.
 */
export interface IPickerProps {
  readonly isOffline: boolean;

  /**
   * Told why what was chosen could not be had.
   */
  readonly onFailed: (error: ErrorBody) => void;
}

/**
 * Why a choice that the server keeps cannot be made now; none if it can.
 */
export function choiceBlocker(
  isOffline: boolean,
  trans: TranslationBundle
): string | undefined {
  return isOffline
    ? trans.__('You are offline. You can change this when you are back online.')
    : undefined;
}

/**
 * What the button of a picker shows: what is chosen now.
 */
export function PickerFace({ label }: { readonly label: string }): JSX.Element {
  return (
    <>
      <span className="jp-hdspAgent-picker-label">{label}</span>
      <caretDownIcon.react tag="span" aria-hidden="true" />
    </>
  );
}

import * as React from 'react';

import type { ErrorLike } from '../../comm/requesterror';
import { errorText } from '../../errors';
import { useSettings } from '../settingscontext';

/**
 * What went wrong in a section; nothing when nothing did.
 */
export function SectionProblem({
  error
}: {
  error: ErrorLike | null | undefined;
}): JSX.Element | null {
  const { trans } = useSettings();
  return error ? (
    <p className="jp-hdspSettings-error" role="alert">
      {errorText(trans, error)}
    </p>
  ) : null;
}

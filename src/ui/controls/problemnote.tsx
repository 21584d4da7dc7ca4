import * as React from 'react';

import { errorText } from '../../errors';
import type { ErrorBody } from '../../generated/wire';
import { usePanel } from '../services';

/**
 * Why something was refused, near where it was tried; nothing when it was not.
 */
export function ProblemNote({
  error
}: {
  error: ErrorBody | null;
}): JSX.Element | null {
  const { trans } = usePanel();
  return error === null ? null : (
    <p className="jp-hdspAgent-problem" role="alert">
      {errorText(trans, error)}
    </p>
  );
}

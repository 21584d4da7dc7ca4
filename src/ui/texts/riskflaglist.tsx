import * as React from 'react';

import { noticeIcon, warningIcon } from '../icons/noticeicons';
import { usePanel } from '../services';
import type { AskFlag } from './riskflags';
import { flagTexts, isSevere } from './riskflags';

/**
 * What to look at before one approves. What is grave has another picture, not
 * only another colour.
 */
export function RiskFlagList({
  flags
}: {
  flags: readonly AskFlag[];
}): JSX.Element | null {
  const { trans } = usePanel();
  return flags.length === 0 ? null : (
    <ul className="jp-hdspAgent-flags" aria-label={trans.__('Warnings')}>
      {flags.map(flag => {
        const { label, meaning } = flagTexts(flag, trans);
        const Icon = isSevere(flag) ? warningIcon : noticeIcon;
        return (
          <li
            key={flag}
            title={meaning}
            data-flag={flag}
            data-grave={isSevere(flag)}
          >
            <Icon.react tag="span" aria-hidden="true" />
            {label}
            {/* What the others are told when they point at it. */}
            <span className="jp-hdspAgent-announcement"> {meaning}</span>
          </li>
        );
      })}
    </ul>
  );
}

import * as React from 'react';

import { fullCount } from '../../ui/texts/formats';
import { usePanel } from '../../ui/services';
import { VisibleText } from '../../ui/texts/visibletext';
import { RiskFlagList } from '../../ui/texts/riskflaglist';
import type { IAskTexts } from './asktexts';

/**
 * What a question is about.
 */
export const AskText = React.memo(function AskText({
  words: { sentence, stats, flags, items, code, hint }
}: {
  words: IAskTexts;
}): JSX.Element {
  const { trans } = usePanel();
  return (
    <>
      <p className="jp-hdspAgent-ask-sentence">
        <VisibleText text={sentence} />
        {stats && (
          <span
            className="jp-hdspAgent-ask-stats"
            aria-label={trans.__(
              '%1 lines added, %2 removed',
              fullCount(stats.added),
              fullCount(stats.removed)
            )}
            role="img"
          >
            {trans.__(
              '+%1 −%2',
              fullCount(stats.added),
              fullCount(stats.removed)
            )}
          </span>
        )}
      </p>
      {flags && <RiskFlagList flags={flags} />}
      {items !== undefined && (
        <ul
          className="jp-hdspAgent-ask-items"
          tabIndex={0}
          aria-label={trans.__('What it is about')}
        >
          {items.map((item, index) => (
            <li key={index}>
              <VisibleText text={item} />
            </li>
          ))}
        </ul>
      )}
      {code !== undefined && code !== '' && (
        <pre
          className="jp-hdspAgent-ask-code"
          // It scrolls, so that it must be reached by keyboard.
          tabIndex={0}
          role="group"
          aria-label={trans.__('In full')}
        >
          <VisibleText text={code} />
        </pre>
      )}
      {hint && <p className="jp-hdspAgent-ask-hint">{hint}</p>}
    </>
  );
});

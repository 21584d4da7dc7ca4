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
  words: { sentence, stats, flags, code, hint }
}: {
  words: IAskTexts;
}): JSX.Element {
  const { trans } = usePanel();
  return (
    <>
      <div className="jp-hdspAgent-ask-line">
        <p className="jp-hdspAgent-ask-sentence" title={sentence}>
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
        {code !== undefined && code !== '' && <Code text={code} />}
      </div>
      {flags && <RiskFlagList flags={flags} />}
      {hint && <p className="jp-hdspAgent-ask-hint">{hint}</p>}
    </>
  );
});

/**
 * What will run, on the line of the question until one wants all of it.
 */
function Code({ text }: { text: string }): JSX.Element {
  const { trans } = usePanel();
  const [isOpen, setOpen] = React.useState(false);
  const isLong = text.includes('\n') || text.length > 24;
  return isOpen ? (
    <pre
      className="jp-hdspAgent-ask-code"
      // It scrolls, so that it must be reached by keyboard.
      tabIndex={0}
      role="group"
      aria-label={trans.__('Full command')}
    >
      <VisibleText text={text} />
    </pre>
  ) : (
    <>
      <code className="jp-hdspAgent-ask-preview" title={text}>
        <VisibleText text={text} />
      </code>
      {isLong && (
        <button
          type="button"
          className="jp-hdspAgent-ask-link"
          onClick={() => setOpen(true)}
        >
          {trans.__('Show all')}
        </button>
      )}
    </>
  );
}

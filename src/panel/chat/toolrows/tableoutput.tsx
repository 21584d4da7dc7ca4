import * as React from 'react';

import { usePanel } from '../../../ui/services';
import { OUTPUT_LINES } from '../../../ui/texts/boundedtext';
import { useFold } from '../../../ui/texts/fold';
import { fullCount } from '../../../ui/texts/formats';
import { RenderedOutput } from '../../../ui/texts/renderedoutput';

/**
 * A table that a cell showed, such as a DataFrame, as the notebook shows
 * it.
 *
 * @param id - Under which it is remembered whether all of it is shown.
 *
 * @param otherwise - What is shown in place of it where it cannot be.
 */
export function TableOutput({
  id,
  html,
  otherwise
}: {
  id: string;
  html: string;
  otherwise: JSX.Element;
}): JSX.Element {
  const { trans } = usePanel();
  const [isFailed, setFailed] = React.useState(false);
  const [isOpen, setOpen] = useFold(`${id}:table`, false);
  const rows = React.useMemo(
    () => html.match(/<tr[\s>]/g)?.length ?? 0,
    [html]
  );
  const isLong = rows > OUTPUT_LINES;
  const onFailed = React.useCallback(() => setFailed(true), []);
  if (isFailed) {
    return otherwise;
  }
  return (
    <>
      <div
        className="jp-hdspAgent-tableOutput"
        role="group"
        aria-label={trans.__('Table')}
        tabIndex={0}
        data-folded={isLong && !isOpen}
      >
        <RenderedOutput mimeType="text/html" text={html} onFailed={onFailed} />
      </div>
      {isLong && (
        <button
          type="button"
          className="jp-hdspAgent-chat-link jp-hdspAgent-bounded-more"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen
            ? trans.__('Show less')
            : trans._n(
                'Show all (%1 row)',
                'Show all (%1 rows)',
                rows,
                fullCount(rows)
              )}
        </button>
      )}
    </>
  );
}

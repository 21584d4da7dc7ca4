import * as React from 'react';

import type { ContextCleared, ContextCondense } from '../../generated/wire';
import { fullCount } from '../../ui/texts/formats';
import { usePanel } from '../../ui/services';
import { keptName } from './contexttexts';

/**
 * What a condensation kept word for word, what it dropped, and who wrote the
 * summary.
 */
export function CondenseReport({
  condensed: { kept = [], dropped, model, way }
}: {
  condensed: ContextCondense;
}): JSX.Element {
  const { trans } = usePanel();
  return (
    <div className="jp-hdspAgent-account">
      {kept.length > 0 && (
        <>
          <p>{trans.__('Kept word for word:')}</p>
          <ul>
            {kept.map(part => (
              <li key={part.kind}>
                <span>{keptName(part, trans)}</span>
                <Items items={part.items} count={part.count} />
              </li>
            ))}
          </ul>
        </>
      )}
      {dropped && (
        <p>
          {trans._n(
            'The model sees the summary in place of %1 message, about %2 tokens.',
            'The model sees the summary in place of %1 messages, about %2 tokens.',
            dropped.messages,
            fullCount(dropped.tokens)
          )}{' '}
          {dropped.outputs > 0 &&
            trans._n(
              'They include %1 tool output.',
              'They include %1 tool outputs.',
              dropped.outputs
            )}{' '}
          {trans.__('You still see all of them.')}
        </p>
      )}
      {way === 'remote' ? (
        <p>
          {model === undefined
            ? trans.__('The provider condensed it automatically.')
            : trans.__('The provider of %1 condensed it automatically.', model)}
        </p>
      ) : (
        model !== undefined && (
          <p>{trans.__('The summary is written by %1.', model)}</p>
        )
      )}
    </div>
  );
}

/**
 * The beginnings of what was kept, and how many others there are.
 */
function Items({
  items,
  count
}: {
  items: readonly string[];
  count: number;
}): JSX.Element | null {
  const { trans } = usePanel();
  if (items.length === 0) {
    return null;
  }
  const more = count - items.length;
  return (
    <ul>
      {items.map((item, index) => (
        <li key={index}>{item}</li>
      ))}
      {more > 0 && <li>{trans._n('and %1 more', 'and %1 more', more)}</li>}
    </ul>
  );
}

/**
 * Of which tools outputs are not sent any more.
 */
export function ClearedReport({
  cleared: { reason, tools }
}: {
  cleared: ContextCleared;
}): JSX.Element {
  const { trans } = usePanel();
  return (
    <div className="jp-hdspAgent-account">
      <p>
        {reason === 'old'
          ? trans.__(
              'Old or duplicate outputs were removed. The model is told that it can call the tool again.'
            )
          : trans.__(
              'The provider refused the request as too long. The model is told that it can call the tool again.'
            )}
      </p>
      <ul>
        {Object.entries(tools).map(([tool, count]) => (
          <li key={tool}>
            {trans.__(
              '%1: %2',
              tool || trans.__('other tools'),
              fullCount(count)
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

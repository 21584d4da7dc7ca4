import * as React from 'react';

import type { SeenContext } from '../../generated/rest';
import { fullCount, language } from '../../ui/texts/formats';
import { usePanel } from '../../ui/services';
import { partsOf } from './contexttexts';

/**
 * The parts of the request beside each other, in the window where its size is
 * known. What it says is in the table too.
 */
export function ContextPartsBar({
  request
}: {
  request: SeenContext;
}): JSX.Element {
  const { trans } = usePanel();
  const { tokens, contextWindow, condenseAt } = request;
  const reserved = reservedOf(request);
  const whole = Math.max(contextWindow ?? 0, tokens.total + reserved, 1);
  const width = (part: number) => `${(100 * part) / whole}%`;
  return (
    <div className="jp-hdspAgent-context-stack" aria-hidden="true">
      {partsOf(request, trans).map(part => (
        <span
          key={part.id}
          data-part={part.id}
          title={`${part.name}: ${fullCount(part.tokens)}`}
          style={{ width: width(part.tokens) }}
        />
      ))}
      {reserved > 0 && (
        <span
          data-part="reserved"
          title={`${trans.__('Reserved for the answer')}: ${fullCount(reserved)}`}
          style={{ width: width(reserved), marginInlineStart: 'auto' }}
        />
      )}
      {condenseAt !== undefined && condenseAt < whole && (
        <span
          data-part="limit"
          title={trans.__('Condensed at %1 tokens', fullCount(condenseAt))}
          style={{ insetInlineStart: width(condenseAt) }}
        />
      )}
    </div>
  );
}

/**
 * How many tokens each part of the request takes.
 */
export function ContextPartsTable({
  request
}: {
  request: SeenContext;
}): JSX.Element {
  const { trans } = usePanel();
  const { tokens, contextWindow, condenseAt } = request;
  const reserved = reservedOf(request);
  const parts = partsOf(request, trans).map(part => ({ ...part }));
  const room =
    contextWindow === undefined
      ? []
      : [
          ...(reserved > 0
            ? [
                {
                  id: 'reserved',
                  name: trans.__('Reserved for the answer'),
                  tokens: reserved
                }
              ]
            : []),
          {
            id: 'free',
            name: trans.__('Free'),
            tokens: Math.max(0, contextWindow - tokens.total - reserved)
          }
        ];
  const whole = contextWindow ?? tokens.total;
  const row = (id: string | null, name: string, count: number) => (
    <tr key={id ?? 'total'} data-part={id ?? 'total'}>
      <th scope="row">{name}</th>
      <td>{fullCount(count)}</td>
      <td>{shareText(count / Math.max(1, whole))}</td>
    </tr>
  );
  return (
    <table className="jp-hdspAgent-context-table">
      <caption>
        {contextWindow === undefined
          ? trans.__('Context size unknown. You can set it in the profile.')
          : condenseAt === undefined
            ? trans.__(
                'The context window is %1 tokens.',
                fullCount(contextWindow)
              )
            : trans.__(
                'The context window is %1 tokens. At %2, the conversation is condensed.',
                fullCount(contextWindow),
                fullCount(condenseAt)
              )}
      </caption>
      <thead>
        <tr>
          <th scope="col">{trans.__('Part')}</th>
          <th scope="col">{trans.__('Tokens')}</th>
          <th scope="col">{trans.__('Share')}</th>
        </tr>
      </thead>
      <tbody>
        {parts.map(part => row(part.id, part.name, part.tokens))}
        {row(null, trans.__('The whole request'), tokens.total)}
        {room.map(part => row(part.id, part.name, part.tokens))}
      </tbody>
    </table>
  );
}

function shareText(share: number): string {
  return new Intl.NumberFormat(language(), {
    style: 'percent',
    maximumFractionDigits: 1
  }).format(share);
}

function reservedOf({
  reserved = 0,
  contextWindow,
  tokens
}: SeenContext): number {
  return contextWindow === undefined
    ? 0
    : Math.min(reserved, Math.max(0, contextWindow - tokens.total));
}

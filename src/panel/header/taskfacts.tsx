import * as React from 'react';

import type { AggregatedCosts, HistoryItem } from '../../generated/wire';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import {
  fullCount,
  dateTimeText,
  sizeText,
  spendingText
} from '../../ui/texts/formats';
import { plainName } from '../../ui/texts/visibletext';
import { useIsFree } from './costs';

/**
 * What a conversation used, what it cost, how large it is and when it was.
 */
export function TaskFacts({
  item,
  family
}: {
  item: HistoryItem;
  family: AggregatedCosts | null;
}): JSX.Element {
  const { store, trans } = usePanel();
  const usage = useStore(store, ({ state }) => state?.tokenUsage);
  const began = useStore(store, ({ order, hasOlderMessages }) =>
    hasOlderMessages ? undefined : order.at(0)
  );
  const isFree = useIsFree(item.apiConfigName);
  const tokensIn = usage?.totalTokensIn ?? item.tokensIn;
  const tokensOut = usage?.totalTokensOut ?? item.tokensOut;
  const reads = usage?.totalCacheReads ?? item.cacheReads ?? 0;
  const writes = usage?.totalCacheWrites ?? item.cacheWrites ?? 0;
  const agent = item.externalAgent;
  const facts: [string, string][] =
    agent === undefined
      ? [
          [trans.__('Tokens read'), fullCount(tokensIn)],
          [trans.__('Tokens written'), fullCount(tokensOut)]
        ]
      : [[trans.__('Agent'), plainName(agent)]];
  if (reads > 0 || writes > 0) {
    facts.push([
      trans.__('Cache'),
      trans.__('%1 read, %2 written', fullCount(reads), fullCount(writes))
    ]);
  }
  const cost = usage?.totalCost ?? item.totalCost;
  const tokens = tokensIn + tokensOut;
  if (agent === undefined) {
    const spending = { cost, tokens, isFree };
    facts.push([trans.__('Cost'), spendingText(trans, spending)]);
  }
  if (family !== null) {
    // Their tokens are not told; a subtask that began has some.
    const spending = { cost: family.childrenCost, tokens: 1, isFree };
    facts.push([trans.__('Cost of subtasks'), spendingText(trans, spending)]);
  }
  if (item.size !== undefined) {
    facts.push([trans.__('Size'), sizeText(item.size, trans)]);
  }
  if (began !== undefined) {
    facts.push([trans.__('Started'), dateTimeText(began)]);
  }
  facts.push([trans.__('Last active'), dateTimeText(item.ts)]);
  if (item.apiConfigName !== undefined && agent === undefined) {
    facts.push([trans.__('Profile'), item.apiConfigName]);
  }
  return (
    <dl className="jp-hdspAgent-facts">
      {facts.map(([name, value]) => (
        <React.Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </React.Fragment>
      ))}
    </dl>
  );
}

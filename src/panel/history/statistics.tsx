import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ModelUseView, StatisticsView } from '../../generated/rest';
import { fullCount, spendingText } from '../../ui/texts/formats';
import { useStore } from '../../ui/hooks';
import { ProblemNote } from '../../ui/controls/problemnote';
import { Select } from '../../ui/controls/select';
import { useAction } from '../../ui/useaction';
import { usePanel } from '../../ui/services';
import { HistoryApi } from '../../rest/historyapi';
import type { Measure } from './plotdata';
import { plotData } from './plotdata';
import { UsagePlot } from './usageplot';

const DAY = 24 * 60 * 60 * 1000;
const RANGES: readonly (number | null)[] = [7, 30, 90, null];
const MEASURES: readonly Measure[] = ['tokens', 'cost', 'requests'];

/**
 * What the conversations and ghost text used: in all, and over time by model.
 */
export function Statistics(): JSX.Element {
  const { serverSettings, trans } = usePanel();
  const [days, setDays] = React.useState<number | null>(30);
  const [measure, setMeasure] = React.useState<Measure>('tokens');
  const [found, setFound] = React.useState<StatisticsView | null>(null);
  const { run, error, isBusy } = useAction();
  const load = React.useCallback(
    (range: number | null) =>
      void run(async () => {
        const since = range === null ? null : Date.now() - range * DAY;
        setFound(await new HistoryApi(serverSettings).statistics(since));
      }),
    [run, serverSettings]
  );
  React.useEffect(() => load(30), [load]);
  return (
    <section
      className="jp-hdspAgent-statistics"
      aria-label={trans.__('Usage')}
      aria-busy={isBusy}
    >
      <div className="jp-hdspAgent-history-line">
        <Select
          aria-label={trans.__('Time')}
          disabled={isBusy}
          value={String(days)}
          onChange={event => {
            const { value } = event.currentTarget;
            const range = RANGES.find(one => String(one) === value) ?? null;
            setDays(range);
            load(range);
          }}
        >
          {RANGES.map(range => (
            <option key={range} value={String(range)}>
              {range === null
                ? trans.__('All time')
                : trans._n('Last %1 day', 'Last %1 days', range)}
            </option>
          ))}
        </Select>
        <Select
          aria-label={trans.__('Value to plot')}
          value={measure}
          onChange={event => setMeasure(event.currentTarget.value as Measure)}
        >
          {MEASURES.map(one => (
            <option key={one} value={one}>
              {measureText(one, trans)}
            </option>
          ))}
        </Select>
      </div>
      {error !== null && (
        <>
          <ProblemNote error={error} />
          <button
            type="button"
            className="jp-hdspAgent-button"
            onClick={() => load(days)}
          >
            {trans.__('Try again')}
          </button>
        </>
      )}
      {found === null ? (
        error === null && <p role="status">{trans.__('Loading…')}</p>
      ) : (
        <Found found={found} measure={measure} />
      )}
    </section>
  );
}

function Found({
  found,
  measure
}: {
  found: StatisticsView;
  measure: Measure;
}): JSX.Element {
  const { store, trans } = usePanel();
  const profiles = useStore(store, ({ state }) => state?.listApiConfigMeta);
  const { total } = found;
  const use = React.useMemo(() => [...found.use, ...found.ghostText], [found]);
  const data = React.useMemo(() => plotData(use, measure), [use, measure]);
  const ghost = sumOf(found.ghostText);
  const tokensIn = total.tokensIn + ghost.tokensIn;
  const tokensOut = total.tokensOut + ghost.tokensOut;
  const tokens = tokensIn + tokensOut;
  const free = new Set(
    profiles
      ?.filter(({ apiProvider }) => apiProvider === 'local')
      .map(({ modelId }) => modelId)
  );
  const isFree = use.length > 0 && use.every(({ model }) => free.has(model));
  const ghostTokens = ghost.tokensIn + ghost.tokensOut;
  return (
    <>
      <dl className="jp-hdspAgent-facts">
        <dt>{trans.__('Conversations')}</dt>
        <dd>{fullCount(total.tasks)}</dd>
        <dt>{trans.__('Requests to models')}</dt>
        <dd>{fullCount(total.llmCalls + ghost.requests)}</dd>
        <dt>{trans.__('Tokens read')}</dt>
        <dd>{fullCount(tokensIn)}</dd>
        <dt>{trans.__('Tokens written')}</dt>
        <dd>{fullCount(tokensOut)}</dd>
        <dt>{trans.__('Cost')}</dt>
        <dd>
          {spendingText(trans, {
            cost: total.cost + ghost.cost,
            tokens,
            isFree
          })}
        </dd>
        {ghost.requests > 0 && (
          <>
            <dt>{trans.__('Of that, ghost text')}</dt>
            <dd>
              {trans._n(
                '%1 request, %2 tokens, cost: %3',
                '%1 requests, %2 tokens, cost: %3',
                ghost.requests,
                fullCount(ghostTokens),
                spendingText(trans, {
                  cost: ghost.cost,
                  tokens: ghostTokens,
                  isFree: false
                })
              )}
            </dd>
          </>
        )}
      </dl>
      {data.bars.length > 0 ? (
        <UsagePlot data={data} measure={measure} />
      ) : (
        <p>
          {measure === 'cost' && tokens > 0
            ? trans.__('No costs are known for this period.')
            : trans.__('There is nothing to plot for this period.')}
        </p>
      )}
    </>
  );
}

function sumOf(
  use: readonly ModelUseView[]
): Omit<ModelUseView, 'day' | 'model'> {
  const sum = { requests: 0, tokensIn: 0, tokensOut: 0, cost: 0 };
  for (const one of use) {
    sum.requests += one.requests;
    sum.tokensIn += one.tokensIn;
    sum.tokensOut += one.tokensOut;
    sum.cost += one.cost;
  }
  return sum;
}

function measureText(measure: Measure, trans: TranslationBundle): string {
  switch (measure) {
    case 'tokens':
      return trans.__('Tokens');
    case 'cost':
      return trans.__('Cost');
    case 'requests':
      return trans.__('Requests');
  }
}

import type { ModelUseView } from '../../generated/rest';

/**
 * What is plotted.
 */
export type Measure = 'tokens' | 'cost' | 'requests';

/**
 * How long a stretch of time one bar stands for.
 */
export type Span = 'day' | 'week' | 'month';

/**
 * One bar: what each model was used in one stretch of time.
 */
export interface IBar {
  /**
   * Its first day, such as 2026-01-31.
   */
  readonly day: string;

  /**
   * One value for each model of the plot, in its order.
   */
  readonly values: readonly number[];
}

/**
 * What was used over time, ready to be drawn.
 */
export interface IPlotData {
  readonly span: Span;

  /**
   * The models by their ids, most used first; `null` is all that have no place of their own.
   */
  readonly models: readonly (string | null)[];

  /**
   * Oldest first, without gaps.
   */
  readonly bars: readonly IBar[];

  /**
   * What the highest bar adds up to.
   */
  readonly highest: number;
}

/**
 * More models than this cannot be told apart.
 */
const MOST_MODELS = 5;

const DAY = 24 * 60 * 60 * 1000;
const MOST_DAYS = 45;
const MOST_WEEKS = 60;

/**
 * Add up what was used.
 *
 * @param use - By day and model.
 *
 * @param measure - What counts.
 */
export function plotData(
  use: readonly ModelUseView[],
  measure: Measure
): IPlotData {
  const counted = use.filter(one => valueOf(one, measure) > 0);
  const models = modelsOf(counted, measure);
  const days = counted.map(({ day }) => timeOf(day)).sort((a, b) => a - b);
  if (days.length === 0) {
    return { span: 'day', models: [], bars: [], highest: 0 };
  }
  const [first, last] = [days[0], days[days.length - 1]];
  const span = spanOf((last - first) / DAY + 1);
  const bars = new Map<number, number[]>();
  for (
    let begin = beginOf(first, span);
    begin <= last;
    begin = nextOf(begin, span)
  ) {
    bars.set(
      begin,
      models.map(() => 0)
    );
  }
  for (const one of counted) {
    const values = bars.get(beginOf(timeOf(one.day), span));
    const own = models.indexOf(one.model);
    const at = own === -1 ? models.length - 1 : own;
    if (values !== undefined) {
      values[at] += valueOf(one, measure);
    }
  }
  const sums = [...bars.values()].map(values => values.reduce(add, 0));
  return {
    span,
    models,
    bars: [...bars].map(([begin, values]) => ({
      day: new Date(begin).toISOString().slice(0, 10),
      values
    })),
    highest: Math.max(...sums)
  };
}

/**
 * The smallest round number that is not below a value: 1, 2 or 5 and zeros.
 */
export function roundUp(value: number): number {
  if (value <= 0) {
    return 1;
  }
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find(factor => factor * power >= value) ?? 10;
  return step * power;
}

/**
 * A day as the moment it begins in UTC, where all days have the same length.
 */
export function timeOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

function valueOf(one: ModelUseView, measure: Measure): number {
  switch (measure) {
    case 'tokens':
      return one.tokensIn + one.tokensOut;
    case 'cost':
      return one.cost;
    case 'requests':
      return one.requests;
  }
}

function modelsOf(
  use: readonly ModelUseView[],
  measure: Measure
): (string | null)[] {
  const sums = new Map<string, number>();
  for (const one of use) {
    sums.set(one.model, (sums.get(one.model) ?? 0) + valueOf(one, measure));
  }
  const ordered = [...sums].sort(([, a], [, b]) => b - a).map(([id]) => id);
  return ordered.length <= MOST_MODELS
    ? ordered
    : [...ordered.slice(0, MOST_MODELS - 1), null];
}

function spanOf(days: number): Span {
  if (days <= MOST_DAYS) {
    return 'day';
  }
  return days <= 7 * MOST_WEEKS ? 'week' : 'month';
}

/**
 * The first day of the stretch a day belongs to; weeks begin on Monday.
 */
function beginOf(time: number, span: Span): number {
  const date = new Date(time);
  switch (span) {
    case 'day':
      return time;
    case 'week':
      return time - ((date.getUTCDay() + 6) % 7) * DAY;
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  }
}

function nextOf(begin: number, span: Span): number {
  const date = new Date(begin);
  switch (span) {
    case 'day':
      return begin + DAY;
    case 'week':
      return begin + 7 * DAY;
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  }
}

function add(a: number, b: number): number {
  return a + b;
}

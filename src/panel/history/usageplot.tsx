import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import {
  costText,
  fullCount,
  language,
  shortCount
} from '../../ui/texts/formats';
import { usePanel } from '../../ui/services';
import type { IBar, IPlotData, Measure, Span } from './plotdata';
import { roundUp, timeOf } from './plotdata';

const HEIGHT = 140;
const LEFT = 48;
const BOTTOM = 18;
const TOP = 8;
const DEFAULT_WIDTH = 320;
const GAP = 0.15;
const WIDEST_BAR = 48;

/**
 * What was used over time: a bar for each stretch of time, with a part for
 * each model. Parts are told apart by pattern as well as by colour, and a
 * table says the same in words.
 */
export function UsagePlot({
  data,
  measure
}: {
  data: IPlotData;
  measure: Measure;
}): JSX.Element {
  const { trans } = usePanel();
  const frame = React.useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const id = React.useId();
  const step = Math.min(
    WIDEST_BAR / (1 - 2 * GAP),
    (width - LEFT) / data.bars.length
  );
  const caption = captionOf(data.span, measure, trans);
  return (
    <figure className="jp-hdspAgent-plot" ref={frame}>
      <svg
        role="img"
        aria-label={caption}
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
      >
        <Patterns id={id} count={data.models.length} />
        <Axis data={data} measure={measure} width={width} step={step} />
        {data.bars.map((bar, index) => (
          <Bar
            key={bar.day}
            id={id}
            bar={bar}
            index={index}
            data={data}
            measure={measure}
            step={step}
          />
        ))}
      </svg>
      <figcaption>
        <ul className="jp-hdspAgent-plot-legend">
          {data.models.map((model, index) => (
            <li key={model ?? index}>
              <svg aria-hidden="true" width="12" height="12">
                <rect
                  className="jp-hdspAgent-plot-part"
                  data-series={index}
                  width="12"
                  height="12"
                  fill={`url(#${id}-${index})`}
                />
              </svg>
              {modelName(model, trans)}
            </li>
          ))}
        </ul>
        <details>
          <summary>{trans.__('As a table')}</summary>
          <PlotTable caption={caption} data={data} measure={measure} />
        </details>
      </figcaption>
    </figure>
  );
}

/**
 * Fillings that differ by form; their colour comes from the style sheet.
 */
function Patterns({ id, count }: { id: string; count: number }): JSX.Element {
  return (
    <defs>
      {FORMS.slice(0, count).map((form, index) => (
        <pattern
          key={index}
          id={`${id}-${index}`}
          className="jp-hdspAgent-plot-pattern"
          data-series={index}
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
        >
          <rect width="6" height="6" className="jp-mod-ground" />
          <path d={form} className="jp-mod-ink" />
        </pattern>
      ))}
    </defs>
  );
}

const FORMS: readonly string[] = [
  'M0 0h6v6h-6z',
  'M-1 1 1-1M0 6 6 0M5 7 7 5',
  'M0 1h6M0 4h6',
  'M1 1h2v2h-2zM4 4h2v2h-2z',
  'M1 0v6M4 0v6'
];

function Axis({
  data,
  measure,
  width,
  step
}: {
  data: IPlotData;
  measure: Measure;
  width: number;
  step: number;
}): JSX.Element {
  const top = roundUp(data.highest);
  const marks = [0, top / 2, top];
  const { bars, span } = data;
  return (
    <g aria-hidden="true" className="jp-hdspAgent-plot-axis">
      {marks.map(mark => (
        <React.Fragment key={mark}>
          <line
            x1={LEFT}
            x2={width}
            y1={yOf(mark, data)}
            y2={yOf(mark, data)}
          />
          <text x={LEFT - 4} y={yOf(mark, data) + 4} textAnchor="end">
            {shortValue(mark, measure)}
          </text>
        </React.Fragment>
      ))}
      <text x={LEFT} y={HEIGHT - 4}>
        {dayText(bars[0].day, span)}
      </text>
      {bars.length > 1 && (
        <text x={LEFT + step * bars.length} y={HEIGHT - 4} textAnchor="end">
          {dayText(bars[bars.length - 1].day, span)}
        </text>
      )}
    </g>
  );
}

function Bar({
  id,
  bar,
  index,
  data,
  measure,
  step
}: {
  id: string;
  bar: IBar;
  index: number;
  data: IPlotData;
  measure: Measure;
  step: number;
}): JSX.Element {
  const { trans } = usePanel();
  let below = 0;
  return (
    <>
      {bar.values.map((value, series) => {
        const [bottom, top] = [below, below + value];
        below = top;
        return value > 0 ? (
          <rect
            key={series}
            className="jp-hdspAgent-plot-part"
            data-series={series}
            x={LEFT + step * (index + GAP)}
            y={yOf(top, data)}
            width={Math.max(1, step * (1 - 2 * GAP))}
            height={yOf(bottom, data) - yOf(top, data)}
            fill={`url(#${id}-${series})`}
          >
            <title>
              {trans.__(
                '%1, %2: %3',
                dayText(bar.day, data.span),
                modelName(data.models[series], trans),
                fullValue(value, measure)
              )}
            </title>
          </rect>
        ) : null;
      })}
    </>
  );
}

function PlotTable({
  caption,
  data,
  measure
}: {
  caption: string;
  data: IPlotData;
  measure: Measure;
}): JSX.Element {
  const { trans } = usePanel();
  return (
    <div className="jp-hdspAgent-plot-table">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{spanName(data.span, trans)}</th>
            {data.models.map((model, index) => (
              <th key={model ?? index} scope="col">
                {modelName(model, trans)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.bars.map(({ day, values }) => (
            <tr key={day}>
              <th scope="row">{dayText(day, data.span)}</th>
              {values.map((value, index) => (
                <td key={index}>{fullValue(value, measure)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/**
 * The width there is for the plot.
 */
function useWidth(frame: React.RefObject<HTMLElement>): number {
  const [width, setWidth] = React.useState(DEFAULT_WIDTH);
  React.useEffect(() => {
    const node = frame.current;
    if (node === null || typeof ResizeObserver !== 'function') {
      return;
    }
    const observer = new ResizeObserver(() =>
      setWidth(Math.max(LEFT * 3, Math.floor(node.clientWidth)))
    );
    observer.observe(node);
    return () => observer.disconnect();
  }, [frame]);
  return width;
}

function yOf(value: number, { highest }: IPlotData): number {
  const room = HEIGHT - BOTTOM - TOP;
  return TOP + room * (1 - value / roundUp(highest));
}

function modelName(model: string | null, trans: TranslationBundle): string {
  if (model === null) {
    return trans.__('Other models');
  }
  return model || trans.__('Unknown model');
}

function shortValue(value: number, measure: Measure): string {
  return measure === 'cost' ? costText(value) : shortCount(value);
}

function fullValue(value: number, measure: Measure): string {
  return measure === 'cost' ? costText(value) : fullCount(value);
}

function dayText(day: string, span: Span): string {
  return new Intl.DateTimeFormat(language(), {
    timeZone: 'UTC',
    ...(span === 'month'
      ? { year: 'numeric', month: 'short' }
      : { month: 'short', day: 'numeric' })
  }).format(timeOf(day));
}

function spanName(span: Span, trans: TranslationBundle): string {
  switch (span) {
    case 'day':
      return trans.__('Day');
    case 'week':
      return trans.__('Week from');
    case 'month':
      return trans.__('Month');
  }
}

function captionOf(
  span: Span,
  measure: Measure,
  trans: TranslationBundle
): string {
  const every = {
    day: {
      tokens: trans.__('Tokens by day and model'),
      cost: trans.__('Cost by day and model'),
      requests: trans.__('Requests by day and model')
    },
    week: {
      tokens: trans.__('Tokens by week and model'),
      cost: trans.__('Cost by week and model'),
      requests: trans.__('Requests by week and model')
    },
    month: {
      tokens: trans.__('Tokens by month and model'),
      cost: trans.__('Cost by month and model'),
      requests: trans.__('Requests by month and model')
    }
  };
  return every[span][measure];
}

import type { ModelUseView } from '../../../generated/rest';
import { plotData, roundUp } from '../plotdata';

function used(day: string, model: string, tokensIn: number): ModelUseView {
  return { day, model, requests: 1, tokensIn, tokensOut: 0, cost: 0 };
}

describe('plotData', () => {
  it('should have a bar for each day between the first and the last, used or not', () => {
    const { span, models, bars, highest } = plotData(
      [
        used('2026-01-30', 'a', 10),
        used('2026-02-01', 'b', 30),
        used('2026-02-01', 'a', 5)
      ],
      'tokens'
    );
    expect(span).toBe('day');
    expect(models).toEqual(['b', 'a']);
    expect(bars).toEqual([
      { day: '2026-01-30', values: [0, 10] },
      { day: '2026-01-31', values: [0, 0] },
      { day: '2026-02-01', values: [30, 5] }
    ]);
    expect(highest).toBe(35);
  });

  it('should add up weeks from Monday, and months, when there are many days', () => {
    const weeks = plotData(
      [used('2026-01-07', 'a', 1), used('2026-03-15', 'a', 2)],
      'tokens'
    );
    expect(weeks.span).toBe('week');
    expect(weeks.bars.at(0)).toEqual({ day: '2026-01-05', values: [1] });
    expect(weeks.bars.at(-1)).toEqual({ day: '2026-03-09', values: [2] });
    const months = plotData(
      [used('2024-01-07', 'a', 1), used('2026-03-15', 'a', 2)],
      'tokens'
    );
    expect(months.span).toBe('month');
    expect(months.bars).toHaveLength(27);
  });

  it('should put the least used models together when there are many', () => {
    const { models, bars } = plotData(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((model, index) =>
        used('2026-01-01', model, 10 - index)
      ),
      'tokens'
    );
    expect(models).toEqual(['a', 'b', 'c', 'd', null]);
    expect(bars[0].values).toEqual([10, 9, 8, 7, 6 + 5]);
  });

  it('should have nothing to draw where nothing was used', () => {
    expect(plotData([used('2026-01-01', 'a', 5)], 'cost').bars).toEqual([]);
  });
});

describe('roundUp', () => {
  it('should find the round number that is not below', () => {
    expect([0, 1, 3, 7, 11, 480, 0.03].map(roundUp)).toEqual([
      1, 1, 5, 10, 20, 500, 0.05
    ]);
  });
});

import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { act } from 'react';
import type { Root } from 'react-dom/client';
import { createRoot } from 'react-dom/client';

import type { IPanelServices } from '../../services';
import { PanelContext } from '../../services';
import { Notice } from '../notice';

(globalThis as Record<string, unknown>).IS_REACT_ACT_ENVIRONMENT = true;

const TEXT = 'Something that one should know of, in a long sentence.';

const MORE = 'More';
const UNDO = 'Undo';

describe('a notice', () => {
  let root: Root;
  let host: HTMLElement;
  let needed: number;
  let resized: () => void;

  /** A browser's observer, which is told by the test. */
  class Size {
    constructor(tell: () => void) {
      resized = tell;
    }

    observe(): void {}

    disconnect(): void {}
  }

  const show = (props: Partial<Notice.IProps> = {}) =>
    act(() =>
      root.render(
        <PanelContext.Provider
          value={
            {
              trans: nullTranslator.load('hdsp_agent'),
              node: host
            } as unknown as IPanelServices
          }
        >
          <Notice text={TEXT} {...props} />
        </PanelContext.Provider>
      )
    );
  const find = (selector: string) => host.querySelector<HTMLElement>(selector);
  const line = () => find('.jp-hdspAgent-notice-text');
  const unfold = () => find('[aria-expanded]');
  const click = (element: HTMLElement | null) => act(() => element?.click());

  beforeEach(() => {
    needed = 100;
    Object.assign(window, { ResizeObserver: Size });
    jest
      .spyOn(HTMLElement.prototype, 'scrollWidth', 'get')
      .mockImplementation(() => needed);
    jest
      .spyOn(HTMLElement.prototype, 'clientWidth', 'get')
      .mockReturnValue(100);
    host = document.body.appendChild(document.createElement('div'));
    root = createRoot(host);
  });

  afterEach(() => {
    act(() => root.unmount());
    host.remove();
    jest.restoreAllMocks();
    Reflect.deleteProperty(window, 'ResizeObserver');
  });

  it('should have nothing to press where all of it fits', () => {
    show();
    expect(line()?.textContent).toBe(TEXT);
    expect(host.querySelectorAll('button')).toHaveLength(0);
  });

  it.each(['button', 'line'])(
    'should be whole in its tooltip where it does not fit, and unfold by its %s',
    by => {
      needed = 101;
      show({ textRole: 'status' });
      expect(line()?.title).toBe(TEXT);
      expect(line()?.textContent).toBe(TEXT);
      expect(find('[data-open]')).toBeNull();
      click(by === 'line' ? line() : unfold());
      expect(unfold()?.getAttribute('aria-expanded')).toBe('true');
      expect(find('[data-open]')).not.toBeNull();
      expect(line()?.title).toBe('');
      // A text that is marked to be copied is not folded by that.
      click(line());
      expect(find('[data-open]')).not.toBeNull();
      click(unfold());
      expect(find('[data-open]')).toBeNull();
    }
  );

  it('should look again when it has another width', () => {
    show();
    needed = 101;
    act(() => resized());
    expect(unfold()).not.toBeNull();
    needed = 100;
    act(() => resized());
    expect(unfold()).toBeNull();
  });

  it('should tell how grave it is by a picture and in words', () => {
    const seen = (['info', 'warning', 'error'] as const).map(level => {
      show({ level });
      const icon = find('[data-icon]')?.getAttribute('data-icon');
      return [icon, find('.jp-hdspAgent-announcement')?.textContent];
    });
    expect(seen).toEqual([
      ['hdsp-agent:notice', 'Note: '],
      ['hdsp-agent:warning', 'Warning: '],
      ['ui-components:error', 'Error: ']
    ]);
  });

  it('should show details only where one wants to see them', () => {
    show({ details: <b>{MORE}</b>, detailsLabel: 'Review' });
    expect(find('b')).toBeNull();
    expect(unfold()?.textContent).toBe('Review');
    click(unfold());
    const details = unfold()?.getAttribute('aria-controls') ?? '';
    expect(document.getElementById(details)?.textContent).toBe(MORE);
  });

  it('should do once what is being done', () => {
    const onClick = jest.fn();
    show({ actions: [{ label: UNDO, onClick }] });
    click(find('button'));
    show({ actions: [{ label: UNDO, isBusy: true, onClick }] });
    click(find('button'));
    expect(onClick).toHaveBeenCalledTimes(1);
    expect(find('[aria-disabled="true"]')?.textContent).toBe(UNDO);
  });

  it('should be put away only where that is offered', () => {
    show();
    expect(find(`[aria-label="Dismiss: ${TEXT}"]`)).toBeNull();
    const onDismiss = jest.fn();
    show({ onDismiss });
    click(find(`[aria-label="Dismiss: ${TEXT}"]`));
    expect(onDismiss).toHaveBeenCalledTimes(1);
  });
});

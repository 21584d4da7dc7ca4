import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { act } from 'react';
import type { Root } from 'react-dom/client';
import { createRoot } from 'react-dom/client';

import { MoreButton } from '../morebutton';
import type { IPanelServices } from '../../services';
import { PanelContext } from '../../services';

(globalThis as Record<string, unknown>).IS_REACT_ACT_ENVIRONMENT = true;

describe('what follows a list', () => {
  const observed: Sight[] = [];
  let root: Root;
  let host: HTMLElement;

  /** A browser's observer, which looks when it is told to. */
  class Sight {
    constructor(
      private readonly _tell: (entries: { isIntersecting: boolean }[]) => void
    ) {
      observed.push(this);
    }

    isWatching = false;

    observe(): void {
      this.isWatching = true;
    }

    disconnect(): void {
      this.isWatching = false;
    }

    see(isIntersecting: boolean): void {
      this._tell([{ isIntersecting }]);
    }
  }

  const services = {
    trans: nullTranslator.load('hdsp_agent')
  } as unknown as IPanelServices;
  const show = (pages: { more(): Promise<void> }) =>
    act(() =>
      root.render(
        <PanelContext.Provider value={services}>
          <MoreButton pages={pages} />
        </PanelContext.Provider>
      )
    );

  beforeEach(() => {
    observed.length = 0;
    Object.assign(window, { IntersectionObserver: Sight });
    host = document.body.appendChild(document.createElement('div'));
    root = createRoot(host);
  });

  afterEach(() => {
    act(() => root.unmount());
    host.remove();
    Reflect.deleteProperty(window, 'IntersectionObserver');
  });

  it('is fetched when it comes into sight, and when it is pressed', () => {
    const pages = { more: jest.fn(() => Promise.resolve()) };
    show(pages);
    observed[0].see(false);
    expect(pages.more).not.toHaveBeenCalled();
    observed[0].see(true);
    host.querySelector('button')?.click();
    expect(pages.more).toHaveBeenCalledTimes(2);
  });

  it('is observed once, however often the list is drawn', () => {
    const pages = { more: () => Promise.resolve() };
    show(pages);
    show(pages);
    expect(observed).toHaveLength(1);
    show({ more: () => Promise.resolve() });
    expect(observed.map(({ isWatching }) => isWatching)).toEqual([false, true]);
  });

  it('can be pressed where nothing tells what is in sight', () => {
    Reflect.deleteProperty(window, 'IntersectionObserver');
    const pages = { more: jest.fn(() => Promise.resolve()) };
    show(pages);
    host.querySelector('button')?.click();
    expect(pages.more).toHaveBeenCalledTimes(1);
  });
});
